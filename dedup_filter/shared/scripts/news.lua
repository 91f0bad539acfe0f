-- Tell what came since an offset.
-- ARGV: process, lease, offset, last event, most, salt, seen
-- Returns: 1 (-1: another log), place, events
local offset = tonumber(ARGV[3])
if not agrees(offset, ARGV[4]) then
  return {-1, 0, ''}
end
renew(ARGV[1], tonumber(ARGV[2]))
release_lapsed(tonumber(ARGV[6]), tonumber(ARGV[7]))
local start, events = since(offset, tonumber(ARGV[5]))
return {1, start, events}
