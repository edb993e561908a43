-- Removes a request from the due set, unless its record changed since it was read.
-- KEYS: due, record.   ARGV: id, revision.   Returns 'ok'.
if redis.call('HGET', KEYS[2], 'revision') == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
return 'ok'
