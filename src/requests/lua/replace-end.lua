-- Replaces the record of the end of a key, if it is still the one that was read. A repeat of the command changes nothing.
-- KEYS: key-ends.   ARGV: the place in it, the record that was read or '', the new record or '' for none.   Returns 'replaced' or 'changed'.
local now = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if now == ARGV[3] then return 'replaced' end
if now ~= ARGV[2] then return 'changed' end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 'replaced'
