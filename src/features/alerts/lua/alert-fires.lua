-- Notes that an alert fires, and about which server if that is known.
-- KEYS: the alert, the alerts about the server (any key if it is not known).   ARGV: its start, its name among others, the id of the server or '',
-- how long after its end it is not believed, how long it is kept, how long one that is not repeated counts as firing, all in ms, how many starts
-- are kept, and the prefix of the keys of the alerts of a request.
-- Returns 'resolved' if this start ended a moment ago, and otherwise what is known of it as JSON. Safe to repeat.
local start, name, server, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[8]
local now = clock()
local text = redis.call('HGET', KEYS[1], start)
local known = text and cjson.decode(text) or {}
if known.resolvedAt then
  if now < known.resolvedAt + ARGV[4] then return 'resolved' end
  known.resolvedAt, known.listed, known.again = nil, nil, (known.again or 0) + 1
end
if server ~= '' then
  known.server = server
  redis.call('ZADD', KEYS[2], now, name)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[6])
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
if known.request then redis.call('ZADD', prefix .. known.request, 'XX', now, name) end
known.seenAt = now
redis.call('HSET', KEYS[1], start, cjson.encode(known))
redis.call('PEXPIRE', KEYS[1], ARGV[5])

local oldest, fields = nil, redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local seenAt = cjson.decode(fields[i + 1]).seenAt or 0
  if fields[i] ~= start and (oldest == nil or seenAt < oldest.seenAt) then oldest = { start = fields[i], seenAt = seenAt } end
end
if oldest and #fields / 2 > tonumber(ARGV[7]) then redis.call('HDEL', KEYS[1], oldest.start) end
return cjson.encode(known)
