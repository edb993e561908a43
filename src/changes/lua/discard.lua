-- Takes back a request whose card could not be posted, as if it had never been asked for.
-- KEYS: record, resource, latest, open, outbox, due.   ARGV: id.   Returns 'discarded', or 'kept' where its card is shown or it was decided.
local id = ARGV[1]
if redis.call('HEXISTS', KEYS[1], 'cardTs') == 1 then return 'kept' end
local state = redis.call('HGET', KEYS[1], 'state')
if state and state ~= '"waiting"' then return 'kept' end
redis.call('DEL', KEYS[1])
if redis.call('GET', KEYS[2]) == id then redis.call('DEL', KEYS[2]) end
if redis.call('GET', KEYS[3]) == id then redis.call('DEL', KEYS[3]) end
redis.call('ZREM', KEYS[4], id)
redis.call('ZREM', KEYS[5], id .. '/card')
redis.call('ZREM', KEYS[6], id)
return 'discarded'
