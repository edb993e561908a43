-- Takes one message of the outbox, so that one process at a time sends it.
-- KEYS: record, outbox.   ARGV: id, message name, token, lease in ms when fresh, when unsure, '1' where a report may go before its card.
-- Returns { mode, for how many ms it has been looked for, until when it may have been sent before (ms since 1970, or ''), '1' where that may
-- have been before its card, revision that owes it or '', then the record's fields and values }: 'fresh' send it; 'unsure' it may have been
-- sent before: look first.
-- Without a record: 'held' somebody else is at it; 'settled' nothing to do any more; 'missing' the request is gone; 'cardless' its card
-- is to be sent first.
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
local item = record[field] and cjson.decode(record[field]) or { status = 'queued' }
-- A card that shows the latest revision owes nothing, either.
local shown = name ~= 'card' or record.cardRevision == record.revision
if item.status == 'settled' and shown then
  redis.call('ZREM', KEYS[2], member)
  return { 'settled' }
end
if name ~= 'card' and not record.cardTs and not early then return { 'cardless' } end

local now = clock()
if item.status == 'sending' and item.token ~= token and item['until'] > now then
  redis.call('ZADD', KEYS[2], item['until'], member)
  return { 'held' }
end

local mode = 'fresh'
if item.status == 'unsure' or (item.status == 'sending' and item.token ~= token) then mode = 'unsure' end
if item.status == 'sending' and item.token == token then mode = item.mode end
-- Looking begins with the first lease that calls for it, also where a version before this one left no such field.
local since = mode == 'unsure' and (item.since or now) or nil
local tried, cardless = nil, name ~= 'card' and not record.cardTs
if mode == 'unsure' then
  tried, cardless = item.tried, cardless or item.cardless
  -- Whoever had the lease before may have sent until it ran out.
  if item.status == 'sending' and item.token ~= token then tried = item['until'] end
end
local lasts = now + leases[mode]
local sending = { status = 'sending', token = token, mode = mode, ['until'] = lasts, since = since, owedBy = item.owedBy }
sending.tried, sending.cardless = tried, cardless or nil
redis.call('HSET', KEYS[1], field, cjson.encode(sending))
redis.call('ZADD', KEYS[2], lasts, member)
local function text(number) return number and whole(number) or '' end
local wasCardless = mode == 'unsure' and item.cardless and '1' or ''
return { mode, text(now - (since or now)), text(tried), wasCardless, text(item.owedBy), unpack(flat) }
