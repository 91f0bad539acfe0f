"""Pages that are pending, here or elsewhere -> what becomes of them.

    append -> pending -> commit    kept
                      -> release   gone
                      -> lost      unknown to the servers: committed anew, under another number

A page is lost when its lease was over, or with what a server loses when it fails. An answer can
get lost as well: then it is not known whether the page was appended or committed, so it is taken
back before the next one is compared, unless its caller was told of it and will ask.

The page that another repeats may be pending elsewhere: it is remembered as what it is, asked for
again, or waited for. After a server failed its number may have been given to another page, so it is
known by its entry too: a duplicate is told that its original is gone rather than of one that it
never repeated.

Cost: a call to append and one to commit, two on a cluster; two to release, and two to ask what
became of a page; waiting asks at most every 0.25 s in the end.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic, sleep

from dedup_filter.model import Fate, Verdict
from dedup_filter.pages.comparison import Overtaken
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.formats import Entry, entry_of
from dedup_filter.pages.redis.replica import FollowedLog
from dedup_filter.pages.redis.shared_log import LEASE, Commit, LogChanged

__all__ = ["Claims"]

_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to end its claim of a page's original."""
_SHORTEST_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_MOST_AWAITED = 10_000


class Claims:
    """The pages that are pending here, and what becomes of them.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse. A page that was
            being appended is then not in the index, or is released.
    """

    def __init__(self, followed: FollowedLog) -> None:
        self._followed = followed
        self._log = followed.log
        self._replica = followed.replica
        self.mine: dict[int, PageRecord] = {}
        """Pages that are pending here."""
        self.gone: list[int] = []
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self._revisited: dict[int, int] = {}
        """Of those pending, which stand for a page that is visited again, and for which one."""
        self._lost: dict[int, PageRecord] = {}
        """Pages that were pending here, and of which the servers know nothing any more."""
        self._in_doubt: set[int] = set()
        """Pages that may have been committed here, while their caller was told of a fault."""
        self._awaited: dict[int, Entry] = {}
        """Pages pending elsewhere that pages here were found to repeat, the last ones."""

    def __contains__(self, number: int) -> bool:
        """Tell whether a page is claimed here, whatever the servers know of it."""
        return number in self.mine or number in self._lost

    def append(self, record: PageRecord, is_still: Callable[[int], bool]) -> int:
        """Append a page to the log; return its number.

        `is_still` tells of a number whether that page is what it was found to be, after all that
        stands before it in the log.

        Raises:
            Overtaken: something stands before it for which it is not.
        """
        number = self._appended(record)
        if number in self._lost:
            # Both would go by one number here. The next page gets another one.
            self._log.release(number)
            raise Overtaken
        try:
            stays = is_still(number)
        except BaseException:
            self._log.abandon(number)
            raise
        if not stays:
            self._log.release(number)
            raise Overtaken
        self.mine[number] = record
        return number

    def revisit(self, number: int, original: int) -> None:
        """Let a pending page stand for another one, which it replaces when it is committed."""
        self._revisited[number] = original

    def replace(self, number: int, record: PageRecord) -> bool:
        """Give a page another record; return whether there is nothing left to do."""
        try:
            done = self._log.replace(number, entry_of(record), record)
        except LogChanged:
            self._followed.read_anew()
            return True
        if done and number in self.mine:
            self.mine[number] = record
        self._followed.sync()
        return done

    def keep(self, number: int) -> None:
        """Commit a page whose caller has no verdict yet.

        Raises:
            Overtaken: its lease was over, or a server failed: it must be compared anew.
        """
        record = self.mine[number]
        try:
            done = self._committed(number, record)
        except BaseException:
            self._in_doubt.add(number)
            self._log.abandon(number)
            raise
        finally:
            self._forget(number)
        if done is not Commit.DONE:
            raise Overtaken

    def take_back(self, number: int) -> None:
        """Take back a page whose caller is told of a fault: with the next call, or by its lease."""
        if number in self:
            self._log.abandon(number)
            self._forget(number)
        elif number > self._followed.lost_to:
            self._in_doubt.add(number)

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        lost = self._lost.get(number)
        if lost is not None:
            self._commit_anew(lost)
            self._forget(number)
            return
        record = self.mine.get(number)
        if record is None:
            return
        done = self._committed(number, record)
        if done is Commit.FORGOTTEN:
            self.gone.append(number)
            self._followed.sync()
        elif done is Commit.NOT_PENDING:
            self._followed.sync()
            if self._followed.is_there(number, record):  # it was, and the answer was lost
                self._log.records.put(number, record)
            else:  # its lease was over, or a server failed
                self._commit_anew(record)
        self._forget(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number in self._lost:
            del self._lost[number]
            self.gone.append(number)
        elif number in self.mine:
            del self.mine[number]
            self._revisited.pop(number, None)
            self.gone.append(number)
            self._log.release(number)
            self._followed.sync()

    def withdraw(self) -> None:
        """Take back what was recorded here without a verdict, because a call failed."""
        self._log.disown()
        if self._in_doubt:
            self._followed.sync()
            self.remove([number for number in self._in_doubt if number in self._replica])
            self._in_doubt.clear()

    def remove(self, pages: list[int]) -> bool:
        """Take pages out; return False if the log is another one, with other numbers."""
        if not pages:
            return True
        try:
            self._log.remove(pages)
        except LogChanged:
            self._followed.read_anew()
            return False
        for page in pages:
            self.mine.pop(page, None)
        self.gone += pages
        self._followed.sync()
        return True

    def begin_anew(self) -> None:
        """Forget what is known of pages elsewhere by their numbers."""
        self._revisited.clear()
        self._in_doubt.clear()

    def part_lost(self) -> None:
        """Note which of the pages that are pending here the log does not tell of any more."""
        lost = {
            number: record
            for number, record in self.mine.items()
            if not self._followed.is_there(number, record)
        }
        for number in lost:
            del self.mine[number]
        self._log.pending.difference_update(lost)
        self._lost.update(lost)

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process."""
        if number not in self._awaited and number in self:
            return "pending"
        is_in_flight = self._log.is_in_flight(number)
        # In this order: a page that was not in flight, and is there now, was committed. And always:
        # calls release the pages of dead processes, and there may be no other call left.
        self._followed.sync()
        if is_in_flight:
            return "pending"
        awaited = self._awaited.pop(number, None)
        if number not in self._replica:
            return "gone"
        # After a server failed, the number may have been given to another page.
        is_it = awaited is None or self._replica.entry(number) == awaited
        return "kept" if is_it else "gone"

    def await_original(
        self, found: Verdict, records: Mapping[int, PageRecord], *, is_pending: bool
    ) -> Verdict:
        """Wait until the original of a page is not pending any more, unless the caller does.

        Raises:
            Overtaken: the original is gone.
        """
        original = found.original_page
        assert original is not None, "a duplicate has an original"
        if original in self.mine or not records[original].is_pending:
            return found
        self._awaited[original] = entry_of(records[original])
        if len(self._awaited) > _MOST_AWAITED:
            del self._awaited[next(iter(self._awaited))]
        return found if is_pending else self._waited_for(original, found)

    def _appended(self, record: PageRecord) -> int:
        """Append a page, and follow what came before it; return its number."""
        number = 0
        while not number:
            try:
                number, news = self._log.append(entry_of(record), record)
            except LogChanged:
                self._followed.read_anew()
                raise Overtaken from None
            self._replica.follow(news)
        return number

    def _committed(self, number: int, record: PageRecord) -> Commit:
        """Commit a page."""
        replaced = self._revisited.get(number, 0)
        done = self._log.commit(number, record, replaced)
        if done is Commit.DONE and replaced:
            self._log.records.remove([replaced])
        return done

    def _commit_anew(self, record: PageRecord) -> None:
        """Commit a lost page under another number, without comparing it with later pages."""
        number = 0
        while not number:
            with suppress(Overtaken):
                number = self._appended(record)
        try:
            self._log.commit(number, record, 0)
        except BaseException:
            self._log.abandon(number)
            raise

    def _forget(self, number: int) -> None:
        self.mine.pop(number, None)
        self._lost.pop(number, None)
        if self._revisited.pop(number, None) is not None:
            self._followed.sync()

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
