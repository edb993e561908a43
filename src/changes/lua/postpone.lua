-- Sets when members of a sorted set are due again; those that left it meanwhile stay out.
-- KEYS: a sorted set by time in ms.   ARGV: in how many ms, then the members.
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
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
