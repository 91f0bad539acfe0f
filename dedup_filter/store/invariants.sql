-- The broken invariants of an index, one row each; no rows if the index is sound.

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
WHERE EXISTS (SELECT 1 FROM pages WHERE original = page)
UNION ALL
SELECT 'an original was no page'
WHERE EXISTS (SELECT 1 FROM pages WHERE original > page)
UNION ALL
SELECT 'a page number was not given'
WHERE EXISTS (
    SELECT 1 FROM pages
    WHERE page > CAST((SELECT value FROM notes WHERE key = 'last_page') AS INTEGER)
)
UNION ALL
SELECT 'a digest has another length'
WHERE EXISTS (SELECT 1 FROM pages WHERE length(digest) != 16)
UNION ALL
SELECT 'a page has a wrong number of keys'
WHERE EXISTS (SELECT 1 FROM pages WHERE length(keys) NOT IN (0, :keys_bytes))
UNION ALL
SELECT 'a page has no sketch'
WHERE EXISTS (SELECT 1 FROM pages WHERE page NOT IN (SELECT page FROM sketches))
UNION ALL
SELECT 'a sketch has no page, or another length'
WHERE EXISTS (
    SELECT 1 FROM sketches WHERE page NOT IN (SELECT page FROM pages)
    OR length(sketch) NOT BETWEEN 4 AND :most_sketch_bytes OR length(sketch) % 2
)
UNION ALL
SELECT 'a content has no page'
WHERE EXISTS (SELECT 1 FROM contents WHERE page NOT IN (SELECT page FROM pages))
UNION ALL
SELECT 'a form of a text has no text'
WHERE EXISTS (SELECT 1 FROM contents WHERE form = x'' AND text IS NULL)
UNION ALL
SELECT 'a waiting page is no kept page'
WHERE EXISTS (
    SELECT 1 FROM waiting WHERE page NOT IN (SELECT page FROM pages WHERE is_kept)
);
