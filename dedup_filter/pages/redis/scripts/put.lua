-- Set the record of a page, and tell what was there before. KEYS[1] is its key here.
-- ARGV: the record, seconds that it lasts or 0
-- Returns: the one before, or nothing
local before = redis.call('GET', KEYS[1])
put_record(KEYS[1], ARGV[1], ARGV[2])
return before
