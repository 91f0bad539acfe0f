-- Format 8 of pages.sqlite3. Stored on disk: never change a meaning, add a format.
-- SQLite 3.24 or newer. Times are Unix seconds.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL              -- scheme: JSON; trimmed: a revision; identity;
                                     -- bookmark: of who fills the index, if they have one
) WITHOUT ROWID;

CREATE TABLE crawls (
    id      INTEGER PRIMARY KEY,
    name    TEXT UNIQUE,             -- NULL: nobody will resume it
    started INTEGER NOT NULL,
    ended   INTEGER,                 -- NULL: it runs, or was killed
    options TEXT                     -- JSON: by which its pages were judged; NULL: not known
);

CREATE TABLE hosts (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- AUTOINCREMENT: the number of a page that is gone is never given to another.
CREATE TABLE pages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    is_pending  INTEGER NOT NULL,    -- 1: its item has not gone through yet
    is_kept     INTEGER NOT NULL,    -- 1: later pages are compared with it
    host        INTEGER NOT NULL REFERENCES hosts (id),
    url         TEXT NOT NULL,
    url_key     INTEGER NOT NULL,    -- of the canonical URL, signed
    digest      BLOB NOT NULL,
    fingerprint INTEGER,             -- signed; NULL: too short to be near anything
    words       INTEGER NOT NULL,
    language    TEXT,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    first_crawl INTEGER NOT NULL REFERENCES crawls (id),
    crawl       INTEGER NOT NULL REFERENCES crawls (id),
    outcome     TEXT NOT NULL,
    reason      TEXT,
    original    INTEGER,             -- a page that may be gone by now
    distance    INTEGER,
    similarity  REAL,
    h1          TEXT NOT NULL,       -- '' if there is none; so is the title
    title       TEXT NOT NULL,
    canonical_key INTEGER,           -- url_key of what a kept page names as its canonical URL;
                                     -- NULL: its own, or none
    keys        BLOB NOT NULL,       -- of phrases: 32 bytes, or none
    sketch      BLOB NOT NULL        -- last: a row is read up to what is asked for
);

CREATE INDEX page_age      ON pages (is_kept, last_seen);
CREATE INDEX page_pending  ON pages (is_pending) WHERE is_pending;
CREATE INDEX page_original ON pages (original) WHERE original IS NOT NULL;
-- What is read of all pages at once, without passing over their sketches: it grows at its end
-- only. An SQL index of url_key or digest would cost as much as all the rest of a page together.
CREATE INDEX page_entry    ON pages (id, is_kept, fingerprint, host, url_key, digest, keys);

CREATE TABLE texts (
    page INTEGER PRIMARY KEY,
    text BLOB NOT NULL               -- UTF-8, zlib
);

CREATE TABLE forms (
    page INTEGER PRIMARY KEY,
    form BLOB NOT NULL               -- the page as it was taken apart; empty: it was given as
                                     -- text, and that is in texts
);

-- To count ten million rows takes seconds. Whoever inserts a page adds it here too: a trigger would
-- make that a third slower. Pages that are deleted are subtracted by a trigger.
CREATE TABLE counts (
    is_kept INTEGER PRIMARY KEY,
    pages   INTEGER NOT NULL
);
INSERT INTO counts VALUES (0, 0), (1, 0);

-- What tables written at an earlier revision still hold though it is no longer so.
CREATE TABLE superseded (
    revision    INTEGER PRIMARY KEY AUTOINCREMENT,
    page        INTEGER NOT NULL,
    fingerprint INTEGER,             -- NULL: those of fingerprints hold nothing of the page
    host        INTEGER NOT NULL,
    digest      BLOB,
    keys        BLOB
);

CREATE TRIGGER page_deleted AFTER DELETE ON pages BEGIN
    UPDATE counts SET pages = pages - 1 WHERE is_kept = OLD.is_kept;
    INSERT INTO superseded (page, fingerprint, host, digest, keys)
        SELECT OLD.id, OLD.fingerprint, OLD.host, OLD.digest, OLD.keys WHERE OLD.is_kept;
    DELETE FROM texts WHERE page = OLD.id;
    DELETE FROM forms WHERE page = OLD.id;
    DELETE FROM provisional_pages WHERE page = OLD.id;
END;

CREATE TRIGGER page_replaced AFTER UPDATE OF fingerprint, digest, keys ON pages
    WHEN OLD.is_kept
        AND (OLD.fingerprint IS NOT NEW.fingerprint OR OLD.digest IS NOT NEW.digest
            OR OLD.keys IS NOT NEW.keys)
BEGIN
    INSERT INTO superseded (page, fingerprint, host, digest, keys)
        VALUES (OLD.id, OLD.fingerprint, OLD.host, OLD.digest, OLD.keys);
END;

-- What the pages of each host, or of a site, have shown.
CREATE TABLE host_frames (
    host    INTEGER PRIMARY KEY,
    counted INTEGER NOT NULL,        -- when a page was counted last
    record  BLOB NOT NULL
);
CREATE INDEX frame_age ON host_frames (counted);

CREATE TABLE provisional_pages (
    page INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    note BLOB NOT NULL,              -- what is known of it by now
    form BLOB NOT NULL               -- the page as it was taken apart; last, as it is large
);
CREATE INDEX provisional_host ON provisional_pages (host);
