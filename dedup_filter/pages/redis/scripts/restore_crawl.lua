-- Put back a crawl of another index, unless a process is at work: its crawl must be the last one.
-- ARGV: number, name or '', when it started
-- Returns: its number here, or 0
local meta, crawls, started = key('meta'), key('crawls'), key('started')
if redis.call('ZCOUNT', key('processes'), now(), '+inf') > 0 then
  return 0
end
local known = ARGV[2] ~= '' and redis.call('HGET', crawls, ARGV[2])
if known then
  return tonumber(known)
end
if ARGV[2] == '' and redis.call('HGET', started, ARGV[1]) == ARGV[3] then
  return tonumber(ARGV[1])
end
local last = tonumber(redis.call('HGET', meta, 'crawl'))
local number = math.max(last + 1, tonumber(ARGV[1]))
redis.call('HSET', meta, 'crawl', number)
redis.call('HSET', started, number, ARGV[3])
if ARGV[2] ~= '' then
  redis.call('HSET', crawls, ARGV[2], number)
end
return number
