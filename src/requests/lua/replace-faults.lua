-- Records the settings with which Redis could lose requests, and owes the notice about them. Safe to repeat.
-- KEYS: recorded settings, the notice, outbox.   ARGV: the record as it was read, or '', the new record, member and facts of the notice
-- ('': none), how long it is owed in ms.
-- Returns 'replaced', or 'changed' if another process has replaced the record since.
local current = redis.call('GET', KEYS[1]) or ''
if current == ARGV[2] then return 'replaced' end
if current ~= ARGV[1] then return 'changed' end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then owe(KEYS[2], KEYS[3], ARGV[3], ARGV[4], ARGV[5], 20000) end
return 'replaced'
