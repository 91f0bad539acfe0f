"""The protocol of claims holds in any order of steps, and no part of it can be left out.

Of pages that repeat each other one is always kept; two are only where servers lost writes.
"""

import pytest
from claim_model import NEVER, PENDING, Process, ProtocolError, World
from gate import slow

LOSS, PAUSE = ("loss",), ("crash", "pause")
MOST = 10_000
"""So many schedules find the fault of each mutilated protocol."""


@pytest.mark.parametrize("schedules", [2_500, slow(15_000)])
def test_of_pages_that_repeat_each_other_one_is_kept(schedules):
    run(schedules)


def run(schedules, process=Process):
    for seed in range(schedules):
        World(seed, process).run()


class WaitsForUndecidedPages(Process):
    def decide(self, own, mine):
        decided = yield from super().decide(own, mine)
        if decided is None:
            for number, record in (
                yield from self.read((yield from self.look(mine.page)) - {own}, mine.page)
            ).items():
                yield from self.fate(number, record.nonce)
        return decided


class BelievesThatWhatIsMissingIsGone(Process):
    def entomb(self, missing, page):
        yield from ()


class GoesOnAfterItsTombstone(Process):
    befalls = PAUSE

    def is_late(self, began):
        return False


class OverrulesWithoutAnotherVersion(Process):
    def overruled(self, record):
        return record


class OverrulesNobody(Process):
    def overrule(self, there):
        yield from ()
        return True


class LooksNotAgain(Process):
    def look_again(self, page, seen):
        yield from ()
        return seen


class ClaimsForEver(Process):
    lease = NEVER


class RenewsWhatItDoesNotHold(Process):
    befalls = LOSS

    def let_go(self, own, mine):
        pass


class LooksUpMoreThanItWrites(Process):
    def written(self, page):
        return super().written(page)[:1]


class HasNoNonce(Process):
    befalls = LOSS

    def nonce(self):
        return None


class AsksByNumberOnly(Process):
    befalls = LOSS

    def is_another(self, record, nonce):
        return False


class TakesNumbersThatAreTaken(Process):
    put = "set_any"


class ReadsBeforeItWrites(Process):
    def write(self, own, mine, lease):
        seen = yield from self.look(mine.page)
        is_free, _ = yield from super().write(own, mine, lease)
        return is_free, seen


class OverlooksPendingPages(Process):
    def read(self, numbers, page):
        there = yield from super().read(numbers, page)
        return {number: record for number, record in there.items() if record.state != PENDING}


class DecidesWhateverWasDoneToIt(Process):
    def swap(self, own, mine, new):
        there = yield from self.call("get", own)
        there = there if there is not None and there.nonce is mine.nonce else mine
        found = yield from super().swap(own, there, new)
        return mine if found is there else found


class KeepsTheLeaseOfKeptPages(Process):
    befalls, persists = PAUSE, False


class ClaimsAnewUnderItsNumber(Process):
    number = None

    def next_number(self):
        self.number = self.number or (yield from super().next_number())
        return self.number


MUTILATED = [each for each in Process.__subclasses__() if each.__module__ == __name__]


@pytest.mark.parametrize("process", MUTILATED, ids=lambda each: each.__name__)
def test_each_part_of_the_protocol_is_needed(process):
    with pytest.raises(ProtocolError):
        run(MOST, process)
