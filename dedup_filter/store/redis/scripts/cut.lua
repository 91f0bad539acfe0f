-- Remove an entry of 8 bytes, ARGV[1], from a bucket, KEYS[1]. Returns 1 if it was there, else 0.
local all, at = redis.call('GET', KEYS[1]) or '', 1
repeat
  at = string.find(all, ARGV[1], at, true)
  if not at then return 0 end
  local first = at
  at = at + 1
until first % 8 == 1
local rest = string.sub(all, 1, at - 2) .. string.sub(all, at + 7)
if rest == '' then
  redis.call('UNLINK', KEYS[1])
else
  redis.call('SET', KEYS[1], rest)
end
return 1
