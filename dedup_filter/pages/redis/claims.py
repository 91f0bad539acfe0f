"""Pages that are pending, here or elsewhere -> what becomes of them.

    append -> pending -> commit    kept
                      -> release   gone
                      -> lost      unknown to the servers: committed anew, under another number

A page is lost when its lease was over, or with what a server loses when it fails. An answer can
get lost as well: a page that may have been appended is released with the next call, and one that
may have been committed is taken back before another is compared, unless its caller will ask.

The page that another repeats may be pending elsewhere: it is asked for again, or waited for. After
a server failed its number may have been given to another page, so it is known by its entry too.

Cost: a call to append and one to commit, two on a cluster; two to release, and two to ask what
became of a page; waiting asks at most every 0.25 s in the end.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic, sleep

from dedup_filter.model import Fate, Outcome, Verdict
from dedup_filter.pages.comparison import Overtaken
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.followed_log import FollowedLog
from dedup_filter.pages.redis.formats import Entry, entry_of
from dedup_filter.pages.redis.process import LEASE
from dedup_filter.pages.redis.records import Commit, SharedRecords, pack_record

__all__ = ["Claims", "Tally"]

_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to end its claim of a page's original."""
_SHORTEST_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_MOST_AWAITED = 10_000
_MOST_TRIALS = 3
"""To change a page of which something has come that was not read yet."""
_MOST_OPEN = 10_000
"""Pending pages for which counts are kept; the caller may never ask for the outcome."""


