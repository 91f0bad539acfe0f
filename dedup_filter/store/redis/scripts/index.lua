-- All atomic operations on a shared index.
--
-- ARGV: name of the function, a random byte, the time in Unix seconds, arguments of the function.
-- KEYS[1]: "dedup:{name}:length"; for `put_back` and `add_update`, the single key that they use.
-- All other keys are in the slot of KEYS[1]; records are written only if the server has no slots.
local EVENT, CHUNK = 56, 1700
local VALUE = 40  -- the first bytes of an event, which only crawlers read
local LONG, SHORT, GONE = 1, 2, 3
local MOST_UNREAD = 65536  -- most events that are searched before a page is changed
local salt, seen = ARGV[2], ARGV[3]
local prefix = string.sub(KEYS[1], 1, -7)
local functions = {}
local follow = {}  -- functions that require the caller to have read the log, see below

local function key(name)
  return prefix .. name
end
local flight, meta, processes = key('flight'), key('meta'), key('processes')

-- While a slot moves to another node, a script fails at the first key that is not on its node, with
-- half of its work done. So the script first checks two keys, one of them a key that never exists:
-- if the slot is moving, this check fails before anything is done.
if string.sub(KEYS[1], -7) == ':length' then
  redis.call('EXISTS', KEYS[1], key('nowhere'))
end

local events_there, first_chunk, moment  -- each is read once

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

-- Append an event; number 0: the page gets the number of the event. Returns the page's number.
local function write(value, number, kind, host, when)
  local at = redis.call('INCR', KEYS[1])
  events_there = at
  if number == 0 then number = at end
  local event = value .. struct.pack('<I6BBI4I4', number, kind, salt, host, when)
  local chunk = key('log:' .. math.floor((at - 1) / CHUNK))
  -- SETRANGE, not APPEND: a server may have lost a part of the chunk.
  redis.call('SETRANGE', chunk, (at - 1) % CHUNK * EVENT, event)
  if at % CHUNK == 0 then  -- full: rewriting it frees the spare room
    redis.call('SET', chunk, redis.call('GET', chunk))
  end
  return number
end

-- Append the event that a page is gone. Call this before any other write: a server without free
-- memory refuses the event, and then nothing else may be changed.
local function gone(number)
  write(string.rep('\0', VALUE), tonumber(number), GONE, 0, seen)
end

-- Return the offset and at most `most` events after it; deleted chunks are skipped. Events that a
-- server has lost are zeros.
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

-- Return the pages of all events after an offset; nil if there are too many events.
local function pages_since(offset)
  if length() - offset > MOST_UNREAD then return nil end
  local _, events = since(offset, MOST_UNREAD)
  local later = {}
  for place = VALUE + 1, #events, EVENT do
    later[struct.unpack('<I6', events, place)] = true
  end
  return later
end

-- Return whether the log is still the one that a process has read up to an offset, with this last
-- event. The index may have been made anew; after a fail-over the log may be shorter or differ.
local function goes_on(id, offset, last)
  local its_own = redis.call('HMGET', meta, 'id', 'first_chunk')
  first_chunk = tonumber(its_own[2] or '0')
  if its_own[1] ~= id or offset > length() then return false end
  local chunk, first = math.floor((offset - 1) / CHUNK), (offset - 1) % CHUNK * EVENT
  local found = redis.call('GETRANGE', key('log:' .. chunk), first, first + EVENT - 1)
  return last == '' or found == '' or found == last
end

-- Set the record of a page, which expires after `seconds` ('': never); name '': do nothing.
local function put_record(name, record, seconds)
  if name ~= '' then
    redis.call('SET', name, record, unpack(seconds == '' and {} or {'EX', seconds}))
  end
end

local function is_in_flight(number)
  return redis.call('HEXISTS', flight, number) == 1
end

-- Return whether a process has a page pending.
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

-- Release at most `most` pending pages of a process; end the process if no pages are left.
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

-- Release pending pages of processes whose lease is over: few at each call, to keep calls short.
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

-- Make the index if there is none. Returns whether an index of this format and scheme exists now.
-- Unless `is_known`, other keys under the name may belong to another program: nothing is made.
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

-- Returns 1, or 0 if no index of this format and scheme can be made.
function functions.make(format, scheme, id)
  return is_made(format, scheme, id, false) and 1 or 0
end

