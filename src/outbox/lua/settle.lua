-- Stores the result of an attempt to send a leased message.
-- KEYS: the hash that owes it, outbox.
-- ARGV: member of the outbox, message name, token, status ('settled' | 'queued' | 'unsure' | 'dropped'), retry in ms, cardTs or '', shown
-- revision or '0', the report that the thread is then owed, if it never was, or '', how long a message about no request is remembered in
-- ms once it is settled, '1' if Slack did not answer in time, and for how many ms Slack may then still carry it out.
-- Returns 'settled', 'again' (the record has a newer revision, so the card must be sent again now), 'later', or 'lost' (another process holds
-- the lease now).
local member, name, token, status, cardTs, shown, owes = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[6], tonumber(ARGV[7]), ARGV[8]
local field = 'outbox:' .. name
local known = redis.call('HMGET', KEYS[1], field, 'revision', 'pace:card', 'state')
local message = known[1] and cjson.decode(known[1]) or {}
if message.token ~= token then return 'lost' end

local now = clock()
if status == 'dropped' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], member)
  return 'settled'
end
local left = { status = status, token = token, owedBy = message.owedBy }
-- Until when Slack may still show an earlier update of a card in place of the latest.
if message.late and message.late > now then left.late = message.late end
if status == 'queued' and ARGV[10] == '1' then left.late = now + tonumber(ARGV[11]) end
if status == 'unsure' then
  left.tried, left.slow = now, ARGV[10] == '1' or nil
elseif status == 'queued' and message.since then
  -- This attempt sent nothing, but an earlier one may have. The next lease searches for that message.
  left.status, left.since, left.tried, left.slow = 'unsure', message.since, message.tried, message.slow
end
local values = { field, cjson.encode(left) }
if status ~= 'settled' then
  redis.call('HSET', KEYS[1], unpack(values))
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[5]), member)
  return 'later'
end
if cardTs ~= '' then
  values[#values + 1] = 'cardTs'
  values[#values + 1] = cjson.encode(cardTs)
end
if shown > 0 and not left.late then
  values[#values + 1] = 'cardRevision'
  values[#values + 1] = ARGV[7]
end
if owes ~= '' and redis.call('HEXISTS', KEYS[1], 'outbox:' .. owes) == 0 then
  values[#values + 1] = 'outbox:' .. owes
  values[#values + 1] = cjson.encode({ status = 'queued', owedBy = shown })
  redis.call('ZADD', KEYS[2], now, string.sub(member, 1, #member - #name) .. owes)
end
redis.call('HSET', KEYS[1], unpack(values))
-- The record of a request stays for as long as its own steps say.
if not known[4] then redis.call('PEXPIRE', KEYS[1], ARGV[9]) end
if shown > 0 and tonumber(known[2]) > shown then
  -- The card of a request with items is sent again after a while, with all changes up to then.
  if known[3] then
    redis.call('ZADD', KEYS[2], now + tonumber(known[3]), member)
    return 'settled'
  end
  redis.call('ZADD', KEYS[2], now, member)
  return 'again'
end
if shown > 0 and left.late then
  redis.call('ZADD', KEYS[2], left.late, member)
  return 'settled'
end
redis.call('ZREM', KEYS[2], member)
return 'settled'
