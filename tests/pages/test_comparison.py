"""Which stored page a page repeats: each rule of `comparison` where it holds and just fails.

Texts are made of words that occur once, so that a text of n words has n - 2 shingles, and pages are
so short that a sketch has all of them: shares are counted, not estimated.
"""

from collections.abc import Sequence
from functools import partial

import pytest
from measured_pages import aside, frame, measured, new, shown_once, words

from dedup_filter.fingerprints.profile import PageProfile, Passage
from dedup_filter.pages.comparison import Candidate, compared, lost_blocks
from dedup_filter.text.headlines import Headline

LEAST = 0.8
SEA, HILLS = Headline("Ice in the harbour"), Headline("Snow on the hills")


page = partial(measured, headline=SEA, is_frame_known=True)


def original(*texts: str, headline: Headline = SEA) -> PageProfile:
    return page(*map(new, texts), headline=headline)


def share(
    judged: PageProfile,
    kept: PageProfile,
    *,
    is_same_host: bool,
    has_same_menus: bool | None = None,
    text: int = 0,
    least: float | None = LEAST,
) -> float | None:
    """Return the share of a page that one stored page has; None: it does not repeat it."""
    if has_same_menus is None:
        has_same_menus = is_same_host
    candidate = Candidate(text, 3, is_same_host, has_same_menus, kept.sketch, kept.headline, 1)
    return compared(judged, [candidate], least, 0, lambda _: True).similarity


@pytest.mark.parametrize("is_same_host", [True, False], ids=["here", "elsewhere"])
@pytest.mark.parametrize(
    ("count", "kept", "more", "least", "expected"),
    [
        (102, 82, 0, 0.8, 0.8),
        (102, 81, 0, 0.8, None),
        # What the original has more does not count against it.
        (102, 102, 80, 0.8, 1.0),
        # The share is a setting.
        *((102, held, 0, least, least) for least, held in ((0.5, 52), (0.9, 92), (1.0, 102))),
        *((102, held, 0, least, None) for least, held in ((0.5, 51), (0.9, 91), (1.0, 101))),
        # Of fewer than sixty words it is more,
        (59, 57, 0, 0.8, 55 / 57),
        (59, 56, 0, 0.8, None),
        (60, 49, 0, 0.8, 47 / 58),
        # and so it is where the page is a part of a larger one, unless half of that is the page's.
        (62, 56, 100, 0.8, 54 / 60),
        (62, 55, 100, 0.8, None),
        (62, 55, 20, 0.8, 53 / 60),
    ],
)
def test_the_original_has_at_least_a_share_of_the_page(
    count, kept, more, least, expected, is_same_host
):
    there = original(*(words("a", kept), words("more", more))[: 2 if more else 1])
    judged = page(new(words("a", count)))
    assert share(judged, there, is_same_host=is_same_host, least=least) == expected


@pytest.mark.parametrize("is_same_host", [True, False])
def test_without_a_least_share_the_fingerprints_decide(is_same_host):
    judged, kept = page(new(words("a", 62))), original(words("b", 62), headline=HILLS)
    assert share(judged, kept, is_same_host=is_same_host, least=None) == 0.0


HERE, ELSEWHERE, OF_SITE = (True, True), (False, False), (False, True)
"""Whether the candidate is of the same host, and whether of the same site."""
A, LONG = words("a", 102), words("a", 230)
SENTENCE = words("s", 17)


def headed(*headline: str, text: str = LONG) -> PageProfile:
    return page(new(text), headline=Headline(*headline))


def is_repeated(judged: PageProfile, kept: PageProfile, where: tuple[bool, bool]) -> bool:
    is_same_host, has_same_menus = where
    found = share(judged, kept, is_same_host=is_same_host, has_same_menus=has_same_menus)
    return found is not None


@pytest.mark.parametrize(
    ("headline", "other", "where", "expected"),
    [
        (SEA, SEA, HERE, True),
        (SEA, HILLS, HERE, False),
        (SEA, HILLS, OF_SITE, False),
        (("3.2 Setup",), ("4.1 Setup",), HERE, False),
        (("3.2 Setup",), ("4.1 Setup",), ELSEWHERE, True),
        (("3.2 Setup",), ("Setup",), HERE, True),
        (SEA, (), HERE, False),
        ((), SEA, HERE, True),
    ],
)
def test_another_headline_is_another_page(headline, other, where, expected):
    judged, kept = headed(*headline, text=A), original(A, headline=Headline(*other))
    assert is_repeated(judged, kept, where) == expected


