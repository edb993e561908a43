-- Ends the claims of a failed attempt, so that the next delivery does not have to wait. Keeps the known facts.
-- KEYS: the alert, and its server if it has one.   ARGV: token.   Returns 'ok'.
for _, key in ipairs(KEYS) do
  if redis.call('HGET', key, 'token') == ARGV[1] then redis.call('HSET', key, 'until', '0') end
end
return 'ok'
