-- Moves notes from the intake to the end of the chain, if the chain still ends with the entry from which the hashes were computed.
-- KEYS: intake, chain, head.   ARGV: hash of the last entry before, hash and number of the last new entry, token of this attempt, then for
-- each new entry: text, id in the intake.
-- Sets `unprinted:<token>` in the head to the first and last id in the chain. The process that prints the entries removes it.
-- Returns 'won', or 'lost' if another process was first. Safe to repeat: the repeat returns 'won' again.
local unprinted = 'unprinted:' .. ARGV[4]
if redis.call('HEXISTS', KEYS[3], unprinted) == 1 then return 'won' end
local head = redis.call('HGET', KEYS[3], 'hash') or ''
if head ~= ARGV[1] then return 'lost' end
-- The notes were read before the head. If the first of them is gone, another process has chained them since.
if #redis.call('XRANGE', KEYS[1], ARGV[6], ARGV[6]) == 0 then return 'lost' end
local first
local last
for i = 5, #ARGV, 2 do
  last = redis.call('XADD', KEYS[2], '*', 'entry', ARGV[i])
  first = first or last
  redis.call('XDEL', KEYS[1], ARGV[i + 1])
end
redis.call('HSET', KEYS[3], 'hash', ARGV[2], 'seq', ARGV[3], unprinted, first .. ' ' .. last)
return 'won'
