"""Articles of a site that come again: as print views, rewritten in part, together, on a mirror.

What a host shows once more is found, wherever it was seen first. A page of which whole paragraphs
were rewritten is too unlike what it was to be found by it: it is new, and kept with all of its
text, which copies elsewhere have, and not only what was rewritten.
"""

import random

import pytest
from site_pages import GLUE, MENU, NOUNS, OTHER_MENU, framed

from dedup_filter import NearDuplicateFilter

PARAGRAPHS = 8
NUMBERS = range(10, 16)
COPIES = {"near", "exact"}


def in_frame(url, text):
    return framed(text)


def mirrored(url, text):
    return framed(text).replace(MENU, OTHER_MENU)


def printed(url, text):
    """A print view, which names its address and the day: all that is new on its host."""
    line = f"Printed from {url} on 22 November. For personal use only. Thank you."
    return f"<p>The Daily Paper of the harbour, print edition</p><p>{text}</p><p>{line}</p>"


def see(pages, articles, host="a.example", shown=in_frame, path="{}"):
    """See pages, given by what their address ends in and by paragraphs; return the outcomes."""
    urls = [f"http://{host}/{path.format(name)}" for name in articles]
    texts = map("<p>".join, articles.values())
    return [
        pages.see(url, html=shown(url, text)).outcome for url, text in zip(urls, texts, strict=True)
    ]


def paragraph(*seed):
    """70 words that no other paragraph shares phrases with."""
    chance = random.Random(str(seed))
    names = [*chance.sample(NOUNS[:25], 10), f"name{chance.randrange(10**9)}"]
    return " ".join(chance.choice(names if place % 2 else GLUE) for place in range(70))


def story(number, rewritten=0):
    """Paragraphs, of which some in the middle are rewritten."""
    start = (PARAGRAPHS - rewritten) // 2
    new = range(start, start + rewritten)
    return [paragraph(number, place, int(place in new)) for place in range(PARAGRAPHS)]


@pytest.fixture
def earlier():
    """What a host has shown before: six articles, and others by which its frame is known."""
    return {number: story(number) for number in (*range(5), *NUMBERS)}


class TestPrintViews:
    def test_of_an_article_that_was_seen_on_a_mirror_before(self, pages, earlier):
        assert set(see(pages, earlier, "mirror.example", mirrored)) == {"new"}
        for number, text in earlier.items():
            one = {number: text}
            found = see(pages, one) + see(pages, one, shown=printed, path="{}?print")
            assert {*found, *see(pages, one, path="{}?sid=1")} <= COPIES, number

    def test_of_other_articles_are_kept(self, pages, earlier):
        """That of a page which the mirror does not have is no copy of another article."""
        others = {100 + number: story(100 + number) for number in NUMBERS}
        see(pages, earlier, "mirror.example", mirrored)
        see(pages, earlier)
        assert set(see(pages, others, shown=printed)) == {"new"}

    def test_of_an_article_that_another_process_has_kept(self, redis_server, earlier):
        url = redis_server.url
        with NearDuplicateFilter.open(url) as one, NearDuplicateFilter.open(url) as other:
            for number, text in earlier.items():
                see((one, other)[number % 2], {number: text})
            for number, text in earlier.items():
                pages = (other, one)[number % 2]
                found = see(pages, {number: text}, shown=printed, path="{}?print")
                assert set(found) <= COPIES, number


def test_products_are_kept_although_a_shop_elsewhere_has_the_same_terms(pages, article):
    terms = article(1, words=200)

    def outcome(pages, host, number, menu=MENU):
        name = f"<h1>Lamp {number}</h1><p>Lamp number {number} for {number * 7} euros</p>"
        html = f"<ul>{menu}</ul>{name}<p>{terms}</p>"
        return pages.see(f"http://{host}/{number}", html=html).outcome

    for number in range(12):
        assert outcome(pages, "a.example", number) == "new"
        assert outcome(pages, "b.example", number + 50, OTHER_MENU) == "new"
        assert outcome(pages, "a.example", number + 100, "") == "new"


class TestRewrittenPages:
    @pytest.mark.parametrize("rewritten", [1, 3, 4])
    def test_copies_are_found_in_a_later_crawl(self, tmp_path, earlier, rewritten):
        with NearDuplicateFilter.open(tmp_path / "index") as pages:
            see(pages, earlier)
        edition = {number: story(number, rewritten) for number in NUMBERS}
        with NearDuplicateFilter.open(tmp_path / "index") as pages:
            assert set(see(pages, edition)) <= {"new", "revisit"}
            assert set(see(pages, edition, "mirror.example", mirrored)) <= COPIES
            pages.check()

    def test_are_kept_and_found_again_on_their_host_and_so_is_what_they_were(self, pages, earlier):
        """A print view or another session of it shows the same once more."""
        first = {number: earlier[number] for number in NUMBERS}
        edition = {number: story(number, 3) for number in NUMBERS}
        assert set(see(pages, earlier)) == {"new"}
        assert set(see(pages, edition, path="{}-new")) == {"new"}
        for session in range(3):
            assert set(see(pages, edition, path=f"{{}}-new?sid={session}")) == {"exact"}
            assert set(see(pages, first, path=f"{{}}?sid={session}")) == {"exact"}
        assert set(see(pages, first, "mirror.example", mirrored)) <= COPIES


@pytest.mark.parametrize("are_forgotten", [False, True])
def test_a_front_page_of_several_articles_repeats_none_of_them(pages, earlier, are_forgotten):
    """One of them is new on the host, but not elsewhere; the others the host has shown."""
    see(pages, earlier)
    see(pages, {30: story(30)}, "mirror.example", mirrored)
    if are_forgotten:
        assert [pages.forget(f"http://a.example/{number}") for number in (10, 11)] == [1, 1]
    front = [*story(30), *story(10), *story(11)]
    assert see(pages, {"": front}) == ["new"]
    assert see(pages, {"?sid=1": front}) == ["exact"]
    assert see(pages, {"": front}, "other.example", mirrored) == ["near"], "in another frame"
    assert see(pages, {30: story(30)}) == ["near"], "there it is in another frame, too"


def test_a_notice_that_comes_to_be_shown_is_no_edit(pages, earlier):
    """The first pages below a long notice are articles of their own, and so are found elsewhere."""
    notice = [paragraph("notice", place) for place in range(PARAGRAPHS + 2)]
    see(pages, earlier)
    below = {number: [*story(number), *notice] for number in range(20, 26)}
    assert set(see(pages, below)) == {"new"}
    alone = {number: story(number) for number in range(22, 26)}
    assert set(see(pages, alone, "mirror.example", mirrored)) <= COPIES


@pytest.mark.parametrize(
    ("hidden", "is_copy"),
    [
        ("<div hidden><p>{}</p></div>", True),
        # A server streams what a script moves into sight: it may be the article.
        ('<div hidden id="S:0"><p>{}</p></div>', False),
        ('<script type=application/json>{{"body": "{}"}}</script>', False),
    ],
)
def test_other_hidden_text_makes_a_page_if_it_waits_for_a_script(hidden, is_copy):
    """While the frame of the host is not known, all that both pages show may be frame."""
    others = (hidden.format(paragraph("hidden", number)) for number in range(2))
    pages = {
        f"http://a.example/{n}": framed("<p>".join(story(1))) + other
        for n, other in enumerate(others)
    }
    with NearDuplicateFilter.open() as seen:
        outcomes = [seen.see(url, html=html).outcome for url, html in pages.items()]
    assert outcomes == ["new", "near" if is_copy else "new"]
