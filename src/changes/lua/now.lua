-- The clock of the server that keeps our keys, which is one of several in a Cluster.
-- KEYS: any of ours.   Returns ms since 1970.
local time = redis.call('TIME')
return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
