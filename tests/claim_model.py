"""The protocol of a shared index as a model: pages in several processes, their steps in any order.

seed -> a world of near pages, keys, processes and faults -> one schedule, checked at its end

A process is a generator. It yields pipelines: lists of chains, and a chain is a list of operations
on single keys, which reach the servers in this order. Chains, of all processes, are interleaved at
random. A process that waits yields the moment since which something must have changed. A process
that crashes leaves operations under way: each is carried out late, or lost. A server that fails
over loses the latest of its writes.

The model knows nothing of what is on a page: `World.near` says which pages repeat each other, and
two such pages have a key in common. It shares no code with the index.
"""

import random
from itertools import chain, combinations
from typing import NamedTuple

CLAIMING, PENDING, KEPT, TOMBSTONE = "CPKT"
"""States of a record."""
UNDECIDED = CLAIMING + PENDING
LEASE, NEVER = 2, float("inf")
"""Times in beats of the processes' hearts."""
NODES, MOST_STEPS = 3, 3_000
NUMBERS = 0
"""The key of the last number that was given. Keys of pages are below it, records above it."""
ALL_THAT_BEFALLS = [(), ("crash",), ("crash", "pause"), ("loss",), ("crash", "pause", "loss")]


class ProtocolError(AssertionError):
    """What the protocol promises did not hold."""


class Record(NamedTuple):
    """A page on the servers; `state` to `owner` are the head, which says whose claim it is."""

    state: str
    version: int
    nonce: object
    owner: int
    page: int
    ends: float
    """When the servers delete it."""

    @property
    def head(self):
        return self[:4]


class Servers:
    """Keys on nodes. Each method is one atomic operation on one key."""

    def __init__(self):
        self.keys, self.now, self.changes = {}, 0, 0
        self.journals = [[] for _ in range(NODES)]
        self.ever_kept = set()
        """(number, page): pages whose claims were kept, whatever became of the records."""

    @property
    def moment(self):
        return self.changes, self.now

    def get(self, number):
        there = self.keys.get(number)
        return there if there is not None and there.ends > self.now else None

    def set(self, key, value):
        self.journals[key % NODES].append((key, self.keys.get(key)))
        self.keys[key] = value
        self.changes += 1
        return True

    def set_new(self, number, record, lease):
        """Set a record if none is there; return whether it was done."""
        return self.get(number) is None and self.set_any(number, record, lease)

    def set_any(self, number, record, lease):
        if record.state == KEPT:
            self.ever_kept.add((number, record.page))
        return self.set(number, record._replace(ends=self.now + lease))

    def swap(self, number, old, new, persists=False):
        """Compare and set the head of a record; return what was there: `old` if it is done."""
        there = self.get(number)
        if there is not None and there.head == old.head:
            self.set(
                number,
                new and new._replace(page=there.page, ends=NEVER if persists else there.ends),
            )
            if new and new.state == KEPT:
                self.ever_kept.add((number, old.page))
            return old
        return there

    def renew(self, number, nonce):
        there = self.get(number)
        if there is not None and there.nonce is nonce and there.state in UNDECIDED:
            self.keys[number] = there._replace(ends=self.now + LEASE)

    def entries(self, key):
        return self.keys.get(key) or ()

    def append(self, key, number):
        self.set(key, (*self.entries(key), number))

    def cut(self, key, number):
        self.set(key, tuple(each for each in self.entries(key) if each != number))

    def count(self, key):
        self.set(key, (self.keys.get(key) or 0) + 1)
        return self.keys[key]

    def fail_over(self, node, most):
        """Lose the latest writes of a node."""
        for _ in range(min(most, len(self.journals[node]))):
            key, self.keys[key] = self.journals[node].pop()
        self.changes += 1


