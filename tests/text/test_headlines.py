"""What pages are headed by, and when two of them are headed by the same."""

import pytest

from dedup_filter.text import (
    Headline,
    is_headed_alike,
    is_headed_as_elsewhere,
    part_hash,
    text_hash,
    title_parts,
)

LONG = "A long story about the sea and those who live by it and of it"


def nothing(part):
    """Tell of a host that has shown nothing."""
    return 0


def shared(*parts):
    """Tell that two pages of the host have shown these."""
    return shown(dict.fromkeys(parts, 2))


def shown(times):
    """Tell on how many pages of the host each part was shown."""
    return lambda part: times.get(part, 0)


def are_alike(page, original, times_shown=nothing):
    return is_headed_alike(page, original, times_shown)


def h1(text):
    return Headline(text, "")


def title(text):
    return Headline("", text)


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("git-diff - Git 2.39 manual | Example", ["git-diff", "Git 2.39 manual", "Example"]),
        ("The tide mill – River Gazette", ["The tide mill", "River Gazette"]),
        ("News: Ice :: Harbour » Paper", ["News: Ice", "Harbour", "Paper"]),
        ("Home > Lamps > Desk lamp", ["Home", "Lamps", "Desk lamp"]),
        ("Lamps · Shop • Home", ["Lamps", "Shop", "Home"]),
        ("Harbour｜Paper", ["Harbour", "Paper"]),
        ("甲骨文的故事_文化_知识角", ["甲骨文的故事", "文化", "知识角"]),
        ("甲骨文的故事-知识角", ["甲骨文的故事", "知识角"]),
        ("甲骨文的故事—Example", ["甲骨文的故事", "Example"]),
        ("甲骨文的故事｜文化走廊", ["甲骨文的故事", "文化走廊"]),
        # A hyphen, an underscore, a slash, a colon within a name part nothing.
        ("git-diff-files", ["git-diff-files"]),
        ("module_name", ["module_name"]),
        ("and/or", ["and/or"]),
        ("std::vector", ["std::vector"]),
        ("List<String>", ["List<String>"]),
        ("", []),
        (" | - | ", ["-"]),
    ],
)
def test_parts_of_a_title(written, parts):
    assert title_parts(written) == parts


def test_a_part_of_a_title_is_known_apart_from_a_block_of_the_same_text():
    assert part_hash("Manual") == part_hash("Manual")
    assert part_hash("Manual") not in (part_hash("Manuals"), text_hash("Manual"))


class TestPartsOfAPage:
    def test_the_h1_stands_for_the_page(self):
        assert Headline("Desk lamp", "Shop | Lamps").parts(nothing) == ("desk lamp",)

    def test_an_h1_that_the_host_shares_does_not(self):
        page = Headline("The Shop", "Desk lamp | The Shop")
        assert page.parts(shared("The Shop")) == ("desk lamp",)

    @pytest.mark.parametrize(("times", "parts"), [(1, ("desk lamp",)), (2, ("black",))])
    def test_what_two_pages_show_is_shared(self, times, parts):
        assert Headline("Desk lamp", "Black").parts(shown({"Desk lamp": times})) == parts

    @pytest.mark.parametrize(
        ("times", "part"),
        [
            ({"The Shop": 9, "Lamps": 5, "Home": 7}, "lamps"),
            ({"The Shop": 4, "Lamps": 5, "Home": 7}, "the shop"),
            ({"The Shop": 5, "Lamps": 5, "Home": 5}, "lamps"),
        ],
    )
    def test_without_any_of_its_own_that_which_fewest_pages_show_stands_for_it(self, times, part):
        assert Headline("The Shop", "Lamps | Home").parts(shown(times)) == (part,)

    def test_without_a_headline_there_are_none(self):
        assert Headline().parts(nothing) == ()
        assert Headline("", " | ").parts(shared("")) == ()

    def test_everything_is_the_h1_and_all_of_the_title(self):
        page = Headline("Desk lamp", "Desk lamp, black | Shop")
        assert page.everything() == ("desk lamp", "desk lamp, black", "shop")

    def test_the_block_of_the_h1_is_known_by_its_beginning(self):
        assert Headline("x" * 200).is_made_of("x" * 200 + " and more")
        assert not Headline("Desk lamp").is_made_of("Desk lamps")
        assert not Headline("", "Desk lamp").is_made_of("Desk lamp")
        assert not Headline().is_made_of("")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git-diff", "git-diff-files"),
        ("Release 3.37.1", "Release 3.37.2"),
        ("3.37.1", "3.37.2"),
        ("AbstractElementVisitor6", "AbstractElementVisitor8"),
        ("StringBuilder", "StringBuffer"),
        ("甲骨文的故事", "甲骨文的故事二"),
        ("Uses of Class Timer", "Class Timer"),
        (LONG, LONG.replace("sea", "river")),
        # Shorter than 40 characters the beginning of a headline is another headline.
        ("A long story about the sea", "A long story about the sea, part two"),
        ("A long story about the sea…", "A long story about the sea and others"),
    ],
)
@pytest.mark.parametrize("headed", [h1, title])
def test_other_headlines_are_other_pages(headed, one, other):
    assert not are_alike(headed(one), headed(other))
    assert not are_alike(headed(other), headed(one))
    assert are_alike(headed(one), headed(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.2. Setup", "Setup"),
        ("§ 12 Setup", "Setup"),
        ("Ｓｅｔｕｐ", "setup"),
        ("The  tide\u00a0mill", "the tide mill"),
        (LONG, f"{LONG[:45]}…"),
        (LONG, f"{LONG[:45]} ..."),
        (LONG, LONG[:40]),
    ],
)
@pytest.mark.parametrize("headed", [h1, title])
def test_section_numbers_and_cut_ends_do_not_count(headed, one, other):
    assert are_alike(headed(one), headed(other))
    assert are_alike(headed(other), headed(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.2 Setup", "4.1 Setup"),
        ("7. Setup", "8) Setup"),
        ("Chapter 4: Setup", "Chapter IV. Setup"),
        ("A.1 Setup", "B.12 Setup"),
    ],
)
def test_two_editions_number_their_sections_as_they_like(one, other):
    assert not are_alike(h1(one), h1(other)), "on one host they are two sections"
    assert is_headed_as_elsewhere(h1(one), h1(other), nothing)
    assert is_headed_as_elsewhere(title(one), title(other), nothing)


