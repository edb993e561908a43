-- Moves notes from the intake to the end of the chain, if it still ends where the hashes were computed from.
-- KEYS: intake, audit, head.   ARGV: hash of the last entry before, hash and number of the last one now, oldest id to keep, token of this
-- attempt, then for each: entry, hash, id in the intake.
-- Leaves `unprinted:<token>` in the head, the first and last id in the chain, until somebody has printed them.
-- Returns 'won' (also when it is sent twice), or 'moved' where somebody else was first.
local unprinted = 'unprinted:' .. ARGV[5]
if redis.call('HEXISTS', KEYS[3], unprinted) == 1 then return 'won' end
local head = redis.call('HGET', KEYS[3], 'hash') or ''
if head ~= ARGV[1] then return 'moved' end
-- Notes were read a moment before the head: where the first of them is gone, somebody else has chained them meanwhile.
if #redis.call('XRANGE', KEYS[1], ARGV[8], ARGV[8]) == 0 then return 'moved' end
local first
local last
for i = 6, #ARGV, 3 do
  last = redis.call('XADD', KEYS[2], '*', 'entry', ARGV[i], 'hash', ARGV[i + 1])
  first = first or last
  redis.call('XDEL', KEYS[1], ARGV[i + 2])
end
redis.call('HSET', KEYS[3], 'hash', ARGV[2], 'seq', ARGV[3], unprinted, first .. ' ' .. last)
-- Counted, so that entries which somebody else takes from the beginning are missed.
local trimmed = redis.call('XTRIM', KEYS[2], 'MINID', '~', ARGV[4])
if trimmed > 0 then redis.call('HINCRBY', KEYS[3], 'trimmed', trimmed) end
return 'won'
