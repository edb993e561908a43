-- Adds a firing alert to those of its server. The first one begins an episode, which names the request for the server.
-- KEYS: the alert, the server.   ARGV: the alert's name among those of the server, id of the server, a new episode, how long both are kept in ms.
-- Returns the episode. Safe to repeat.
redis.call('HSET', KEYS[1], 'serverId', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local episode = redis.call('HGET', KEYS[2], 'episode')
-- The server has the episode and the alerts that fire.
if not episode or redis.call('HLEN', KEYS[2]) == 1 then
  episode = ARGV[3]
  redis.call('HSET', KEYS[2], 'episode', episode)
end
redis.call('HSET', KEYS[2], ARGV[1], '1')
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return episode
