-- Owes the message that lists alerts which led to no request, and notes with each that it is listed. Does nothing if one is listed already.
-- KEYS: the message, outbox, then each alert.   ARGV: the id of the message, its member of the outbox, its facts, how long they are kept in ms, then
-- the start of each alert.
-- Returns 'listed', or 'known' and the number from 0 of each that is not listed. Safe to repeat.
local new, left = {}, { 'known' }
for i = 3, #KEYS do
  local text = redis.call('HGET', KEYS[i], ARGV[i + 2])
  local known = text and cjson.decode(text) or {}
  if not known.listed then
    new[#new + 1] = { key = KEYS[i], start = ARGV[i + 2], known = known }
    left[#left + 1] = whole(i - 3)
  end
end
if #left < #KEYS - 1 then return left end
owe(KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[4], 0)
for _, each in ipairs(new) do
  -- What was begun for it was not created.
  each.known.listed, each.known.request, each.known.made = ARGV[1], nil, nil
  redis.call('HSET', each.key, each.start, cjson.encode(each.known))
end
return 'listed'
