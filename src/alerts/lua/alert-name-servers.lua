-- Adds servers to those that the message of a storm names. They end with the storm.
-- KEYS: the storm.   ARGV: how many it keeps at most, how many it returns at most, the names.
-- Returns { how many were new, how many it has, name, name, ... } with the first names, or { 'over' } if the storm is over. Safe to repeat.
local fields = redis.call('HGETALL', KEYS[1])
local names, isStorm, count = {}, false, 0
for i = 1, #fields, 2 do
  if fields[i] == 'outcome' then isStorm = fields[i + 1] == 'storm' end
  if string.sub(fields[i], 1, 7) == 'server:' then
    names[tonumber(fields[i + 1])] = string.sub(fields[i], 8)
    count = count + 1
  end
end
if not isStorm then return { 'over' } end
local known = count
for i = 3, #ARGV do
  if count < tonumber(ARGV[1]) and redis.call('HEXISTS', KEYS[1], 'server:' .. ARGV[i]) == 0 then
    count = count + 1
    redis.call('HSET', KEYS[1], 'server:' .. ARGV[i], whole(count))
    names[count] = ARGV[i]
  end
end
local answer = { whole(count - known), whole(count) }
for i = 1, math.min(count, tonumber(ARGV[2])) do answer[i + 2] = names[i] end
return answer
