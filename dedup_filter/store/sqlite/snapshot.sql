-- An index as the next opening for writing would find it: without pages that are pending. Temporary
-- views have the names of the tables; the transaction is that of the connection, which only reads.

PRAGMA temp_store = MEMORY;
BEGIN;

-- What is dropped for a page goes with it. A key, because every read looks numbers up.
CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY);
INSERT INTO gone
    SELECT id FROM main.pages WHERE is_pending UNION
    SELECT id FROM main.pages WHERE NOT is_kept
        AND original IN (SELECT id FROM main.pages WHERE is_pending);

CREATE TEMP VIEW pages AS
    SELECT * FROM main.pages WHERE id NOT IN (SELECT id FROM temp.gone);
CREATE TEMP VIEW texts AS
    SELECT * FROM main.texts WHERE page NOT IN (SELECT id FROM temp.gone);
CREATE TEMP VIEW forms AS
    SELECT * FROM main.forms WHERE page NOT IN (SELECT id FROM temp.gone);
CREATE TEMP VIEW counts AS
    SELECT is_kept, (SELECT count(*) FROM temp.pages WHERE pages.is_kept = counts.is_kept)
        AS pages FROM main.counts;
