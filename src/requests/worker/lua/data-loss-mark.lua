-- Marks a data set that has no mark. It writes, so that a replica that lags behind, or was demoted, refuses it.
-- KEYS: mark, head of the audit.   ARGV: a fresh mark.
-- Returns { the mark that stands, number and hash of the last entry of the audit's chain, '0' and '' where there is none }.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
local head = redis.call('HMGET', KEYS[2], 'seq', 'hash')
return { redis.call('GET', KEYS[1]), head[1] or '0', head[2] or '' }
