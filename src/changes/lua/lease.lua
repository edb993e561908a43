-- Takes one message of the outbox, so that one process at a time sends it.
-- KEYS: record, outbox.   ARGV: id, message name, token, lease in ms
-- Returns { mode, until in ms }: 'fresh' send it; 'unsure' it may have been sent before: look first; 'held' somebody else is at it;
-- 'settled' nothing to do any more; 'missing' the request is gone.
local id, name, token, lease = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local member, field = id .. '/' .. name, 'outbox:' .. name
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREM', KEYS[2], member)
  return { 'missing', '0' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local raw = redis.call('HGET', KEYS[1], field)
local item = raw and cjson.decode(raw) or { status = 'queued' }
-- A card that shows the latest revision owes nothing, either.
local shown = name ~= 'card' or redis.call('HGET', KEYS[1], 'cardRevision') == redis.call('HGET', KEYS[1], 'revision')
if item.status == 'settled' and shown then
  redis.call('ZREM', KEYS[2], member)
  return { 'settled', '0' }
end
if item.status == 'sending' and item.token ~= token and item['until'] > now then
  redis.call('ZADD', KEYS[2], item['until'], member)
  return { 'held', string.format('%.0f', item['until']) }
end

local mode = 'fresh'
if item.status == 'unsure' or (item.status == 'sending' and item.token ~= token) then mode = 'unsure' end
if item.status == 'sending' and item.token == token then mode = item.mode end
redis.call('HSET', KEYS[1], field, cjson.encode({ status = 'sending', token = token, mode = mode, ['until'] = now + lease }))
redis.call('ZADD', KEYS[2], now + lease, member)
return { mode, string.format('%.0f', now + lease) }
