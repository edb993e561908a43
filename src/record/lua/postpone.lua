-- Sets when a request is due again, or that it is not. One without a due time does not get one.
-- KEYS: due, record.   ARGV: id, the delay in ms or 'never', the revision that its record must still have, or ''.   Returns 'ok'.
if ARGV[3] ~= '' and redis.call('HGET', KEYS[2], 'revision') ~= ARGV[3] then return 'ok' end
if ARGV[2] == 'never' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], 'XX', clock() + tonumber(ARGV[2]), ARGV[1])
end
return 'ok'
