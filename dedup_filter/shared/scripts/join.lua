-- Become one of the processes of an index, which is made if there is none; begin or join a crawl.
-- ARGV: process, lease, salt, seen, format, scheme, name of the crawl or ''
-- Returns: crawl, format, scheme
local meta, crawls = key('meta'), key('crawls')
if redis.call('EXISTS', meta) == 0 then
  redis.call('HSET', meta, 'format', ARGV[5], 'scheme', ARGV[6], 'crawl', 0)
end
local format, scheme = unpack(redis.call('HMGET', meta, 'format', 'scheme'))
if format ~= ARGV[5] or scheme ~= ARGV[6] then
  return {0, format, scheme}
end
release_lapsed(tonumber(ARGV[3]), tonumber(ARGV[4]))
local crawl = ARGV[7] ~= '' and redis.call('HGET', crawls, ARGV[7])
if not crawl then
  -- Processes that are there at the same time are in one crawl.
  if redis.call('ZCOUNT', key('processes'), now(), '+inf') > 0 then
    crawl = redis.call('HGET', meta, 'crawl')
  else
    crawl = redis.call('HINCRBY', meta, 'crawl', 1)
  end
  if ARGV[7] ~= '' then
    redis.call('HSET', crawls, ARGV[7], crawl)
  end
end
renew(ARGV[1], tonumber(ARGV[2]))
return {tonumber(crawl), format, scheme}
