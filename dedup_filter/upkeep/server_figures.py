"""A shared index -> how much of what it holds."""

from typing import Any

import numpy as np

from dedup_filter.pages.redis import SharedReader, Standing
from dedup_filter.pages.redis.memory import memory_of

__all__ = ["server_figures"]


def server_figures(reader: SharedReader) -> dict[str, Any]:
    """Count what is there. Times are Unix seconds.

    What was said of pages is counted by all processes since the index was made; each brings its
    counts every some seconds. Bytes are estimated from some keys.

    Cost: reads the log, and no records but a few.
    """
    pending, log = reader.in_flight(), reader.standing()
    outcomes = reader.totals()
    return {
        "index": str(reader),
        "pages": sum(outcomes.values()),
        "kept": len(log.pages),
        "pending": len(pending),
        "outcomes": {name: count for name, count in outcomes.items() if count},
        "hosts": len(np.unique(log.events["host"])),
        "first_seen": int(log.events["seen"].min()) if len(log.pages) else None,
        "last_seen": int(log.events["seen"].max()) if len(log.pages) else None,
        "processes": len(reader.processes()),
        "server_bytes": _bytes(reader, log),
        "scheme": dict(reader.scheme.parts),
        "options": reader.options,
        "crawls": [
            {"crawl": number, "name": name, "started": started or None}
            for number, name, started, _ in reader.crawls()
        ],
    }


def _bytes(reader: SharedReader, log: Standing) -> dict[str, int]:
    memory = memory_of(reader, log.end, log.pages.tolist())
    pages = len(log.pages)
    a_page = (memory.log + memory.records) // pages if pages else 0
    return {"log": memory.log, "records": memory.records, "a_page": a_page}
