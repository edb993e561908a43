-- Adds a note to the intake of the audit, unless one with the same mark was added. Safe to repeat, as long as the mark lasts.
-- KEYS: intake, mark.   ARGV: the note as JSON, the token of this note, how long the mark lasts in ms.   Returns 'noted' or 'repeated'.
local holder = redis.call('SET', KEYS[2], ARGV[2], 'NX', 'GET', 'PX', ARGV[3])
if not holder then redis.call('XADD', KEYS[1], '*', 'note', ARGV[1], 'at', whole(clock())) end
return (not holder or holder == ARGV[2]) and 'noted' or 'repeated'
