-- Discards a request whose card could not be posted. Only its audit notes stay.
-- KEYS: record, open, outbox, due, audit intake, undecided and latest requests of the requester, then the lock of each resource.
-- ARGV: id, the audit note as JSON.
-- Returns 'discarded', 'gone' if there is no record, or 'kept' if its card was posted or it left the state waiting.
local id = ARGV[1]
if redis.call('HEXISTS', KEYS[1], 'cardTs') == 1 then return 'kept' end
local state = redis.call('HGET', KEYS[1], 'state')
if state and state ~= '"waiting"' then return 'kept' end
if not state then return 'gone' end
redis.call('DEL', KEYS[1])
for i = 8, #KEYS do
  if redis.call('GET', KEYS[i]) == id then redis.call('DEL', KEYS[i]) end
end
redis.call('ZREM', KEYS[2], id)
redis.call('ZREM', KEYS[3], id .. '/card')
redis.call('ZREM', KEYS[4], id)
redis.call('SREM', KEYS[6], id)
redis.call('XADD', KEYS[5], '*', 'note', ARGV[2], 'at', whole(clock()))
return 'discarded'
