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


ICE, LONG = "Harbour under ice", "Harbour of Ely closed by the ice of the winter"


def places_of(
    one: Headline, other: Headline, text: str, text_there: str | None = None
) -> list[bool]:
    """Ask of candidates on the same host, on one with its menus, and elsewhere."""
    there = text if text_there is None else text_there
    return [is_headed(one, other, text, there, where) for where in (HERE, OF_SITE, ELSEWHERE)]


@pytest.mark.parametrize(
    ("one", "other", "here"),
    [
        (ICE, ICE, True),
        (f"3.2 {ICE}", ICE, True),
        (f"{LONG[:20]}…", LONG, True),
        ("", ICE, True),
        # On two hosts a paper may have numbers and openings of its own.
        (f"3.2 {ICE}", f"4.1 {ICE}", False),
        (ICE, f"Opinion: {ICE}", False),
        (f"The Post - {ICE}", ICE, False),
        ("港口的冰", "最新:港口的冰", False),
        (f"Opinion: {LONG}", f"Watch: {LONG}", False),
        # If one has four words and stands in the other, the others are no value but a number.
        (LONG, f"{LONG}, as never before", False),
        (LONG, LONG[:-7], False),
        (LONG, LONG[:-2], False),
    ],
)
def test_the_same_headline_is_that_of_one_text_anywhere(one, other, here):
    assert places_of(Headline(one), Headline(other), A) == [here, True, True]
    assert places_of(Headline(other), Headline(one), A)[1:] == [True, True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Plumber", "Plumber in Ely"),
        ("Plumber in Thirsk", "Plumber in Ely"),
        ("Plumber (m/f), Thirsk", "Plumber (m/f), Ely"),
        ("Thirsk: plumber", "Ely: plumber"),
        ("Oak shelf", "Oak shelf 120 cm"),
        ("Oak shelf", "Black oak shelf"),
        ("90 cm oak shelf", "120 cm oak shelf"),
        (LONG, f"{LONG}, 120 cm"),
        (f"{LONG}, 90 cm", f"{LONG}, 120 cm"),
        (f"{LONG} in Ely", f"{LONG} in Thirsk"),
        ("Ely beat Thirsk 3-1", "York beat Selby 2-0"),
        ("90 cm board of oak for the wall", "Wall shelf of wood, 120 cm wide"),
        ("甲骨文", "甲骨文的故事"),
    ],
)
@pytest.mark.parametrize("name", ["", " | Garden of Jobs"])
def test_a_value_in_a_headline_tells_two_texts_apart_unless_both_say_it(one, other, name):
    said = "garden plumber oak shelf board wall harbour closed ice winter"
    for page, original in (one, other), (other, one):
        headed = Headline(page, page + name), Headline(original, original + name)
        assert not any(places_of(*headed, f"{A} {said} {B}"))
    both = f"{A} {said} {one} and {other} {B}"
    headed = Headline(one, one + name), Headline(other, other + name)
    assert places_of(*headed, both)[2]
    assert not places_of(*headed, both, f"{A} {said} {B}")[2]


@pytest.mark.parametrize(
    ("short", "long"),
    [("Frozen h", "Frozen harbour"), ("Frozen", "Frozen harbour"), ("结冰的港", "结冰的港口")],
)
def test_an_end_that_was_cut_off_is_said_by_the_text(short, long):
    for one, other in (short, long), (long, short):
        headed = Headline(one), Headline(other)
        # Texts may begin with their headline.
        assert places_of(*headed, f"{long} {A}")[2]
        assert not places_of(*headed, A)[2]


@pytest.mark.parametrize("has_line", [True, False])
def test_a_first_line_like_the_headline_is_text(has_line):
    line = new("Frozen harbour")
    judged = measured(line, *[line] * has_line, new(A), headline=Headline("Frozen harbour"))
    kept = measured(new("Frozen harbour"), new(A), headline=Headline("Frozen"))
    candidate = Candidate(0, 3, *ELSEWHERE, kept.sketch, kept.headline)
    assert are_headed_alike(judged, candidate) == has_line


@pytest.mark.parametrize("said", ["", "York Ely"])
def test_the_same_words_in_another_order_tell_two_texts_apart(said):
    headed = Headline("Ely v York"), Headline("York v Ely")
    assert not any(places_of(*headed, f"{A} {said} {B}"))


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
