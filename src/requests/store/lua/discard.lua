-- Discards a request whose card could not be posted. Only its audit notes stay.
-- KEYS: record, resource, latest, open, outbox, due, audit intake, undecided requests of the requester.
-- ARGV: id, the audit note as JSON.
-- Returns 'discarded', 'gone' if there is no record, or 'kept' if its card was posted or it left the state waiting.
local id = ARGV[1]
if redis.call('HEXISTS', KEYS[1], 'cardTs') == 1 then return 'kept' end
local state = redis.call('HGET', KEYS[1], 'state')
if state and state ~= '"waiting"' then return 'kept' end
if not state then return 'gone' end
redis.call('DEL', KEYS[1])
if redis.call('GET', KEYS[2]) == id then redis.call('DEL', KEYS[2]) end
if redis.call('GET', KEYS[3]) == id then redis.call('DEL', KEYS[3]) end
redis.call('ZREM', KEYS[4], id)
redis.call('ZREM', KEYS[5], id .. '/card')
redis.call('ZREM', KEYS[6], id)
redis.call('SREM', KEYS[8], id)
redis.call('XADD', KEYS[7], '*', 'note', ARGV[2], 'at', whole(clock()))
return 'discarded'
