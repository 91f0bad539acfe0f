"""Lists of updates in memory, which can be made to fail."""

from dedup_filter.errors import StoreAway
from dedup_filter.store.redis.frame_exchange import MOST_UPDATES


class MemoryLists:
    """One process's view of lists that are in memory."""

    def __init__(self, process, lists):
        self.process = process.to_bytes(8, "little")
        self.lists = lists
        self.is_away = False
        self.loses_answers = False

    def read(self, host, first):
        self._call()
        return self.lists.get(host, [])[first:]

    def add(self, host, update):
        self._call()
        there = self.lists.setdefault(host, [])
        if len(there) < MOST_UPDATES:
            there.append(update)
        if self.loses_answers:
            raise StoreAway("the answer is lost")
        return len(there)

    def _call(self):
        if self.is_away:
            raise StoreAway("nobody answers")
