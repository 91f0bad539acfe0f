-- Give a page other measures, if nothing has come of it since an offset.
-- ARGV: id, offset, last event, most, salt, seen, process or '' if it is not pending there,
--   number, value, kind, host, record, its key ('' on a cluster, where it is in another slot and set
--   afterwards) and the seconds that it lasts or 0
-- Returns: 1, or 0 if something may have come of it (-1: another log); nothing was done then
local offset, number = tonumber(ARGV[2]), tonumber(ARGV[8])
if not agrees(ARGV[1], offset, ARGV[3]) then
  return -1
end
local flight, process = key('flight'), ARGV[7]
if process == '' then
  if redis.call('HEXISTS', flight, number) == 1 or length() - offset > tonumber(ARGV[4]) then
    return 0
  end
  local _, events = since(offset, tonumber(ARGV[4]))
  for place = 9, #events, EVENT do
    if struct.unpack('<I6', events, place) == number then
      return 0
    end
  end
  put_record(ARGV[13], ARGV[12], ARGV[14])
else
  if redis.call('SISMEMBER', key('owned:' .. process), number) == 0
    or redis.call('HEXISTS', flight, number) == 0 then
    return 0
  end
  redis.call('HSET', flight, number, ARGV[12])
end
write(ARGV[9], number, tonumber(ARGV[10]), tonumber(ARGV[5]), tonumber(ARGV[11]), tonumber(ARGV[6]))
return 1
