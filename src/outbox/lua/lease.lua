-- Leases one message of the outbox, so that one process at a time sends it.
-- KEYS: record, outbox.   ARGV: id, message name, token, lease in ms if fresh, if unsure, '1' if a report may go before its card.
-- Returns { 'fresh' | 'unsure', how many ms it has been searched for, the latest time of an earlier try (ms since 1970, or ''), '1' if that
-- try may have been before the card, the revision that owes it or '', now in ms, then the record's fields and values }.
-- 'fresh': send it. 'unsure': an earlier try may have sent it, so search first.
-- Without a lease, returns one word: 'held' another process sends it; 'settled' it was sent; 'missing' the request is gone; 'cardless' the
-- card must be sent first.
local id, name, token, early = ARGV[1], ARGV[2], ARGV[3], ARGV[6] == '1'
local leases = { fresh = tonumber(ARGV[4]), unsure = tonumber(ARGV[5]) }
local member, field = id .. '/' .. name, 'outbox:' .. name
local flat = redis.call('HGETALL', KEYS[1])
local record = {}
for i = 1, #flat, 2 do record[flat[i]] = flat[i + 1] end
if not record.state then
  redis.call('ZREM', KEYS[2], member)
  return { 'missing' }
end
local message = record[field] and cjson.decode(record[field]) or { status = 'queued' }
-- A settled card is owed again once the record has a newer revision.
local shown = name ~= 'card' or record.cardRevision == record.revision
if message.status == 'settled' and shown then
  redis.call('ZREM', KEYS[2], member)
  return { 'settled' }
end
if name ~= 'card' and not record.cardTs and not early then return { 'cardless' } end

local now = clock()
if message.status == 'sending' and message.token ~= token and message['until'] > now then
  redis.call('ZADD', KEYS[2], message['until'], member)
  return { 'held' }
end

local mode = 'fresh'
if message.status == 'unsure' or (message.status == 'sending' and message.token ~= token) then mode = 'unsure' end
if message.status == 'sending' and message.token == token then mode = message.mode end
-- The search starts with the first lease that needs one. Only then does the message get this field.
local since = mode == 'unsure' and (message.since or now) or nil
local tried, cardless = nil, name ~= 'card' and not record.cardTs
if mode == 'unsure' then
  tried, cardless = message.tried, cardless or message.cardless
  -- The previous holder may have sent it until its lease ran out.
  if message.status == 'sending' and message.token ~= token then tried = message['until'] end
end
local lasts = now + leases[mode]
local sending = { status = 'sending', token = token, mode = mode, ['until'] = lasts, since = since, owedBy = message.owedBy }
sending.tried, sending.cardless = tried, cardless or nil
redis.call('HSET', KEYS[1], field, cjson.encode(sending))
redis.call('ZADD', KEYS[2], lasts, member)
local function text(number) return number and whole(number) or '' end
local wasCardless = mode == 'unsure' and message.cardless and '1' or ''
return { mode, text(now - (since or now)), text(tried), wasCardless, text(message.owedBy), whole(now), unpack(flat) }
