-- Sets when a request is due again, where its record is still the one that this was worked out from.
-- KEYS: due, record.   ARGV: id, in how many ms, revision.   Returns 'ok'.
if redis.call('HGET', KEYS[2], 'revision') == ARGV[3] then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[2]), ARGV[1])
end
return 'ok'
