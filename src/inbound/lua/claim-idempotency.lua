-- Begins a call with an idempotency key. Safe to repeat. KEYS: a hash with the claim of that key and its running calls.
-- ARGV: the hash of what is sent, the claim if there is none yet, how long it lasts in ms, the token of this call.
-- Returns the claim, which all calls with the same key and hash share, or '' if the key was used for something else.
local isNew = redis.call('HSETNX', KEYS[1], 'claim', ARGV[2])
if isNew == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
local claim = redis.call('HGET', KEYS[1], 'claim')
if string.sub(claim, 1, #ARGV[1] + 1) ~= ARGV[1] .. '.' then return '' end
redis.call('HSET', KEYS[1], ARGV[4], 'running')
return claim
