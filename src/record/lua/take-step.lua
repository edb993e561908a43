-- Takes a step of a request as one compare-and-set. No other script changes the state of an existing record, or raises its revision.
-- Safe to repeat: a client sends a command again when its connection breaks. The repeat finds its own token and returns 'won' again.
-- KEYS: record, open, ended, outbox, due, audit intake, then the lock and the last change of each resource.
-- ARGV: JSON { id, tokenName, token, from: [state], to, set: { field: json }, stamp: [field], clear: [field], unexpired, notAfter | false, unlessLocked,
--              freeze: { key, is } | false, openStates: [state],
--              revision | false, extendMs | false, dueInMs | false, keepDue, reports: [name], open, keepMs,
--              changed: [number of the key of a last change], recordPrefix, parent: id | false, children: [id of the child of each resource, or ''],
--              cardPaceMs,
--              beside: { ids: [id], most, withinMs } | false }, the audit note as JSON.
-- Returns { 'won' | 'lost' | 'changed' | 'expired' | 'outdated' | 'frozen' | 'full' | 'missing', state as JSON, now in ms }.
local arg = cjson.decode(ARGV[1])
local now = clock()
local stamp = whole(now)

local tokenField = 'token:' .. arg.tokenName
local known = redis.call('HMGET', KEYS[1], 'state', tokenField, 'revision', 'expiresAt', 'packed')
local state, lastToken, lastRevision, expiresAt = known[1], known[2], tonumber(known[3]), tonumber(known[4])
if not state then return { 'missing', '""', stamp } end
local packedToken = cjson.encode(tokenField) .. ':' .. cjson.encode(arg.token)
if lastToken == arg.token or string.find(known[5] or '', packedToken, 1, true) then return { 'won', state, stamp } end

local allowed = false
for _, from in ipairs(arg.from) do
  if state == cjson.encode(from) then allowed = true end
end
if not allowed then return { 'lost', state, stamp } end
if arg.revision and lastRevision ~= arg.revision then return { 'changed', state, stamp } end
if arg.unexpired and now >= expiresAt then return { 'expired', state, stamp } end
if arg.notAfter and now > arg.notAfter then return { 'outdated', state, stamp } end
if arg.freeze and textOf(arg.freeze.key) ~= arg.freeze.is then return { 'frozen', state, stamp } end

-- Whether another request locks the resource of a key. One that has ended, or whose record is gone, locks nothing, as for a new request. A parent
-- locks what its children change, and they lock it for their parent.
local function isLocked(key)
  local holder = redis.call('GET', KEYS[key])
  if not holder or holder == arg.id or holder == arg.parent or holder == arg.children[(key - 5) / 2] then return false end
  local itsState = redis.pcall('HGET', arg.recordPrefix .. holder, 'state')
  for _, open in ipairs(arg.openStates) do
    if itsState == cjson.encode(open) then return true end
  end
  return false
end
for i = 7, arg.unlessLocked and #KEYS or 0, 2 do
  if isLocked(i) then return { 'lost', state, stamp } end
end
if arg.beside then
  if redis.call('HGET', arg.recordPrefix .. arg.parent, 'state') ~= '"tracking"' then return { 'lost', state, stamp } end
  local sent = 0
  for _, id in ipairs(arg.beside.ids) do
    local other = redis.call('HMGET', arg.recordPrefix .. id, 'state', 'sentAt')
    if other[1] == '"starting"' and now - tonumber(other[2]) < arg.beside.withinMs then sent = sent + 1 end
  end
  if sent >= arg.beside.most then return { 'full', state, stamp } end
end

