-- Sets when members of a sorted set are due again; those that left it meanwhile stay out.
-- KEYS: a sorted set by time in ms.   ARGV: in how many ms, then the members.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[1]), ARGV[i]) end
return 'ok'
