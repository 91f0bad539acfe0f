"""URLs -> no process of a shared index knows a page at them any more."""

from collections.abc import Iterable
from time import time as now

from dedup_filter.pages.directory.url_key import canonical
from dedup_filter.pages.redis import SharedReader
from dedup_filter.pages.redis.repairs import take_out

__all__ = ["forget_on_server"]


def forget_on_server(reader: SharedReader, urls: Iterable[str]) -> dict[str, int]:
    """Forget all pages at some URLs; return how many there were at each.

    Processes that are at work follow. What they have pending is theirs, and stays.

    Cost: reads the record of every page.

    Raises:
        StoreError: the servers cannot be reached or refuse.
    """
    counts = dict.fromkeys(urls, 0)
    wanted: dict[str, list[str]] = {}
    for url in counts:
        wanted.setdefault(canonical(url), []).append(url)
    pending = reader.in_flight()
    log = reader.standing()
    found = []
    for record in reader.records([page for page in log.pages.tolist() if page not in pending]):
        spelt = wanted.get(canonical(record.url))
        if spelt:
            found.append(record.page)
            for url in spelt:
                counts[url] += 1
    take_out(reader, log, found, int(now()))
    return counts
