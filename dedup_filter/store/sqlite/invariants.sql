-- The broken invariants of an index, one row each; no rows if the index is sound.

SELECT 'a page has no host'
WHERE EXISTS (SELECT 1 FROM pages WHERE host NOT IN (SELECT id FROM hosts))
UNION ALL
SELECT 'a page has no crawl'
WHERE EXISTS (
    SELECT 1 FROM pages
    WHERE crawl NOT IN (SELECT id FROM crawls) OR first_crawl NOT IN (SELECT id FROM crawls)
)
UNION ALL
SELECT 'a page is kept as a duplicate, or dropped as none'
WHERE EXISTS (SELECT 1 FROM pages WHERE is_kept = (outcome IN ('near', 'exact')))
UNION ALL
SELECT 'a page was seen last before first'
WHERE EXISTS (SELECT 1 FROM pages WHERE last_seen < first_seen)
UNION ALL
SELECT 'a duplicate has no original'
WHERE EXISTS (SELECT 1 FROM pages WHERE outcome IN ('near', 'exact') AND original IS NULL)
UNION ALL
SELECT 'a page is its own original'
WHERE EXISTS (SELECT 1 FROM pages WHERE original = id)
UNION ALL
SELECT 'an original was no page'
WHERE EXISTS (SELECT 1 FROM pages WHERE original > id)
UNION ALL
SELECT 'a sketch or digest has another length'
WHERE EXISTS (
    SELECT 1 FROM pages WHERE length(digest) != 16
    OR length(sketch) NOT BETWEEN 4 AND :most_sketch_bytes OR length(sketch) % 2
)
UNION ALL
SELECT 'a page has a wrong number of keys'
WHERE EXISTS (SELECT 1 FROM pages WHERE length(keys) NOT IN (0, :keys_bytes))
UNION ALL
SELECT 'a text has no page'
WHERE EXISTS (SELECT 1 FROM texts WHERE page NOT IN (SELECT id FROM pages))
UNION ALL
SELECT 'a form has no page'
WHERE EXISTS (SELECT 1 FROM forms WHERE page NOT IN (SELECT id FROM pages))
UNION ALL
SELECT 'a form of a text has no text'
WHERE EXISTS (
    SELECT 1 FROM forms WHERE form = x'' AND page NOT IN (SELECT page FROM texts)
)
UNION ALL
SELECT 'a provisional page is no kept page'
WHERE EXISTS (
    SELECT 1 FROM provisional_pages
    WHERE page NOT IN (SELECT id FROM pages WHERE is_kept AND NOT is_pending)
)
UNION ALL
SELECT 'a frame has no host'
WHERE EXISTS (SELECT 1 FROM host_frames WHERE host NOT IN (SELECT id FROM hosts))
UNION ALL
SELECT 'a count is wrong'
WHERE EXISTS (
    SELECT 1 FROM counts
    WHERE pages != (SELECT count(*) FROM pages WHERE pages.is_kept = counts.is_kept)
)
