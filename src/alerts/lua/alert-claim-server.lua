-- Claims a server for the proposal of one alert, or joins the alert to the proposal that stands.
-- KEYS: the alert, the server.   ARGV: token of the alert's claim, how long the claim lasts in ms, how long the entries are kept in ms, the prefix
-- of records, how long a decision stands in ms, the alert's name among those of the server, id of the server, a new episode.
-- Returns { 'claimed', episode }, { 'joined', request id }, { 'busy' }, or { 'lost' } if the claim of the alert ran out. The episode stays the
-- same until the outcome is known, so that a second try makes the same request.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return { 'lost' } end
local now = clock()
local outcome, value, token, claimedUntil, episode =
  unpack(redis.call('HMGET', KEYS[2], 'outcome', 'value', 'token', 'until', 'episode'))
if token and token ~= ARGV[1] and tonumber(claimedUntil) > now then return { 'busy' } end
redis.call('HSET', KEYS[1], 'serverId', ARGV[7])
if outcome then
  if stands(ARGV[4] .. value, now, tonumber(ARGV[5])) then
    redis.call('HSET', KEYS[2], ARGV[6], '1')
    redis.call('HSET', KEYS[1], 'outcome', 'proposed', 'value', value)
    redis.call('HDEL', KEYS[1], 'token', 'until')
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return { 'joined', value }
  end
  redis.call('DEL', KEYS[2])
  episode = false
end
episode = episode or ARGV[8]
redis.call('HSET', KEYS[2], 'token', ARGV[1], 'until', whole(now + tonumber(ARGV[2])), 'episode', episode, ARGV[6], '1')
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return { 'claimed', episode }
