"""Requests that rules hold back -> a database -> the same requests, if a rule does not hold.

With JOBDIR the file outlives the crawl: a resumed job still knows them. Without, the database is a
temporary file without a name, so that memory does not grow.

Cost: 60 us a request; a look through all of them, when a rule is retired, 3 us each.
"""

import json
import pickle
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedup_filter.errors import StoreError
from dedup_filter.urls.rule import Rule

_AT_ONCE = 1_000


class HeldRequests:
    """Requests that were held back, each with the rules that did; no path: for this process only.

    Raises:
        StoreError: the file cannot be opened, or is no such database.
    """

    def __init__(self, path: Path | None) -> None:
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path or "", isolation_level=None)
            # What a process has written outlives its death; an outage of the machine may cost
            # requests, as it does those that Scrapy has begun.
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY, rules TEXT, request BLOB)"
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"requests cannot be held back in {path}: {error}") from error

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM held").fetchone()[0])

    def add(self, request: Request, rules: Collection[Rule], spider: Spider) -> None:
        """Remember a request.

        Raises:
            Exception: of any kind, if it cannot be pickled, as with a lambda for its callback, or
                not be written.
        """
        fields = pickle.dumps(request.to_dict(spider=spider), pickle.HIGHEST_PROTOCOL)
        names = json.dumps(rules)
        self._database.execute("INSERT INTO held (rules, request) VALUES (?, ?)", (names, fields))

    def release(self, active: Collection[Rule], spider: Spider) -> Iterator[Request | Exception]:
        """Yield the requests of which not all rules are active, and forget each after that.

        In place of one that cannot be unpickled any more, as the spider has changed, the error.
        """
        stand = set(active)
        last = 0
        while rows := self._database.execute(
            "SELECT id, rules FROM held WHERE id > ? ORDER BY id LIMIT ?", (last, _AT_ONCE)
        ).fetchall():
            for last, names in rows:
                rules = {Rule(rule[0], rule[1], tuple(rule[2])) for rule in json.loads(names)}
                if not rules <= stand:
                    yield self._request(last, spider)
                    self._database.execute("DELETE FROM held WHERE id = ?", (last,))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _request(self, number: int, spider: Spider) -> Request | Exception:
        query = "SELECT request FROM held WHERE id = ?"
        fields = self._database.execute(query, (number,)).fetchone()[0]
        try:  # what this process or the job has written, as Scrapy does its queues
            return request_from_dict(pickle.loads(fields), spider=spider)  # noqa: S301
        except Exception as error:
            return error
