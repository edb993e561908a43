-- Marks a data set that has no mark, and owes the notice about it. It always writes, so that a replica, which may lag, refuses the script.
-- KEYS: mark, head of the audit chain, the notice, outbox.   ARGV: a new mark, member and facts of the notice ('': none), how long it is owed in ms.
-- Returns { the mark of the data set, number and hash of the last entry of the audit chain ('0' and '' if the chain is empty) }.
if redis.call('SET', KEYS[1], ARGV[1], 'NX') and ARGV[2] ~= '' then owe(KEYS[3], KEYS[4], ARGV[2], ARGV[3], ARGV[4], 20000) end
local head = redis.call('HMGET', KEYS[2], 'seq', 'hash')
return { redis.call('GET', KEYS[1]), head[1] or '0', head[2] or '' }
