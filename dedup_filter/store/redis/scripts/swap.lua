-- Compare and set the head of a record, KEYS[1], which must begin with ARGV[1].
-- ARGV[2]: the new head, '' to delete the record. ARGV[3]: the new rest, '' to leave it.
-- ARGV[4]: seconds to live, '0' without end, '' to leave this.
-- Returns 1, or the head that is there: '' for none.
local old, new, rest, seconds = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local there = redis.call('GETRANGE', KEYS[1], 0, #old - 1)
if there ~= old then return there end
if new == '' then
  redis.call('UNLINK', KEYS[1])
  return 1
end
if rest ~= '' then
  redis.call('SET', KEYS[1], new .. rest, 'KEEPTTL')
else
  redis.call('SETRANGE', KEYS[1], 0, new)
end
if seconds == '0' then
  redis.call('PERSIST', KEYS[1])
elseif seconds ~= '' then
  redis.call('EXPIRE', KEYS[1], seconds)
end
return 1
