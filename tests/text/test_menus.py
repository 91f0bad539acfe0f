"""What tells that two hosts show their pages in the same frame: the menus of a page."""

import pytest

from dedup_filter.text import Block, first_link, has_links, menus, parse_page, text_hash

HEAD = ["home", "news", "sports", "arts"]
NEXT = ["letters", "weather", "shop", "archive"]
FOOT = ["terms", "contact", "help", "staff"]
TEXT = "<p>A paragraph of the page that is nobody's menu.</p>"


def links(*names: str) -> str:
    return "".join(f"<li><a href=/{number}>{name}</a></li>" for number, name in enumerate(names))


def blocks(markup: str) -> list[Block]:
    page = parse_page(markup)
    assert page is not None
    return list(page.blocks)


def menus_of(markup: str) -> list[int]:
    return menus(blocks(markup))


def common(markup: str, other: str) -> int:
    """Count the menus that two pages have in common."""
    return len(set(menus_of(markup)) & set(menus_of(other)))


class TestMenus:
    def test_are_the_first_two_and_the_last_whatever_stands_between(self):
        def page(text: str, *related: str) -> str:
            head, foot = links(*HEAD) + links(*NEXT), links(*FOOT)
            return f"{head}<p>{text}</p>{links(*related)}{foot}"

        one = page("A story of the sea.", "ice", "fish", "ships", "nets")
        other = page("A story of the hills, and of those who live there.", "snow")
        assert len(menus_of(one)) == 3
        assert menus_of(one) == menus_of(other)

    def test_are_told_apart_by_what_they_say_and_not_by_where_they_lead(self):
        assert common(links(*HEAD), links(*HEAD).replace("href=/", "href=/other/")) == 1
        assert common(links(*HEAD), links(*HEAD[:3], "culture")) == 0
        assert common(links(*HEAD), links(*reversed(HEAD))) == 0

    @pytest.mark.parametrize(("at", "left"), [(0, 2), (4, 2), (-1, 2), (9, 3)])
    def test_one_may_hold_the_name_of_the_host(self, at, left):
        names = [*HEAD, *NEXT, "ice", "fish", *FOOT]
        named = list(names)
        named[at] = "a.example"
        assert common(links(*names), links(*named)) == left

    @pytest.mark.parametrize(("count", "found"), [(0, 0), (3, 0), (4, 1), (5, 2), (7, 2), (8, 2)])
    def test_have_four_links(self, count, found):
        """Four are the first menu and the last, and eight the second and the last."""
        assert len(menus_of(TEXT + links(*(HEAD + NEXT)[:count]))) == found

    @pytest.mark.parametrize(("words", "found"), [(5, 0), (6, 1)])
    def test_or_six_words_of_links_in_a_block(self, words, found):
        one = "".join(f"<a href=/{number}>word{number}</a> " for number in range(words))
        assert len(menus_of(f"<p>{one}</p>{TEXT}")) == found

    def test_are_no_text(self):
        """What is known of a menu and of a block with the same text is not mixed up."""
        assert text_hash("\n".join(HEAD)) not in menus_of(links(*HEAD))
        one = " ".join(f"word{number}" for number in range(10))
        (block,) = blocks(f"<a href=/>{one}</a>")
        assert menus([block]) != [block.hash]

    def test_of_a_page_without_links_there_are_none(self):
        assert menus([]) == menus_of(TEXT * 9) == []


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>one two three four five</p>", False),
        ("<p><a href=/>one</a> two three four five</p>", False),
        ("<p><a href=/>one</a> two three four</p>", True),
        ("<p><a href=/>one two</a></p>", True),
    ],
)
def test_a_block_has_links_of_which_they_are_more_than_a_fifth(markup, expected):
    (block,) = blocks(markup)
    assert has_links(block) == expected


@pytest.mark.parametrize(
    ("markup", "position"),
    [("<p>one</p><p><a href=/>two</a></p><p><a href=/>three</a></p>", 1), ("<p>one</p>", 0)],
)
def test_first_link_is_where_the_first_block_with_links_stands(markup, position):
    assert first_link(blocks(markup)) == position
