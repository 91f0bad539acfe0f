-- Everything that is done to a shared index in one step.
--
-- ARGV: name of the function, a random byte, the time in Unix seconds, arguments of the function.
-- KEYS[1]: "dedup:{name}:length"; `put_back` and `add_update` get the one key that they touch
-- instead. All other keys are in its slot; records are touched only where there are no slots.
local EVENT, CHUNK = 56, 1700
local VALUE = 40  -- bytes of an event that only crawlers read, its first ones
local LONG, SHORT, GONE = 1, 2, 3
local MOST_UNREAD = 65536  -- events that are looked through before a page is changed
local salt, seen = ARGV[2], ARGV[3]
local prefix = string.sub(KEYS[1], 1, -7)
local functions = {}
local follow = {}  -- functions for who has read the log, see below

local function key(name)
  return prefix .. name
end
local flight, meta, processes = key('flight'), key('meta'), key('processes')

-- While a slot moves to another node, a script fails at the first key that is not where it runs,
-- with half of its work done. So two keys are asked for first, one of which exists nowhere: that
-- fails if the slot is moving, and nothing is done.
if string.sub(KEYS[1], -7) == ':length' then
  redis.call('EXISTS', KEYS[1], key('nowhere'))
end

local events_there, first_chunk, moment  -- asked for once

local function length()
  events_there = events_there or tonumber(redis.call('GET', KEYS[1]) or '0')
  return events_there
end

-- Time of the server in milliseconds: leases must not depend on the clocks of crawlers.
local function now()
  if not moment then
    local time = redis.call('TIME')
    moment = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return moment
end

-- Append an event; with number 0 its page gets the number of the event. Returns the page's number.
local function write(value, number, kind, host, when)
  local at = redis.call('INCR', KEYS[1])
  events_there = at
  if number == 0 then number = at end
  local event = value .. struct.pack('<I6BBI4I4', number, kind, salt, host, when)
  local chunk = key('log:' .. math.floor((at - 1) / CHUNK))
  -- At its place, whatever is there: a server may have lost a part of the chunk.
  redis.call('SETRANGE', chunk, (at - 1) % CHUNK * EVENT, event)
  if at % CHUNK == 0 then  -- full: written anew it keeps no room for more
    redis.call('SET', chunk, redis.call('GET', chunk))
  end
  return number
end

-- Append that a page is gone. Do this before all else: a server that has no memory left refuses it,
-- and then nothing else may be done.
local function gone(number)
  write(string.rep('\0', VALUE), tonumber(number), GONE, 0, seen)
end

