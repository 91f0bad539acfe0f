-- Restore a crawl of another index. KEYS[1]: the metadata. ARGV: number, name or '', start, end
--   (0: it has not ended, so it gets a process that was killed, whose name is its number).
-- Returns its number here, or 0 if a process is running: its crawl must stay the latest one.
local number, name, started, ended = unpack(ARGV)
local prefix = string.sub(KEYS[1], 1, -5)
for _, process in ipairs(redis.call('HKEYS', prefix .. 'processes')) do
  if redis.call('EXISTS', prefix .. 'process:' .. process) == 1 then return 0 end
end
local known = name ~= '' and redis.call('HGET', prefix .. 'crawls', name)
if known then
  return tonumber(known)
elseif name == '' and redis.call('HGET', prefix .. 'started', number) == started then
  return tonumber(number)
end
number = math.max(tonumber(redis.call('HGET', KEYS[1], 'crawl')) + 1, number)
redis.call('HSET', KEYS[1], 'crawl', number)
redis.call('HSET', prefix .. 'started', number, started)
if ended == '0' then
  redis.call('HSET', prefix .. 'processes', string.format('%08x', number), number .. ' {}')
else
  redis.call('HSET', prefix .. 'ended', number, ended)
end
if name ~= '' then redis.call('HSET', prefix .. 'crawls', name, number) end
return number
