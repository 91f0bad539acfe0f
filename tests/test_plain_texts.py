"""A page that is given as text is judged by its paragraphs and lines, wherever it comes from."""

import json
import textwrap

import pytest
from command_line import lines
from gate import slow
from made_text import prose

from dedup_filter import NearDuplicateFilter
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.plain_text import MOST_LINES, text_blocks

DESCRIPTION = f"{prose(1, words=90)}\n\n{prose(2, words=70)}"


def product(name, price, description=DESCRIPTION):
    return f"{name}\n{price} euros\n\n{description}"


PRODUCTS = [product(*each) for each in [("Oak bench", 240), ("Oak stool", 240), ("Oak bench", 260)]]
PAGES = [
    {"url": f"https://shop.example/{number}", "text": text}
    for number, text in enumerate([*PRODUCTS, PRODUCTS[0]])
]
OUTCOMES = ["new", "new", "new", "exact"]


def outcomes(pages, *texts):
    """What becomes of some texts, one after the other, on one host."""
    urls = (f"https://shop.example/{len(pages)}/{number}" for number in range(len(texts)))
    return [pages.see(url, text=text).outcome for url, text in zip(urls, texts, strict=True)]


class TestOnOneHost:
    def test_products_with_one_description_are_different_pages(self, pages):
        assert [pages.see(**each).outcome for each in PAGES] == OUTCOMES

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("€ 5", "£ 5"),
            ("5 °C", "-5 °C"),
            ("Wifi ✓", "Wifi ✗"),
            ("★★★", "★★☆"),
            ("For C++", "For C"),
            ("-", "+"),
            ("Mood: 😀", "Mood: 😡"),
        ],
    )
    def test_a_sign_tells_lines_apart(self, pages, one, other):
        texts = [f"Oak bench\n{line}\n\n{DESCRIPTION}" for line in (one, other, one)]
        assert outcomes(pages, *texts) == ["new", "new", "exact"]

    def test_the_text_that_is_missing_is_told(self, pages):
        other_name, other_price = [pages.see(**each).refused for each in PAGES[:3]][1:]
        assert (other_name.rule, other_name.text) == ("headline", "Oak stool")
        assert (other_price.rule, other_price.text) == ("lines", "260 euros")

    def test_a_long_text_under_another_first_line_is_another_page(self, pages):
        texts = [f"Sales in {town}\n\n{prose(1, words=3000)}" for town in ("Ely", "Thirsk")]
        assert outcomes(pages, *texts) == ["new", "new"]

    def test_a_corrected_typo_is_a_copy(self, pages):
        text = product("Oak bench", 240, prose(1, words=400))
        assert outcomes(pages, text, text.replace(" is not in ", " isnot in ", 1)) == [
            "new",
            "near",
        ]

    def test_a_new_paragraph_is_a_new_page_and_a_shorter_text_is_none(self, pages):
        longer = f"{PRODUCTS[0]}\n\n{prose(3, words=40)}"
        shorter = PRODUCTS[0].replace("240 euros", "")
        assert outcomes(pages, PRODUCTS[0], longer, shorter) == ["new", "new", "near"]

    def test_another_width_of_its_lines_changes_nothing(self, pages):
        paragraphs = DESCRIPTION.split("\n\n")
        wrapped = [
            product(
                "Oak bench", 240, "\n\n".join(textwrap.fill(each, width) for each in paragraphs)
            )
            for width in (60, 80)
        ]
        assert outcomes(pages, *wrapped) == ["new", "exact"]

    def test_the_same_page_as_html_is_a_copy(self, pages):
        name, price, *paragraphs = filter(None, PRODUCTS[0].split("\n"))
        html = f"<h1>{name}</h1>{''.join(f'<p>{each}</p>' for each in (price, *paragraphs))}"
        assert pages.see("https://shop.example/html", html=html).outcome == "new"
        assert outcomes(pages, *PRODUCTS) == ["near", "new", "new"]

    def test_nothing_is_learnt_of_the_host(self, pages):
        texts = [f"{prose(9, words=30)}\n\n{prose(number)}" for number in range(10, 16)]
        assert outcomes(pages, *texts) == ["new"] * 6
        assert pages.see("https://shop.example/last", text=texts[0]).outcome == "exact"


def test_on_another_host_its_first_line_and_a_few_others_may_differ(pages):
    revised = [f"As of {day} May\n\n{prose(1, words=400)}\n\nVersion {day}" for day in (3, 4)]
    found = [pages.see(f"https://{n}.example/", text=text) for n, text in enumerate(revised)]
    assert [each.outcome for each in found] == ["new", "near"]


class TestOtherWaysIntoAFilter:
    def test_of_a_scan(self, tmp_path):
        (tmp_path / "f.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in PAGES))
        output = tmp_path / "unique.jsonl"
        (found,) = lines("scan", str(tmp_path / "f.jsonl"), "-o", str(output), "--json")
        assert found["outcomes"] == {"new": 3, "exact": 1}

    def test_of_an_index(self, tmp_path):
        index = str(tmp_path / "index")
        with NearDuplicateFilter.open(index, keep_text=True) as pages:
            for each in PAGES:
                pages.see(**each)
        with SqliteStore.open_to_read(index) as reader:
            heads = [record.h1 for record in reader.records()]
        assert heads == ["Oak bench", "Oak stool", "Oak bench", "Oak bench"]
        _, found = lines("tune", index, "--max-distance", "11", "--json")
        assert (found["changes"], found["dropped"]) == ([], 1)


def hostile(size):
    """Texts of about so many characters, by what is bad about them."""
    return {
        "one line": prose(1, words=size // 7)[:size],
        "many lines": "a\n" * (size // 8),
        "many lines that differ": "\n".join(f"{number:x}" for number in range(size // 8)),
        "empty lines first": "\n" * (size // 2) + prose(1),
        "spaces": " " * (size // 2) + "\n" + prose(1),
        "a line of one letter": "x" * (size // 2),
        "other ends of lines": "\u2028\u2029\x0b\x0c\x1c\x85" * (size // 32) + prose(1),
    }


@pytest.mark.parametrize("size", [2**14, slow(2**20)])
@pytest.mark.parametrize("kind", hostile(0))
def test_texts_of_any_shape_are_judged_and_nothing_of_them_is_lost(pages, kind, size):
    text = hostile(size)[kind]
    more = f"{text}\n{prose(2)}"
    assert outcomes(pages, text, text) in (["new", "exact"], ["unjudged", "exact"])
    assert outcomes(pages, more) in (["new"], ["near"])


def test_a_text_of_empty_lines_says_nothing(pages):
    assert outcomes(pages, "\r\n" * 2**14, "\n" * 2**14) == ["unjudged"] * 2


def test_beyond_a_number_of_lines_the_rest_is_one_text():
    blocks = text_blocks("a\n" * 2 * MOST_LINES)
    assert blocks[:MOST_LINES] == ["a"] * MOST_LINES
    assert blocks[MOST_LINES:] == [" ".join("a" * MOST_LINES)]
