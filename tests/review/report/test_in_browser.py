"""The report in a real browser, as a person uses it: from a file, by mouse and by keys."""

import re
from functools import partial
from itertools import product

import pytest
from made_text import prose
from patience import wait_until
from playwright.sync_api import expect
from report_index import HOSTILE, made_index, made_report

from dedup_filter import NearDuplicateFilter
from dedup_filter.review.report import Amounts, write_report
from dedup_filter.store.sqlite_store import SqliteStore

ROWS = "#duplicate-list .rows .row"
URL = f"{ROWS} .url"


@pytest.fixture
def page(opened, report):
    page = opened(report, viewport={"width": 1280, "height": 900})
    yield page
    assert page.faults == []
    assert page.requests == [report.as_uri()]
    assert page.evaluate("window.hacked") is None


@pytest.fixture(scope="module")
def records(index):
    with SqliteStore.open_to_read(index) as recorded:
        return {record.page: record for record in recorded.records()}


@pytest.fixture(scope="module")
def duplicates(records):
    return [record for record in records.values() if not record.is_kept]


def shown(page):
    """What the list says that it shows."""
    return page.locator("#shown-count").inner_text()


def rows(page, name):
    """Return the cells of a column that are drawn, from the top."""
    return page.locator(f"{ROWS} .{name}").all_inner_texts()


def number_in(text):
    return int(re.sub(r"\D", "", text))


@pytest.mark.slow
def test_overview_tells_the_figures(page, records, duplicates):
    told = page.locator("#overview .figures").inner_text().splitlines()
    figures = dict(zip(told[::2], told[1::2], strict=False))
    assert int(figures["Pages"]) == len(records)
    assert int(figures["Kept"]) == len(records) - len(duplicates)
    outcomes = [record.outcome for record in records.values()]
    assert int(figures["Near duplicates"]) == outcomes.count("near")
    assert int(figures["Exact duplicates"]) == outcomes.count("exact")
    assert int(figures["Unjudged"]) == outcomes.count("unjudged") == 1


@pytest.mark.slow
def test_filters_narrow_the_list(page, duplicates):
    page.keyboard.press("2")
    everything = f"{len(duplicates)} shown"
    assert shown(page) == everything

    page.select_option("#outcome", "1")
    exact = sum(record.outcome == "exact" for record in duplicates)
    expect(page.locator("#shown-count")).to_have_text(f"{exact} of {len(duplicates)} shown")
    assert set(rows(page, "outcome")) == {"exact"}

    page.click("#filters button[type=reset]")
    page.fill("#least-distance", "5")
    page.fill("#most-distance", "7")
    wanted = sum(5 <= record.distance <= 7 for record in duplicates)
    expect(page.locator("#shown-count")).to_have_text(f"{wanted} of {len(duplicates)} shown")
    assert {number_in(each) for each in rows(page, "distance")} <= {5, 6, 7}

    page.click("#filters button[type=reset]")
    page.fill("#search", "SITE4.example/7 site0")
    expect(page.locator(ROWS)).to_have_count(1)
    assert rows(page, "url") == ["site4.example/7"]

    page.fill("#search", "no page has this")
    page.wait_for_selector("#duplicate-list .empty:not([hidden])")


@pytest.mark.slow
def test_columns_sort_both_ways(page, duplicates):
    keys = {
        "host": lambda record: record.host,
        "distance": lambda record: record.distance,
        "similarity": lambda record: round(1000 * record.similarity),
    }
    page.keyboard.press("2")
    for column, (arrow, reverse) in product(keys, [("ascending", False), ("descending", True)]):
        page.click(f"#duplicate-list .heading .{column} button")
        page.wait_for_selector(f"#duplicate-list .heading .{column}[aria-sort={arrow}]")
        wanted = sorted(duplicates, key=keys[column], reverse=reverse)[0]
        told = page.locator(f"{ROWS}[aria-rowindex='1'] .{column}").inner_text()
        if column == "host":
            assert told == wanted.host
        elif column == "distance":
            assert number_in(told) == wanted.distance
        else:
            assert float(told.rstrip(" %")) == pytest.approx(100 * wanted.similarity, abs=0.11)


