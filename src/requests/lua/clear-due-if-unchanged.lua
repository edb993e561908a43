-- Removes a request from the due set, unless its record changed since it was read.
-- KEYS: due, record.   ARGV: id, revision, or '' if there was no record.   Returns 'removed', or 'kept' if it was not in the set.
if (redis.call('HGET', KEYS[2], 'revision') or '') == ARGV[2] then
  if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then return 'removed' end
end
return 'kept'
