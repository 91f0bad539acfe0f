-- Format 9 of pages.sqlite3. Stored on disk: never change a meaning, add a format.
-- SQLite 3.24 or newer. Times are Unix seconds.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL              -- scheme: JSON; identity: unique; entries: checksum of
                                     -- the file with the entries of all kept pages, missing
                                     -- while a process writes and after it was killed;
                                     -- bookmark: set by the program that fills the index
) WITHOUT ROWID;

CREATE TABLE crawls (
    id      INTEGER PRIMARY KEY,
    name    TEXT UNIQUE,             -- NULL: the crawl cannot be resumed
    started INTEGER NOT NULL,
    ended   INTEGER,                 -- NULL: the crawl runs, or was killed
    options TEXT                     -- JSON: options for judging its pages; NULL: not known
);

CREATE TABLE hosts (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- AUTOINCREMENT: the number of a deleted page is never reused.
CREATE TABLE pages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    is_pending  INTEGER NOT NULL,    -- 1: not committed yet
    is_kept     INTEGER NOT NULL,    -- 1: later pages are compared with this page
    host        INTEGER NOT NULL REFERENCES hosts (id),
    url         TEXT NOT NULL,
    url_key     INTEGER NOT NULL,    -- of the canonical URL, signed
    digest      BLOB NOT NULL,
    fingerprint INTEGER,             -- signed; NULL: too short for near duplicates
    words       INTEGER NOT NULL,
    language    TEXT,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    first_crawl INTEGER NOT NULL REFERENCES crawls (id),
    crawl       INTEGER NOT NULL REFERENCES crawls (id),
    outcome     TEXT NOT NULL,
    reason      TEXT,
    original    INTEGER,             -- number of a page, which may be deleted by now
    distance    INTEGER,
    similarity  REAL,
    h1          TEXT NOT NULL,       -- '' if the page has none
    title       TEXT NOT NULL,       -- '' if the page has none
    canonical_key INTEGER,           -- url_key of the canonical URL that a kept page names;
                                     -- NULL: the page's own URL, or none
    keys        BLOB NOT NULL,       -- of phrases: 32 bytes, or none
    sketch      BLOB NOT NULL        -- last: SQLite reads a row up to the last wanted column
);

CREATE INDEX page_age      ON pages (is_kept, last_seen);
CREATE INDEX page_pending  ON pages (is_pending) WHERE is_pending;
CREATE INDEX page_original ON pages (original) WHERE original IS NOT NULL;
-- Covering index to read the entries of all pages without their sketches: new rows go to its end.
-- An index on url_key or digest would cost as much as all the rest of a page together.
CREATE INDEX page_entry    ON pages (id, is_kept, fingerprint, host, url_key, digest, keys);

CREATE TABLE texts (
    page INTEGER PRIMARY KEY,
    text BLOB NOT NULL               -- UTF-8, zlib
);

CREATE TABLE forms (
    page INTEGER PRIMARY KEY,
    form BLOB NOT NULL               -- the parsed page; empty: the page was given as plain
                                     -- text, which is in texts
);

-- Counting ten million rows takes seconds. Code that inserts a page adds it here too, because a
-- trigger would make inserts a third slower. A trigger subtracts deleted pages.
CREATE TABLE counts (
    is_kept INTEGER PRIMARY KEY,
    pages   INTEGER NOT NULL
);
INSERT INTO counts VALUES (0, 0), (1, 0);

CREATE TRIGGER page_deleted AFTER DELETE ON pages BEGIN
    UPDATE counts SET pages = pages - 1 WHERE is_kept = OLD.is_kept;
    DELETE FROM texts WHERE page = OLD.id;
    DELETE FROM forms WHERE page = OLD.id;
    DELETE FROM provisional_pages WHERE page = OLD.id;
END;

-- The frame of each host or site: the counted blocks of its pages.
CREATE TABLE host_frames (
    host    INTEGER PRIMARY KEY,
    counted INTEGER NOT NULL,        -- when a page was counted last
    record  BLOB NOT NULL
);
CREATE INDEX frame_age ON host_frames (counted);

CREATE TABLE provisional_pages (
    page INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    note BLOB NOT NULL,              -- current number of pages of its template; its new blocks
    form BLOB NOT NULL               -- the parsed page; last, because it is large
);
CREATE INDEX provisional_host ON provisional_pages (host);

-- For people and their programs: each judged page with its verdict (docs/sql.md). Pages that are
-- pending are left out.
CREATE VIEW judged_pages AS
SELECT
    pages.id AS page,
    CAST(pages.url AS TEXT) AS url,
    CAST(hosts.name AS TEXT) AS host,
    pages.outcome,
    pages.reason,
    pages.original AS original_page,
    CAST(originals.url AS TEXT) AS original,   -- NULL: none, or it is deleted by now
    pages.distance,
    pages.similarity,
    pages.language,
    pages.words,
    strftime('%Y-%m-%dT%H:%M:%SZ', pages.first_seen, 'unixepoch') AS first_seen,
    strftime('%Y-%m-%dT%H:%M:%SZ', pages.last_seen, 'unixepoch') AS last_seen,
    pages.first_crawl,
    pages.crawl,
    pages.fingerprint,
    pages.digest,
    CAST(pages.h1 AS TEXT) AS h1,
    CAST(pages.title AS TEXT) AS title
FROM pages
    JOIN hosts ON hosts.id = pages.host
    LEFT JOIN pages AS originals ON originals.id = pages.original
WHERE NOT pages.is_pending;
