-- Format 1 -> 2. Digests are found by tables beside those of fingerprints, as an SQL index of them,
-- which come in no order, cost as much as all the rest of a page together. So they are noted where
-- fingerprints are: in the index that all pages are read from, and in the log of what is superseded.

DROP INDEX page_digest;
DROP INDEX page_entry;
CREATE INDEX page_entry ON pages (id, is_kept, fingerprint, host, url_key, digest);

ALTER TABLE superseded ADD COLUMN digest BLOB;

-- Pages that come are counted with the group of changes that they are in.
DROP TRIGGER page_added;

DROP TRIGGER page_deleted;
CREATE TRIGGER page_deleted AFTER DELETE ON pages BEGIN
    UPDATE counts SET pages = pages - 1 WHERE is_kept = OLD.is_kept;
    INSERT INTO superseded (page, fingerprint, host, digest)
        SELECT OLD.id, OLD.fingerprint, OLD.host, OLD.digest WHERE OLD.is_kept;
    DELETE FROM texts WHERE page = OLD.id;
    DELETE FROM early_pages WHERE page = OLD.id;
    DELETE FROM frame_lessons WHERE page = OLD.id AND is_in_state;
END;

DROP TRIGGER page_replaced;
CREATE TRIGGER page_replaced AFTER UPDATE OF fingerprint, digest ON pages
    WHEN OLD.is_kept
        AND (OLD.fingerprint IS NOT NEW.fingerprint OR OLD.digest IS NOT NEW.digest)
BEGIN
    INSERT INTO superseded (page, fingerprint, host, digest)
        VALUES (OLD.id, OLD.fingerprint, OLD.host, OLD.digest);
END;

-- No tables that were written before have digests.
DELETE FROM superseded;
UPDATE meta SET value = (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'superseded')
    WHERE key = 'trimmed';
