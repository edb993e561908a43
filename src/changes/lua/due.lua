-- What is due by Redis' own clock, which is the same for every process.
-- KEYS: a sorted set by time in ms.   ARGV: how far ahead to look in ms, limit.   Returns the members.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now + tonumber(ARGV[1]), 'LIMIT', 0, tonumber(ARGV[2]))
