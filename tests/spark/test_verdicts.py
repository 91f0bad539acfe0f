"""Verdicts on Spark, beside the verdicts of the filter on the same pages."""

import random

import pytest
from made_text import prose
from museum.kinds import KINDS

from dedup_filter import ConfigError, NearDuplicateFilter, Verdict
from dedup_filter.config import FilterConfig
from dedup_filter.text.page_fields import PageText

pytest.importorskip("pyspark")

from dedup_filter.spark import host_pages, verdicts, without_duplicates

RECIPES = next(kind for kind in KINDS if kind.name == "recipes_whose_quantities_differ")
SCHEMA = "place int, url string, html string, text string"
REPEATS = ("near", "exact")


def page(host, number, seed, edits=0, words=170, head=""):
    """A page in the frame of its host: its text, between a menu, a notice and a footer."""
    menu = "".join(f'<li><a href="/{each}">Section {each} of {host}</a></li>' for each in range(9))
    said = "".join(f"<p>{each}.</p>" for each in prose(seed, edits, words).split("."))
    notice = prose(host, words=45)
    return {
        "url": f"http://{host}/{number}",
        "html": f"<html lang=en><head><title>Story {seed} - {host}</title>{head}</head><body>"
        f"<ul>{menu}</ul><h1>Story {seed}</h1><div>{said}</div><div><p>{notice}</p></div>"
        f"<p>Copyright {host}, all rights reserved by the people of {host}</p></body></html>",
    }


