-- Replaces the record of the freeze, if it is still the one that was read, and adds the audit note and the messages about it in the same step.
-- Safe to repeat.
-- KEYS: the record, audit intake, outbox, the messages.   ARGV: the text that was read ('' if there was none), the new text, the audit note as JSON
-- or '', how long a message is owed in ms, then of each message its member of the outbox and in how many ms it is due.
-- Returns 'set' or 'changed'.
local current = textOf(KEYS[1])
if current == ARGV[2] then return 'set' end
if current ~= ARGV[1] then return 'changed' end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('XADD', KEYS[2], '*', 'note', ARGV[3], 'at', whole(clock())) end
for i = 4, #KEYS do
  local member, inMs = ARGV[2 * i - 3], tonumber(ARGV[2 * i - 2])
  owe(KEYS[i], KEYS[3], member, ARGV[2], whole(inMs + tonumber(ARGV[4])), inMs)
end
return 'set'
