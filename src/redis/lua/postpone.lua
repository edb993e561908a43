-- Sets the time when members of a sorted set are due again. A member that was removed in the meantime is not added again.
-- KEYS: a sorted set by time in ms.   ARGV: the delay in ms, then the members.   Returns 'ok'.
local due = clock() + tonumber(ARGV[1])
local pairs = {}
for i = 2, #ARGV do
  pairs[#pairs + 1] = due
  pairs[#pairs + 1] = ARGV[i]
  if #pairs == 2000 or i == #ARGV then
    redis.call('ZADD', KEYS[1], 'XX', unpack(pairs))
    pairs = {}
  end
end
return 'ok'
