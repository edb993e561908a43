-- Moves notes from the intake to the end of the chain, if it still ends where the hashes were computed from.
-- KEYS: intake, audit, head.   ARGV: hash of the last entry before, hash and number of the last one now, oldest id to keep, then for each: entry, hash, id in the intake.
-- Returns 'won' (also when it is sent twice), or 'moved' where somebody else was first.
local head = redis.call('HGET', KEYS[3], 'hash') or ''
if head == ARGV[2] then return 'won' end
if head ~= ARGV[1] then return 'moved' end
-- Notes were read a moment before the head: where the first of them is gone, somebody else has chained them meanwhile.
if #redis.call('XRANGE', KEYS[1], ARGV[7], ARGV[7]) == 0 then return 'moved' end
for i = 5, #ARGV, 3 do
  redis.call('XADD', KEYS[2], '*', 'entry', ARGV[i], 'hash', ARGV[i + 1])
  redis.call('XDEL', KEYS[1], ARGV[i + 2])
end
redis.call('HSET', KEYS[3], 'hash', ARGV[2], 'seq', ARGV[3])
redis.call('XTRIM', KEYS[2], 'MINID', '~', ARGV[4])
return 'won'
