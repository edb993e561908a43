-- Owes a message that is about no request.
-- KEYS: the message, outbox.   ARGV: member and facts of the message, how long it is owed in ms, when it is due in ms.   Returns 'owed'.
owe(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4])
return 'owed'
