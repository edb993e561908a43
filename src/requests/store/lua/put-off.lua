-- Sets when a request is due again, where its record is still the one that this was worked out from.
-- KEYS: due, record.   ARGV: id, in how many ms, revision.   Returns 'ok'.
if redis.call('HGET', KEYS[2], 'revision') == ARGV[3] then
  local now = clock()
  redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[2]), ARGV[1])
end
return 'ok'