-- Return the events after an offset, or after the chunks that were deleted, and that offset: at most
-- so many, with zeros where a server has lost some.
local function since(offset, most)
  offset = math.max(offset, first_chunk * CHUNK)
  local start, last = offset, math.min(length(), offset + most)
  local parts = {}
  while offset < last do
    local chunk = math.floor(offset / CHUNK)
    local first, stop = offset - chunk * CHUNK, math.min(last - chunk * CHUNK, CHUNK)
    local found = redis.call('GETRANGE', key('log:' .. chunk), first * EVENT, stop * EVENT - 1)
    parts[#parts + 1] = found .. string.rep('\0', (stop - first) * EVENT - #found)
    offset = chunk * CHUNK + stop
  end
  return start, table.concat(parts)
end

-- Return the pages that events after an offset tell of; nil if there are too many events.
local function told_of_since(offset)
  if length() - offset > MOST_UNREAD then return nil end
  local _, events = since(offset, MOST_UNREAD)
  local told = {}
  for place = VALUE + 1, #events, EVENT do
    told[struct.unpack('<I6', events, place)] = true
  end
  return told
end

-- Tell whether the log goes on from where a process has read it: to an offset, with this last
-- event. It may have been begun anew, and after a fail-over be shorter or another one.
local function goes_on(id, offset, last)
  local its_own = redis.call('HMGET', meta, 'id', 'first_chunk')
  first_chunk = tonumber(its_own[2] or '0')
  if its_own[1] ~= id or offset > length() then return false end
  local chunk, first = math.floor((offset - 1) / CHUNK), (offset - 1) % CHUNK * EVENT
  local found = redis.call('GETRANGE', key('log:' .. chunk), first, first + EVENT - 1)
  return last == '' or found == '' or found == last
end

-- Set the record of a page that lasts so many seconds, '' for ever; without a key do nothing.
local function put_record(name, record, seconds)
  if name ~= '' then
    redis.call('SET', name, record, unpack(seconds == '' and {} or {'EX', seconds}))
  end
end

local function is_in_flight(number)
  return redis.call('HEXISTS', flight, number) == 1
end

-- Tell whether a process has a page pending.
local function is_claimed(process, number)
  return redis.call('SISMEMBER', key('owned:' .. process), number) == 1 and is_in_flight(number)
end

local function end_claim(process, number)
  redis.call('HDEL', flight, number)
  redis.call('SREM', key('owned:' .. process), number)
end

local function release(process, number)
  if is_in_flight(number) then gone(number) end
  end_claim(process, number)
end

-- Release pages that a process has pending, at most so many; end the process if none are left.
local function release_owned(process, most)
  local owned = key('owned:' .. process)
  for _, number in ipairs(redis.call('SRANDMEMBER', owned, most)) do
    release(process, number)
  end
  if redis.call('SCARD', owned) == 0 then
    redis.call('ZREM', processes, process)
    redis.call('HDEL', key('options'), process)
  end
end

-- Release what processes have pending whose lease is over: some at each call, as calls are short.
local function release_lapsed()
  for _, process in ipairs(redis.call('ZRANGEBYSCORE', processes, '-inf', now(), 'LIMIT', 0, 1)) do
    release_owned(process, 100)
  end
end

local function renew(process, lease)
  redis.call('ZADD', processes, now() + lease, process)
end

local function is_anybody_at_work()
  return redis.call('ZCOUNT', processes, now(), '+inf') > 0
end

-- Make the index if there is none. Returns whether there is one of this format and scheme now. If it
-- is not known under that name, other keys there may be those of another program.
local function is_made(format, scheme, id, is_known)
  if redis.call('TYPE', meta).ok == 'none' then
    local others = redis.call('EXISTS', KEYS[1], key('crawls'), flight, processes, key('options'),
      key('totals'), key('log:0'))
    if others > 0 and not is_known then return false end
    redis.call('HSET', meta, 'format', format, 'scheme', scheme, 'crawl', 0, 'id', id)
  end
  return redis.call('TYPE', meta).ok == 'hash' and redis.call('HGET', meta, 'format') == format
    and redis.call('HGET', meta, 'scheme') == scheme
end

-- Returns 1, or 0 if there is no such index.
function functions.make(format, scheme, id)
  return is_made(format, scheme, id, false) and 1 or 0
end

-- Become a process of the index, which is made if there is none; begin or join a crawl. `back` is
-- the crawl that the process is in by now, 0 if it is new here.
-- Returns: crawl (0: there is no such index, -1: others have another scope), id of the index,
--   options of others that are at work
function functions.join(format, scheme, id, back, process, lease, name, options)
  local is_back = back ~= '0'
  if not is_made(format, scheme, id, is_back) then return {0, '', {}} end
  release_lapsed()
  local others, is_other_scope = {}, false
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', processes, now(), '+inf')) do
    local theirs = other ~= process and redis.call('HGET', key('options'), other)
    if theirs then
      others[#others + 1] = theirs
      local differs = cjson.decode(theirs).scope ~= cjson.decode(options).scope
      is_other_scope = is_other_scope or differs
    end
  end
  if is_other_scope and not is_back then return {-1, '', others} end
  local crawl = name ~= '' and redis.call('HGET', key('crawls'), name)
  if is_back then  -- crawls are counted from where they were, whatever was lost
    crawl = back
    if tonumber(redis.call('HGET', meta, 'crawl')) < tonumber(crawl) then
      redis.call('HSET', meta, 'crawl', crawl)
    end
  elseif not crawl and is_anybody_at_work() then  -- processes at work together are in one crawl
    crawl = redis.call('HGET', meta, 'crawl')
  elseif not crawl then
    crawl = redis.call('HINCRBY', meta, 'crawl', 1)
    redis.call('HSET', key('started'), crawl, seen)
  end
  if name ~= '' then
    redis.call('HSET', key('crawls'), name, crawl)
  end
  renew(process, lease)
  redis.call('HSET', key('options'), process, options)
  redis.call('HSET', meta, 'options', options)
  return {tonumber(crawl), redis.call('HGET', meta, 'id'), others}
end

-- Put back a crawl of another index. `started` is '' or when it started. Returns its number here,
-- or 0 if a process is at work: its crawl must be the last one.
function functions.restore_crawl(number, name, started)
  if is_anybody_at_work() then return 0 end
  local known = name ~= '' and redis.call('HGET', key('crawls'), name)
  if known then
    return tonumber(known)
  elseif name == '' and redis.call('HGET', key('started'), number) == started then
    return tonumber(number)
  end
  number = math.max(tonumber(redis.call('HGET', meta, 'crawl')) + 1, number)
  redis.call('HSET', meta, 'crawl', number)
  redis.call('HSET', key('started'), number, started)
  if name ~= '' then
    redis.call('HSET', key('crawls'), name, number)
  end
  return number
end

-- Renew the lease of a process, and add to the totals of all: outcome, count, outcome, count ...
-- Returns 1; -1 if there is no index any more, and nothing was done.
function functions.beat(process, lease)
  if redis.call('EXISTS', meta) == 0 then return -1 end
  renew(process, lease)
  for place = 6, #ARGV, 2 do
    redis.call('HINCRBY', key('totals'), ARGV[place], ARGV[place + 1])
  end
  return 1
end

-- Release what a process has pending, and end it.
function functions.leave(process)
  release_owned(process, 100000)
end

-- Release what a process has pending but for the pages that follow.
function functions.disown(process)
  local known = {}
  for place = 5, #ARGV do
    known[ARGV[place]] = true
  end
  for _, number in ipairs(redis.call('SMEMBERS', key('owned:' .. process))) do
    if not known[number] then release(process, number) end
  end
end

-- Add pages whose records are there already, under the numbers that they are about to get, if there
-- are so many events before. Arguments that follow: value, kind, host, time and outcome of each.
-- Returns nothing; or how many events there are, and nothing was added
function functions.restore(before)
  if length() ~= tonumber(before) then return length() end
  for place = 5, #ARGV, 5 do
    write(ARGV[place], 0, ARGV[place + 1], ARGV[place + 2], ARGV[place + 3])
    redis.call('HINCRBY', key('totals'), ARGV[place + 4], 1)
  end
end

-- Put the record before this one back, '' for none, if this one is still there. KEYS[1] is its key.
function functions.put_back(record, before, seconds)
  if redis.call('GET', KEYS[1]) == record then
    redis.call('UNLINK', KEYS[1])
    put_record(before ~= '' and KEYS[1] or '', before, seconds)
  end
end

-- Add an update to the list of a host, KEYS[1], unless it has so many. Returns how many it has now.
function functions.add_update(update, most, seconds)
  local count = redis.call('LLEN', KEYS[1])
  if count < tonumber(most) then
    count = redis.call('RPUSH', KEYS[1], update)
    redis.call('EXPIRE', KEYS[1], seconds)
  end
  return count
end

-- Commit a page that a process has pending, in the place of another one or '0'; its key is '' on a
-- cluster, where it was set before. Returns 1, or 0 if the process has no such page pending.
function functions.commit(process, number, replaced, record, name, seconds)
  if not is_claimed(process, number) then return 0 end
  put_record(name, record, seconds)
  if replaced ~= '0' then gone(replaced) end
  end_claim(process, number)
  return 1
end

-- Release a page, if the process has it pending.
function functions.release(process, number)
  if is_claimed(process, number) then release(process, number) end
end

-- All that follow are given how far the process has read the log: id, offset and last event. If it
-- does not go on from there they return -1, and nothing is done. Otherwise they get the offset.

-- Tell what came since the offset, at most so many events; before that add a page, pending, if one is
-- given and that can all be told. `held` is how many pages the process knows to be pending for it.
-- Returns: number of the page or 0, offset of the events, events; or -2 if more pages are pending
function follow.read(offset, process, lease, most, held, value, kind, host, record)
  renew(process, lease)
  release_lapsed()
  if redis.call('SCARD', key('owned:' .. process)) > tonumber(held) then return -2 end
  local number = 0
  if value and length() - offset < tonumber(most) then
    number = write(value, 0, kind, host, seen)
    redis.call('HSET', flight, number, record)
    redis.call('SADD', key('owned:' .. process), number)
  end
  return {number, since(offset, most)}
end

-- Give a page other measures. `process` is '' unless it has the page pending; its key is '' on a
-- cluster, where it is set afterwards. Returns 1; 0 if something has come of the page, or may have.
function follow.replace(offset, process, number, value, kind, host, record, name, seconds)
  number = tonumber(number)
  if process ~= '' then
    if not is_claimed(process, number) then return 0 end
    redis.call('HSET', flight, number, record)
  else
    local told = told_of_since(offset)
    if is_in_flight(number) or not told or told[number] then return 0 end
    put_record(name, record, seconds)
  end
  write(value, number, kind, host, seen)
  return 1
end

-- Take pages out for good, pending ones only if the process has them. Returns those taken out.
function follow.remove(_, process)
  local removed = {}
  for place = 8, #ARGV do
    local number = ARGV[place]
    if is_claimed(process, number) or not is_in_flight(number) then
      gone(number)
      end_claim(process, number)
      removed[#removed + 1] = tonumber(number)
    end
  end
  return removed
end

-- Append events anew, so that the chunk that they are in can be deleted: number, value, kind, host
-- and time of each. Not those of pages of which something has come since.
-- Returns: 1, or 0 if so much has come that nothing was done
function follow.repeat_events(offset)
  local told = told_of_since(offset)
  for place = 7, told and #ARGV or 0, 5 do
    local number = tonumber(ARGV[place])
    if not told[number] then
      write(ARGV[place + 1], number, ARGV[place + 2], ARGV[place + 3], ARGV[place + 4])
    end
  end
  return told and 1 or 0
end

-- Delete the chunks of the log before this one: they tell of no page any more.
function follow.trim(_, first_to_stay)
  for chunk = first_chunk, first_to_stay - 1 do
    redis.call('UNLINK', key('log:' .. chunk))
    redis.call('HSET', meta, 'first_chunk', chunk + 1)
  end
  return 1
end

local name = ARGV[1]
if functions[name] then return functions[name](unpack(ARGV, 4, 15)) end
local offset = tonumber(ARGV[5])
return goes_on(ARGV[4], offset, ARGV[6]) and follow[name](offset, unpack(ARGV, 7, 15)) or -1
