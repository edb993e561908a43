-- Records the settings with which Redis could lose requests, and keeps the notice about them. Safe to repeat.
-- KEYS: recorded settings, owed notices.   ARGV: the record as it was read, or '', the new record, field and value of the notice ('' and '': none).
-- Returns 'replaced', or 'changed' if another process has replaced the record since.
local current = redis.call('GET', KEYS[1]) or ''
if current == ARGV[2] then return 'replaced' end
if current ~= ARGV[1] then return 'changed' end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[2], ARGV[3], ARGV[4]) end
return 'replaced'
