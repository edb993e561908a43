-- Ends a count, and notes its repeats, unless the count has changed. Safe to repeat: the mark lasts one minute.
-- KEYS: intake, counts (a hash), mark of this note.
-- ARGV: what makes it the same as one text; the count as it was read; the note as JSON, or '' if there were no repeats.
-- Returns 'ended' or 'lost'.
if redis.call('EXISTS', KEYS[3]) == 1 then return 'ended' end
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 'lost' end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('SET', KEYS[3], '1', 'PX', 60000)
if ARGV[3] ~= '' then redis.call('XADD', KEYS[1], '*', 'note', ARGV[3], 'at', whole(clock())) end
return 'ended'
