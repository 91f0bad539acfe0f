-- Take pages out for good, pending ones too.
-- ARGV: id, offset, last event, salt, seen, numbers ...
-- Returns: 1 (-1: another log, in which these may be the numbers of others)
if not agrees(ARGV[1], tonumber(ARGV[2]), ARGV[3]) then
  return -1
end
for place = 6, #ARGV do
  local number = tonumber(ARGV[place])
  gone(number, tonumber(ARGV[4]), tonumber(ARGV[5]))
  redis.call('HDEL', key('flight'), number)
end
return 1
