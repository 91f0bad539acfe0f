-- Put a record back that another one was written over, if that one is still there. KEYS[1] is its
-- key here.
-- ARGV: the one that was written, the one before or '', seconds that it lasts or 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if ARGV[2] == '' then
    redis.call('UNLINK', KEYS[1])
  else
    put_record(KEYS[1], ARGV[2], ARGV[3])
  end
end
