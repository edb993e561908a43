-- Moves notes from the intake to the end of the chain, if the chain still ends with the entry from which the hashes were computed.
-- KEYS: intake, chain, head.   ARGV: hash of the last entry before, hash and number of the last new entry, token of this attempt, the id of an
-- entry that was seen before or '', then for each new entry: text, id in the intake.
-- Sets `unprinted:<token>` in the head to the first and last id in the chain. The process that prints the entries removes it.
-- Returns 'won', the id of the last new entry, and what stands at the id that was seen; or 'lost' if another process was first. Safe to repeat:
-- the repeat returns the same again.
local unprinted = 'unprinted:' .. ARGV[4]
local range = redis.call('HGET', KEYS[3], unprinted)
if range then return { 'won', string.match(range, ' (.*)$'), standingAt(KEYS[2], ARGV[5]) } end
local head = redis.call('HGET', KEYS[3], 'hash') or ''
if head ~= ARGV[1] then return { 'lost' } end
-- The notes were read before the head. If the first of them is gone, another process has chained them since.
if #redis.call('XRANGE', KEYS[1], ARGV[7], ARGV[7]) == 0 then return { 'lost' } end
local first
local last
for i = 6, #ARGV, 2 do
  last = redis.call('XADD', KEYS[2], '*', 'entry', ARGV[i])
  first = first or last
  redis.call('XDEL', KEYS[1], ARGV[i + 1])
end
redis.call('HSET', KEYS[3], 'hash', ARGV[2], 'seq', ARGV[3], unprinted, first .. ' ' .. last)
return { 'won', last, standingAt(KEYS[2], ARGV[5]) }
