-- Join an index as a process, and begin or join a crawl. KEYS[1]: its metadata.
-- A process that was killed stays listed: it has no lease.
-- ARGV: process, its lease in seconds, its options, name of the crawl or '', the time, the crawl of
--   a process that joins again or '0'.
-- Returns: crawl (-1: running processes have another scope), options of the other running processes
local process, lease, options, name, seen, back = unpack(ARGV)
local prefix = string.sub(KEYS[1], 1, -5)
local processes, crawls = prefix .. 'processes', prefix .. 'crawls'
local others, is_other_scope = {}, false
for _, other in ipairs(redis.call('HKEYS', processes)) do
  if other ~= process and redis.call('EXISTS', prefix .. 'process:' .. other) == 1 then
    local theirs = string.match(redis.call('HGET', processes, other), '^%d+ (.*)$')
    others[#others + 1] = theirs
    is_other_scope = is_other_scope or cjson.decode(theirs).scope ~= cjson.decode(options).scope
  end
end
if is_other_scope and back == '0' then return {-1, others} end
local latest = tonumber(redis.call('HGET', KEYS[1], 'crawl'))
local crawl = name ~= '' and redis.call('HGET', crawls, name)
if back ~= '0' then  -- crawl numbers never fall, even if a server has lost the last one
  crawl = back
elseif not crawl then  -- processes that run together share one crawl
  crawl = (#others > 0 and latest > 0) and latest or latest + 1
end
if tonumber(crawl) > latest then
  redis.call('HSET', KEYS[1], 'crawl', crawl)
  redis.call('HSET', prefix .. 'started', crawl, seen)
end
if name ~= '' then redis.call('HSET', crawls, name, crawl) end
redis.call('SET', prefix .. 'process:' .. process, seen, 'EX', lease)
redis.call('HSET', processes, process, string.format('%d ', crawl) .. options)
redis.call('HSET', KEYS[1], 'options', options)
return {tonumber(crawl), others}
