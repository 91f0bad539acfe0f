"""Two headlines: whether those of a page and a candidate may be of one text."""

from dataclasses import replace

import pytest
from measured_pages import measured, new, words

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.comparison.rule import are_headed_alike
from dedup_filter.text.headlines import Headline

PROSE = "the ferry waits for the end of the winter and there is no other way to the island"
A, B = words("a", 20), words("b", 20)


HERE, OF_SITE, ELSEWHERE = (True, True), (False, True), (False, False)
"""Whether the candidate is of the same host, and whether its host has the menus of the page."""


def is_headed(
    one: Headline,
    other: Headline,
    text: str,
    text_there: str,
    where: tuple[bool, bool] = ELSEWHERE,
    *,
    is_plain: bool = False,
    **options: object,
) -> bool:
    """Ask of a page, with its h1 above its text, and of another one."""
    judged = measured(*([new(one.h1)] if one.h1 else []), new(text), headline=one, **options)
    judged = replace(judged, is_plain=is_plain)
    kept = measured(new(text_there), headline=other)
    return are_headed_alike(judged, Candidate(0, 3, *where, kept.sketch, kept.headline))


ICE, STORY = "Harbour under ice", "Harbour under ice: a story"


@pytest.mark.parametrize(
    ("one", "other", "said", "here", "of_site", "elsewhere"),
    [
        # The same one, but for a section number, is that of one text anywhere.
        (ICE, ICE, "", True, True, True),
        (f"3.2 {ICE}", ICE, "", True, True, True),
        # On two hosts one stands in the other,
        (ICE, STORY, "", False, True, True),
        (STORY, ICE, "", False, True, True),
        # or the shared text says what tells them apart; with the same menus it does not count.
        (ICE, "Frozen sea", "frozen sea", False, False, True),
        (ICE, "Frozen sea", "", False, False, False),
        # A page without a headline is headed like any.
        ("", ICE, "", True, True, True),
    ],
)
def test_may_be_of_one_text_by_where_the_candidate_is(one, other, said, here, of_site, elsewhere):
    text = f"{A} {said} {B}"
    found = [
        is_headed(Headline(one), Headline(other), text, text, where)
        for where in (HERE, OF_SITE, ELSEWHERE)
    ]
    assert found == [here, of_site, elsewhere]


@pytest.mark.parametrize(
    ("one", "other", "is_plain", "here", "elsewhere"),
    [
        # Editions of a text begin with another date.
        (Headline("As of 3 May"), Headline("As of 4 May"), True, False, True),
        (Headline("As of 3 May"), Headline("As of 4 May"), False, False, False),
        # The title that a text was given with is no such line.
        (Headline("", "As of 3 May"), Headline("As of 4 May"), True, False, False),
    ],
)
def test_the_first_line_of_a_plain_text_is_its_headline_on_one_host_only(
    one, other, is_plain, here, elsewhere
):
    for where, expected in (HERE, here), (OF_SITE, elsewhere), (ELSEWHERE, elsewhere):
        assert is_headed(one, other, A, A, where, is_plain=is_plain) == expected


@pytest.mark.parametrize(
    ("one", "other", "own", "there", "expected"),
    [
        # What tells them apart is in the text of both, or of one of them only.
        ("Harbour closed", "Frozen sea", "sea harbour frozen closed", None, True),
        ("Plumber in Thirsk", "Plumber in Ely", "plumber Thirsk", "plumber Ely", False),
        # The words that one headline has beyond the other are enough, whichever it is;
        ("Harbour closed", "Frozen sea", "harbour closed", None, True),
        ("Harbour closed", "Frozen sea", "frozen sea", None, True),
        # half of them, of those that the page has at all.
        ("Harbour c1 c2 c3", "Frozen", f"harbour c1 {A} c2 c3", f"harbour c1 {A} z", True),
        ("Harbour c1 c2", "Frozen", f"harbour {A} c1 c2", f"harbour {A} z", False),
        ("Harbour c1 c2 c3", "Frozen", "harbour", None, True),
        ("Frozen", "Harbour c1 c2 c3", "harbour", None, True),
        ("Harbour", "Frozen", "", None, False),
        # What both have, and function words, tell nothing apart.
        ("Harbour ice", "Harbour snow", "harbour", None, False),
        ("The ferry of Ely", "The way", "", None, True),
        ("The end of Ely", "The end in Thirsk", "", None, False),
    ],
)
@pytest.mark.parametrize("where", ["h1", "title"])
def test_half_of_what_tells_headlines_apart_is_said_by_both(
    where, one, other, own, there, expected
):
    texts = (f"{PROSE} {A} {text} {B} {PROSE}" for text in (own, own if there is None else there))
    headed = (Headline(**{where: each}) for each in (one, other))
    assert is_headed(*headed, *texts) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Headline("Offers", "Harbour closed | Paper"), Headline("Frozen sea")),
        (Headline("Frozen sea"), Headline("Offers", "Paper | Harbour closed")),
    ],
)
def test_the_longest_part_of_a_title_is_a_headline_too(one, other):
    text = f"{A} harbour closed {B}"
    assert is_headed(one, other, text, text)
    assert not is_headed(one, other, text.replace("harbour closed", "ice"), text)


def test_what_the_host_of_the_page_shares_may_be_a_headline_elsewhere():
    one, other, text = Headline("Frozen sea"), Headline("Harbour closed"), f"{A} harbour closed {B}"
    title = Headline("Harbour closed", "Ice")
    shared = {"headed": {"Harbour closed": 2}}
    assert is_headed(one, other, text, text, **shared)
    assert is_headed(one, title, text, text, **shared)
    assert not is_headed(title, one, text, text, **shared)