-- What scripts read of an ended request. Everything else goes into one field, because each field of a hash takes 60 bytes more than its text. A
-- field that is set later goes before its value there.
local stays = { state = true, revision = true, expiresAt = true, cardTs = true, cardRevision = true }
local function pack()
  local flat, left, packed = redis.call('HGETALL', KEYS[1]), {}, {}
  local facts = redis.call('HGET', KEYS[1], 'facts')
  for i = 1, #flat, 2 do
    local field, value = flat[i], flat[i + 1]
    if field == 'packed' then
      table.insert(packed, 1, string.sub(value, 2, -2))
    elseif stays[field] or string.find(field, '^outbox:') then
      left[#left + 1] = field
      left[#left + 1] = value
    elseif string.find(field, '^token:') then
      packed[#packed + 1] = cjson.encode(field) .. ':' .. cjson.encode(value)
    elseif not string.find(field, ':') and not (field == 'seen' and value == facts) then
      packed[#packed + 1] = cjson.encode(field) .. ':' .. value
    end
  end
  -- A child may end after its parent.
  local leftMs = redis.call('PTTL', KEYS[1])
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'packed', '{' .. table.concat(packed, ',') .. '}', unpack(left))
  if leftMs > 0 then redis.call('PEXPIRE', KEYS[1], leftMs) end
end

local revision = lastRevision + 1
local values = { 'state', cjson.encode(arg.to), tokenField, arg.token, 'revision', whole(revision) }
local function set(field, value)
  values[#values + 1] = field
  values[#values + 1] = value
end
for field, value in pairs(arg.set) do set(field, value) end
for _, field in ipairs(arg.stamp) do set(field, stamp) end
-- Each step owes its own message, even if an earlier step owed the same report.
for _, report in ipairs(arg.reports) do set('outbox:' .. report, cjson.encode({ status = 'queued', owedBy = revision })) end
if arg.extendMs then set('expiresAt', whole(now + arg.extendMs)) end
redis.call('HSET', KEYS[1], unpack(values))
for _, field in ipairs(arg.clear) do redis.call('HDEL', KEYS[1], field) end

redis.call('XADD', KEYS[6], '*', 'note', ARGV[2], 'at', stamp, 'to', arg.to)

if arg.dueInMs then
  redis.call('ZADD', KEYS[5], now + arg.dueInMs, arg.id)
elseif not arg.keepDue then
  redis.call('ZREM', KEYS[5], arg.id)
end

if arg.parent then
  -- The parent shows it, counts it and sends the next. It keeps the locks. Many steps share one update of its message.
  local parent = arg.recordPrefix .. arg.parent
  if redis.call('EXISTS', parent) == 1 then
    redis.call('HINCRBY', parent, 'revision', 1)
    redis.call('HSET', parent, 'pace:card', whole(arg.cardPaceMs))
    redis.call('ZADD', KEYS[4], 'NX', now + arg.cardPaceMs, arg.parent .. '/card')
    redis.call('ZADD', KEYS[5], 'XX', now, arg.parent)
  end
  for _, key in ipairs(arg.changed) do redis.call('SET', KEYS[key], arg.parent, 'PX', arg.keepMs) end
  for i = 7, #KEYS, 2 do
    if arg.to ~= 'starting' and redis.call('GET', KEYS[i]) == arg.id then redis.call('DEL', KEYS[i]) end
  end
  if not arg.open then pack() end
  return { 'won', cjson.encode(arg.to), stamp }
end

redis.call('ZADD', KEYS[4], now, arg.id .. '/card')
for _, report in ipairs(arg.reports) do redis.call('ZADD', KEYS[4], now, arg.id .. '/' .. report) end
if arg.open then
  -- A request that is tracked again locks its resources again, if they are free.
  for i = 7, #KEYS, 2 do
    if not isLocked(i) then redis.call('SET', KEYS[i], arg.id) end
  end
  redis.call('PERSIST', KEYS[1])
  for _, id in ipairs(arg.children) do
    if id ~= '' then redis.call('PERSIST', arg.recordPrefix .. id) end
  end
  redis.call('ZADD', KEYS[2], now, arg.id)
  redis.call('ZREM', KEYS[3], arg.id)
elseif state ~= cjson.encode(arg.to) then
  for i = 7, #KEYS, 2 do
    if redis.call('GET', KEYS[i]) == arg.id then
      local child = arg.children[(i - 5) / 2]
      -- A write whose outcome is not known may still take effect, so its child keeps the lock until then.
      if child ~= '' and redis.call('HGET', arg.recordPrefix .. child, 'state') == '"starting"' then
        redis.call('SET', KEYS[i], child)
      else
        redis.call('DEL', KEYS[i])
      end
    end
  end
  redis.call('ZREM', KEYS[2], arg.id)
  redis.call('ZADD', KEYS[3], now, arg.id)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - arg.keepMs)
  pack()
  redis.call('PEXPIRE', KEYS[1], arg.keepMs)
  for _, id in ipairs(arg.children) do
    if id ~= '' then redis.call('PEXPIRE', arg.recordPrefix .. id, arg.keepMs) end
  end
end
for _, key in ipairs(arg.changed) do
  local child = arg.children[(key - 6) / 2]
  local itsState = child ~= '' and redis.call('HGET', arg.recordPrefix .. child, 'state')
  -- A child that was done has said so itself.
  if child == '' or itsState == '"starting"' or itsState == '"tracking"' then redis.call('SET', KEYS[key], arg.id, 'PX', arg.keepMs) end
end
return { 'won', cjson.encode(arg.to), stamp }