@pytest.mark.parametrize(("times", "expected"), [(1, False), (2, True)])
def test_what_two_pages_of_the_host_are_headed_by_is_no_headline(times, expected):
    """The title of the site counts until it is known for that."""
    judged = page(
        new(A),
        headline=Headline("", "Ice | The Paper"),
        times_shown=lambda part: {"The Paper": times}.get(part, 0),
    )
    assert is_repeated(judged, original(A, headline=Headline("Ice")), HERE) == expected


@pytest.mark.parametrize(
    ("passages", "kept", "expected"),
    [
        # As much of the whole text: of the half beside the main text, 162 + 140 words.
        ((new(words("a", 162)), aside(words("b", 140))), (words("a", 162), words("b", 80)), True),
        ((new(words("a", 162)), aside(words("b", 140))), (words("a", 162), words("b", 79)), False),
        # Of a long text new blocks are at most six in a hundred, wherever they stand.
        ((new(words("a", 200)), new(words("n", 12))), (words("a", 200),), True),
        ((new(words("a", 200)), new(words("n", 13))), (words("a", 200),), False),
        ((new(words("a", 200)), new(words("n", 12))), (words("n", 12), words("a", 200)), True),
        # Of a shorter one no new block is little.
        ((new(words("a", 199)), new("n1")), (words("a", 199),), True),
        ((new(words("a", 198)), new("n1")), (words("a", 198),), False),
        ((new(A), frame(words("f", 20))), (A,), True),
        # An edited sentence is no new block, nor one of which a quarter is there (15 shingles).
        ((new(A), new(SENTENCE.replace("s7", "edited"))), (A, SENTENCE), True),
        ((new(A), new(f"{words('s', 6)} {words('n', 11)}")), (A, words("s", 6)), True),
        ((new(A), new(f"{words('s', 5)} {words('n', 12)}")), (A, words("s", 5)), False),
        # A new line of a short text must be there in all: a name, a number, a price.
        ((new(A), new(words("s", 16))), (A, words("s", 16).replace("s7", "edited")), False),
        (
            (new(words("a", 190)), new(words("s", 16))),
            (words("a", 190), words("s", 16).replace("s7", "edited")),
            True,
        ),
        (
            (new("Lamp"), new("Article number 63432"), new(A)),
            ("Lamp", "Article number 63433", A),
            False,
        ),
        ((new(A), aside("price 17 and 4")), (A,), False),
    ],
)
def test_on_one_host_what_the_original_lacks_is_next_to_nothing(passages, kept, expected):
    judged, there = page(*passages), original(*kept)
    assert is_repeated(judged, there, HERE) == expected
    assert is_repeated(judged, there, ELSEWHERE)


def test_of_a_page_of_few_words_of_its_own_a_new_line_is_counted_not_sampled():
    around = words("f", 1_500)
    kept = original("How do I mend a lamp", around)
    judged = (page(new(f"How do I mend a w{number}"), frame(around)) for number in range(20))
    assert not any(is_repeated(each, kept, HERE) for each in judged)


def test_a_page_of_which_more_is_unread_than_its_own_repeats_nothing():
    own, beside = words("a", 62), frame(words("f", 13))
    for unread, expected in ((62, True), (63, False)):
        judged = page(new(own), beside, unread=unread)
        assert not judged.is_unread
        assert is_repeated(judged, original(own), HERE) == expected


class TestWhereTheFrameIsNotKnown:
    """All that is on the page may be frame, so its own text may be the little that is new."""

    @pytest.mark.parametrize(
        ("count", "new_words", "is_edited"), [(200, 10, 0), (400, 10, 0), (210, 16, 1)]
    )
    @pytest.mark.parametrize("is_frame_known", [True, False])
    def test_a_new_line_is_lost_even_in_a_long_text(
        self, count, new_words, is_edited, is_frame_known
    ):
        text, line = words("a", count), words("n", new_words)
        judged = page(new(text), new(line), is_frame_known=is_frame_known)
        kept = original(text, line.replace("n7", "edited")) if is_edited else original(text)
        assert is_repeated(judged, kept, HERE) == is_frame_known

    @pytest.mark.parametrize(
        ("passages", "expected"),
        [
            ((new(words("a", 950)), new(words("n", 50))), True),
            ((new(words("a", 949)), new(words("n", 50))), False),
            ((new(words("a", 950)), new(words("n", 70))), False),
            ((new(words("a", 400)), shown_once(words("n", 10))), True),
        ],
    )
    def test_little_is_lost(self, passages, expected):
        judged = page(*passages, is_frame_known=False)
        assert is_repeated(judged, original(passages[0].text), HERE) == expected

    @pytest.mark.parametrize(
        ("fresh", "is_frame_known", "unread", "expected"),
        [
            (19, False, 19, True),
            (19, False, 20, False),
            (19, True, 20, True),
            (20, False, 20, True),
            (20, False, 21, False),
        ],
    )
    def test_with_nothing_new_in_sight_no_more_is_unread_than_is_new(
        self, fresh, is_frame_known, unread, expected
    ):
        """With more than a sentence in sight it is as elsewhere."""
        old, own = words("b", 80), words("a", fresh)
        judged = page(shown_once(old), new(own), unread=unread, is_frame_known=is_frame_known)
        assert is_repeated(judged, original(old, own), HERE) == expected


