-- Adds a note to the intake of the audit. Safe to repeat: the mark prevents a second copy for one minute.
-- KEYS: intake, mark of this note.   ARGV: the note as JSON.   Returns 'noted'.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', 60000) then
  redis.call('XADD', KEYS[1], '*', 'note', ARGV[1], 'at', whole(clock()))
end
return 'noted'
