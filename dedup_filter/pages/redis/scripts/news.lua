-- Tell what came since an offset.
-- ARGV: id, process, lease, offset, last event, most, salt, seen
-- Returns: 1 (-1: another log), place, events
local offset = tonumber(ARGV[4])
if not agrees(ARGV[1], offset, ARGV[5]) then
  return {-1, 0, ''}
end
renew(ARGV[2], tonumber(ARGV[3]))
release_lapsed(tonumber(ARGV[7]), tonumber(ARGV[8]))
local start, events = since(offset, tonumber(ARGV[6]))
return {1, start, events}
