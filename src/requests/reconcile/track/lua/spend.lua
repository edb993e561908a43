-- Takes requests from the budget of the last minute, which all replicas share. Answers how many are granted, at most as many as are wanted.
-- KEYS: a hash of spent requests by the second in which they were spent.   ARGV: requests wanted, requests allowed in a minute.
local second = math.floor(clock() / 1000)
local spent = 0
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  if tonumber(entries[i]) <= second - 60 then
    redis.call('HDEL', KEYS[1], entries[i])
  else
    spent = spent + tonumber(entries[i + 1])
  end
end
local granted = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - spent))
if granted > 0 then
  redis.call('HINCRBY', KEYS[1], whole(second), granted)
  redis.call('PEXPIRE', KEYS[1], 120000)
end
return whole(granted)
