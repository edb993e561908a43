-- Replaces the list of assignments, unless another process replaced it since it was read.
-- KEYS: the list.   ARGV: its head when it was read ('' if there was none), how long the list is kept in ms, the new head, its text.
-- Returns 'replaced' or 'changed'. Safe to repeat.
local head = redis.call('HGET', KEYS[1], 'head') or ''
if head == ARGV[3] then return 'replaced' end
if head ~= ARGV[1] then return 'changed' end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'head', ARGV[3], 'text', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'replaced'
