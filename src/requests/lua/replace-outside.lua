-- Replaces what was seen of the account, unless another process replaced it since it was read, and owes what is to be told in the same step.
-- Safe to repeat.
-- KEYS: the hash of what was seen, outbox, the messages.   ARGV: its head when it was read ('' if there was none), the new head, its text, how
-- long a message is owed in ms, then of each message its member of the outbox and its facts.
-- Returns 'replaced' or 'changed'.
local head = redis.call('HGET', KEYS[1], 'head') or ''
if head == ARGV[2] then return 'replaced' end
if head ~= ARGV[1] then return 'changed' end
redis.call('HSET', KEYS[1], 'head', ARGV[2], 'text', ARGV[3])
for i = 3, #KEYS do owe(KEYS[i], KEYS[2], ARGV[2 * i - 1], ARGV[2 * i], ARGV[4], 0) end
return 'replaced'