class Process:
    """What a process does; `pages`: page -> "see", "keep" or "release"."""

    befalls, put, lease, persists = None, "set_new", LEASE, True

    def __init__(self, name, world, pages):
        self.name, self.world, self.pages, self.servers = name, world, pages, world.servers
        self.became, self.pending, self.repeats, self.owned = {}, [], [], set()

    def run(self):
        """Judge all pages, and settle them now and then."""
        for page in self.pages:
            yield from self.judge(page)
            if self.world.chance.random() < 0.5:
                yield from self.settle()
        yield from self.settle()

    def judge(self, page):
        own, mine, original = yield from self.claim(page)
        if original is not None:
            self.repeats.append((page, *original))
        elif mine.state == PENDING:
            self.pending.append((page, own, mine))
        else:
            self.became[page] = "kept", own

    def settle(self):
        """Settle pending pages; then, as others may wait for them, ask what became of originals."""
        while self.pending or self.repeats:
            if self.pending:
                page, own, mine = self.pending.pop()
                yield from (self.release if self.pages[page] == "release" else self.keep)(own, mine)
                continue
            page, original, nonce = self.repeats.pop()
            if (yield from self.fate(original, nonce)) == KEPT:
                self.became[page] = "dropped", original
            else:
                yield from self.judge(page)

    def keep(self, own, mine):
        """Keep a page for good; if its lease is over, all the same, as it may be in the crawl."""
        kept = mine._replace(state=KEPT)
        self.let_go(own, mine)
        is_done = (yield from self.swap(own, mine, kept)) is mine
        while not is_done:
            self.world.is_kept_late = True
            is_done, _ = yield from self.write(own, kept, NEVER)
            own = own if is_done else (yield from self.next_number())
        self.became[mine.page] = "kept", own

    def release(self, own, mine):
        yield from self.give_up(own, mine)
        self.became[mine.page] = "released", own

    def fate(self, number, nonce):
        """Return the state of a claim when it is decided; None: it is gone."""
        while True:
            moment, record = self.servers.moment, (yield from self.call("get", number))
            if record is None or self.is_another(record, nonce):
                return None  # after lost writes numbers are given again
            if record.state not in UNDECIDED:
                return record.state
            yield moment

    def claim(self, page):
        """Return the number of a page, its record, and number and nonce of what it repeats."""
        while True:
            own = yield from self.next_number()
            there = yield from self.read((yield from self.look(page)), page)
            if there:  # what repeats a page writes nothing
                original = min(there)
                return own, None, (original, there[original].nonce)
            mine = Record(CLAIMING, 0, self.nonce(), self.name, page, NEVER)
            decided = yield from self.decide(own, mine)
            if decided is not None:
                return own, decided, None
            yield from self.give_up(own, mine)

    def decide(self, own, mine):
        """Claim a number; return the record of a page that repeats none, else None."""
        began = self.servers.now
        self.owned.add((own, mine.nonce))
        is_free, seen = yield from self.write(own, mine, self.lease)
        if not is_free or self.is_late(began):
            return None
        state = KEPT if self.pages[mine.page] == "see" else PENDING
        while True:
            there = yield from self.read(seen - {own}, mine.page)
            if any(self.goes_before(number, there[number], own) for number in there):
                return None
            if (yield from self.overrule(there)):
                decided = mine._replace(state=state)
                found = yield from self.swap(own, mine, decided)
                if found is mine:
                    if state == KEPT:
                        self.let_go(own, mine)
                    return decided
                if found is None or (found.state, found.nonce) != (CLAIMING, mine.nonce):
                    return None  # it has expired
                mine = found
            seen = yield from self.look_again(mine.page, seen)

    def write(self, own, mine, lease=LEASE):
        """Write record and keys; return whether the number was free, and what stands there then."""
        keys = [[("append", key, own), ("entries", key)] for key in self.written(mine.page)]
        is_free, *seen = yield [[(self.put, own, mine, lease)], *keys]
        return is_free, {*chain(*seen)}

    def look(self, page):
        """Return the numbers that stand under the keys of a page."""
        return {*chain(*(yield [[("entries", key)] for key in self.world.keys[page]]))}

    def read(self, numbers, page):
        """Return number -> record of those pages that a page would repeat."""
        found = yield from self.records(numbers)
        if missing := [number for number in numbers if found[number] is None]:
            yield from self.entomb(missing, page)
            found |= yield from self.records(missing)
        near = self.world.near[page] | {page}
        there = {number: record for number, record in found.items() if record is not None}
        return {at: each for at, each in there.items() if each.page in near and each.state in "CPK"}

    def records(self, numbers):
        found = yield [[("get", number)] for number in numbers]
        return dict(zip(numbers, found, strict=True))

    def entomb(self, missing, page):
        """See to it that records which are not there do not come any more."""
        tombstone = Record(TOMBSTONE, 0, None, self.name, -1, NEVER)
        is_gone = yield [[("set_new", number, tombstone, 2 * LEASE)] for number in missing]
        gone = [number for number, each in zip(missing, is_gone, strict=True) if each]
        yield [*chain(*(self.cuts(page, number) for number in gone))]

    def overrule(self, there):
        """Let claims of higher numbers look again; return whether all were as they were read."""
        found = yield [[("swap", at, each, self.overruled(each))] for at, each in there.items()]
        return all(one is other for one, other in zip(found, there.values(), strict=True))

    def give_up(self, own, mine):
        """Remove a claim, if it is there, and its keys."""
        self.let_go(own, mine)
        found = yield from self.call("get", own)
        while found is not None and found.nonce is mine.nonce:
            before, found = found, (yield from self.call("swap", own, found, None))
            if found is before:
                break
        yield self.cuts(mine.page, own)

    def goes_before(self, number, record, own):
        """Return whether a page that is met is kept rather than the page that meets it."""
        return record.state in (PENDING, KEPT) or number < own

    def overruled(self, record):
        return record._replace(version=record.version + 1)

    def is_late(self, began):
        """Return whether the record may have come after the end of a tombstone in its place."""
        return self.servers.now - began > LEASE

    def is_another(self, record, nonce):
        return record.nonce is not nonce

    def written(self, page):
        return self.world.keys[page]

    def look_again(self, page, _):
        return self.look(page)

    def next_number(self):
        return self.call("count", NUMBERS)

    def nonce(self):
        return object()

    def cuts(self, page, number):
        return [[("cut", key, number)] for key in self.world.keys[page]]

    def swap(self, own, mine, new):
        return self.call("swap", own, mine, new, self.persists and new.state == KEPT)

    def call(self, *operation):
        return (yield [[operation]])[0]

    def let_go(self, own, mine):
        self.owned.discard((own, mine.nonce))

    def beat(self):
        """Renew the leases of all claims, which another thread does."""
        for number, nonce in self.owned:
            self.servers.renew(number, nonce)


