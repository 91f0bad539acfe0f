-- Format 10 of pages.sqlite3. Stored on disk: never change a meaning, add a format.
-- SQLite 3.24 or newer. Times are Unix seconds.

CREATE TABLE notes (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL              -- scheme, crawls: JSON; identity: unique; last_page: the
                                     -- highest number given; bookmark: set by the program that
                                     -- fills the index
) WITHOUT ROWID;

CREATE TABLE pages (
    page        INTEGER PRIMARY KEY,
    url         TEXT NOT NULL,
    url_key     INTEGER NOT NULL,    -- of the canonical URL, signed
    host        TEXT NOT NULL,
    is_kept     INTEGER NOT NULL,    -- 1: later pages are compared with this page
    digest      BLOB NOT NULL,
    fingerprint INTEGER,             -- signed; NULL: too short for near duplicates
    keys        BLOB NOT NULL,       -- of phrases: 48 bytes, or none
    words       INTEGER NOT NULL,
    language    TEXT,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    first_crawl INTEGER NOT NULL,    -- numbers of crawls
    crawl       INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    reason      TEXT,
    original    INTEGER,             -- number of a page, which may be deleted by now
    distance    INTEGER,
    similarity  REAL,
    h1          TEXT NOT NULL,       -- '' if the page has none
    title       TEXT NOT NULL,       -- '' if the page has none
    canonical_key INTEGER            -- url_key of the canonical URL that a kept page names;
                                     -- NULL: the page's own URL, or none
);
CREATE INDEX page_age ON pages (is_kept, last_seen);

-- Apart from pages, so that all pages can be scanned without them.
CREATE TABLE sketches (
    page   INTEGER PRIMARY KEY,
    sketch BLOB NOT NULL,
    visit  BLOB NOT NULL             -- of each block in the sketch: words, kind of place
);

CREATE TABLE contents (
    page INTEGER PRIMARY KEY,
    text BLOB,                       -- the main text: UTF-8, zlib
    form BLOB                        -- the parsed page; empty: the page was given as plain text
);

-- The frame of each host or site: the counted blocks of its pages.
CREATE TABLE hosts (
    name    TEXT PRIMARY KEY,
    counted INTEGER NOT NULL,        -- when a page was counted last
    frame   BLOB NOT NULL
);
CREATE INDEX host_age ON hosts (counted);

-- Kept pages that are to be judged again when more of their host's frame is known.
CREATE TABLE waiting (
    page  INTEGER PRIMARY KEY,
    host  TEXT NOT NULL,
    times INTEGER NOT NULL,          -- how many other pages of its template were kept
    new   BLOB NOT NULL,             -- hashes of its new blocks, 8 bytes each
    form  BLOB NOT NULL              -- the parsed page
);
CREATE INDEX waiting_host ON waiting (host);

-- For people and their programs: each judged page with its verdict (docs/sql.md).
CREATE VIEW judged_pages AS
SELECT
    pages.page,
    CAST(pages.url AS TEXT) AS url,
    CAST(pages.host AS TEXT) AS host,
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
FROM pages LEFT JOIN pages AS originals ON originals.page = pages.original;
