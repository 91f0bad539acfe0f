-- Add pages whose records are there already, under the numbers that they are about to get.
-- ARGV: events that there must be before, salt, outcomes, then each outcome and its count,
--   then value, kind, host, time of each page
-- Returns: 1, or 0 if there are others before and nothing was added; events that there are now
local at = length()
if at ~= tonumber(ARGV[1]) then
  return {0, at}
end
local place = 4 + 2 * tonumber(ARGV[3])
local first = place
while place < #ARGV do
  write(ARGV[place], 0, tonumber(ARGV[place + 1]), tonumber(ARGV[2]), tonumber(ARGV[place + 2]),
    tonumber(ARGV[place + 3]))
  place = place + 4
end
for outcome = 4, first - 1, 2 do
  redis.call('HINCRBY', key('totals'), ARGV[outcome], ARGV[outcome + 1])
end
return {1, length()}
