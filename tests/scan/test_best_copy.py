"""Of the copies of a page the best is kept, by whatever makes it best."""

import gzip
import json

import pytest
from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st
from index_feed import PARAGRAPHS, article, write_jsonl
from warc_samples import response

from dedup_filter import NearDuplicateFilter
from dedup_filter.scan.scan import scan
from dedup_filter.scan.work import POLICIES, Scan
from dedup_filter.text.page_fields import FieldNames

FIELDS = FieldNames("html", ("text",), "url")
END = "And the last of the cranes was taken down when the winter came to the quay. " * 2


def page(url, number=0, changed=0, end="", canonical=None):
    """An item with HTML; `changed` and `end` make a copy that is near the others."""
    link = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    html = f"<html><head>{link}</head><body><p>{article(number, changed)}</p><p>{end}</p>"
    return {"url": url, "html": html}


ITEMS = [
    page("http://a.example/first", canonical="http://d.example/"),
    page("http://x.example/another-page", 9),
    page("http://b.example/longest-of-all", 0, 1, END),
    page("http://c.example/second", 0, 2, canonical="http://d.example/"),
    page("http://y.example/", 20),
    page("http://d.example/", 0, 3),
    page("http://e.example/named", 0, 4, canonical="http://c.example/second"),
    page("http://e.example/", 0, 5),
]
COPIES = [item["url"] for item in (*ITEMS[:1], *ITEMS[2:4], *ITEMS[5:])]
BEST = {
    "first": "http://a.example/first",
    "longest": "http://b.example/longest-of-all",
    "canonical": "http://d.example/",
}


def scanned(folder, items, keep="first", **given):
    """Scan items in this process; return what is kept, and what is not."""
    feed, lines = folder / "feed.jsonl", "".join(json.dumps(item) + "\n" for item in items)
    if not feed.exists() or feed.read_text() != lines:
        feed.write_text(lines)
    output, duplicates = (folder / f"{keep}{end}.jsonl" for end in ("", "-duplicates"))
    options = {"workers": 0, **given.pop("options", {})}
    scan(Scan([str(feed)], output, duplicates, keep=keep, names=FIELDS, options=options, **given))
    left = sorted(path.name for path in folder.glob("*.scan"))
    assert left == []
    found = [path.read_bytes().splitlines() for path in (output, duplicates)]
    for path in (output, duplicates):
        path.unlink()
    return [[*map(json.loads, lines)] for lines in found]


@pytest.mark.parametrize("keep", POLICIES)
def test_the_best_copy_is_kept_where_it_stands_and_the_others_are_its_duplicates(tmp_path, keep):
    kept, duplicates = scanned(tmp_path, ITEMS, keep)
    best = BEST[keep]
    assert kept == [item for item in ITEMS if item["url"] not in {*COPIES} - {best}]
    assert [item["url"] for item in duplicates] == [url for url in COPIES if url != best]
    for item in duplicates:
        mark = item.pop("dedup")
        assert item in ITEMS
        assert (mark["outcome"], mark["original"], mark["cluster"]) == ("near", best, 1)
        assert mark["reason"] is None
        assert 0 <= mark["distance"] < 30
        assert 0.8 < mark["similarity"] <= 1


