-- Adds a note to the intake of the audit, unless one with the same mark was added. Safe to repeat, as long as the mark lasts.
-- KEYS: intake, mark.   ARGV: the note as JSON, how long the mark lasts in ms.   Returns 'noted'.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[2]) then
  redis.call('XADD', KEYS[1], '*', 'note', ARGV[1], 'at', whole(clock()))
end
return 'noted'