-- Join the index as a process, make the index if there is none, and begin or join a crawl. `back`:
-- the crawl of a process that joins again, 0 for a new process.
-- Returns: crawl (0: no index of this scheme, -1: running processes have another scope), id of the
--   index, options of the other running processes
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
  if is_back then  -- crawl numbers never fall, even if the server has lost the last one
    crawl = back
    if tonumber(redis.call('HGET', meta, 'crawl')) < tonumber(crawl) then
      redis.call('HSET', meta, 'crawl', crawl)
    end
  elseif not crawl and is_anybody_at_work() then  -- processes running together share one crawl
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

-- Restore a crawl of another index. `started`: Unix seconds or ''. Returns its number here, or 0 if
-- a process is running: the crawl of that process must stay the latest one.
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

-- Renew the lease of a process, and add to the common totals: outcome, count, outcome, count ...
-- Returns 1; -1 if the index does not exist any more, and nothing was done.
function functions.beat(process, lease)
  if redis.call('EXISTS', meta) == 0 then return -1 end
  renew(process, lease)
  for place = 6, #ARGV, 2 do
    redis.call('HINCRBY', key('totals'), ARGV[place], ARGV[place + 1])
  end
  return 1
end

-- Release the pending pages of a process, and end the process.
function functions.leave(process)
  release_owned(process, 100000)
end

-- Release the pending pages of a process, except the pages in the further arguments.
function functions.disown(process)
  local known = {}
  for place = 5, #ARGV do
    known[ARGV[place]] = true
  end
  for _, number in ipairs(redis.call('SMEMBERS', key('owned:' .. process))) do
    if not known[number] then release(process, number) end
  end
end

-- Add pages whose records are already written under their future numbers, if the log has `before`
-- events. Further arguments: value, kind, host, time and outcome of each page.
-- Returns nothing, or the length of the log if nothing was added
function functions.restore(before)
  if length() ~= tonumber(before) then return length() end
  for place = 5, #ARGV, 5 do
    write(ARGV[place], 0, ARGV[place + 1], ARGV[place + 2], ARGV[place + 3])
    redis.call('HINCRBY', key('totals'), ARGV[place + 4], 1)
  end
end

-- Restore the previous record ('': none) under KEYS[1], if the key still has the given record.
function functions.put_back(record, before, seconds)
  if redis.call('GET', KEYS[1]) == record then
    redis.call('UNLINK', KEYS[1])
    put_record(before ~= '' and KEYS[1] or '', before, seconds)
  end
end

-- Add an update to the list of a host, KEYS[1], unless it has `most`. Returns the list's length.
function functions.add_update(update, most, seconds)
  local count = redis.call('LLEN', KEYS[1])
  if count < tonumber(most) then
    count = redis.call('RPUSH', KEYS[1], update)
    redis.call('EXPIRE', KEYS[1], seconds)
  end
  return count
end

-- Commit a pending page of a process. `replaced`: the page it replaces, or '0'. `name`: '' on a
-- cluster, where the record is written before. Returns 1; 0 if the process has it not pending.
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

-- The calls of all functions below say how far the process has read the log: id, offset and last
-- event. If `goes_on` is false, the call returns -1 and does nothing. Else they get the offset.

-- Return at most `most` events after the offset; append a pending page first, if one is given and
-- the answer has room for all events. `held`: number of pages that the process knows as pending.
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

-- Replace the measures of a page. `process`: '' unless it has the page pending. `name`: '' on a
-- cluster, where the record is written later. Returns 1; 0 if the page has or may have changed.
function follow.replace(offset, process, number, value, kind, host, record, name, seconds)
  number = tonumber(number)
  if process ~= '' then
    if not is_claimed(process, number) then return 0 end
    redis.call('HSET', flight, number, record)
  else
    local later = pages_since(offset)
    if is_in_flight(number) or not later or later[number] then return 0 end
    put_record(name, record, seconds)
  end
  write(value, number, kind, host, seen)
  return 1
end

-- Remove pages; a pending page only if the process has it pending. Returns the removed pages.
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

-- Append events again, so that their chunk can be deleted. Events of pages with later events are
-- skipped.
-- Returns: 1, or 0 if there are too many later events and nothing was done
function follow.repeat_events(offset)
  local later = pages_since(offset)
  for place = 7, later and #ARGV or 0 do
    local value = string.sub(ARGV[place], 1, VALUE)
    local number, kind, _, host, when = struct.unpack('<I6BBI4I4', ARGV[place], VALUE + 1)
    if not later[number] then write(value, number, kind, host, when) end
  end
  return later and 1 or 0
end

-- Delete the chunks of the log before this one: they hold no current events.
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
