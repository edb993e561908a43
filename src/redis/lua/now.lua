-- Returns the time in ms since 1970, by the clock of the server that holds Lockkeeper's keys.
-- KEYS: any key of Lockkeeper; in a Cluster, it selects the server.
return whole(clock())
