-- Replaces a record, unless somebody replaced it since it was read, and adds the audit notes and the messages about it in the same step. Safe to repeat.
-- KEYS: the record, outbox, audit intake, the messages.   ARGV: the field of the record if the key is a hash, or '', the text that was read ('' if
-- there was none), the new text ('' for none), how long it is kept in ms or '', the audit notes as lines of JSON, then of each message its member of the
-- outbox, its facts, how long it is owed and in how many ms it is due.
-- Returns 'replaced', 'repeat' or 'changed'.
local key, field, before, after, keepMs = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local current = field == '' and textOf(key) or redis.call('HGET', key, field) or ''
if current == after then return 'repeat' end
if current ~= before then return 'changed' end
if field == '' then
  redis.call('SET', key, after)
  if keepMs ~= '' then redis.call('PEXPIRE', key, keepMs) end
elseif after == '' then
  redis.call('HDEL', key, field)
else
  redis.call('HSET', key, field, after)
end
for note in ARGV[5]:gmatch('[^\n]+') do redis.call('XADD', KEYS[3], '*', 'note', note, 'at', whole(clock())) end
for i = 4, #KEYS do
  local first = 6 + 4 * (i - 4)
  owe(KEYS[i], KEYS[2], ARGV[first], ARGV[first + 1], ARGV[first + 2], ARGV[first + 3])
end
return 'replaced'
