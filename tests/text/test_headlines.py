"""What pages are headed by, and when two of them are headed by the same."""

import re

import pytest

from dedup_filter.text.headlines import (
    Headline,
    headlines,
    is_headed_alike,
    is_within,
    part_hash,
    shares_words,
    title_parts,
    without_section,
)

LONG = "A long story about the sea and those who live by it and of it"


def shown(times):
    """The counts of a host: on how many of its pages each part was shown."""
    return [{part_hash(part): count for part, count in times.items()}]


def are_alike(page, original):
    return is_headed_alike(page, original, shown({}))


def h1(text):
    return Headline(text, "")


def title(text):
    return Headline("", text)


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("git-diff - Git 2.39 manual | Example", ["git-diff", "Git manual", "Example"]),
        ("The tide mill – River Gazette", ["The tide mill", "River Gazette"]),
        ("News: Ice :: Harbour » Paper", ["News: Ice", "Harbour", "Paper"]),
        ("Home > Lamps · Shop • Desk lamp", ["Home", "Lamps", "Shop", "Desk lamp"]),
        ("Harbour｜Paper", ["Harbour", "Paper"]),
        ("甲骨文的故事_文化-知识角｜走廊", ["甲骨文的故事", "文化", "知识角", "走廊"]),
        ("甲骨文的故事—Example", ["甲骨文的故事", "Example"]),
        # A hyphen, an underscore, a slash, a colon within a name part nothing.
        *((name, [name]) for name in ("git-diff-files", "module_name", "and/or", "List<String>")),
        ("std::vector", ["std::vector"]),
        ("", []),
        (" | - | ", ["-"]),
    ],
)
def test_parts_of_a_title(written, parts):
    assert title_parts(written) == parts


TAILS = [
    "Class: Ice — Documentation by Scribe {}",
    "Ice - harbour {} documentation",
    "Ice | harbour v{} docs",
    "Ice – harbour-tools {} API",
    "Ice :: Made with Scribe Pro {}",
    "Eis — Hafen {} Dokumentation",
    "冰 — 港口 {} 文档",
    "Ice - Weather - harbour {} documentation",
    "Ice — harbour {}: Long winter nights documentation",
]


@pytest.mark.parametrize("written", TAILS)
@pytest.mark.parametrize("versions", [("7.1.3", "8.0.0"), ("0.9.25", "0.9.36"), ("1", "2.0rc1")])
def test_the_version_of_a_tool_or_a_manual_behind_a_title_heads_nothing(written, versions):
    one, other = (title(written.format(version)) for version in versions)
    assert are_alike(one, other)
    assert not are_alike(one, title(re.sub("Ice|Eis|冰", "Tide", other.title)))


@pytest.mark.parametrize(
    "written",
    [
        "Release notes {}",
        "Harbour {}",
        "Harbour {} documentation",
        "Harbour {} documentation | Paper",
        "Documentation by Scribe {} - Paper",
        "Download | Harbour {}",
        "Release notes - Harbour {} released",
        "Chapter - Built by {} people",
    ],
)
def test_a_version_that_the_page_is_about_tells_it_apart(written):
    assert not are_alike(title(written.format("1.2")), title(written.format("1.3")))
    assert not are_alike(h1(written.format("1.2")), h1(written.format("1.3")))


@pytest.mark.parametrize(
    ("page", "times", "parts"),
    [
        (Headline("Desk lamp", "Shop | Lamps"), {}, ("desk lamp",)),
        (Headline("The Shop", "Desk lamp | The Shop"), {"The Shop": 2}, ("desk lamp",)),
        (Headline("Desk lamp", "Black"), {"Desk lamp": 1}, ("desk lamp",)),
        (Headline("Desk lamp", "Black"), {"Desk lamp": 2}, ("black",)),
        # Without any of its own, that which fewest pages show.
        (Headline("The Shop", "Lamps | Home"), {"The Shop": 9, "Lamps": 5, "Home": 7}, ("lamps",)),
        (
            Headline("The Shop", "Lamps | Home"),
            {"The Shop": 4, "Lamps": 5, "Home": 7},
            ("the shop",),
        ),
        (Headline("The Shop", "Lamps | Home"), {"The Shop": 5, "Lamps": 5, "Home": 5}, ("lamps",)),
        (Headline(), {}, ()),
        (Headline("", " | "), {"": 2}, ()),
    ],
)
def test_what_stands_for_a_page(page, times, parts):
    assert page.parts(shown(times)) == parts


