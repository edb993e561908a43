-- Replaces the record of the freeze, if it is still the one that was read, and adds the audit note in the same step. Safe to repeat.
-- KEYS: the record, audit intake.   ARGV: the text that was read ('' if there was none), the new text, the audit note as JSON or ''.
-- Returns 'set', 'set' and 'repeat' for a repeat, or 'changed'.
local current = redis.call('GET', KEYS[1]) or ''
if current == ARGV[2] then return { 'set', 'repeat' } end
if current ~= ARGV[1] then return { 'changed' } end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('XADD', KEYS[2], '*', 'note', ARGV[3], 'at', whole(clock())) end
return { 'set' }
