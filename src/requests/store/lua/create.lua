-- Creates a request, unless it exists (a repeated delivery), another open request holds its resource, or its requester has as many
-- undecided requests as a person may have.
-- KEYS: record, resource, latest, open, outbox, due, audit intake, undecided requests of the requester.
-- ARGV: JSON { id, recordPrefix, open: [state], fields: { name: json }, expiresAt, dueInMs, keepLatestMs, needsApproval,
--              mostUndecided | false, keepUndecidedMs }, the audit note as JSON.
-- Returns { 'created' | 'exists' | 'busy' | 'too-many', id of the request that holds the resource }.
local arg = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'exists', arg.id } end

local holder = redis.call('GET', KEYS[2])
if holder and holder ~= arg.id then
  local state = redis.call('HGET', arg.recordPrefix .. holder, 'state')
  for _, open in ipairs(arg.open) do
    if state == cjson.encode(open) then return { 'busy', holder } end
  end
end

if arg.needsApproval then
  local undecided = 0
  for _, id in ipairs(redis.call('SMEMBERS', KEYS[8])) do
    if redis.call('HGET', arg.recordPrefix .. id, 'state') == '"waiting"' then
      undecided = undecided + 1
    else
      redis.call('SREM', KEYS[8], id)
    end
  end
  if arg.mostUndecided and undecided >= arg.mostUndecided then return { 'too-many', arg.id } end
  redis.call('SADD', KEYS[8], arg.id)
  redis.call('PEXPIRE', KEYS[8], arg.keepUndecidedMs)
end

local now = clock()
redis.call('SET', KEYS[2], arg.id)
redis.call('SET', KEYS[3], arg.id, 'PX', arg.keepLatestMs)
local values = { 'revision', '1', 'expiresAt', whole(arg.expiresAt) }
for field, value in pairs(arg.fields) do
  values[#values + 1] = field
  values[#values + 1] = value
end
redis.call('HSET', KEYS[1], unpack(values))
redis.call('ZADD', KEYS[4], now, arg.id)
redis.call('ZADD', KEYS[5], now, arg.id .. '/card')
redis.call('ZADD', KEYS[6], now + arg.dueInMs, arg.id)
redis.call('XADD', KEYS[7], '*', 'note', ARGV[2], 'at', whole(now), 'to', 'waiting')
return { 'created', arg.id }
