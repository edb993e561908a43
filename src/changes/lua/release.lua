-- Gives back what was claimed with SET NX, unless it ran out and somebody else claimed it since. May be sent twice.
-- KEYS: the claim.   ARGV: the token it was claimed with.   Returns 'released' or 'gone'.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'gone' end
redis.call('DEL', KEYS[1])
return 'released'
