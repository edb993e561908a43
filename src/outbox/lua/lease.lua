-- Leases one message of the outbox, so that one process at a time sends it.
-- KEYS: the hash that owes it (the record of a request, or the message itself), outbox.
-- ARGV: member of the outbox, message name, token, lease in ms if fresh, if unsure, '1' if Slack refused the card of a report, the names of all
-- reports in the order of the thread, separated by commas, and for a message that is owed from now on its facts and how long it is owed in ms.
-- Returns { 'fresh' | 'unsure', how many ms it has been searched for, the latest time of an earlier try (ms since 1970, or ''),
-- the revision that owes it or '', '1' if Slack did not answer that try in time, now in ms, then the fields and values of the hash }.
-- 'fresh': send it. 'unsure': an earlier try may have sent it, so search first.
-- Without a lease: 'leased-elsewhere' another process sends it, or a report that goes before it waits; 'settled' it was sent, or nothing owes it; 'missing' what owes it is gone; 'cardless' the
-- card must be sent first; { 'behind', name } that report must be sent first.
local member, name, token, isCardRefused, facts = ARGV[1], ARGV[2], ARGV[3], ARGV[6] == '1', ARGV[8]
local leases = { fresh = tonumber(ARGV[4]), unsure = tonumber(ARGV[5]) }
local field = 'outbox:' .. name
local now = clock()

local owing = {}
local function read()
  -- A key of another type was damaged. Nothing can be read from it.
  local flat = redis.call('TYPE', KEYS[1]).ok == 'hash' and redis.call('HGETALL', KEYS[1]) or {}
  for i = 1, #flat, 2 do owing[flat[i]] = flat[i + 1] end
  return flat
end
local flat = read()
local message = owing[field] and cjson.decode(owing[field]) or { status = 'queued' }
local isHeld = message.status == 'sending' and message.token ~= token and message['until'] > now

if facts and message.status ~= 'settled' and not isHeld then
  owe(KEYS[1], KEYS[2], member, facts, ARGV[9], 0)
  flat = read()
end
local isRequest = owing.state ~= nil
if not isRequest and not owing.facts then
  redis.call('ZREM', KEYS[2], member)
  return { 'missing' }
end
local isReport = isRequest and name ~= 'card'
-- A settled card is owed again once the record has a newer revision. A step that owes a report says so in the record.
local isShown = not isRequest or isReport or owing.cardRevision == owing.revision
if (message.status == 'settled' and isShown) or (isReport and not owing[field]) then
  redis.call('ZREM', KEYS[2], member)
  return { 'settled' }
end

-- The reports of a request go in the order of the steps that owe them.
local isAfter = false
for other in string.gmatch(isReport and ARGV[7] or '', '[^,]+') do
  if other == name then isAfter = true end
  local one = other ~= name and owing['outbox:' .. other] and cjson.decode(owing['outbox:' .. other])
  if one and one.status ~= 'settled' then
    local by, ownBy = one.owedBy or 0, message.owedBy or 0
    if by < ownBy or (by == ownBy and not isAfter) then
      local dueAt = tonumber(redis.call('ZSCORE', KEYS[2], string.sub(member, 1, #member - #name) .. other) or now)
      if dueAt <= now then return { 'behind', other } end
      redis.call('ZADD', KEYS[2], dueAt, member)
      return { 'leased-elsewhere' }
    end
  end
end
if isReport and not owing.cardTs and not isCardRefused then return { 'cardless' } end
if isHeld then
  redis.call('ZADD', KEYS[2], message['until'], member)
  return { 'leased-elsewhere' }
end

local mode = 'fresh'
if message.status == 'unsure' or (message.status == 'sending' and message.token ~= token) then mode = 'unsure' end
if message.status == 'sending' and message.token == token then mode = message.mode end
-- The search starts with the first lease that needs one. Only then does the message get this field.
local since = mode == 'unsure' and (message.since or now) or nil
local tried, slow = nil, nil
if mode == 'unsure' then
  tried, slow = message.tried, message.slow
  -- The previous holder may have sent it until its lease ran out.
  if message.status == 'sending' and message.token ~= token then tried = message['until'] end
end
local lasts = now + leases[mode]
local sending = { status = 'sending', token = token, mode = mode, ['until'] = lasts, since = since, owedBy = message.owedBy, late = message.late }
sending.tried, sending.slow = tried, slow
redis.call('HSET', KEYS[1], field, cjson.encode(sending))
redis.call('ZADD', KEYS[2], lasts, member)
local function text(number) return number and whole(number) or '' end
return { mode, text(now - (since or now)), text(tried), text(message.owedBy), slow and '1' or '', whole(now), unpack(flat) }