def crawl():
    """Stories on hosts of their own, on mirrors and twice on one host; and odd pages."""
    draw = random.Random(4)
    pages = [page("first.example", number, number) for number in range(7)]
    pages += [page("mirror.example", number, number) for number in range(7)]
    pages += [page("other.example", number, number + 20) for number in range(5)]
    pages += [page("mixed.example", number, number % 6 + 18, number % 3) for number in range(9)]
    pages += [page("short.example", number, 50 + number % 2, 0, 30) for number in range(4)]
    pages += [page("again.example", number, 61 + number % 5) for number in range(10)]
    draw.shuffle(pages)
    # Copies on hosts of one page each, some of them too far for fingerprints.
    pages += [page(f"wire{each}.example", 0, 30 + each % 3, each // 3) for each in range(24)]
    link = '<link rel=canonical href="http://origin.example/0">'
    pages += [page("origin.example", 0, 91), page("named.example", 0, 91, 1, head=link)]
    # Different pages of one template, each on its own host.
    pages += [{"url": f"http://shop{n}.example/", "html": RECIPES.serve(n)} for n in range(4)]
    texts = [prose(70 + each % 5, each // 5 % 3) for each in range(15)]
    pages += [
        {"url": f"http://text{each % 4}.example/{each}", "text": text}
        for each, text in enumerate(texts)
    ]
    pages += [{"url": f"key-{each}", "text": prose(75 + each % 3)} for each in range(6)]
    pages += [{"url": f"http://tiny{each}.example/", "text": "Two words"} for each in range(3)]
    pages += [{"url": "", "text": prose(80 + each % 2)} for each in range(4)]
    pages += [{"url": "http://blank.example/", "text": " ... "}, {"url": "http://none.example/"}]
    pages += [{"url": "", "html": "<p>a binary \0\0\0\0 page" + "\0\1" * 99}]
    return [{"place": place, **each} for place, each in enumerate(pages)]


def seen(pages, **options):
    """The filter's verdicts; the caller counts a page without a field."""
    verdicts = []
    with NearDuplicateFilter.open(**options) as opened:
        for each in pages:
            given = {name: each[name] for name in each if name != "place"}
            verdicts.append(opened.see(**given) if len(given) > 1 else Verdict("unjudged"))
    return verdicts


def rows_of(spark, pages, schema=SCHEMA):
    names = [each.split()[0] for each in schema.split(", ")]
    return spark.createDataFrame([tuple(map(each.get, names)) for each in pages], schema)


def differing(pages, wanted, found):
    """URLs of pages that only one of the two drops, or for which they name other originals."""
    return [
        each["url"]
        for each, here, there in zip(pages, wanted, found, strict=True)
        if (here.outcome, here.original) != (there.outcome, there.original)
    ]


@pytest.fixture(scope="module")
def judged(spark):
    """The crawl, its verdicts in the filter, and on Spark, where its rows come in any order."""
    pages = crawl()
    rows = rows_of(spark, random.Random(1).sample(pages, len(pages)))
    found = sorted(verdicts(rows, order="place", prefix="", canonical=True).collect())
    return pages, seen(pages, canonical=True), found


@pytest.mark.slow
def test_nearly_all_verdicts_are_those_of_the_filter(judged):
    pages, wanted, found = judged
    assert [row.place for row in found] == [each["place"] for each in pages]
    # One page in fifty: a copy, and its copy, that came before the frame of its host was known.
    assert len(differing(pages, wanted, found)) <= len(pages) // 50 + 1
    assert {row.url for row in found if row.outcome in REPEATS} >= {
        page["url"] for page, here in zip(pages, wanted, strict=True) if here.is_duplicate
    }
    assert {row.outcome for row in found if "shop" in row.url} == {"new"}
    assert {row.outcome for row in found} == {"new", "near", "exact", "unjudged"}
    assert {row.reason for row in found} >= {
        *("canonical", "shared_phrases", "too_short", "no_text", "no_field")
    }


@pytest.mark.slow
def test_every_original_is_an_earlier_kept_page(judged):
    pages, _, found = judged
    place = {each["url"]: each["place"] for each in pages}
    kept = {row.cluster for row in found if row.outcome == "new"}
    assert len(kept) == sum(row.outcome == "new" for row in found)
    for row in found:
        assert (row.original is None) == (row.outcome not in REPEATS)
        assert (row.lost is None) == (row.lost_words is None) == (row.similarity is None)
        assert (row.lost == []) == (row.lost_words == 0) == (row.similarity == 1)
        if row.original:
            original = found[place[row.original]]
            assert original.place < row.place
            assert original.outcome not in REPEATS
            assert row.cluster == original.cluster or original.outcome == "unjudged"


def test_a_host_is_judged_page_by_page():
    held = host_pages._HELD
    config = FilterConfig()
    pages = ({"row": n, "url": "", "text": prose(n, words=30)} for n in range(held + 9))
    fields = dict.fromkeys(PageText._fields)
    packed = host_pages.read((fields | each for each in pages), config)
    given = []

    def counted():
        for number, each in enumerate(packed):
            given.append(number)
            yield each | {"page": number, "group": "(no URL)", "reason": None}

    results = host_pages.judged(counted(), config)
    assert next(results)["page"] == 0
    assert len(given) == held + 1
    assert len([*results]) == held + 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"min_similarity": None, "max_distance": 6},
        {"learn_frames": False, "shared_phrases": False},
        {
            "scope": "host",
            "max_distance": 7,
            "ignore": {"again.example": "ul, h1", "*": "p:last-child"},
            "content": "h1 + div, .x",
        },
    ],
)
def test_options_are_those_of_the_filter(spark, options):
    pages = crawl()
    rows = rows_of(spark, pages)
    found = sorted(verdicts(rows, order="place", prefix="", **options).collect())
    assert len(differing(pages, seen(pages, **options), found)) <= 2


@pytest.mark.slow
def test_rows_come_back_as_they_were(spark):
    texts = [prose(each % 4) for each in range(9)]
    rows = spark.createDataFrame(
        [
            (bytearray(text.encode()), [number], f"http://a/{number}")
            for number, text in enumerate(texts)
        ],
        "body binary, more array<int>, link string",
    ).coalesce(1)
    kept = without_duplicates(rows, columns={"text": "body", "url": "link"})
    assert kept.schema == rows.schema
    assert sorted(row.more[0] for row in kept.collect()) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_distence": 3}, "max_distance"),
        ({"max_pages": 3}, "max_pages has no meaning on Spark"),
        ({"order": "when"}, "no column 'when'"),
        ({"columns": {"html": "body"}}, "no column 'body'"),
    ],
)
def test_refuses_what_cannot_be_meant(spark, options, message):
    rows = rows_of(spark, crawl()[:1])
    with pytest.raises(ConfigError, match=message):
        verdicts(rows, **options)


@pytest.mark.slow
def test_texts_of_several_columns_and_of_fields_within_one_are_read(spark):
    texts = [(prose(each % 4), prose(10 + each % 2) if each else None) for each in range(8)]
    others = [prose(20 + each // 3) for each in range(8)]
    rows = spark.createDataFrame(
        [(n, *row, f"Part {n // 6}") for n, row in enumerate(zip(texts, others, strict=True))],
        "place int, page struct<lead: string, body: string>, `page.lead` string, head string",
    ).coalesce(1)
    columns = {"text": ["page.lead", "page.body"], "title": "head"}
    # A column that has the name itself comes first.
    for frame, leads in ((rows, others), (rows.drop("page.lead"), [lead for lead, _ in texts])):
        pages = [
            {"url": "", "text": "\n".join(filter(None, (lead, body))), "title": f"Part {n // 6}"}
            for n, (lead, (_, body)) in enumerate(zip(leads, texts, strict=True))
        ]
        wanted = [verdict.outcome for verdict in seen(pages)]
        found = verdicts(frame, columns=columns, prefix="")
        assert [row.outcome for row in sorted(found.collect())] == wanted
        assert {*wanted} >= {"new", "exact"}