def test_the_block_of_the_h1_is_known_by_its_beginning():
    assert Headline("x" * 200).is_made_of("x" * 200 + " and more")
    assert not Headline("Desk lamp").is_made_of("Desk lamps")
    assert not Headline("", "Desk lamp").is_made_of("Desk lamp")
    assert not Headline().is_made_of("")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("git-diff", "git-diff-files", False),
        ("3.37.1", "3.37.2", False),
        ("StringBuilder", "StringBuffer", False),
        ("甲骨文的故事", "甲骨文的故事二", False),
        (LONG, LONG.replace("sea", "river"), False),
        # The beginning of a headline is another headline, unless an ellipsis shows that it was cut.
        *((LONG, LONG[:end], False) for end in (4, 26, 45, 60)),
        (LONG, f"{LONG}, 120 cm", False),
        ("甲骨文的故事与文化的传承", "甲骨文的故事与文化", False),
        (LONG, f"{LONG[:5]}…", True),
        (LONG, f"{LONG[:-1]}…", True),
        (LONG, "…", False),
        (LONG, f"{LONG[:45]}…", True),
        (LONG, f"{LONG[:45]} ...", True),
        # A number that tells things apart is no section number.
        ("2.5 mm drill bit", "3.5 mm drill bit", False),
        ("3.37.1 released", "3.37.2 released", False),
        ("Section 230 explained", "Section 231 explained", False),
        ("Part 1 The harbour", "Part 2 The harbour", False),
        ("3.2. Setup", "Setup", True),
        ("§ 12 Setup", "Setup", True),
        ("Ｓｅｔｕｐ", "setup", True),
        ("The  tide\u00a0mill", "the tide mill", True),
        ("Package org.example.vector.field", "Package org.example.vector", False),
    ],
)
@pytest.mark.parametrize("headed", [h1, title])
def test_headlines_are_alike_but_for_section_numbers_and_cut_ends(headed, one, other, alike):
    assert are_alike(headed(one), headed(other)) == alike
    assert are_alike(headed(other), headed(one)) == alike
    assert are_alike(headed(one), headed(one))


@pytest.mark.parametrize("number", ["3.2", "7.", "8)", "Chapter 4:", "Chapter IV.", "A.1", "§ 12"])
def test_a_section_number_in_front_of_a_headline_is_left_out(number):
    assert without_section(f"{number} setup".lower()) == "setup"
    assert not are_alike(h1(f"{number} Setup"), h1("9.9 Setup")), (
        "on one host they are two sections"
    )


ICE, LAMP = "Ice in the harbour", "Desk lamp"


