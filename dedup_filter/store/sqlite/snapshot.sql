-- An index as the next opening for writing would leave it: without pending pages. Temporary views
-- hide the tables of the same names. The connection only reads, all in this transaction.

PRAGMA temp_store = MEMORY;
BEGIN;

-- The duplicates of a pending page go with it. A primary key, because every read looks numbers up.
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
