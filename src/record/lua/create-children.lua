-- Creates the children of a request that do not exist yet, approved and not due: their parent sends them. Safe to repeat.
-- KEYS: the parent's record.   ARGV: JSON { recordPrefix, children: [{ id, fields: { name: json } }] }.
-- Returns 'created', or 'lost' if the parent is not tracked.
local arg = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[1], 'state') ~= '"tracking"' then return 'lost' end
for _, child in ipairs(arg.children) do
  local record = arg.recordPrefix .. child.id
  if redis.call('EXISTS', record) == 0 then
    local values = { 'revision', '1' }
    for field, value in pairs(child.fields) do
      values[#values + 1] = field
      values[#values + 1] = value
    end
    redis.call('HSET', record, unpack(values))
  end
end
return 'created'
