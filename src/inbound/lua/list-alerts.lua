-- Owes the message that lists alerts, and says so of each of them, unless another message lists one of them by now. Safe to repeat.
-- KEYS: the message, outbox, then each alert.   ARGV: member and facts of the message, how long it is owed in ms, the id of the message, how
-- long an alert is not listed again in ms.
-- Returns nothing once it is owed, and otherwise the numbers, from 1, of the alerts that another message lists.
local listed = {}
for i = 3, #KEYS do
  local by = redis.call('HGET', KEYS[i], 'listed')
  if by and by ~= ARGV[4] then listed[#listed + 1] = whole(i - 2) end
end
if #listed > 0 then return listed end
owe(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], 0)
for i = 3, #KEYS do
  redis.call('HSET', KEYS[i], 'listed', ARGV[4])
  redis.call('PEXPIRE', KEYS[i], ARGV[5])
end
return {}
