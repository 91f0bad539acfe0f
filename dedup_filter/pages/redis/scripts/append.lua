-- Add a page, pending, and tell what came before it.
-- ARGV: id, process, lease, offset, last event, most, salt, seen, value, kind, host, record
-- Returns: number (0: nothing was added, for too much has come to be told at once; -1: nor was it,
--   for this is another log), place, events
local process, lease = ARGV[2], tonumber(ARGV[3])
local offset, most = tonumber(ARGV[4]), tonumber(ARGV[6])
local salt, seen = tonumber(ARGV[7]), tonumber(ARGV[8])
if not agrees(ARGV[1], offset, ARGV[5]) then
  return {-1, 0, ''}
end
renew(process, lease)
release_lapsed(salt, seen)
if length() - offset >= most then
  local start, events = since(offset, most)
  return {0, start, events}
end
local number = write(ARGV[9], 0, tonumber(ARGV[10]), salt, tonumber(ARGV[11]), seen)
redis.call('HSET', key('flight'), number, ARGV[12])
redis.call('SADD', key('owned:' .. process), number)
local start, events = since(offset, most)
return {number, start, events}
