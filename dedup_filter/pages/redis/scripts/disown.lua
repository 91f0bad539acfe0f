-- Release what a process has pending and knows nothing of: it never got the answer.
-- ARGV: process, salt, seen, numbers that it knows of ...
local known = {}
for place = 4, #ARGV do
  known[ARGV[place]] = true
end
local owned = key('owned:' .. ARGV[1])
for _, number in ipairs(redis.call('SMEMBERS', owned)) do
  if not known[number] then
    release(ARGV[1], number, tonumber(ARGV[2]), tonumber(ARGV[3]))
  end
end