class Running:
    """A process, and its operations that are under way."""

    def __init__(self, process, chance):
        self.process, self.chance, self.steps = process, chance, process.run()
        self.is_dead, self.is_done, self.beats_again = False, False, 0
        self.go_on(None)

    @property
    def is_ready(self):
        """Return whether one of its operations can be carried out."""
        if self.is_dead:
            return bool(self.chains)
        return not self.is_done and self.waits_since != self.process.servers.moment

    def go_on(self, answers):
        """Give the process its answers, and take what it does next."""
        self.chains, self.waits_since = {}, None
        while not self.chains:
            try:
                pipeline = self.steps.send(answers)
            except StopIteration:
                self.is_done = True
                return
            if isinstance(pipeline, tuple):
                self.waits_since = pipeline
                return
            self.chains = {place: [*each] for place, each in enumerate(pipeline)}
            answers = self.answers = [None] * len(pipeline)

    def step(self):
        """Carry out one operation; of a dead process it may be lost, with the rest of its chain."""
        if self.waits_since:
            self.go_on(None)
            return
        place = self.chance.choice([*self.chains])
        name, *arguments = self.chains[place].pop(0)
        if self.is_dead and self.chance.random() < 0.3:
            self.chains[place].clear()
        else:
            self.answers[place] = getattr(self.process.servers, name)(*arguments)
        if not self.chains[place]:
            del self.chains[place]
        if not self.chains and not self.is_dead:
            self.go_on(self.answers)


