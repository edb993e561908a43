-- Notes what can be repeated without end, for the first time. Counts its repeats until their time is over.
-- KEYS: intake, counts (a hash), mark of this one.
-- ARGV: what makes it the same as one text; what it was about; the note as JSON, or '' to count only a repeat; how long repeats are counted, in ms.
-- Returns 'counted' or 'noted'; or, without a note, 'first' if there is no count, and 'over' if its time is over. Safe to repeat: the mark lasts
-- one minute.
local before = redis.call('GET', KEYS[3])
if before then return before end
local function settled(outcome)
  redis.call('SET', KEYS[3], outcome, 'PX', 60000)
  return outcome
end
local now = clock()
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then
  local counted = cjson.decode(known)
  if counted.over <= now and ARGV[3] == '' then return 'over' end
  counted.count = counted.count + 1
  counted.isMixed = counted.isMixed or counted.about ~= ARGV[2] or nil
  redis.call('HSET', KEYS[2], ARGV[1], cjson.encode(counted))
  return settled('counted')
end
if ARGV[3] == '' then return 'first' end
redis.call('XADD', KEYS[1], '*', 'note', ARGV[3], 'at', whole(now))
redis.call('HSET', KEYS[2], ARGV[1], cjson.encode({ first = ARGV[3], about = ARGV[2], count = 0, over = now + tonumber(ARGV[4]) }))
return settled('noted')
