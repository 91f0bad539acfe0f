"""A shared index -> what is wrong with it, in sentences. Reads only; processes may be at work.

Log, records and pages in flight are read one after another, and something may happen in between;
so what does not agree is looked at again, and is a fault if it still does not.

Cost: reads everything, and passes over all keys of the servers; of the log 60 bytes an event.
"""

from collections.abc import Iterable
from time import sleep
from time import time as now

from dedup_filter.errors import StoreCorrupt
from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis import SharedReader, Standing, entry_of
from dedup_filter.upkeep.check import Findings
from dedup_filter.wording import counted

__all__ = ["check_server", "without_record"]

_ATTEMPTS = 3
_PAUSE = 0.2

_GONE = "in flight and not in the log"
_NOBODYS = "in flight and claimed by no process"
_OTHERWISE = "in the log otherwise than in the record"
_LACKING = "in the log without a record; `index compact` takes out what is"

Doubts = dict[str, set[int]]
"""What seems to be wrong -> with which pages."""


def check_server(reader: SharedReader) -> Findings:
    """Verify that the log, records and pages in flight agree.

    Raises:
        StoreError: they cannot be read.
    """
    findings = Findings()
    try:
        recorded = {page for part in reader.recorded() for page in part}
        log, doubts = _look(reader)
        findings.pages = findings.entries = len(log.pages)
        doubts = _lasting(reader, doubts)
    except StoreCorrupt as fault:
        findings.faults.append(str(fault))
        return findings
    if log.lost:
        findings.faults.append(
            f"the log has lost {counted(log.lost, 'event')}: the servers of an index must not "
            "evict keys (maxmemory-policy noeviction)"
        )
    expired = doubts.get(_LACKING, set()) & _due(reader, log)
    for what, pages in doubts.items():
        wrong = pages - expired if what == _LACKING else pages
        if wrong:
            findings.faults.append(f"{len(wrong):,} of the pages, {min(wrong)} first: {what}")
    orphans = log.lacks(page for page in recorded if page <= log.end)
    findings.notes += _notes(len(expired), len(orphans), len(reader.processes(alive=False)))
    return findings


def without_record(reader: SharedReader, pages: Iterable[int]) -> set[int]:
    """Return those of some pages that have a record neither in flight nor by themselves."""
    # In this order: a record moves from flight to its own key, and never back.
    asked = sorted(pages)
    pending = {record.page for record in reader.pending_records(asked)}
    asked = [page for page in asked if page not in pending]
    return set(asked).difference(record.page for record in reader.records(asked))


def _lasting(reader: SharedReader, doubts: Doubts) -> Doubts:
    """Look again at what seems to be wrong, as it may have been under way."""
    for _ in range(1, _ATTEMPTS):
        if not doubts:
            break
        sleep(_PAUSE)
        _, again = _look(reader, set().union(*doubts.values()))
        doubts = {
            what: pages & again[what] for what, pages in doubts.items() if pages & again[what]
        }
    return doubts


def _look(reader: SharedReader, only: set[int] | None = None) -> tuple[Standing, Doubts]:
    """Compare all pages, or only some."""
    in_flight = reader.in_flight()
    claimed = reader.owned([*reader.processes(), *reader.processes(alive=False)])
    log = reader.standing()
    pages: list[int] = log.pages.tolist()
    if only is not None:
        in_flight &= only
        pages = [page for page in pages if page in only]
    settled = [page for page in pages if page not in in_flight]
    found: set[int] = set()
    otherwise: set[int] = set()
    for records in (reader.pending_records(sorted(in_flight)), reader.records(settled)):
        for record in records:
            found.add(record.page)
            if log.entry(record.page) != entry_of(record):
                otherwise.add(record.page)
    gone = log.lacks(in_flight)
    doubts = {
        _GONE: gone,
        _NOBODYS: in_flight - claimed,
        _OTHERWISE: otherwise - gone,
        _LACKING: without_record(reader, set(settled) - found),
    }
    return log, doubts if only is not None else {w: p for w, p in doubts.items() if p}


def _due(reader: SharedReader, log: Standing) -> set[int]:
    """Return the pages whose records have expired by now."""
    days = reader.options.get("expire_days")
    if days is None:
        return set()
    return set(log.pages[log.events["seen"] <= now() - expiry_seconds(days)].tolist())


def _notes(expired: int, orphans: int, lapsed: int) -> list[str]:
    notes = []
    if expired:
        notes.append(f"expired: {counted(expired, 'page')}; the next crawl takes out what has")
    if orphans:
        notes.append(f"of no page: {counted(orphans, 'record')}; `index compact` deletes what is")
    if lapsed:
        notes.append(
            f"ended without a word: {counted(lapsed, 'process', 'processes')}; the next crawl, or "
            "`index compact`, releases what was pending there"
        )
    return notes
