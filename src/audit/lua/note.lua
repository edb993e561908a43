-- Notes something for the audit; the same note that is sent twice is noted once.
-- KEYS: intake, mark of this note.   ARGV: the note as JSON.   Returns 'noted'.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', 60000) then
  redis.call('XADD', KEYS[1], '*', 'note', ARGV[1], 'at', whole(clock()))
end
return 'noted'
