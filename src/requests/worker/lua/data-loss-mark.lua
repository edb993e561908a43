-- Marks a data set that has no mark. It always writes, so that a replica, which may lag, refuses the script.
-- KEYS: mark, head of the audit chain.   ARGV: a new mark.
-- Returns { the mark of the data set, number and hash of the last entry of the audit chain ('0' and '' if the chain is empty) }.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
local head = redis.call('HMGET', KEYS[2], 'seq', 'hash')
return { redis.call('GET', KEYS[1]), head[1] or '0', head[2] or '' }
