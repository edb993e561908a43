-- Has a request need no attention any more, where its record is still the one that this was worked out from.
-- KEYS: due, record.   ARGV: id, revision, or '' where there was no record.   Returns 'ok'.
if (redis.call('HGET', KEYS[2], 'revision') or '') == ARGV[2] then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return 'ok'
