"""Verdicts on Spark, page for page against those of the filter."""

import random

import pytest
from made_text import prose

import dedup_filter.spark
from dedup_filter import ConfigError, NearDuplicateFilter

pytest.importorskip("pyspark")

from dedup_filter.spark import verdicts, without_duplicates

SCHEMA = "place int, url string, html string, text string"
VERDICT = ("outcome", "original", "distance", "similarity", "reason", "language")


def page(host, number, seed, edits=0, words=170, hidden=""):
    """A page in the frame of its host: its text, between a menu, a notice and a footer."""
    menu = "".join(f'<li><a href="/{each}">Section {each} of {host}</a></li>' for each in range(9))
    said = "".join(f"<p>{each}.</p>" for each in prose(seed, edits, words).split("."))
    notice = prose(host, words=45)
    return {
        "url": f"http://{host}/{number}",
        "html": f"<html lang=en><head><title>Story {seed} - {host}</title></head><body>"
        f"<ul>{menu}</ul><h1>Story {seed}</h1><div>{said}</div><div><p>{notice}</p></div>"
        f"<div hidden><p>{hidden}</p></div>"
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
    pages += [page("twice.example", number, 60) for number in range(3)]
    pages += [page("again.example", number, 61 + number % 5) for number in range(10)]
    pages += [
        page(
            "hides.example",
            number,
            80 + number // 3,
            number % 3,
            400,
            prose(90 + number // 6, words=430),
        )
        for number in range(12)
    ]
    draw.shuffle(pages)
    texts = [prose(70 + each % 5, each // 5 % 3) for each in range(15)]
    pages += [
        {"url": f"http://text.example/{each}", "text": text} for each, text in enumerate(texts)
    ]
    pages += [{"url": f"http://tiny.example/{each}", "text": "Two words"} for each in range(3)]
    pages += [{"url": "http://blank.example/", "text": " ... "}]
    pages += [{"url": "", "html": "<p>a binary \0\0\0\0 page" + "\0\1" * 99}]
    return [{"place": place, **each} for place, each in enumerate(pages)]


def seen(pages, **options):
    with NearDuplicateFilter.open(shared_phrases=False, **options) as opened:
        asked = [{name: each[name] for name in each if name != "place"} for each in pages]
        return [
            tuple(getattr(verdict, name) for name in VERDICT) for verdict in opened.see_many(asked)
        ]


def rows_of(spark, pages, schema=SCHEMA):
    names = [each.split()[0] for each in schema.split(", ")]
    return spark.createDataFrame([tuple(map(each.get, names)) for each in pages], schema)


@pytest.fixture(scope="module")
def judged(spark):
    """The crawl, and what is found of its rows when those come in any order."""
    pages = crawl()
    rows = rows_of(spark, random.Random(1).sample(pages, len(pages)))
    return pages, sorted(verdicts(rows, order="place").collect())


def test_verdicts_are_those_of_the_filter(judged):
    pages, found = judged
    assert [row.place for row in found] == [each["place"] for each in pages]
    wanted = seen(pages)
    got = [tuple(row[f"dedup_{name}"] for name in VERDICT) for row in found]
    different = [
        (page["url"], there, here)
        for page, there, here in zip(pages, wanted, got, strict=True)
        if there != pytest.approx(here)
    ]
    assert not different
    assert {outcome for outcome, *_ in wanted} == {"new", "near", "exact", "unjudged"}


def test_what_repeats_one_page_is_one_cluster(judged):
    _, found = judged
    of_url = {row.url: row.dedup_cluster for row in found}
    for row in found:
        if row.dedup_original is not None and of_url[row.dedup_original] is not None:
            assert row.dedup_cluster == of_url[row.dedup_original]
    kept = [row.dedup_cluster for row in found if row.dedup_outcome == "new"]
    assert len(kept) == len(set(kept))
    assert all((row.dedup_cluster is None) == (row.dedup_outcome == "unjudged") for row in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"scope": "host", "max_distance": 7},
        {"min_similarity": None, "max_distance": 6},
        {"learn_frames": False},
        {"ignore": {"again.example": "ul, h1", "*": "p:last-child"}, "content": "h1 + div, .x"},
    ],
)
def test_options_are_those_of_the_filter(spark, options):
    pages = crawl()
    found = verdicts(rows_of(spark, pages), order="place", prefix="", **options)
    got = [tuple(row[name] for name in VERDICT) for row in sorted(found.collect())]
    wanted = seen(pages, **options)
    assert [each[:3] for each in got] == [each[:3] for each in wanted]


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
def test_a_host_in_parts_is_judged_as_hosts_of_like_name(spark):
    # Each part learns its host's frame by itself, and finds the pages of the others.
    pages = [page("large.example", number, number // 2) for number in range(24)]
    rows = rows_of(spark, [{"place": place, **each} for place, each in enumerate(pages)])
    found = sorted(verdicts(rows, order="place", host_pages=6).collect())
    assert [row.dedup_outcome in ("near", "exact") for row in found] == [False, True] * 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_distence": 3}, "max_distance"),
        ({"max_pages": 3}, "max_pages has no meaning on Spark"),
        ({"host_pages": 0}, "host_pages must be"),
        ({"order": "when"}, "no column 'when'"),
        ({"columns": {"html": "body"}}, "no column 'body'"),
    ],
)
def test_refuses_what_cannot_be_meant(spark, options, message):
    rows = rows_of(spark, crawl()[:1])
    with pytest.raises(ConfigError, match=message):
        verdicts(rows, **options)


def test_names_stay_functions_when_their_modules_are_loaded():
    for name in dedup_filter.spark.__all__:
        for _ in range(2):
            assert callable(getattr(dedup_filter.spark, name))


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
        said = [
            "\n".join(filter(None, (lead, body)))
            for lead, (_, body) in zip(leads, texts, strict=True)
        ]
        pages = [
            {"url": "", "text": text, "title": f"Part {n // 6}"} for n, text in enumerate(said)
        ]
        wanted = [outcome for outcome, *_ in seen(pages)]
        found = verdicts(frame, columns=columns, prefix="")
        assert [row.outcome for row in sorted(found.collect())] == wanted
        assert {*wanted} >= {"new", "exact"}
