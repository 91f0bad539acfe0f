-- Release what a process has pending, and be none of the processes any more.
-- ARGV: process, salt, seen
release_owned(ARGV[1], 100000, tonumber(ARGV[2]), tonumber(ARGV[3]))
end_process(ARGV[1])
