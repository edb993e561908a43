-- Creates a request, unless it exists (a repeated delivery), another open request holds one of its resources, or its requester has as many
-- undecided requests as a person may have. Takes all its resources or none.
-- KEYS: record, open, outbox, due, audit intake, undecided requests of the requester, then the lock and the latest of each resource.
-- ARGV: JSON { id, recordPrefix, open: [state], fields: { name: json }, expiresAt, dueInMs, keepLatestMs, needsApproval,
--              mostUndecided | false, keepUndecidedMs }, the audit note as JSON.
-- Returns { 'created' | 'exists' | 'too-many' }, or 'busy' and then, for each resource that is held, its number from 1 and the id of the
-- request that holds it.
local arg = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'exists' } end

local isOpen = {}
for _, open in ipairs(arg.open) do isOpen[cjson.encode(open)] = true end
local busy = { 'busy' }
for i = 7, #KEYS, 2 do
  local holder = redis.call('GET', KEYS[i])
  if holder and holder ~= arg.id and isOpen[redis.call('HGET', arg.recordPrefix .. holder, 'state') or ''] then
    busy[#busy + 1] = whole((i - 5) / 2)
    busy[#busy + 1] = holder
  end
end
if #busy > 1 then return busy end

local undecided, decided = 0, {}
if arg.needsApproval then
  for _, id in ipairs(redis.call('SMEMBERS', KEYS[6])) do
    if redis.call('HGET', arg.recordPrefix .. id, 'state') == '"waiting"' then
      undecided = undecided + 1
    else
      decided[#decided + 1] = id
    end
  end
  if arg.mostUndecided and undecided >= arg.mostUndecided then return { 'too-many' } end
end

-- A full Redis refuses a script at its first write, if that takes memory, and lets the rest pass. So the first one is a SET.
local now = clock()
for i = 7, #KEYS, 2 do
  redis.call('SET', KEYS[i], arg.id)
  redis.call('SET', KEYS[i + 1], arg.id, 'PX', arg.keepLatestMs)
end
for _, id in ipairs(decided) do redis.call('SREM', KEYS[6], id) end
if arg.needsApproval then
  redis.call('SADD', KEYS[6], arg.id)
  redis.call('PEXPIRE', KEYS[6], arg.keepUndecidedMs)
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
