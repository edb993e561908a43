-- Returns the members that are due by the clock of Redis, which is the same for every process.
-- KEYS: a sorted set by time in ms.   ARGV: how many ms ahead counts as due, limit.
local now = clock()
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now + tonumber(ARGV[1]), 'LIMIT', 0, tonumber(ARGV[2]))
