"""Held-back requests with their reasons -> a database -> the requests, if a reason does not hold.

With JOBDIR the file outlives the crawl, so a resumed job still has the requests. Without JOBDIR the
database is an unnamed temporary file, so that memory does not grow.

Cost: 60 us a request; when a reason ends, 5 us for each held-back request.
"""

import json
import pickle
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedup_filter.errors import StoreError
from dedup_filter.urls.live import Reason

_AT_ONCE = 1_000


class HeldRequests:
    """The held-back requests, each with its reasons; no path: for this process only.

    Raises:
        StoreError: the file cannot be opened, or is no such database.
    """

    def __init__(self, path: Path | None) -> None:
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path or "", isolation_level=None)
            # Written requests outlive the process. A crash of the machine may lose some, as Scrapy
            # may lose requests in progress.
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS held "
                "(id INTEGER PRIMARY KEY, reasons TEXT NOT NULL, request BLOB NOT NULL)"
            )
            self._database.execute("CREATE INDEX IF NOT EXISTS held_reasons ON held (reasons)")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"requests cannot be held back in {path}: {error}") from error

    def add(self, request: Request, reasons: Collection[Reason], spider: Spider) -> None:
        """Store a request.

        Raises:
            Exception: of any kind; the request cannot be pickled (its callback is a lambda) or not
                be written.
        """
        fields = pickle.dumps(request.to_dict(spider=spider), pickle.HIGHEST_PROTOCOL)
        values = json.dumps(reasons), fields
        self._database.execute("INSERT INTO held (reasons, request) VALUES (?, ?)", values)

    def release(self, active: Collection[Reason], spider: Spider) -> Iterator[Request | Exception]:
        """Yield and forget the requests with a reason that is not active any more.

        If a request cannot be unpickled, because the spider has changed, the error is yielded.
        """
        stand = {json.dumps(reason) for reason in active}
        last = 0
        while rows := self._database.execute(
            "SELECT id, reasons FROM held WHERE id > ? ORDER BY id LIMIT ?", (last, _AT_ONCE)
        ).fetchall():
            for last, reasons in rows:
                if not {json.dumps(reason) for reason in json.loads(reasons)} <= stand:
                    yield self._request(last, spider)
                    self._forget(last)

    def reasons(self) -> set[Reason]:
        """Return the reasons for which requests are held back."""
        rows = self._database.execute("SELECT DISTINCT reasons FROM held").fetchall()
        found = (reason for (reasons,) in rows for reason in json.loads(reasons))
        return {
            (origin, kind, what if isinstance(what, str) else tuple(what))
            for origin, kind, what in found
        }

    def last(self, reasons: Collection[Reason], spider: Spider) -> Request | Exception | None:
        """Return and forget the last request that is held back for exactly these reasons."""
        query = "SELECT max(id) FROM held WHERE reasons = ?"
        number = self._database.execute(query, (json.dumps(reasons),)).fetchone()[0]
        if number is None:
            return None
        request = self._request(number, spider)
        self._forget(number)
        return request

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _forget(self, number: int) -> None:
        self._database.execute("DELETE FROM held WHERE id = ?", (number,))

    def _request(self, number: int, spider: Spider) -> Request | Exception:
        query = "SELECT request FROM held WHERE id = ?"
        fields = self._database.execute(query, (number,)).fetchone()[0]
        try:  # trusted: written by this process or this job, like Scrapy's own queues
            return request_from_dict(pickle.loads(fields), spider=spider)  # noqa: S301
        except Exception as error:
            return error
