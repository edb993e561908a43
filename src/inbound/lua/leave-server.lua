-- Takes a resolved alert from its server. The alert remembers the episode, so that a repeat after a crash ends the same request.
-- KEYS: the alert, the server.   ARGV: the alert's name among those of the server, when it had begun, and the episode of a
-- request that was made for it after it had left, or ''.
-- Returns the episode if the alert was the last one of it, and otherwise ''. Safe to repeat.
redis.call('HSET', KEYS[1], 'ended', ARGV[2])
local episode = redis.call('HGET', KEYS[2], 'episode')
if episode and redis.call('HDEL', KEYS[2], ARGV[1]) == 1 then redis.call('HSET', KEYS[1], 'episode', episode) end
local own = redis.call('HGET', KEYS[1], 'episode') or ARGV[3]
-- The server has the episode and the alerts that fire. Another episode has begun after this alert had left as the last one.
if own == episode and redis.call('HLEN', KEYS[2]) > 1 then return '' end
return own
