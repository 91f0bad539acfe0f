-- Delete chunks of the log that tell of no page any more. Only whole ones, from the first on.
-- ARGV: id, offset, last event, number of the first chunk that is to stay
-- Returns: 1 (-1: another log)
if not agrees(ARGV[1], tonumber(ARGV[2]), ARGV[3]) then
  return -1
end
local meta = key('meta')
local first = tonumber(redis.call('HGET', meta, 'first_chunk') or '0')
if first < tonumber(ARGV[4]) then
  while first < tonumber(ARGV[4]) do
    redis.call('UNLINK', key('log:' .. first))
    first = first + 1
  end
  redis.call('HSET', meta, 'first_chunk', first)
end
return 1
