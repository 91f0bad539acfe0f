"""A shared index -> the same without what crashes and forgetting have left on the servers.

    pages that dead processes had pending    released
    pages in the log without a record        taken out; crawlers compare nothing with them anyway
    records that no page has                 deleted
    the beginning of the log                 deleted as far as it tells of no page

Processes may be at work: each step is right whatever they do meanwhile.

Cost: passes over all keys of the servers, 1,000 at a time; of the log 60 bytes an event.
"""

from time import time as now

from dedup_filter.pages.redis import SharedReader
from dedup_filter.pages.redis.memory import memory_of
from dedup_filter.pages.redis.repairs import delete_records, release_lapsed, take_out, trim
from dedup_filter.upkeep.compact import Compaction
from dedup_filter.upkeep.server_check import without_record

__all__ = ["compact_server"]


def compact_server(reader: SharedReader) -> Compaction:
    """Give back room on the servers.

    Raises:
        StoreError: they cannot be reached or refuse. What was done till then is done.
    """
    released = release_lapsed(reader, int(now()))
    recorded = {page for part in reader.recorded() for page in part}
    log = reader.standing()
    pages: list[int] = log.pages.tolist()
    before = memory_of(reader, log.end, pages)
    lacking = sorted(without_record(reader, set(pages) - recorded))
    take_out(reader, log, lacking, int(now()))
    # What is beyond the end is about to become a page, or is overwritten by the next one.
    orphans = log.lacks(page for page in recorded if page <= log.end)
    delete_records(reader, orphans)
    log = reader.standing()
    trim(reader, log)
    after = memory_of(reader, log.end, log.pages.tolist())
    a_record = before.records // max(len(pages), 1)
    return Compaction(
        {"log": before.log, "records": before.records + a_record * len(orphans)},
        after._asdict(),
        {"released": released, "taken_out": len(lacking), "deleted": len(orphans)},
    )
