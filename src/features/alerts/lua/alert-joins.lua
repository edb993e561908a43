-- Adds a firing alert to those of a request: an open one for its server, or a new one that is then created.
-- KEYS: the alert, the alerts of the request, the record of the request.   ARGV: its start, its name among others, the id of the request, for a
-- new one the text that its id is made from and otherwise '', for a new one the id of the request that it follows or '', the open states as JSON
-- texts separated by spaces, how long the alerts of a request are kept in ms, how many, and the prefix of their keys.
-- Returns 'joined', 'resolved' (the alert ended), 'leaving' (all alerts of that undecided request ended, and it is not withdrawn yet), 'ended' (it
-- is not open), or 'other' (another process began a new one for this alert). Safe to repeat.
local start, name, id, made, after, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[9]
local text = redis.call('HGET', KEYS[1], start)
local known = text and cjson.decode(text) or {}
if known.resolvedAt then return 'resolved' end
if made ~= '' then
  if known.request and known.request ~= id and known.request ~= after then return 'other' end
else
  local state = redis.call('HGET', KEYS[3], 'state')
  if not state or not string.find(' ' .. ARGV[6] .. ' ', ' ' .. state .. ' ', 1, true) then return 'ended' end
  if state == '"waiting"' and redis.call('EXISTS', KEYS[2]) == 0 then return 'leaving' end
end
-- A full Redis refuses a script at its first write, if that takes memory, and lets the rest pass. So the first one is this.
redis.call('ZADD', KEYS[2], clock(), name)
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[8])
redis.call('PEXPIRE', KEYS[2], ARGV[7])
if known.request and known.request ~= id then redis.call('ZREM', prefix .. known.request, name) end
known.request, known.made = id, made ~= '' and made or nil
redis.call('HSET', KEYS[1], start, cjson.encode(known))
return 'joined'
