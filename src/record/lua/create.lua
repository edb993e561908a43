-- Creates a request, unless it exists (a repeated delivery), another open request locks one of its resources, or its requester has as many
-- undecided requests as a person may have, or made as many lately. Takes all its resources or none.
-- KEYS: record, open, outbox, due, audit intake, undecided and latest requests of the requester, then the lock of each resource.
-- ARGV: JSON { id, recordPrefix, open: [state], fields: { name: json }, expiresAt, dueInMs, needsApproval,
--              mostUndecided | false, keepUndecidedMs, mostLately | false, latelyMs, whileExists | nil }, the audit note as JSON.
-- Returns { 'created' | 'exists' | 'gone' (the key `whileExists` does not exist) | 'too-many' }, or 'busy' and then, for each resource that is locked, its number from 1 and the id of the
-- request that locks it, or 'too-often' and from when on the requester may request again, in ms.
local arg = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'exists' } end
if arg.whileExists and redis.call('EXISTS', arg.whileExists) == 0 then return { 'gone' } end

-- A key of another type was not written by Lockkeeper. It counts as missing, so that it cannot make every request of a person fail.
local function is(expected, key) return redis.call('TYPE', key).ok == expected end
local function stateOf(id)
  local record = arg.recordPrefix .. id
  return is('hash', record) and redis.call('HGET', record, 'state')
end

local isOpen = {}
for _, open in ipairs(arg.open) do isOpen[cjson.encode(open)] = true end
local busy = { 'busy' }
for i = 8, #KEYS do
  local holder = is('string', KEYS[i]) and redis.call('GET', KEYS[i])
  if holder and holder ~= arg.id and isOpen[stateOf(holder) or ''] then
    busy[#busy + 1] = whole(i - 7)
    busy[#busy + 1] = holder
  end
end
if #busy > 1 then return busy end

local undecided, decided = 0, {}
if arg.needsApproval and is('set', KEYS[6]) then
  for _, id in ipairs(redis.call('SMEMBERS', KEYS[6])) do
    if stateOf(id) == '"waiting"' then
      undecided = undecided + 1
    else
      decided[#decided + 1] = id
    end
  end
  if arg.mostUndecided and undecided >= arg.mostUndecided then return { 'too-many' } end
end

local now = clock()
if arg.mostLately and is('zset', KEYS[7]) then
  local nth = redis.call('ZREVRANGE', KEYS[7], arg.mostLately - 1, arg.mostLately - 1, 'WITHSCORES')
  if nth[2] and now < nth[2] + arg.latelyMs then return { 'too-often', whole(nth[2] + arg.latelyMs) } end
end

-- A full Redis refuses a script at its first write, if that takes memory, and lets the rest pass. So the first one is a SET.
for i = 8, #KEYS do redis.call('SET', KEYS[i], arg.id) end
for _, id in ipairs(decided) do redis.call('SREM', KEYS[6], id) end
if not is('set', KEYS[6]) then redis.call('DEL', KEYS[6]) end
if not is('zset', KEYS[7]) then redis.call('DEL', KEYS[7]) end
if arg.needsApproval then
  redis.call('SADD', KEYS[6], arg.id)
  redis.call('PEXPIRE', KEYS[6], arg.keepUndecidedMs)
end
if arg.mostLately then
  redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', now - arg.latelyMs)
  redis.call('ZADD', KEYS[7], now, arg.id)
  redis.call('PEXPIRE', KEYS[7], arg.latelyMs)
end
local values = { 'revision', '1', 'expiresAt', whole(arg.expiresAt) }
for field, value in pairs(arg.fields) do
  values[#values + 1] = field
  values[#values + 1] = value
end
redis.call('HSET', KEYS[1], unpack(values))
redis.call('ZADD', KEYS[2], now, arg.id)
redis.call('ZADD', KEYS[3], now, arg.id .. '/card')
redis.call('ZADD', KEYS[4], now + arg.dueInMs, arg.id)
redis.call('XADD', KEYS[5], '*', 'note', ARGV[2], 'at', whole(now), 'to', 'waiting')
return { 'created' }