@pytest.mark.parametrize("is_frame_known", [True, False])
def test_on_another_host_of_the_site_a_new_line_is_lost_but_no_banner_above_the_menus(
    is_frame_known,
):
    """ "This is a copy of the paper": on one host it is what makes another page of it."""
    banner = Passage(words("n", 10), 0, in_own=True, in_rare=True, in_whole=False, is_above=True)
    above = page(banner, new(A), is_frame_known=is_frame_known)
    below = page(banner._replace(is_above=False), new(A), is_frame_known=is_frame_known)
    for judged, found in ((above, (True, False, True)), (below, (False, False, True))):
        places = (OF_SITE, HERE, ELSEWHERE)
        assert tuple(is_repeated(judged, original(A), each) for each in places) == found


class TestOnAnotherHost:
    @pytest.mark.parametrize(("count", "expected"), [(34, True), (33, False)])
    def test_the_candidate_has_as_much_of_what_is_new_here(self, count, expected):
        """Found by the text that was shown once; of what is new 40 shingles are asked for."""
        old = words("b", 160)
        judged = page(new(words("a", 42)), shown_once(old))
        kept = original(words("a", count), old)
        assert len(judged.texts) == 2
        assert (share(judged, kept, is_same_host=False, text=1) is not None) == expected
        assert share(judged, kept, is_same_host=True, text=1) is not None, "no block is lost"

    @pytest.mark.parametrize(("count", "expected"), [(12, True), (11, False)])
    def test_where_the_frame_is_known_the_candidate_has_all_that_is_none(self, count, expected):
        """Found by what is new; of that and what was shown once 102 shingles are asked for."""
        passages = new(words("a", 62)), shown_once(words("b", 42)), frame(words("f", 40))
        kept = original(words("a", 62), words("b", count))
        known, unknown = (page(*passages, is_frame_known=each) for each in (True, False))
        assert known.not_frame.size == 102
        assert is_repeated(known, kept, ELSEWHERE) == expected
        assert share(unknown, kept, is_same_host=False) == 1.0

    @pytest.mark.parametrize(
        ("passages", "kept", "expected"),
        [
            ((new(words("a", 200)),), (words("a", 200),), True),
            ((new(words("a", 199)),), (words("a", 199),), False),
            ((new(words("a", 202)),), (words("a", 200),), True),
            ((new(words("a", 202)),), (words("a", 199),), False),
            ((new(SEA.h1), new(words("a", 202))), (HILLS.h1, words("a", 202)), True),
            ((new("Ice in the river"), new(words("a", 202))), (HILLS.h1, words("a", 202)), False),
            ((new(words("a", 202)), frame(words("f", 20))), (words("a", 202),), True),
        ],
    )
    def test_a_story_is_the_same_under_another_headline(self, passages, kept, expected):
        there = original(*kept, headline=HILLS)
        assert is_repeated(page(*passages), there, ELSEWHERE) == expected


OLD = words("b", 160)


@pytest.mark.parametrize(
    ("judged", "kept", "where", "refused"),
    [
        (page(new(A)), original(words("a", 81)), HERE, ("similarity", 0.79, 0.8)),
        (page(new(words("a", 59))), original(words("a", 56)), HERE, ("similarity", 54 / 57, 0.95)),
        (headed("Ice"), original(LONG, headline=HILLS), HERE, ("headline", None, None)),
        (page(new(A), aside(words("b", 50))), original(A), HERE, ("span", 100 / 150, 0.8)),
        (page(new(A), frame(words("f", 13)), unread=103), original(A), HERE, ("unread", 103, 102)),
        (page(new(A), new("Price: nine")), original(A), HERE, ("new_blocks", 2, 0)),
        (
            page(new(words("a", 205)), shown_once(words("b", 20))),
            original(words("a", 205)),
            HERE,
            ("blocks", 20, 0.06 * 205),
        ),
        (headed("Ice", text=A), original(A, headline=HILLS), ELSEWHERE, ("headline", None, None)),
        (
            page(new(words("a", 42)), shown_once(OLD)),
            original(words("a", 33), OLD),
            ELSEWHERE,
            ("own", 31 / 40, 0.8),
        ),
        (
            page(new(words("a", 62)), shown_once(words("b", 42)), frame(words("f", 40))),
            original(words("a", 62), words("b", 11)),
            ELSEWHERE,
            ("not_frame", 71 / 102, 0.7),
        ),
        (
            headed("Ice"),
            original(words("a", 226), headline=HILLS),
            ELSEWHERE,
            ("story", 0.98, 0.99),
        ),
    ],
)
def test_the_first_rule_that_is_not_met_is_named(judged, kept, where, refused):
    rule, found, wanted = refused
    text = 1 if rule == "own" else 0
    candidate = Candidate(text, 3, *where, kept.sketch, kept.headline, 17)
    verdict = compared(judged, [candidate], LEAST, 0, lambda _: True)
    assert (verdict.outcome, verdict.candidates) == ("new", 1)
    assert verdict.refused[0] == rule
    assert verdict.refused[1:5] == pytest.approx((found, wanted, 17, 3), abs=0.003)


