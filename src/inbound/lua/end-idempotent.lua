-- Ends a call with an idempotency key. Safe to repeat. KEYS: the hash of that key. ARGV: the claim and the token of the call, 'refused' or ''.
-- Frees the key if all its calls were refused, so that none of them can still request something. One that died keeps it.
if redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then return '' end
redis.call('HDEL', KEYS[1], ARGV[2])
if ARGV[3] ~= 'refused' then redis.call('HSET', KEYS[1], 'kept', '1') end
if redis.call('HLEN', KEYS[1]) == 1 then redis.call('DEL', KEYS[1]) end
return ''