def test_a_pair_is_shown_side_by_side_with_what_differs(page):
    page.keyboard.press("/")
    page.keyboard.type("site2.example/3")
    expect(page.locator(ROWS)).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.wait_for_selector("#pair .texts .text")
    dropped, original = page.locator("#pair .texts .text").all()
    assert dropped.locator("mark").all_inner_texts() == ["edited3x0", "edited3x1"]
    assert len(original.locator("mark").all_inner_texts()) == 2
    assert "edited3x0" not in original.inner_text()
    links = page.locator("#pair .url a")
    assert links.all_inner_texts() == ["https://site2.example/3", "https://site0.example/3"]
    assert all("noreferrer" in link.get_attribute("rel") for link in links.all())
    bits = [row.inner_text().replace("\n", "") for row in page.locator("#pair .bits").all()]
    one, other = (re.sub(r"\s", "", row) for row in bits)
    assert len(one) == len(other) == 64
    differing = sum(a != b for a, b in zip(one, other, strict=True))
    assert page.locator("#pair .bits .differs").count() == 2 * differing
    assert f"{differing} bit" in page.locator("#pair .facts").inner_text()


@pytest.mark.slow
def test_clusters_open_with_the_kept_page_on_top(page, duplicates):
    page.keyboard.press("3")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cluster-list .member")
    first = page.locator("#cluster-list .rows .row").first
    size = int(first.locator(".size").inner_text())
    counts = {}
    for record in duplicates:
        counts[record.original] = counts.get(record.original, 0) + 1
    assert size == 1 + max(counts.values())
    assert page.locator("#cluster-list .member").count() == size - 1
    page.keyboard.press("j")
    page.wait_for_selector("#pair .texts .text")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("#cluster-list .member")).to_have_count(0)


@pytest.mark.slow
def test_a_reload_begins_with_all_pairs_and_no_filter(page, report):
    page.keyboard.press("2")
    expect(page.locator(ROWS).first).to_be_visible()
    page.select_option("#outcome", "1")
    page.fill("#search", "no page has this")
    page.wait_for_selector("#duplicate-list .empty:not([hidden])")
    page.reload()
    page.requests.pop()
    # A browser may put back what was in the fields after the scripts have run.
    page.wait_for_timeout(500)
    page.keyboard.press("2")
    expect(page.locator(ROWS).first).to_be_visible()
    assert [page.input_value(f"#{name}") for name in ("search", "outcome")] == ["", ""]


@pytest.mark.slow
def test_keys_are_explained_and_do_nothing_while_one_types(page):
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    assert page.locator("#overview").is_visible()
    assert not page.locator("#help").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("jk4?")
    assert page.locator("#search").input_value() == "jk4?"
    assert page.locator("#duplicates").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    assert page.locator("#overview").is_visible()
    page.focus("#tab-overview")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#clusters").is_visible()


def is_told(url, spelt):
    return url.inner_text().replace("\n", "") == spelt


def test_hostile_pages_are_shown_and_do_nothing(page):
    page.keyboard.press("2")
    for number, (name, url) in enumerate(HOSTILE.items()):
        page.fill("#search", "")
        expect(page.locator(ROWS)).not_to_have_count(1)
        page.fill("#search", f"good{number}.example")
        expect(page.locator(ROWS)).to_have_count(1)
        page.click(URL)
        spelt = "".join(
            f"U+{ord(c):04X}"
            if re.match("[\\x00-\\x1f\\x7f\u200b\u2028-\u202e\u2066\ud800]", c)
            else c
            for c in url
        )
        told = page.locator("#pair .url").first
        wait_until(partial(is_told, told, spelt), f"the page is shown: {name}")
        assert told.locator("a").count() == (name != "script")
        title = page.locator("#pair .title").first.inner_text()
        assert title.startswith("</title><script>window.hacked=4")
        assert "U+202E" in title
        text = page.locator("#pair .texts .text").first.inner_text()
        assert "<img src=x onerror=window.hacked=5>" in text
        # No row is wider or higher for it, nor is the page.
        assert page.locator(ROWS).first.bounding_box()["height"] == 36
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_each_view_fits_a_desk_and_a_phone_in_light_and_dark(opened, report, width):
    page = opened(report, viewport={"width": width, "height": 800})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", paper)[:3])) / 3
        assert (brightness < 60) == (scheme == "dark")
        for view in "123":
            page.keyboard.press(view)
            page.keyboard.press("j")
            fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert fits, (view, scheme)
    assert page.faults == []


