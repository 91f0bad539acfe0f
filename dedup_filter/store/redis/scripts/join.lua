-- Make an index if there is none, and join it as a process that begins or joins a crawl.
-- KEYS[1]: its metadata; other keys are in the same slot.
-- A process that was killed stays listed: it has no lease. In place of its options it has the time
-- when this was found, and leaves the list when its pages have expired.
-- ARGV: format, scheme, random identity, bits of a bucket's number, '1' if pairs of blocks are keys;
--   process (without it, the index is only made), its lease in seconds, its options, name of the
--   crawl or '', the time, the crawl of a process that joins again or '0'.
-- Returns: crawl (0: other keys are there, or an index of another format or scheme; -1: running
--   processes have another scope), options of the other running processes
local format, scheme, identity, bits, tables = unpack(ARGV)
local process, lease, options, name, seen, back = unpack(ARGV, 6)
local prefix = string.sub(KEYS[1], 1, -5)
local processes, crawls = prefix .. 'processes', prefix .. 'crawls'
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  for _, other in ipairs({'crawls', 'started', 'ended', 'processes', 'totals', 'ids', 'length', 'log:0'}) do
    if redis.call('EXISTS', prefix .. other) == 1 and (back or '0') == '0' then return {0, {}} end
  end
  redis.call('HSET', KEYS[1], 'format', format, 'scheme', scheme, 'id', identity, 'bits', bits,
    'tables', tables, 'crawl', 0)
elseif kind ~= 'hash' or redis.call('HGET', KEYS[1], 'format') ~= format
  or redis.call('HGET', KEYS[1], 'scheme') ~= scheme then
  return {0, {}}
end
if not process then return {1, {}} end
local own = cjson.decode(options)
local others, is_other_scope = {}, false
for _, other in ipairs(redis.call('HKEYS', processes)) do
  local of_crawl, theirs = string.match(redis.call('HGET', processes, other), '^(%d+ )(.*)$')
  local found = tonumber(theirs)
  if other == process then
    -- It joins again.
  elseif redis.call('EXISTS', prefix .. 'process:' .. other) == 0 then
    if not found then
      redis.call('HSET', processes, other, of_crawl .. seen)
    elseif tonumber(own.expire_days) and seen - found > own.expire_days * 86400 then
      redis.call('HDEL', processes, other)
    end
  elseif not found then
    others[#others + 1] = theirs
    is_other_scope = is_other_scope or cjson.decode(theirs).scope ~= own.scope
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
