-- Add a lesson to the list of a host, unless that is full. KEYS[1] is the list here.
-- ARGV: lesson, most, seconds that the list is to last
-- Returns: how many there are now
local count = redis.call('LLEN', KEYS[1])
if count < tonumber(ARGV[2]) then
  count = redis.call('RPUSH', KEYS[1], ARGV[1])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return count