def test_marks_are_those_of_the_best_copy(tmp_path):
    feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
    output = tmp_path / "marked.jsonl"
    code, out, err = run("scan", feed, "--mark", str(output), "--keep", "longest", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["outcomes"] == {"new": 3, "near": 5}
    marks = {
        item["url"]: item["dedup"] for item in map(json.loads, output.read_bytes().splitlines())
    }
    assert [*marks] == [item["url"] for item in ITEMS]
    best = marks.pop(BEST["longest"])
    assert (best["outcome"], best["original"], best["distance"]) == ("new", None, None)
    bits = int(best["fingerprint"], 16)
    for mark in marks.values():
        assert {*mark} == {*best}
        if mark["outcome"] == "near":
            assert mark["distance"] == (bits ^ int(mark["fingerprint"], 16)).bit_count()


copies = st.lists(
    st.tuples(
        st.integers(0, 2),  # the page
        st.integers(0, 2),  # its edition
        st.integers(0, 3),  # its end
        st.text("ab", max_size=3),  # the path of its URL
        st.none() | st.integers(0, 8),  # the item that it names
    ),
    max_size=9,
)


@settings(max_examples=6)
@given(copies)
def test_it_is_the_first_of_the_copies_with_the_highest_score(tmp_path_factory, drawn):
    """By the groups that a scan has found which keeps the first."""
    folder = tmp_path_factory.mktemp("scan")
    urls = [f"http://{place}.example/{each[3]}" for place, each in enumerate(drawn)]
    items = []
    for place, (number, edition, ends, _, named) in enumerate(drawn):
        named_url = urls[named] if named is not None and named < len(urls) else None
        end = " ".join(PARAGRAPHS[200 : 200 + ends])
        items.append(page(urls[place], number, edition, end, named_url))
    bits_alone = {"min_similarity": None}  # else a copy must have what the others say
    kept, duplicates = scanned(folder, items, options=bits_alone)
    groups = {item["url"]: [item["url"]] for item in kept}
    for item in duplicates:
        groups[item["dedup"]["original"]].append(item["url"])
    item_of, place_of = {item["url"]: item for item in items}, {u: n for n, u in enumerate(urls)}

    def named_by(url, group):
        return sum(f'canonical" href="{url}"' in item_of[o]["html"] for o in group if o != url)

    scores = {
        "longest": lambda url, _: len(item_of[url]["html"].partition("<body>")[2].split()),
        "canonical": named_by,
    }
    for keep, score in scores.items():
        best = {
            max(group, key=lambda url, group=group: (score(url, group), -place_of[url]))
            for group in groups.values()
        }
        kept, duplicates = scanned(folder, items, keep, options=bits_alone)
        assert [item["url"] for item in kept] == [url for url in urls if url in best]
        assert len(kept) + len(duplicates) == len(items)
        for item in duplicates:
            assert item["dedup"]["original"] in best


def test_a_copy_that_lacks_what_another_says_is_not_kept_for_it(tmp_path):
    """The longest copy repeats some paragraphs and lacks others."""
    whole, part = " ".join(PARAGRAPHS[:12]), " ".join(PARAGRAPHS[:9] + PARAGRAPHS[:5])
    items = [
        {"url": "http://a.example/whole", "text": whole},
        {"url": "http://b.example/", "text": part},
        {"url": "http://c.example/2", "text": f"{whole} Read on."},
    ]
    kept, duplicates = scanned(tmp_path, items)
    assert [len(kept), len(duplicates)] == [1, 2]
    kept, duplicates = scanned(tmp_path, items, "longest")
    assert [item["url"] for item in kept] == ["http://c.example/2"]
    # With bits alone nothing is compared.
    kept, _ = scanned(tmp_path, items, "longest", options={"min_similarity": None})
    assert [item["url"] for item in kept] == ["http://b.example/"]


@pytest.mark.parametrize(("host", "best"), [("b.example", 1), ("a.example", 0)])
def test_on_one_host_half_as_much_may_be_missing_in_the_best_copy(tmp_path, host, best):
    whole, part = " ".join(PARAGRAPHS[:12]), " ".join(PARAGRAPHS[:10] + PARAGRAPHS[:3])
    items = [
        {"url": "http://a.example/whole", "text": whole},
        {"url": f"http://{host}/", "text": part},
    ]
    kept, duplicates = scanned(tmp_path, items, "longest")
    assert [item["url"] for item in kept] == [items[best]["url"]]
    assert len(duplicates) == 1


def test_equal_pages_with_little_text_have_a_best_copy_too(tmp_path):
    html = "<title>Gallery</title><link rel=canonical href=http://a.example/b><p>Photo: J. Doe"
    items = [{"url": f"http://a.example/{path}", "html": html} for path in ("first", "b", "c")]
    kept, duplicates = scanned(tmp_path, items, "canonical")
    assert [item["url"] for item in kept] == ["http://a.example/b"]
    assert {item["dedup"]["outcome"] for item in duplicates} == {"exact"}
    assert {item["dedup"]["original"] for item in duplicates} == {"http://a.example/b"}


def test_a_page_without_a_url_is_named_by_its_line(tmp_path):
    items = [page("http://a.example/", 0, 1), {**page(""), "url": None}]
    _, duplicates = scanned(tmp_path, items, "longest")
    assert duplicates[0]["dedup"]["original"].endswith(("example/", "feed.jsonl:2"))


def test_pages_of_an_earlier_scan_stay_what_they_are(tmp_path):
    index = tmp_path / "index"
    scanned(tmp_path, ITEMS[:2], index=index)
    kept, duplicates = scanned(tmp_path, ITEMS[2:], "longest", index=index)
    assert [item["url"] for item in kept] == ["http://y.example/"]
    assert {item["dedup"]["original"] for item in duplicates} == {"http://a.example/first"}
    with NearDuplicateFilter.open(index) as pages:
        assert len(pages) == 3
        pages.check()


def test_records_that_the_index_has_no_room_for_change_nothing(tmp_path):
    kept, duplicates = scanned(tmp_path, ITEMS, "longest", options={"max_pages": 1})
    again, duplicates_again = scanned(tmp_path, ITEMS, options={"max_pages": 1})
    assert (kept, duplicates) == (again, duplicates_again)


def test_headers_of_warc_records(tmp_path):
    def record(url, edition, **headers):
        return gzip.decompress(response(url, page(url, 0, edition)["html"].encode(), **headers))

    records = [
        record("http://a.example/1", 0),
        record("http://b.example/2", 1),
        record("http://c.example/3", 2, Link="</4>; rel=canonical"),
        record("http://c.example/4", 3),
    ]
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(map(gzip.compress, records)))
    output = tmp_path / "unique.warc.gz"
    args = ("scan", str(tmp_path / "crawl.warc.gz"), "-o", str(output), "--keep", "canonical")
    code, _, err = run(*args)
    assert (code, err) == (0, "")
    assert gzip.decompress(output.read_bytes()) == records[3]
