-- Stands before every script. Scripts use the clock of the server that holds Lockkeeper's keys, because it is the same for every process.

-- Returns the current time in milliseconds since 1970.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Formats a whole number. Without this, Redis can convert a large number to 1.7e+12.
local function whole(number)
  return string.format('%.0f', number)
end

-- Returns '' for a key that does not exist. Somebody may have put a list or a hash there, which must not make every read fail.
local function textOf(key)
  local text = redis.pcall('GET', key)
  return type(text) == 'table' and 'no text' or text or ''
end

-- Returns the text of the entry of the audit that stands at an id now, and that of the first entry. '' for none.
local function standingAt(audit, id)
  local function textIn(found) return found[1] and found[1][2][2] or '' end
  local standing = id == '' and '' or textIn(redis.call('XRANGE', audit, id, id))
  return standing, textIn(redis.call('XRANGE', audit, '-', '+', 'COUNT', 1))
end

-- Owes a message that is about no request: its facts stay for `keepMs`, or for as long as one that was sent is remembered, and it is due in `inMs`.
local function owe(message, outbox, member, facts, keepMs, inMs)
  local now = clock()
  redis.call('HSET', message, 'facts', facts)
  redis.call('HSETNX', message, 'at', whole(now))
  if redis.call('PTTL', message) < tonumber(keepMs) then redis.call('PEXPIRE', message, keepMs) end
  redis.call('ZADD', outbox, now + inMs, member)
end
