-- Renew the lease of a process, and add to the totals of all.
-- ARGV: process, lease, outcome, count, outcome, count ...
renew(ARGV[1], tonumber(ARGV[2]))
for place = 3, #ARGV, 2 do
  redis.call('HINCRBY', key('totals'), ARGV[place], ARGV[place + 1])
end
