-- Sets when a request is due again, unless its record changed since it was read.
-- KEYS: due, record.   ARGV: id, the delay in ms, revision.   Returns 'ok'.
if redis.call('HGET', KEYS[2], 'revision') == ARGV[3] then
  local now = clock()
  redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[2]), ARGV[1])
end
return 'ok'
