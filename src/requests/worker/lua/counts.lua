-- Counts one chunk of the open requests by kind and state. A count in the client would need thousands of answers.
-- KEYS: the sorted set of open requests.   ARGV: the prefix of records, the first and the last index of the chunk.
-- Returns the size of the chunk, then kind, state (both as JSON) and count of each pair.
local ids = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])
local counts = {}
for _, id in ipairs(ids) do
  local pair = redis.call('HMGET', ARGV[1] .. id, 'kind', 'state')
  if pair[1] and pair[2] then
    counts[pair[1]] = counts[pair[1]] or {}
    counts[pair[1]][pair[2]] = (counts[pair[1]][pair[2]] or 0) + 1
  end
end
local answer = { tostring(#ids) }
for kind, states in pairs(counts) do
  for state, count in pairs(states) do
    answer[#answer + 1] = kind
    answer[#answer + 1] = state
    answer[#answer + 1] = tostring(count)
  end
end
return answer
