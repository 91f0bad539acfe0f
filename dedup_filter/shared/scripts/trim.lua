-- Delete chunks of the log that tell of no page any more. Only whole ones, from the first on.
-- ARGV: number of the first chunk that is to stay
local meta = key('meta')
local first = tonumber(redis.call('HGET', meta, 'first_chunk') or '0')
while first < tonumber(ARGV[1]) do
  redis.call('UNLINK', key('log:' .. first))
  first = first + 1
end
redis.call('HSET', meta, 'first_chunk', first)
return first
