-- Creates a request, unless it exists (a repeated delivery) or another open request holds its resource.
-- KEYS: record, resource, latest, open, outbox, due, audit intake.
-- ARGV: JSON { id, recordPrefix, open: [state], fields: { name: json }, expiresAt, dueInMs, keepLatestMs }, the audit note as JSON.
-- Returns { 'created' | 'exists' | 'busy', id of the request that holds the resource }.
local arg = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'exists', arg.id } end

local holder = redis.call('GET', KEYS[2])
if holder and holder ~= arg.id then
  local state = redis.call('HGET', arg.recordPrefix .. holder, 'state')
  for _, open in ipairs(arg.open) do
    if state == cjson.encode(open) then return { 'busy', holder } end
  end
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
