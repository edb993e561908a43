-- Writes down what became of a message that was leased.
-- KEYS: record, outbox.   ARGV: id, message name, token, status ('settled' | 'queued' | 'unsure'), retry in ms, cardTs or '', shown revision or '0'
-- Returns 'settled', 'again' (the record has moved on: the card must be rendered anew), 'later', or 'lost' (somebody else took it over).
local id, name, token, status, retry, cardTs, shown = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local member, field = id .. '/' .. name, 'outbox:' .. name
local raw = redis.call('HGET', KEYS[1], field)
if not raw or cjson.decode(raw).token ~= token then return 'lost' end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], field, cjson.encode({ status = status, token = token }))
if status ~= 'settled' then
  redis.call('ZADD', KEYS[2], now + retry, member)
  return 'later'
end
if cardTs ~= '' then redis.call('HSET', KEYS[1], 'cardTs', cjson.encode(cardTs)) end
if shown > 0 then
  redis.call('HSET', KEYS[1], 'cardRevision', shown)
  if tonumber(redis.call('HGET', KEYS[1], 'revision')) > shown then
    redis.call('ZADD', KEYS[2], now, member)
    return 'again'
  end
end
redis.call('ZREM', KEYS[2], member)
return 'settled'
