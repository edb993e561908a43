-- Removes what says that an alert or a server led to a request, after that was found to be wrong.
-- KEYS: the alert, the server.   ARGV: id of the request.   Returns 'ok'. Safe to repeat.
for _, key in ipairs(KEYS) do
  if redis.call('HGET', key, 'value') == ARGV[1] then redis.call('DEL', key) end
end
return 'ok'
