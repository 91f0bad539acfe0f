"""The log of a shared index -> the replica of this process, as new as the log.

    sync        all events that were not read yet -> replica
    read_anew   the log is another one than was read -> all of it -> replica

When a server has lost a part of the log, or the index was deleted, numbers of pages may be given
again. Then the log is read from its beginning, and who knows pages by their numbers is told twice:
when that begins, to forget what is known by number, and at the end, to look what is still there.

Cost: a call, if there are fewer than 65,536 events to be read.
"""

import logging
from collections.abc import Callable
from time import time as now

from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.events import News
from dedup_filter.pages.redis.log_view import LogChanged
from dedup_filter.pages.redis.replica import Replica
from dedup_filter.pages.redis.shared_log import SharedLog
from dedup_filter.pages.redis.standing import entry_of

__all__ = ["FollowedLog"]

logger = logging.getLogger(__name__)


class FollowedLog:
    """A log, and the replica of the pages that it tells of.

    Raises:
        StoreError: by all methods that read, when the servers cannot be reached or refuse.
    """

    def __init__(self, log: SharedLog, replica: Replica) -> None:
        self.log = log
        self.replica = replica
        self.lost_to = 0
        """Up to which number pages may have been lost, and numbers given again."""
        self.tell(_nobody, _nobody)
        self._is_anew = False
        """Whether the log is being read from its beginning again."""

    def tell(self, when_begun: Callable[[], None], when_read: Callable[[], None]) -> None:
        """Tell when the log begins to be read anew, and when all of it was."""
        self._when_begun, self._when_read = when_begun, when_read

    def sync(self) -> None:
        """Follow the log to its end."""
        unread: list[News] = []
        is_last = False
        try:
            while not is_last:
                news = self._news()
                if news is None:
                    unread.clear()
                    continue
                if unread and news.first != unread[-1].end + 1:
                    self._follow(unread)
                unread.append(news)
                is_last = news.is_last
                # The replica sorts all that it has: it is told of as many again at a time.
                if unread[-1].end - unread[0].first > len(self.replica):
                    self._follow(unread)
        finally:
            self._follow(unread)
        if self._is_anew:
            self._is_anew = False
            self._when_read()

    def read_anew(self) -> None:
        """Read another log than was read up to here, to its end."""
        self._begin_anew()
        self.sync()

    def is_there(self, number: int, record: PageRecord) -> bool:
        """Tell whether the page with this record is there.

        After a server failed, the number may have been given to another page.
        """
        return number in self.replica and self.replica.entry(number) == entry_of(record)

    def _news(self) -> News | None:
        """Read on in the log; None: it is another one, of which nothing was read yet."""
        try:
            return self.log.news(int(now()))
        except LogChanged:
            self._begin_anew()
            return None

    def _follow(self, unread: list[News]) -> None:
        """Follow events that are in a row."""
        if unread:
            self.replica.follow(News(unread[0].first, b"".join(each.events for each in unread)))
            unread.clear()

    def _begin_anew(self) -> None:
        """Begin to read another log than was read up to here. Requires: `sync` goes on."""
        lost_to = self.log.offset
        self.log.rewind(int(now()))
        logger.warning("%s: a server has lost a part of it; it is read anew", self.log)
        self._is_anew = True
        self.lost_to = max(self.lost_to, lost_to)
        self.replica.clear()
        self._when_begun()


def _nobody() -> None:
    """Stand for who is not there yet."""
