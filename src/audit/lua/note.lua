-- Notes something for the audit; the same note that is sent twice is noted once.
-- KEYS: intake, mark of this note.   ARGV: the note as JSON.   Returns 'noted'.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', 60000) then
  local note = cjson.decode(ARGV[1])
  note.at = clock()
  redis.call('XADD', KEYS[1], '*', 'note', cjson.encode(note))
end
return 'noted'
