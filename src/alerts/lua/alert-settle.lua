-- Records what became of an alert, and ends its claims. A server is forgotten unless something was proposed for it.
-- KEYS: the alert, and its server if it has one.   ARGV: token, outcome, value, how long it is kept in ms, when the alert began.
-- Returns 'settled', or 'lost' if another process took the claim over.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'outcome', ARGV[2], 'value', ARGV[3], 'startsAt', ARGV[5])
redis.call('HDEL', KEYS[1], 'token', 'until')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if KEYS[2] and redis.call('HGET', KEYS[2], 'token') == ARGV[1] then
  if ARGV[2] == 'proposed' then
    redis.call('HSET', KEYS[2], 'outcome', ARGV[2], 'value', ARGV[3])
    redis.call('HDEL', KEYS[2], 'token', 'until')
    redis.call('PEXPIRE', KEYS[2], ARGV[4])
  else
    redis.call('DEL', KEYS[2])
  end
end
return 'settled'
