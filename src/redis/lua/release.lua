-- Releases a claim, unless it expired and another process has claimed the key since. Safe to repeat.
-- KEYS: the claimed key.   ARGV: the token of the claim.   Returns 'released' or 'gone'.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'gone' end
redis.call('DEL', KEYS[1])
return 'released'
