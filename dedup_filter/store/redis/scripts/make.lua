-- Make an index if there is none. KEYS[1]: its metadata, other keys are in the same slot.
-- ARGV: format, scheme, random identity, bits of a bucket's number, '1' if pairs of blocks are keys,
--   'again' of a process at work.
-- Returns 1; 0 if other keys are there, or an index of another format or scheme.
local prefix = string.sub(KEYS[1], 1, -5)
if redis.call('TYPE', KEYS[1]).ok == 'none' then
  for _, name in ipairs({'crawls', 'started', 'ended', 'processes', 'totals', 'ids', 'length', 'log:0'}) do
    if redis.call('EXISTS', prefix .. name) == 1 and ARGV[6] ~= 'again' then return 0 end
  end
  redis.call('HSET', KEYS[1], 'format', ARGV[1], 'scheme', ARGV[2], 'id', ARGV[3], 'bits', ARGV[4],
    'tables', ARGV[5], 'crawl', 0)
end
return redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HGET', KEYS[1], 'format') == ARGV[1]
  and redis.call('HGET', KEYS[1], 'scheme') == ARGV[2] and 1 or 0