class Claims:
    """The pages that are pending here, and what becomes of them."""

    def __init__(self, log: FollowedLog, records: SharedRecords, tally: "Tally") -> None:
        self._log = log
        self._process = log.process
        self._records = records
        self._tally = tally
        self.held = log.held
        """Pages that are pending here."""
        self.gone: list[int] = []
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self._lost = log.lost
        self._revisited: dict[int, int] = {}
        """Of those pending, which stand for a page that is visited again, and for which one."""
        self._in_doubt: set[int] = set()
        """Pages that may have been committed, while their caller was told of a fault."""
        self._awaited: dict[int, Entry] = {}
        """Pages pending elsewhere that pages here were found to repeat, the last ones."""

    def append(
        self, record: PageRecord, is_still: Callable[[int], bool], revisited: int = 0
    ) -> int:
        """Append a page to the log; return its number.

        `is_still` tells of a number whether that page is what it was found to be, after all that
        stands before it in the log. One that is visited again is replaced when this is committed.

        Raises:
            Overtaken: something stands before it for which it is not.
        """
        number = self._log.append(record)
        try:
            # With the number of a lost page both would go by it here. The next page gets another.
            stays = number not in self._lost and is_still(number)
        except BaseException:
            self.held.pop(number, None)
            raise
        if not stays:
            self._release(number)
            raise Overtaken
        if revisited:
            self._revisited[number] = revisited
        return number

    def replace(self, number: int, change: Callable[[PageRecord], PageRecord]) -> None:
        """Change the record of a page; one that is gone is left so."""
        for _ in range(_MOST_TRIALS):
            record = self.held.get(number) or self._records.read([number]).get(number)
            if record is None or number not in self._log.replica or number <= self._log.lost_to:
                return
            if self._replaced(number, change(record)):
                return

    def keep(self, number: int) -> None:
        """Commit a page whose caller has no verdict yet.

        Raises:
            Overtaken: its lease was over, or a server failed: it must be compared anew.
        """
        record = self.held.get(number)
        self._in_doubt.add(number)
        is_kept = record is not None and self._committed(number, record) is Commit.DONE
        self._in_doubt.discard(number)
        self.abandon(number)
        if not is_kept:
            raise Overtaken

    def abandon(self, number: int) -> None:
        """Know no more of a page: if it is pending, the next call releases it."""
        for known in (self.held, self._lost, self._revisited):
            known.pop(number, None)

    def withdraw(self) -> None:
        """Take back what may have been committed here without a verdict, as a call failed."""
        if self._in_doubt:
            self._log.sync()
            self.remove([number for number in self._in_doubt if number in self._log.replica])
            self._in_doubt.clear()

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        lost, record = self._lost.get(number), self.held.get(number)
        if record is not None:
            done = self._committed(number, record)
            if done is Commit.FORGOTTEN:
                self.gone.append(number)
            if done is not Commit.DONE:
                self._log.sync()
            if done is Commit.NOT_PENDING and not self._log.is_there(number, record):
                lost = record  # its lease was over; otherwise it was committed before
        if lost is not None:
            self._commit_anew(lost)
        self.abandon(number)
        self._tally.is_kept(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number not in self.held and number not in self._lost:
            return
        self._tally.is_gone(number)
        self.gone.append(number)
        self._lost.pop(number, None)
        self._revisited.pop(number, None)
        if number in self.held:
            self._release(number)
            self._log.sync()

    def remove(self, pages: list[int]) -> bool:
        """Take pages out; return False if the log is another one, with other numbers."""
        if not pages:
            return True
        if self._log.step("remove", *pages) is None:
            return False
        self._records.remove(pages)
        for page in pages:
            self.held.pop(page, None)
        self.gone += pages
        self._log.sync()
        return True

    def begin_anew(self) -> None:
        """Forget what is known of pages elsewhere by their numbers, and counts that may be lost."""
        self._revisited.clear()
        self._in_doubt.clear()
        self._tally.begin_anew()

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process."""
        is_held = number in self.held or number in self._lost
        if is_held and number not in self._awaited:
            return "pending"
        is_pending = self._records.is_pending(number)
        # In this order: a page that was not pending, and is there now, was committed. And always:
        # calls release the pages of dead processes, and there may be no other call left.
        self._log.sync()
        if is_pending:
            return "pending"
        awaited, told = self._awaited.pop(number, None), self._log.replica.entry(number)
        is_there = told is not None and awaited in (None, told)
        (self._tally.is_kept if is_there else self._tally.is_gone)(number)
        return "kept" if is_there else "gone"

    def await_original(
        self, found: Verdict, records: Mapping[int, PageRecord], *, is_pending: bool
    ) -> Verdict:
        """Wait until the original of a page is not pending any more, unless the caller does.

        Raises:
            Overtaken: the original is gone.
        """
        original = found.original_page
        assert original is not None, "a duplicate has an original"
        if original in self.held or not records[original].is_pending:
            return found
        self._awaited[original] = entry_of(records[original])
        if len(self._awaited) > _MOST_AWAITED:
            del self._awaited[next(iter(self._awaited))]
        return found if is_pending else self._waited_for(original, found)

    def _replaced(self, number: int, record: PageRecord) -> bool:
        """Give a page another record; return False if something has come of it meanwhile."""
        is_pending, where = number in self.held, self._records.for_script(number)
        process = self._process.name if is_pending else ""
        measures = *entry_of(record).fields, pack_record(record), *where
        done = self._log.step("replace", process, number, *measures)
        if done and is_pending:
            self.held[number] = record
        elif done and not where[0]:
            self._records.put(number, record)
        self._log.sync()
        return bool(done)

    def _release(self, number: int) -> None:
        """Release a page; if the call fails, it is released with the next."""
        del self.held[number]
        self._process.connection.run("release", self._process.name, number)

    def _committed(self, number: int, record: PageRecord) -> Commit:
        """Commit a page; if it takes the place of another, the replica knows by now."""
        replaced = self._revisited.get(number, 0)
        done = self._records.commit(self._process.name, number, record, replaced)
        if done is Commit.DONE and replaced:
            self._records.remove([replaced])
            self._log.sync()
        return done

    def _commit_anew(self, record: PageRecord) -> None:
        """Commit a lost page under another number, without comparing it with later pages."""
        number = 0
        while not number:
            with suppress(Overtaken):
                number = self._log.append(record)
        del self.held[number]
        self._records.commit(self._process.name, number, record)

    def _waited_for(self, original: int, found: Verdict) -> Verdict:
        latest, pause = monotonic() + _LONGEST_WAIT, _SHORTEST_PAUSE
        while (fate := self.fate(original)) == "pending":
            if monotonic() > latest:
                return found.as_unjudged("pending")._replace(original_page=None)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if fate == "gone":
            raise Overtaken
        return found


class Tally:
    """Counts the pages that a process judges, each once.

    What repeats a pending page is judged anew if that is released. Until it is known what became of
    it, such a page is counted as what it was found to be, and its count can be taken back.
    """

    def __init__(self, count: Callable[[Outcome, int], None]) -> None:
        self._count = count
        self._open: OrderedDict[int, Counter[Outcome]] = OrderedDict()
        """By pending page, what was said of the pages that repeat it."""

    def told(self, outcome: Outcome, pending: int | None = None) -> None:
        """Count a page, which may repeat one that is pending."""
        self._count(outcome, 1)
        if pending is not None:
            self._open.setdefault(pending, Counter())[outcome] += 1
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)

    def is_kept(self, page: int) -> None:
        """Take note that a page was committed: what repeats it was judged for good."""
        self._open.pop(page, None)

    def is_gone(self, page: int) -> None:
        """Take note that a page is gone: what repeats it is judged, and counted, anew."""
        for outcome, count in self._open.pop(page, Counter()).items():
            self._count(outcome, -count)

    def begin_anew(self) -> None:
        """Forget pages by number: what was counted may be lost with them."""
        self._open.clear()