@pytest.mark.parametrize(
    ("page", "original", "shared_parts", "alike"),
    [
        # One may have as h1 what the other has in its title.
        (h1(ICE), title(f"{ICE} | Paper"), (), True),
        (title(f"{ICE} | Paper"), h1(ICE), ("Paper",), True),
        (title(f"{ICE} | Paper"), h1(ICE), (), False),  # its other part is new
        # Between two h1, titles of which each is one page's own tell two pages apart.
        (Headline(LAMP, "Offer"), Headline("Floor lamp", LAMP), (), False),
        (Headline(LAMP, "One"), Headline(LAMP, "Two"), (), False),
        (Headline(LAMP, "One | Shop"), Headline(LAMP, "One | Store"), ("Shop",), True),
        (Headline(LAMP, "One"), Headline(LAMP, "Two"), ("One",), True),
        # Parts that the host shares do not count, others do.
        (title("git-add | Manual"), title("git-log | Manual"), ("Manual",), False),
        (title("git-add | Manual"), title("git-add | Book"), ("Manual",), True),
        (title("git-add | Manual"), title("git-add | Book"), (), False),
        # A title that begins the h1 says nothing beyond it, and is no headline of its own where it
        # was cut off.
        (Headline(LONG, f"{LONG[:45]} | Paper"), Headline(LONG, "Ice | Paper"), ("Paper",), True),
        (Headline(LONG, "Ice"), Headline(f"{LONG[:40]}rivers", f"{LONG[:40]}…"), ("Ice",), False),
        (Headline(LONG, "Ice"), title(f"{LONG[:40]}…"), ("Ice",), True),
        # A page without a headline says nothing new; a headline is new to it.
        (Headline(), Headline(), (), True),
        (Headline(), h1("Ice"), (), True),
        (Headline(), title("Ice"), (), True),
        (h1("Ice"), Headline(), (), False),
        (title("Ice"), Headline(), (), False),
        # A page headed by what others show is no page without a headline.
        (title("Paper"), h1("Ice"), ("Paper",), False),
        (title("Paper"), Headline("Ice", "Ice | Paper"), ("Paper",), True),
    ],
)
def test_on_one_host_what_it_does_not_share_must_be_there(page, original, shared_parts, alike):
    assert is_headed_alike(page, original, shown(dict.fromkeys(shared_parts, 2))) == alike


@pytest.mark.parametrize(
    ("page", "times", "found"),
    [
        # The own h1, if the title has it,
        (Headline(ICE, f"{ICE} | The Paper of the sea"), {}, {ICE}),
        (Headline(ICE, f"The Paper of the sea: {ICE}"), {}, {ICE}),
        # or else the longest part of the title that the host does not share, too.
        (Headline(ICE, f"{LAMP} | Paper"), {}, {ICE, LAMP}),
        (Headline(ICE, f"{LAMP} | The Paper of the sea"), {}, {ICE, "The Paper of the sea"}),
        (
            Headline(ICE, f"{LAMP} | The Paper of the sea"),
            {"The Paper of the sea": 2},
            {ICE, LAMP},
        ),
        (Headline("The Paper", f"{LAMP} | Ice"), {"The Paper": 2}, {LAMP}),
        (h1(ICE), {}, {ICE}),
        (title(f"{LAMP} | Ice"), {}, {LAMP}),
        (Headline(), {}, set()),
    ],
)
def test_what_may_be_the_headline_of_a_page(page, times, found):
    assert headlines(page, shown(times)) == {text.lower() for text in found}


@pytest.mark.parametrize(
    ("h1", "title", "expected"),
    [
        (ICE, "Frost in the harbour | Paper", True),
        ("ICE", "ice-free at last", False),
        ("ICE", "Ice on the river", True),
        ("Our partners", f"{ICE} | Paper", False),
        ("Our partners", "", True),
        ("港口的冰", "冰封港口 | 日报", True),
        ("港口的冰", "甲骨文", False),
        ("港口", "Paper", False),
        ("", ICE, False),
    ],
)
def test_an_h1_of_the_page_has_a_word_of_its_title(h1, title, expected):
    assert shares_words(h1, title) == expected


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [
        ("ice", "winter news, ice of bergen", True),
        ("ice", "ice", True),
        ("the sea and its old ti", "the sea and its old tides", True),
        ("lamp", "a clamp", False),
        ("lamp", "two lamps, and one lamp", True),
        ("3.37.1", "release 3.37.12", False),
        ("c", "learn c++ in a day", True),
        ("骨文", "甲骨文的故事", True),
        ("ice", "冰ices", False),
        ("snow", "ice", False),
    ],
)
def test_a_headline_stands_in_another_as_whole_words(short, long, expected):
    assert is_within(short, long) == expected
