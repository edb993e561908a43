-- Takes one call to the account API out of the allowance of the last window, which all processes share, or says when one may be free.
-- KEYS: a sorted set of the calls by time, a hash of their counts, a pause, a sorted set of the single writes that wait.
-- ARGV: the window in ms, the token of the call ('' only asks), the counts that it adds to (separated by |), how it waits ('' or the id of a
-- single write), whether all single writes that wait go first ('first' or ''), the ages in ms of calls that were sent without being counted
-- (separated by |), a count ('' or of a lane), then pairs of a count and its limit. The limit of a user only holds if others have added to that count.
-- Returns the ms until a call may be free; 0 if this one was counted. Safe to repeat with the same token.
local window, token, adds, waiter = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local now = clock()
if token ~= '' and redis.call('ZSCORE', KEYS[1], token .. '|' .. adds) then return '0' end

local function count(member, by)
  for name in string.gmatch(string.match(member, '|(.*)$') or '', '[^|]+') do
    if redis.call('HINCRBY', KEYS[2], name, by) <= 0 then redis.call('HDEL', KEYS[2], name) end
  end
end

local number = 0
for age in string.gmatch(ARGV[6], '[^|]+') do
  number = number + 1
  local member = token .. '-' .. number .. '|total|other'
  if redis.call('ZADD', KEYS[1], now - tonumber(age), member) == 1 then count(member, 1) end
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - window)) do
  redis.call('ZREM', KEYS[1], member)
  count(member, -1)
end

-- The time until enough of the calls that belong to a count are older than the window.
local function waitFor(name, most)
  local used = tonumber(redis.call('HGET', KEYS[2], name) or '0')
  if used < most then return 0 end
  if most <= 0 then return window end
  local over = used - most + 1
  local entries = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  for i = 1, #entries, 2 do
    if string.find(entries[i] .. '|', '|' .. name .. '|', 1, true) then
      over = over - 1
      if over == 0 then return math.max(1, tonumber(entries[i + 1]) + window - now) end
    end
  end
  return window
end

local function isAlone(name)
  if ARGV[7] == '' or string.sub(name, 1, 5) ~= 'user:' then return false end
  return (redis.call('HGET', KEYS[2], ARGV[7]) or '0') == (redis.call('HGET', KEYS[2], name) or '0')
end

local wait = math.max(0, redis.call('PTTL', KEYS[3]))
local first = 0
if ARGV[5] == 'first' or waiter ~= '' then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
  -- Among single writes, those whose turns come sooner. Otherwise all would come for the same turn, each with a check before it.
  local own = waiter ~= '' and redis.call('ZSCORE', KEYS[4], waiter)
  first = redis.call('ZCOUNT', KEYS[4], '-inf', own and '(' .. own or '+inf')
end
for i = 8, #ARGV, 2 do
  if not isAlone(ARGV[i]) then wait = math.max(wait, waitFor(ARGV[i], tonumber(ARGV[i + 1]) - first)) end
end
if wait > 0 then
  if waiter ~= '' then
    -- It comes again when its turn may be free. If its process ends, it holds up nobody for longer.
    redis.call('ZADD', KEYS[4], now + wait + 5000, waiter)
    redis.call('PEXPIRE', KEYS[4], 600000)
  end
  return whole(wait)
end
if token == '' then return '0' end
if waiter ~= '' then redis.call('ZREM', KEYS[4], waiter) end
local member = token .. '|' .. adds
redis.call('ZADD', KEYS[1], now, member)
count(member, 1)
redis.call('PEXPIRE', KEYS[1], window * 2)
redis.call('PEXPIRE', KEYS[2], window * 2)
return '0'
