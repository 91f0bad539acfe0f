-- Make an index if there is none, without a crawl.
-- ARGV: format, scheme, chance
-- Returns: 1, or 0 if other keys are there
local meta = key('meta')
if redis.call('EXISTS', meta) == 1 then
  return 1
end
local others = redis.call('EXISTS', KEYS[1], key('crawls'), key('flight'), key('processes'),
  key('options'), key('totals'), key('log:0'))
if others > 0 then
  return 0
end
redis.call('HSET', meta, 'format', ARGV[1], 'scheme', ARGV[2], 'crawl', 0, 'id', ARGV[3])
return 1
