-- Become one of the processes of an index, which is made if there is none; begin or join a crawl.
-- ARGV: process, lease, salt, seen, format, scheme, name of the crawl or '',
--   crawl that it is in by now or 0, chance, options
-- Returns: crawl (-1: other keys are there, -2: others have another scope), format, scheme, id,
--   options of others that are at work
local meta, crawls = key('meta'), key('crawls')
local is_back = tonumber(ARGV[8]) > 0

-- The options of the other processes that are at work, each once.
local function options_of_others()
  local found, is_known = {}, {}
  for _, process in ipairs(redis.call('ZRANGEBYSCORE', key('processes'), now(), '+inf')) do
    local options = process ~= ARGV[1] and redis.call('HGET', key('options'), process)
    if options and not is_known[options] then
      is_known[options] = true
      found[#found + 1] = options
    end
  end
  return found
end

local kind = redis.call('TYPE', meta).ok
if kind == 'none' then
  local others = redis.call('EXISTS', KEYS[1], crawls, key('flight'), key('processes'),
    key('options'), key('totals'), key('log:0'))
  if others > 0 and not is_back then
    return {-1, '', '', '', {}}
  end
  redis.call('HSET', meta, 'format', ARGV[5], 'scheme', ARGV[6], 'crawl', 0, 'id', ARGV[9])
elseif kind ~= 'hash' or redis.call('HEXISTS', meta, 'format') == 0 then
  return {-1, '', '', '', {}}
end
local format, scheme, id = unpack(redis.call('HMGET', meta, 'format', 'scheme', 'id'))
if format ~= ARGV[5] or scheme ~= ARGV[6] then
  return {0, format, scheme or '', '', {}}
end
release_lapsed(tonumber(ARGV[3]), tonumber(ARGV[4]))
local others = options_of_others()
for _, options in ipairs(others) do
  if not is_back and cjson.decode(options).scope ~= cjson.decode(ARGV[10]).scope then
    return {-2, format, scheme, id, others}
  end
end
local crawl = ARGV[7] ~= '' and redis.call('HGET', crawls, ARGV[7])
if is_back then
  -- Crawls are counted from where they were, whatever was lost.
  crawl = ARGV[8]
  if tonumber(redis.call('HGET', meta, 'crawl')) < tonumber(crawl) then
    redis.call('HSET', meta, 'crawl', crawl)
  end
elseif not crawl then
  -- Processes that are there at the same time are in one crawl.
  if redis.call('ZCOUNT', key('processes'), now(), '+inf') > 0 then
    crawl = redis.call('HGET', meta, 'crawl')
  else
    crawl = redis.call('HINCRBY', meta, 'crawl', 1)
    redis.call('HSET', key('started'), crawl, ARGV[4])
  end
end
if ARGV[7] ~= '' then
  redis.call('HSET', crawls, ARGV[7], crawl)
end
renew(ARGV[1], tonumber(ARGV[2]))
redis.call('HSET', key('options'), ARGV[1], ARGV[10])
redis.call('HSET', meta, 'options', ARGV[10])
return {tonumber(crawl), format, scheme, id, others}
