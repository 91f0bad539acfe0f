-- Stands before each of the other scripts. All keys of an index that scripts touch are in one slot
-- of a cluster: they begin alike, up to the name in braces, by which Redis finds the slot.
local EVENT, CHUNK = 24, 4000
local LONG, SHORT, GONE = 1, 2, 3
local prefix = string.sub(KEYS[1], 1, -7)  -- KEYS[1] is "dedup:{name}:length"

local function key(name)
  return prefix .. name
end

-- While a slot moves from one node of a cluster to another, each has some of its keys, and a script
-- fails at the first that is not where it runs, with half of its work done. So all scripts that touch
-- several keys ask for two first, one of which is nowhere: that fails if the slot is moving.
if string.sub(KEYS[1], -7) == ':length' then
  redis.call('EXISTS', KEYS[1], key('nowhere'))
end

local function length()
  return tonumber(redis.call('GET', KEYS[1]) or '0')
end

-- Time of the server in milliseconds: leases must not depend on the clocks of crawlers.
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Append an event; without a number its page gets the number of the event. Returns that.
local function write(value, number, kind, salt, host, seen)
  local at = redis.call('INCR', KEYS[1])
  if number == 0 then
    number = at
  end
  local event = value .. struct.pack('<I6BBI4I4', number, kind, salt, host, seen)
  local chunk = key('log:' .. math.floor((at - 1) / CHUNK))
  -- At its place, whatever is there: a server may have lost a part of it.
  redis.call('SETRANGE', chunk, (at - 1) % CHUNK * EVENT, event)
  if at % CHUNK == 0 then  -- full: written anew it keeps no room for more
    redis.call('SET', chunk, redis.call('GET', chunk))
  end
  return number
end

-- Say that a page is gone. A script does this before all else: a server that has no memory left
-- refuses it, and then nothing else may be done.
local function gone(number, salt, seen)
  write(string.rep('\0', 8), number, GONE, salt, 0, seen)
end

-- The events after a place in the log, at most so many, and the place from which they are: chunks
-- before the first one have been deleted. Events that a server has lost are zeros.
local function since(offset, most)
  local first_chunk = tonumber(redis.call('HGET', key('meta'), 'first_chunk') or '0')
  offset = math.max(offset, first_chunk * CHUNK)
  local start, last = offset, math.min(length(), offset + most)
  local parts = {}
  while offset < last do
    local chunk = math.floor(offset / CHUNK)
    local stop = math.min(last - chunk * CHUNK, CHUNK)
    local first = offset - chunk * CHUNK
    local found = redis.call('GETRANGE', key('log:' .. chunk), first * EVENT, stop * EVENT - 1)
    parts[#parts + 1] = found .. string.rep('\0', (stop - first) * EVENT - #found)
    offset = chunk * CHUNK + stop
  end
  return start, table.concat(parts)
end

-- Whether the log goes on from where somebody has read it: it may have been deleted and begun anew,
-- and after a fail-over it may be shorter, or another one from some place on. Where nothing is left
-- to compare, they agree.
local function agrees(id, offset, last)
  if redis.call('HGET', key('meta'), 'id') ~= id or offset > length() then
    return false
  end
  if offset == 0 or last == '' then
    return true
  end
  local chunk = math.floor((offset - 1) / CHUNK)
  local first = (offset - 1 - chunk * CHUNK) * EVENT
  local found = redis.call('GETRANGE', key('log:' .. chunk), first, first + EVENT - 1)
  return found == last or found == ''
end

-- Set the record of a page that lasts so many seconds, 0 for ever.
local function put_record(name, record, seconds)
  if name == '' then
    return
  end
  if seconds == '0' then
    redis.call('SET', name, record)
  else
    redis.call('SET', name, record, 'EX', seconds)
  end
end

-- Release a page that a process owns; one that is not in flight has been forgotten by another.
local function release(process, number, salt, seen)
  if redis.call('HEXISTS', key('flight'), number) == 1 then
    gone(tonumber(number), salt, seen)
    redis.call('HDEL', key('flight'), number)
  end
  redis.call('SREM', key('owned:' .. process), number)
end

-- Release the pages that a process has pending, at most so many. Returns how many are left.
local function release_owned(process, most, salt, seen)
  local owned = key('owned:' .. process)
  for _, number in ipairs(redis.call('SRANDMEMBER', owned, most)) do
    release(process, number, salt, seen)
  end
  return redis.call('SCARD', owned)
end

local function end_process(process)
  redis.call('ZREM', key('processes'), process)
  redis.call('HDEL', key('options'), process)
end

-- Release what processes have pending whose lease is over: some at each call, as calls are short.
local function release_lapsed(salt, seen)
  local lapsed = redis.call('ZRANGEBYSCORE', key('processes'), '-inf', now(), 'LIMIT', 0, 1)
  for _, process in ipairs(lapsed) do
    if release_owned(process, 100, salt, seen) == 0 then
      end_process(process)
    end
  end
end

local function renew(process, lease)
  redis.call('ZADD', key('processes'), now() + lease, process)
end
