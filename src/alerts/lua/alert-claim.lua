-- Claims an alert for one process, unless it was handled before and has not resolved since.
-- KEYS: the alert.   ARGV: token, how long the claim lasts in ms, how long the entry is kept in ms, the prefix of records, how long a decision
-- stands in ms, when the alert began, 'firing' or 'resolved'.
-- Returns { 'claimed', 'first' | 'again' }, { 'busy' }, { 'done', value }, or { 'unknown' } if a resolved alert has nothing to end.
local now = clock()
local outcome, value, token, claimedUntil, startsAt =
  unpack(redis.call('HMGET', KEYS[1], 'outcome', 'value', 'token', 'until', 'startsAt'))
if ARGV[7] == 'resolved' and (outcome == 'resolved' or not (outcome or token)) then return { 'unknown' } end
if token and token ~= ARGV[1] and tonumber(claimedUntil) > now then return { 'busy' } end
if outcome and ARGV[7] == 'firing' then
  if outcome == 'resolved' then
    -- A late delivery, from before the alert resolved.
    if startsAt and startsAt ~= '' and startsAt == ARGV[6] then return { 'done', '' } end
  elseif outcome ~= 'proposed' or stands(ARGV[4] .. value, now, tonumber(ARGV[5])) then
    return { 'done', value }
  end
  redis.call('DEL', KEYS[1])
  token = false
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'until', whole(now + tonumber(ARGV[2])))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'claimed', token and 'again' or 'first' }
