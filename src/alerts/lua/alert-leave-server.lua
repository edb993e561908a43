-- Takes a resolved alert from its server. The last alert claims the server, so that no other alert joins a proposal that is about to end.
-- KEYS: the alert, the server.   ARGV: token of the alert's claim, how long the claim lasts in ms, the alert's name among those of the server.
-- Returns { 'last', request id or '', episode }, { 'others' } if other alerts of the server have not resolved, { 'gone' }, { 'busy' }, or
-- { 'lost' } if the claim of the alert ran out.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return { 'lost' } end
local now = clock()
local value, token, claimedUntil, episode = unpack(redis.call('HMGET', KEYS[2], 'value', 'token', 'until', 'episode'))
if token and token ~= ARGV[1] and tonumber(claimedUntil) > now then return { 'busy' } end
if not episode then return { 'gone' } end
redis.call('HDEL', KEYS[2], ARGV[3])
local fields = redis.call('HGETALL', KEYS[2])
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 6) == 'alert:' then return { 'others' } end
end
redis.call('HSET', KEYS[2], 'token', ARGV[1], 'until', whole(now + tonumber(ARGV[2])))
return { 'last', value or '', episode }
