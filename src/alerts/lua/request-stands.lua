-- Whether a request prevents another one for the same server: it is open, or was decided less than `decidedMs` ago. An expired request was
-- not decided.
local function stands(record, now, decidedMs)
  local state, decidedAt, endedAt = unpack(redis.call('HMGET', record, 'state', 'decidedAt', 'endedAt'))
  if not state or state == '"expired"' or state == '"withdrawn"' then return false end
  local at = tonumber(decidedAt or endedAt or nil)
  return not at or now - at < decidedMs
end
