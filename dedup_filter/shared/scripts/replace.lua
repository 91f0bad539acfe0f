-- Give a page other measures.
-- ARGV: salt, seen, number, value, kind, host, record
-- Returns: 1 if it is pending, and its record was replaced here
local number = tonumber(ARGV[3])
local flight = key('flight')
local is_pending = redis.call('HEXISTS', flight, number)
if is_pending == 1 then
  redis.call('HSET', flight, number, ARGV[7])
end
write(ARGV[4], number, tonumber(ARGV[5]), tonumber(ARGV[1]), tonumber(ARGV[6]), tonumber(ARGV[2]))
return is_pending
