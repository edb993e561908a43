-- Takes one of the few places that messages of alerts have in a channel.
-- KEYS: a sorted set of what took a place, by time.   ARGV: who takes it, for how long in ms, how many there are.
-- Returns 'taken' or 'full'. Safe to repeat.
local now = clock()
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 'taken' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 'full' end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'taken'
