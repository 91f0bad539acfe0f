"""Groups of near-duplicates, for several crawlers to meet; and which of them repeat each other.

Pages of one group have the same phrases, by which they are found at any distance. In half of the
groups those are no keys: pages are found by their digest or fingerprint, which must be equal then.

seed -> for each crawler, rounds of pages: in each round all crawlers meet the same groups
"""

import itertools
import random

from shared_crawlers import K, Like

CRAWLERS = 4
GROUPS_A_ROUND = 10


def repeats(page, other):
    """Tell whether of two pages only one may be kept, by the rules in words."""
    if page.digest == other.digest:
        return True
    if min(page.words, other.words) < 20:
        return False
    is_found = page.fingerprint == other.fingerprint or (page.has_keys and other.has_keys)
    return page.shingles == other.shingles and is_found


def kept_twice(became):
    """Return the pairs of kept pages of which only one may be kept: compare each with each."""
    kept = [page for page, (what, _) in became.items() if what == "kept"]
    return [pair for pair in itertools.combinations(kept, 2) if repeats(*pair)]


def require_each_once(became):
    assert not kept_twice(became)


def require_no_loss(became):
    """Find for each page that was dropped the one that was kept, by whoever."""
    kept = {page.url: page for page, (what, _) in became.items() if what.startswith("kept")}
    for page, (what, original) in became.items():
        if what == "dropped":
            assert original in kept, f"{page} was dropped for {original}, which was not kept"
            assert repeats(page, kept[original])


def tight(chance, base):
    """All within reach of one another."""
    return [base ^ 1 << chance.randrange(64) for _ in range(2 * CRAWLERS)]


def chain(chance, base):
    """Each within reach of the next one, and of no other."""
    bits = iter(chance.sample(range(64), 6 * CRAWLERS))
    found = [base]
    for _ in range(2 * CRAWLERS - 1):
        found.append(found[-1] ^ sum(1 << next(bits) for _ in range(K)))
    return found


def star(chance, base):
    """All within reach of the first one, and of few others."""
    return [base] + [
        base ^ sum(1 << bit for bit in chance.sample(range(64), K)) for _ in range(2 * CRAWLERS - 1)
    ]


def group(chance, number, kind):
    """Return the pages of one group."""
    fingerprints, has_keys = kind(chance, chance.getrandbits(64)), bool(number % 2)
    if not has_keys:
        fingerprints = [fingerprints[at // 2] for at in range(len(fingerprints))]
    likes = [Like("", chance.getrandbits(128), each, 2 * number) for each in fingerprints]
    if number % 5 == 0:  # alike by fingerprint, and of two texts
        likes = [like._replace(shingles=2 * number + at % 2) for at, like in enumerate(likes)]
    if number % 7 == 0:  # too short for a fingerprint, or the very same text
        texts = [like.digest for like in likes[:3]]
        likes = [like._replace(words=9, digest=texts[at % 3]) for at, like in enumerate(likes)]
    chance.shuffle(likes)
    hosts = CRAWLERS if number // 2 % 2 else 1
    return [
        like._replace(url=f"http://site{at % hosts}.example/{number}/{at}", has_keys=has_keys)
        for at, like in enumerate(likes)
    ]


def one_round_of_crawlers(seed, groups):
    """Return all pages of each crawler at once."""
    return [[list(itertools.chain(*rounds))] for rounds in rounds_of_crawlers(seed, groups)]


def rounds_of_crawlers(seed, groups):
    """Return the rounds of each crawler: in each, all meet the same groups."""
    chance = random.Random(seed)
    kinds = [tight, chain, star]
    made = [group(chance, number, kinds[number % 3]) for number in range(1, groups + 1)]
    rounds = [[] for _ in range(CRAWLERS)]
    for first in range(0, groups, GROUPS_A_ROUND):
        for crawler, before in enumerate(rounds):
            of_it = (each[crawler::CRAWLERS] for each in made[first : first + GROUPS_A_ROUND])
            likes = list(itertools.chain(*of_it))
            if len(before) % 2:  # in about the same order, so that they still meet
                tens = [likes[at : at + 10] for at in range(0, len(likes), 10)]
                likes = list(itertools.chain(*(chance.sample(ten, len(ten)) for ten in tens)))
            before.append(likes)
    return rounds
