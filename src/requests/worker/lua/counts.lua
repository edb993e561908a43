-- Counts one chunk of the open requests by kind and state. A count in the client would need thousands of answers.
-- KEYS: the sorted set of open requests.   ARGV: the prefix of records, the first and the last index of the chunk.
-- Returns the size of the chunk, then kind, state (both as JSON), count of requests, and count of their items under way, of each pair.
local ids = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])
local counts = {}

-- An item is under way from its write to its end.
local function underway(items)
  local known, list = pcall(cjson.decode, items or '[]')
  local count = 0
  if not known or type(list) ~= 'table' then return 0 end
  for _, item in ipairs(list) do
    if type(item) == 'table' and (item.state == 'starting' or item.state == 'tracking') then count = count + 1 end
  end
  return count
end

for _, id in ipairs(ids) do
  local known = redis.call('HMGET', ARGV[1] .. id, 'kind', 'state', 'items')
  local kind, state = known[1], known[2]
  if kind and state then
    counts[kind] = counts[kind] or {}
    local sum = counts[kind][state] or { requests = 0, items = 0 }
    counts[kind][state] = { requests = sum.requests + 1, items = sum.items + underway(known[3]) }
  end
end
local answer = { tostring(#ids) }
for kind, states in pairs(counts) do
  for state, sum in pairs(states) do
    answer[#answer + 1] = kind
    answer[#answer + 1] = state
    answer[#answer + 1] = tostring(sum.requests)
    answer[#answer + 1] = tostring(sum.items)
  end
end
return answer