@pytest.mark.slow
def test_without_kept_texts_it_says_how_to_keep_them(opened, tmp_path):
    index = made_index(tmp_path / "index", keep_text=False)
    written = write_report(index, tmp_path / "r.html", {}, Amounts())
    page = opened(tmp_path / "r.html")
    page.keyboard.press("2")
    page.keyboard.press("j")
    assert "DEDUP_KEEP_TEXT = True" in page.locator("#pair .texts").inner_text()
    assert "DEDUP_KEEP_TEXT=True" in page.locator("#left-out").inner_text()
    assert (written.texts, page.faults) == (0, [])


@pytest.mark.slow
def test_what_is_left_out_is_said(opened, index, tmp_path):
    written = write_report(index, tmp_path / "r.html", {}, Amounts(8, 3))
    page = opened(tmp_path / "r.html")
    said = page.locator("#left-out").inner_text()
    assert f"Of {written.duplicates} duplicates the latest 8 are listed" in said
    assert "Texts are shown of 3 of 8 pairs" in said
    page.keyboard.press("2")
    page.keyboard.press("End")
    assert "--texts" in page.locator("#pair .texts").inner_text()
    assert (written.listed, written.texts, page.faults) == (8, 3, [])


@pytest.mark.slow
def test_crawls_are_told_apart_and_their_names_are_texts(opened, tmp_path):
    index, names = tmp_path / "index", ["first", "</td><script>window.hacked=6</script>\u202e"]
    for number, name in enumerate(names):
        with NearDuplicateFilter.open(index, crawl=name) as pages:
            for host in ("a", "b", f"c{number}"):
                pages.see(f"https://{host}.example/", text=prose(1, edits=host != "a"))
    write_report(index, tmp_path / "r.html", {}, Amounts())
    page = opened(tmp_path / "r.html")
    told = page.locator(".crawls tbody tr").all_inner_texts()
    assert [row.split()[0] for row in told] == [
        "first",
        "</td><script>window.hacked=6</script>\\u202e",
    ]
    page.keyboard.press("2")
    assert shown(page) == "3 shown"
    page.select_option("#crawl", "2")
    expect(page.locator("#shown-count")).to_have_text("2 of 3 shown")
    assert "c1.example" in rows(page, "host")
    assert "c0.example" not in rows(page, "host")
    assert (page.evaluate("window.hacked"), page.faults) == (None, [])


def test_an_index_with_no_pages(opened, tmp_path):
    NearDuplicateFilter.open(tmp_path / "index").close()
    write_report(tmp_path / "index", tmp_path / "r.html", {"min_similarity": None}, Amounts())
    page = opened(tmp_path / "r.html")
    assert "no least similarity" in page.locator("header").inner_text()
    for key in "123jk?":
        page.keyboard.press(key)
    assert page.faults == []


@pytest.mark.slow
def test_a_hundred_thousand_duplicates_scroll_sort_and_filter(opened, tmp_path):
    path = tmp_path / "r.html"
    path.write_bytes(made_report(100_000))
    page = opened(path)
    page.keyboard.press("2")
    assert shown(page) == "100,000 shown"
    page.keyboard.press("End")
    last = "#duplicate-list .rows .row[aria-rowindex='100000']"
    page.wait_for_selector(f"{last}[aria-selected=true]")
    assert "0110000.html" in page.locator(last).inner_text()
    assert page.locator(ROWS).count() < 60
    page.locator("#duplicate-list .view").evaluate("view => { view.scrollTop = 36 * 50_000; }")
    page.wait_for_selector("#duplicate-list .rows .row[aria-rowindex='50005']")
    page.click("#duplicate-list .heading .similarity button")
    page.click("#duplicate-list .heading .similarity button")
    page.wait_for_selector("#duplicate-list .heading .similarity[aria-sort=descending]")
    page.keyboard.press("/")
    page.keyboard.type("headline 109999")
    expect(page.locator(ROWS)).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    assert page.locator("#cluster-list .rows .row").count() < 60
    assert page.faults == []
