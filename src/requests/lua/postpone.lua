-- Sets when a request is due again. One without a due time does not get one.
-- KEYS: due, record.   ARGV: id, the delay in ms, the revision that its record must still have, or ''.   Returns 'ok'.
if ARGV[3] == '' or redis.call('HGET', KEYS[2], 'revision') == ARGV[3] then
  redis.call('ZADD', KEYS[1], 'XX', clock() + tonumber(ARGV[2]), ARGV[1])
end
return 'ok'
