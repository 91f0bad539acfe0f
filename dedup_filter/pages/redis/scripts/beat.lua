-- Renew the lease of a process, and add to the totals of all.
-- ARGV: process, lease, outcome, count, outcome, count ...
-- Returns: how many pages it has pending, or -1 if there is no index any more: nothing was done
if redis.call('EXISTS', key('meta')) == 0 then
  return -1
end
renew(ARGV[1], tonumber(ARGV[2]))
for place = 3, #ARGV, 2 do
  redis.call('HINCRBY', key('totals'), ARGV[place], ARGV[place + 1])
end
return redis.call('SCARD', key('owned:' .. ARGV[1]))
