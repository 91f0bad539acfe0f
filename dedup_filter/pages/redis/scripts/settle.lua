-- End the claim of a page: commit it, or release it.
-- ARGV: process, number, 1 to commit, salt, seen, number of a page that it takes the place of or 0,
--   then of a page that is committed its record, its key ('' on a cluster, where it is in another
--   slot and was set before) and the seconds that it lasts or 0
-- Returns: 1, or 0 if the process has no such page pending, or 2 if another process has forgotten it
local owned, number = key('owned:' .. ARGV[1]), tonumber(ARGV[2])
if redis.call('SISMEMBER', owned, number) == 0 then
  return 0
end
if redis.call('HEXISTS', key('flight'), number) == 0 then
  redis.call('SREM', owned, number)
  return 2
end
local leaves = number
if ARGV[3] == '1' then
  put_record(ARGV[8], ARGV[7], ARGV[9])
  leaves = tonumber(ARGV[6])
end
if leaves > 0 then
  gone(leaves, tonumber(ARGV[4]), tonumber(ARGV[5]))
end
redis.call('HDEL', key('flight'), number)
redis.call('SREM', owned, number)
return 1
