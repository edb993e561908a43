-- Marks a data set that has no mark, and owes the notice about it. It always writes, so that a replica, which may lag, refuses the script.
-- KEYS: mark, head of the audit chain, the chain, outbox, the notice if there is one.   ARGV: a new mark, the id of an entry of the chain that was seen
-- before or '', of the notice its member of the outbox, its facts, how long it is owed and in how many ms it is due.
-- Returns { the mark of the data set, number, hash and id of the last entry of the chain ('0', '' and '' if it is empty), what stands at the id
-- that was seen }.
if redis.call('SET', KEYS[1], ARGV[1], 'NX') and KEYS[5] then owe(KEYS[5], KEYS[4], ARGV[3], ARGV[4], ARGV[5], ARGV[6]) end
local head = redis.call('HMGET', KEYS[2], 'seq', 'hash')
local last = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
return { redis.call('GET', KEYS[1]), head[1] or '0', head[2] or '', last and last[1] or '', standingAt(KEYS[3], ARGV[2]) }
