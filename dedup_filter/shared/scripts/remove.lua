-- Take pages out for good, pending ones too.
-- ARGV: salt, seen, numbers ...
for place = 3, #ARGV do
  local number = tonumber(ARGV[place])
  redis.call('HDEL', key('flight'), number)
  gone(number, tonumber(ARGV[1]), tonumber(ARGV[2]))
end