class World:
    """Pages, processes, servers, and what befalls them."""

    def __init__(self, seed, process=Process):
        self.chance = chance = random.Random(seed)
        self.befalls = process.befalls or chance.choice(ALL_THAT_BEFALLS)
        self.turns, self.haste = chance.choice([1, 0.4, 0.1]), chance.choice([0.02, 0.1, 0.4])
        self.servers, self.failures, self.is_kept_late = Servers(), 0, False
        count = chance.choice([2, 2, 3, 3, 4, 5, 6])
        self.near, self.keys = related_pages(chance, count)
        ways = chance.choice([["see"], ["keep"], ["see", "keep", "keep", "release"]])
        processes, pages = chance.choice([count, 2, 3]), {}
        for place, page in enumerate(chance.sample(range(count), count)):
            pages.setdefault(place % processes, {})[page] = chance.choice(ways)
        self.running = [Running(process(name, self, pages[name]), chance) for name in pages]

    def run(self):
        """Run to the end and check it. Raises ProtocolError."""
        running = self.running[0]
        for _ in range(MOST_STEPS):
            self.befall()
            if not running.is_ready or self.chance.random() < self.turns:
                ready = [each for each in self.running if each.is_ready]
                if not ready and all(each.is_done or each.is_dead for each in self.running):
                    self.check()
                    return
                if not ready:
                    require(self.befalls, "all wait for each other")
                    self.pass_time()
                    continue
                running = self.chance.choice(ready)
            running.step()
        raise ProtocolError("no end")

    def pass_time(self):
        self.servers.now += 1
        for each in self.running:
            if not each.is_dead and each.beats_again <= self.servers.now:
                each.process.beat()

    def befall(self):
        """Let something happen at times that no process does."""
        chance, each = self.chance, self.chance.choice(self.running)
        living = [each for each in self.running if not each.is_dead]
        if "crash" in self.befalls and chance.random() < 0.03 and living != [each]:
            each.is_dead = not each.is_done
        if "pause" in self.befalls and self.servers.now < 50 and chance.random() < self.haste:
            self.pass_time()
            if chance.random() < 0.2:  # its heart, not its steps: so it is worse than a real one
                each.beats_again = self.servers.now + chance.randrange(2, 9)
        if "loss" in self.befalls and self.failures < 3 and chance.random() < 0.03:
            most = chance.choice([1, 3, 9])
            for node in chance.choice([[0], [1], [2], range(NODES)]):
                self.servers.fail_over(node, most)
            self.failures += 1

    def check(self):
        """Require that of pages that repeat each other one is kept, by the servers' records."""
        records = {at: each for at, each in self.servers.keys.items() if isinstance(each, Record)}
        kept = {number: each.page for number, each in records.items() if each.state == KEPT}
        may_be_late = {"pause", "loss"} & {*self.befalls}
        require(may_be_late or not self.is_kept_late, "a pending page is gone")
        is_whole = "loss" not in self.befalls and not self.is_kept_late
        for one, other in combinations(kept.values() if is_whole else (), 2):
            require(one != other and other not in self.near[one], "two kept")
        for process in [each.process for each in self.running if not each.is_dead]:
            for page, (became, number) in process.became.items():
                was_kept = {other for at, other in self.servers.ever_kept if at == number}
                if became == "dropped":
                    require(self.near[page] & was_kept, "dropped for a page that was never kept")
                is_there = became == "released" or number in kept
                require(is_there or not is_whole, "a kept page is gone")
            require(process.became.keys() == process.pages.keys(), "a page was not judged")


def require(holds, fault):
    if not holds:
        raise ProtocolError(fault)


def related_pages(chance, count):
    """Return page -> pages that it would repeat, and page -> its keys, which are negative."""
    pairs = [*combinations(range(count), 2)]
    shapes = [
        pairs,
        [(one, other) for one, other in pairs if other == one + 1],
        [(one, other) for one, other in pairs if one == 0],
        [(one, other) for one, other in pairs if one % 2 == other % 2],
        [each for each in pairs if chance.random() < 0.5],
    ]
    near, keys = {page: set() for page in range(count)}, {page: set() for page in range(count)}
    names = iter(range(-1, -100, -1))
    for one, other in chance.choice(shapes):
        near[one].add(other)
        near[other].add(one)
        for _ in range(chance.choice([1, 1, 2])):
            if not keys[one] & keys[other] or chance.random() < 0.5:
                name = next(names)
                keys[one].add(name)
                keys[other].add(name)
    for named in keys.values():  # and keys that it shares with pages that are not near
        if not named or chance.random() < 0.2:
            named.add(-chance.randrange(1, 6))
    return near, {page: sorted(each) for page, each in keys.items()}
