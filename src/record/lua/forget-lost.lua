-- Removes the id of a request whose record is gone.
-- KEYS: record, then the sorted sets that may have the id.   ARGV: id.   Returns 'forgotten' or 'kept'.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'kept' end
for i = 2, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return 'forgotten'
