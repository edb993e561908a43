-- Notes that an alert ended: this start of it, and those before that end, because two senders can know one outage by different starts.
-- KEYS: the alert.   ARGV: its start, when it ended in ms since 1970 or 0, the beginning of its names among others, the prefixes of the keys of the
-- alerts of a request, of those about a server and of messages, how long one that is not repeated counts as firing, and how long the end of an
-- unknown one is remembered, both in ms.
-- Returns of each: the id of its request or '', how many alerts of that still fire, its server or '' if it is not known or others about it still
-- fire, the id of the message that lists it or '', and its name among others. Safe to repeat.
local start, endedAt, key = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local now = clock()
local found, isKnown, fields = {}, false, redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local known = cjson.decode(fields[i + 1])
  if fields[i] == start then isKnown = true end
  if fields[i] == start or tonumber(fields[i]) <= endedAt then
    local name, left, quiet = key .. fields[i], 0, ''
    known.resolvedAt = known.resolvedAt or now
    redis.call('HSET', KEYS[1], fields[i], cjson.encode(known))
    if known.request then
      local others = ARGV[4] .. known.request
      redis.call('ZREM', others, name)
      redis.call('ZREMRANGEBYSCORE', others, '-inf', now - ARGV[7])
      left = redis.call('ZCARD', others)
    end
    if known.server then
      local about = ARGV[5] .. known.server
      redis.call('ZREM', about, name)
      redis.call('ZREMRANGEBYSCORE', about, '-inf', now - ARGV[7])
      if redis.call('EXISTS', about) == 0 then quiet = known.server end
    end
    local message = known.listed and ARGV[6] .. known.listed
    if message and redis.call('EXISTS', message) == 1 then
      redis.call('HSETNX', message, 'resolved:' .. name, whole(endedAt > 0 and endedAt or known.resolvedAt))
    end
    for _, each in ipairs({ known.request or '', whole(left), quiet, known.listed or '', name }) do found[#found + 1] = each end
  end
end
if not isKnown then
  redis.call('HSET', KEYS[1], start, cjson.encode({ resolvedAt = now, seenAt = now }))
  if #fields == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[8]) end
end
return found