def test_from_forty_characters_on_the_beginning_stands_for_a_headline():
    headline = "x" * 60
    assert are_alike(h1(headline), h1("x" * 40))
    assert not are_alike(h1(headline), h1("x" * 39))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2.5 mm drill bit", "3.5 mm drill bit"),
        ("3.37.1 released", "3.37.2 released"),
        ("Section 230 explained", "Section 231 explained"),
        ("Part 1 The harbour", "Part 2 The harbour"),
    ],
)
def test_a_number_that_tells_things_apart_is_no_section_number(one, other):
    assert not are_alike(h1(one), h1(other))


class TestH1AndTitle:
    def test_one_may_have_as_h1_what_the_other_has_in_its_title(self):
        print_view, page = title("Ice in the harbour | Paper"), Headline("Ice in the harbour")
        assert are_alike(page, print_view)
        assert are_alike(print_view, page, shared("Paper"))
        assert not are_alike(print_view, page), "its other part is new"

    def test_between_two_h1_titles_do_not_count(self):
        page, original = Headline("Desk lamp", "Offer"), Headline("Floor lamp", "Desk lamp")
        assert not are_alike(page, original)
        assert are_alike(Headline("Desk lamp", "One"), Headline("Desk lamp", "Two"))

    def test_shared_parts_do_not_count(self):
        one, other = title("git-add | Git manual"), title("git-log | Git manual")
        assert not are_alike(one, other, shared("Git manual"))
        assert are_alike(
            title("git-add | Git manual"), title("git-add | Git book"), shared("Git manual")
        )

    def test_a_part_that_the_host_does_not_share_yet_counts(self):
        one, other = title("git-add | Git manual"), title("git-add | Git book")
        assert not are_alike(one, other)

    def test_a_page_without_a_headline_says_nothing_new(self):
        for original in (Headline(), h1("Ice"), title("Ice")):
            assert are_alike(Headline(), original)

    def test_a_page_headed_by_what_others_show_is_no_page_without_a_headline(self):
        page = title("Paper")
        assert not are_alike(page, h1("Ice"), shared("Paper"))
        assert are_alike(page, Headline("Ice", "Ice | Paper"), shared("Paper"))

    def test_a_headline_is_new_to_a_page_without_one(self):
        assert not are_alike(h1("Ice"), Headline())
        assert not are_alike(title("Ice"), Headline())


class TestElsewhere:
    """Of another host it is not known what its pages share."""

    def test_the_h1_may_be_in_the_title_there(self):
        page = Headline("Ice in the harbour", "Ice in the harbour | Paper")
        assert is_headed_as_elsewhere(page, title("Mirror: Ice in the harbour"), nothing) is False
        assert is_headed_as_elsewhere(page, title("Ice in the harbour - Mirror"), nothing)

    def test_the_longest_part_of_the_title_is_enough(self):
        page = Headline("Print view", "Ice in the harbour | Paper")
        assert is_headed_as_elsewhere(page, h1("Ice in the harbour"), nothing)

    def test_a_short_part_is_not(self):
        page = title("Ice in the harbour | Paper")
        assert not is_headed_as_elsewhere(page, title("Snow on the hills | Paper"), nothing)

    def test_what_the_host_of_the_page_shares_is_not_its_headline(self):
        page = Headline("The Paper", "Ice | A paper of the river and the sea")
        other = Headline("The Paper", "Snow")
        assert is_headed_as_elsewhere(page, other, shown({"The Paper": 1}))
        assert not is_headed_as_elsewhere(page, other, shown({"The Paper": 2}))

    @pytest.mark.parametrize(
        ("one", "other"),
        [("git-diff", "git-diff-files"), ("3.37.1", "3.37.2"), ("Ice", "Snow")],
    )
    def test_other_headlines_are_other_headlines(self, one, other):
        assert not is_headed_as_elsewhere(h1(one), h1(other), nothing)
        assert not is_headed_as_elsewhere(title(one), title(other), nothing)

    def test_a_page_without_a_headline_is_headed_as_any(self):
        assert is_headed_as_elsewhere(Headline(), h1("Ice"), nothing)
        assert not is_headed_as_elsewhere(h1("Ice"), Headline(), nothing)
