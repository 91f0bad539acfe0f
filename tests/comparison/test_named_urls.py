"""Pages that name one canonical URL are views of one page, unless the name says nothing."""

import pytest
from made_stories import HOST, MARKUP, crawl, edited, page, paragraph, paragraphs, story, teasers

TEXT = story("harbour")
LINKS = f"<div>{teasers('others')}</div>"


def named(url: str, body: str, head: str = "Sea", beside: str = "") -> str:
    """A page that names a URL; its headline is none of a story, so teasers are compared."""
    link = f'<link rel="canonical" href="{url}">' if url else ""
    body = body + beside
    return page(body, head, more=link)


def outcomes(*seen: tuple[str, str]) -> list[str]:
    return [each.outcome for each in crawl(*((HOST + path, html) for path, html in seen))]


class TestTwoPages:
    @pytest.mark.parametrize(
        ("first", "then", "expected"),
        [
            ("/sea", "/sea", "near"),
            # One of the two is at the URL.
            ("", f"{HOST}red", "near"),
            (f"{HOST}navy", "", "near"),
            # A loop: each names the other.
            (f"{HOST}navy", f"{HOST}red", "new"),
            ("/sea", "/land", "new"),
            ("/sea", "", "new"),
            ("", "", "new"),
            ("http://[1/", "http://[1/", "new"),
        ],
    )
    def test_that_name_one_url_may_lack_links(self, first, then, expected):
        one, other = named(first, paragraphs(TEXT)), named(then, paragraphs(TEXT), beside=LINKS)
        assert outcomes(("red", one), ("navy", other)) == ["new", expected]

    @pytest.mark.parametrize("url", ["/sea", f"{HOST}red"])
    @pytest.mark.parametrize("markup", ["p", "table", "ul"])
    @pytest.mark.parametrize("own", ["26.90 euros", paragraph("own")])
    def test_that_name_one_url_may_not_lack_text(self, url, markup, own):
        one = named(url, paragraphs(TEXT))
        other = named(url, paragraphs(TEXT[:2]) + MARKUP[markup]([own]) + paragraphs(TEXT[2:]))
        assert outcomes(("red", one), ("navy", other)) == ["new", "new"]

    def test_under_other_headlines_are_two(self):
        pages = [named("/sea", paragraphs(TEXT), head) for head in ("Sea", "Ice")]
        assert outcomes(("red", pages[0]), ("navy", pages[1])) == ["new", "new"]

    def test_of_a_sequence_are_two(self):
        pager = '<a href="/red?page=1">1</a> <a href="/red?page=2">2</a>'
        one = named("/sea", paragraphs(TEXT) + pager)
        other = named("/sea", paragraphs(TEXT) + pager, beside=LINKS)
        assert outcomes(("red", one), ("navy", other)) == ["new", "new"]


def test_a_url_that_pages_under_other_headlines_name_says_nothing():
    """Some sites name their front page on all pages."""
    before = [
        (f"old-{name}", named("/", paragraphs(story(name)), f"Other {name}"))
        for name in ("one", "two", "three")
    ]
    one, other = named("/", paragraphs(TEXT)), named("/", paragraphs(TEXT), beside=LINKS)
    assert outcomes(("red", one), ("navy", other))[-1] == "near"
    assert outcomes(*before, ("red", one), ("navy", other))[-1] == "new"


class TestAHostWhereAllPagesNameOneUrl:
    """Nothing may be lost there, whichever page comes first."""

    @pytest.mark.parametrize("target", ["/", "/no-such-page", "http://b.example/"])
    @pytest.mark.parametrize("markup", MARKUP)
    def test_loses_no_page_with_text_of_its_own(self, target, markup):
        shop = [
            named(
                target, paragraphs(TEXT) + MARKUP[markup]([f"Size {30 + n}", f"{20 + n}.90 euros"])
            )
            for n in range(8)
        ]
        seen = [(f"thing-{chr(97 + n)}x", html) for n, html in enumerate(shop)]
        assert outcomes(*seen) == ["new"] * 8

    @pytest.mark.parametrize("target", ["/", "/no-such-page"])
    def test_loses_no_page_with_links_of_its_own(self, target):
        heads = [f"Category {name}" for name in "chairs tables lamps beds desks".split()]
        seen = [
            (head.split()[1], named(target, paragraphs(TEXT), head, beside=teasers(head)))
            for head in heads
        ]
        assert outcomes(*seen) == ["new"] * 5

    def test_loses_no_page_in_a_loop(self):
        names = ["red", "navy", "blue", "pink"]
        seen = [
            (name, named(f"/{names[(n + 1) % 4]}", paragraphs(edited(t, 1, n) for t in TEXT)))
            for n, name in enumerate(names)
        ]
        # Each names the next, and the first the last: all have one word of each paragraph edited.
        assert outcomes(*seen) == ["new"] * 4
