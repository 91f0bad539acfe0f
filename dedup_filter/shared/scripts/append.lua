-- Add a page, pending, and tell what came before it.
-- ARGV: process, lease, offset, last event, most, salt, seen, value, kind, host, record, 1 if
-- nothing may have come since the offset
-- Returns: number (0: nothing was added, because of what has come; -1: nor was it, for this is another
-- log), place, events
local process, lease = ARGV[1], tonumber(ARGV[2])
local offset, most = tonumber(ARGV[3]), tonumber(ARGV[5])
local salt, seen = tonumber(ARGV[6]), tonumber(ARGV[7])
if not agrees(offset, ARGV[4]) then
  return {-1, 0, ''}
end
renew(process, lease)
release_lapsed(salt, seen)
local unread = length() - offset
if unread >= most or (unread > 0 and ARGV[12] == '1') then
  local start, events = since(offset, most)
  return {0, start, events}
end
local number = write(ARGV[8], 0, tonumber(ARGV[9]), salt, tonumber(ARGV[10]), seen)
redis.call('HSET', key('flight'), number, ARGV[11])
redis.call('SADD', key('owned:' .. process), number)
local start, events = since(offset, most)
return {number, start, events}
