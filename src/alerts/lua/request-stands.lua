-- Whether what was requested stands against another request: it is open, or was decided less than `decidedMs` ago. A request that expired was
-- decided by nobody.
local function stands(record, now, decidedMs)
  local state, decidedAt, endedAt = unpack(redis.call('HMGET', record, 'state', 'decidedAt', 'endedAt'))
  if not state or state == '"expired"' or state == '"withdrawn"' then return false end
  local at = tonumber(decidedAt or endedAt or nil)
  return not at or now - at < decidedMs
end