def test_of_several_the_nearest_that_is_refused_is_named_unless_one_is_repeated():
    judged, short = page(new(A)), original(words("a", 50))
    far, near = (Candidate(0, d, *HERE, short.sketch, SEA, 10 + d) for d in (5, 2))
    assert compared(judged, [far, near], LEAST, 0, lambda _: True).refused.page == 12
    there = near._replace(sketch=judged.sketch, distance=9)
    assert compared(judged, [far, near, there], LEAST, 0, lambda _: True).refused is None


def test_blocks_that_a_page_of_the_same_host_lacks_are_named():
    judged, kept = page(new(A), new("Price: nine"), new(words("b", 20))), original(A)
    candidate = Candidate(0, 3, *HERE, kept.sketch, kept.headline)
    lost = [passage.text for passage in lost_blocks(judged, candidate)]
    assert lost == ["Price: nine", words("b", 20)]


class TestOfSeveral:
    """Crawl 2 is the one that goes on; the page is at URL 7."""

    @staticmethod
    def chosen(
        *candidates: tuple[int, int], crawls: Sequence[int] = (), urls: Sequence[int] = ()
    ) -> tuple[int | None, str]:
        """Return which candidate is chosen, given by distance and how much of the page it has."""
        judged = page(new(words("a", 102)))
        made = []
        for number, (distance, held) in enumerate(candidates):
            kept = original(words("a", held))
            at = (crawls or [2] * 9)[number], (urls or range(10, 19))[number]
            made.append(
                Candidate(0, distance, False, False, kept.sketch, kept.headline, number, *at)
            )
        verdict = compared(judged, made, LEAST, 7, lambda crawl: crawl == 2)
        assert verdict.candidates == len(candidates)
        return verdict.original_page, verdict.outcome

    @pytest.mark.parametrize(
        ("candidates", "chosen"),
        [
            ([(5, 102), (3, 92), (3, 99), (3, 99), (7, 102)], 2),
            ([(3, 92), (3, 92)], 0),
            ([(0, 60), (9, 92)], 1),
            ([(0, 60)], None),
            ([], None),
        ],
    )
    def test_the_nearest_is_chosen_then_what_holds_most_then_the_earliest(self, candidates, chosen):
        assert self.chosen(*candidates) == (chosen, "new" if chosen is None else "near")

    @pytest.mark.parametrize(
        ("crawls", "urls", "expected"),
        [
            ([1, 2], [7, 8], (1, "near")),
            ([2, 2], [8, 9], (0, "near")),
            ([1, 1], [8, 7], (1, "revisit")),
            ([1, 1], [8, 9], (0, "near")),
            ([2, 1], [7, 7], (0, "near")),
        ],
        ids=["of this crawl", "best of this crawl", "itself", "best of all", "url of this crawl"],
    )
    def test_one_of_this_crawl_is_before_the_page_itself_and_that_before_others(
        self, crawls, urls, expected
    ):
        assert self.chosen((3, 99), (4, 99), crawls=crawls, urls=urls) == expected

    def test_a_page_with_the_same_digest_repeats_it_whatever_else_is_like_it(self):
        judged = page(new(words("a", 102)))
        alike = Candidate(0, 1, True, True, judged.sketch, HILLS, 1, 2, 9, judged.digest)
        before = alike._replace(page=2, crawl=1, url_key=7)
        for same, outcome in ([before, alike], "exact"), ([before], "revisit"):
            other = Candidate(0, 0, True, True, judged.sketch, SEA, 3, 2, 9)
            verdict = compared(judged, [other, *same], LEAST, 7, lambda crawl: crawl == 2)
            assert (verdict.outcome, verdict.original_page) == (outcome, same[-1].page)
            assert (verdict.distance, verdict.similarity, verdict.candidates) == (0, 1.0, 0)
