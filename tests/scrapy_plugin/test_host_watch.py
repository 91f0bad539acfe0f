"""Warnings about hosts: each when an oracle that counts anew at every page says so, and once."""

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter import Verdict
from dedup_filter.model import Refusal
from dedup_filter.scrapy_plugin.host_watch import MOST_HOSTS, MOST_NAMED, HostWatch

NEW = Verdict("new", language="en", shingles=300, shingles_without_stopword=20)
PAGES = {
    "new": NEW,
    "short": NEW._replace(shingles=59, shingles_without_stopword=59, language=None),
    "frame": NEW._replace(frame_share=0.9),
    "half frame": NEW._replace(frame_share=0.89),
    "no words": NEW._replace(language=None, shingles_without_stopword=241),
    "few words": NEW._replace(language=None, shingles_without_stopword=240),
    "same text": NEW._replace(refused=Refusal("headline", 0, 0, "Ice", 5, 0, "http://a/5")),
    "near text": NEW._replace(refused=Refusal("headline", 0, 0, "Ice", 5, 1, "http://a/5")),
    "new line": NEW._replace(refused=Refusal("lines", 9, 0, "Ice", 5, 0, "http://a/5")),
    "list": NEW._replace(shingles_without_stopword=300),
    "scripts": Verdict("unjudged", reason="by_script"),
    "no text": Verdict("unjudged", reason="no_text"),
    "json": Verdict("unjudged", reason="not_html"),
    "image": Verdict("unjudged", reason="binary"),
    "too short": Verdict("unjudged", reason="too_short"),
    "revisit": Verdict("revisit", "http://a/1", original_page=1, frame_share=1.0),
}


def repeat(original):
    return Verdict("near", f"http://a/{original}", 1, 0.9, original_page=original)


def copies(first, count):
    """Pages of which each repeats another one."""
    return [repeat(first + number) for number in range(count)]


def oracle(verdicts):
    """Return the kinds that a host's pages so far, all counted anew, give reason for."""
    pages, found = len(verdicts), set()
    repeated = [each.original for each in verdicts if each.outcome == "near"]
    last = verdicts[-1].original if verdicts[-1].outcome == "near" else None
    if last is not None and repeated.count(last) >= max(20, pages // 20 + 1):
        found.add("one_original")
    recent = [each.original for each in verdicts[-50:] if each.outcome == "near"]
    if last is not None and pages >= 100 and len(recent) >= 45:
        of_before = (len(repeated) - len(recent)) / (pages - 50)
        most, times = Counter(recent).most_common(1)[0]
        if of_before <= 0.1 and (2 * times < len(recent) or most == last):
            found.add("duplicates_jumped")

    def if_most(kind, some, among):
        if some and verdicts[-1] is some[-1] and len(among) >= 50 and 2 * len(some) > len(among):
            found.add(kind)

    reasons = {"made_by_scripts": ("by_script", "no_text"), "no_pages": ("not_html", "binary")}
    for kind, names in reasons.items():
        if_most(kind, [each for each in verdicts if each.reason in names], verdicts)
    new = [each for each in verdicts if each.outcome == "new"]
    if_most("all_frame", [each for each in new if each.frame_share >= 0.9], new)
    apart = [each for each in new if each.refused is not None and each.refused.distance == 0]
    if_most("same_text", [each for each in apart if each.refused.rule == "headline"], new)
    long = [each for each in new if each.shingles >= 60]
    unknown = (each for each in long if each.language is None)
    if_most(
        "no_function_words",
        [each for each in unknown if each.shingles_without_stopword > 0.8 * each.shingles],
        long,
    )
    return found


def warned(verdicts, watch=None, url="http://a/"):
    """Return what is told of pages, with the number of the page at which it is."""
    watch = HostWatch() if watch is None else watch
    seen = [(watch.see(url, verdict), number) for number, verdict in enumerate(verdicts)]
    return [(warning, number) for warnings, number in seen for warning in warnings]


def kinds_of(verdicts):
    return [warning.kind for warning, _ in warned(verdicts)]


SECTIONS = st.one_of(
    st.tuples(st.sampled_from([*PAGES]), st.integers(1, 120)).map(
        lambda section: [PAGES[section[0]]] * section[1]
    ),
    st.tuples(st.integers(1, 4), st.integers(1, 60)).map(lambda s: [repeat(s[0])] * s[1]),
    st.tuples(st.integers(10, 30), st.integers(1, 10), st.integers(1, 6)).map(
        lambda section: copies(section[0], section[1]) * section[2]
    ),
)


@given(st.lists(SECTIONS, min_size=1, max_size=6))
def test_each_warning_comes_at_the_first_page_for_which_the_oracle_has_reason(sections):
    # A copy of each, so that no two pages of the oracle are one object.
    verdicts = [each._replace() for section in sections for each in section]
    wanted, told = [], set()
    for number in range(len(verdicts)):
        found = oracle(verdicts[: number + 1])
        # Another repeat of a page that can be named is no other news.
        due = (found & {"one_original"} or found) - told
        told |= due
        wanted += [(kind, number) for kind in due]
    assert {(warning.kind, number) for warning, number in warned(verdicts)} == {*wanted}
    assert len(warned(verdicts)) == len(wanted)


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        # An ordinary site: some copies, some repeats of a page for visitors who are not logged in.
        (([NEW] * 16 + copies(1, 6) + [repeat(99)]) * 40, []),
        # A site that has a mirror, page by page; print views of articles; a small site.
        (copies(1, 300), []),
        ([*[NEW] * 200, *copies(1, 44), *[NEW] * 100], []),
        ([NEW] * 30 + [repeat(1)] * 19, []),
        # Images and JSON between pages; pages of one sentence; tables in English.
        ([NEW, PAGES["image"], NEW, PAGES["json"]] * 100, []),
        ([PAGES["too short"]] * 500, []),
        ([PAGES["list"], NEW, PAGES["short"]] * 200, []),
        # Pages of one template.
        ([PAGES["near text"], PAGES["new line"]] * 100, []),
        # Crawled before.
        ([PAGES["revisit"]] * 500, []),
        # A login from page 600 on, which all of the others then are.
        ([NEW] * 600 + [repeat(1)] * 60, ["one_original"]),
        ([NEW] * 1100 + [repeat(1)] * 50, ["duplicates_jumped"]),
        ([NEW] * 600 + copies(1, 60), ["duplicates_jumped"]),
        # One shell for all pages, from the first.
        ([NEW, *[repeat(1)] * 20], ["one_original"]),
        ([PAGES["scripts"], PAGES["no text"], NEW] * 20, ["made_by_scripts"]),
        ([PAGES["json"]] * 50, ["no_pages"]),
        ([PAGES["no words"], PAGES["no words"], NEW] * 20, ["no_function_words"]),
        ([PAGES["frame"], PAGES["frame"], NEW] * 20, ["all_frame"]),
        # The same consent under the title of each page.
        ([NEW] * 24 + [PAGES["same text"]] * 26, ["same_text"]),
    ],
)
def test_what_is_warned_of_and_what_is_not(verdicts, told):
    assert kinds_of(verdicts) == told


def test_a_warning_says_what_was_counted_and_names_the_page_that_is_repeated():
    [(warning, number)] = warned([NEW, *[repeat(1)] * 40], url="https://Example.com:8080/p")
    assert number == 20
    assert warning.text.startswith("example.com:8080: 20 of 21 pages repeat http://a/1: look at")
    [(warning, _)] = warned([NEW] * 1100 + [repeat(1), repeat(2)] * 25)
    assert warning.text.startswith(
        "a: 45 of the last 50 pages repeat earlier ones, most of them http://a/1 "
        "(of the 1,095 pages before: 0 %): look at"
    )
    [(warning, _)] = warned([PAGES["same text"]] * 50)
    assert warning.text.startswith(
        "a: 50 of 50 new pages have the text of another page under headlines of their own, this "
        "time of http://a/5: look at"
    )
    [(warning, _)] = warned([NEW] * 90 + [repeat(5)] + copies(5, 50))
    assert warning.text.startswith(
        "a: 45 of the last 50 pages repeat 44 other ones (of the 85 pages before: 0 %): if"
    )


def test_a_host_can_give_reason_for_several_warnings():
    page = PAGES["no words"]._replace(frame_share=1.0)
    assert kinds_of([page] * 60) == ["all_frame", "no_function_words"]
    assert kinds_of([PAGES["no words"]] * 60 + [page] * 70) == ["no_function_words", "all_frame"]


def test_an_original_that_many_repeat_is_found_among_any_number_of_others():
    """One in ten pages repeats it; all others repeat different ones."""
    pages = [repeat(1) if number % 10 == 0 else repeat(number + 10) for number in range(3000)]
    assert kinds_of(pages) == ["one_original"]
    # No count is above the truth: of 3 % there is never a warning.
    pages = [repeat(1) if number % 33 == 0 else repeat(number + 10) for number in range(9000)]
    assert kinds_of(pages) == []


def test_the_log_names_some_hosts_and_each_once_even_if_it_was_forgotten():
    watch = HostWatch(most_hosts=2)

    def told(number):
        found = warned([PAGES["scripts"]] * 60, watch, f"http://host{number}/")
        return [(warning.kind, warning.text) for warning, _ in found]

    for number in range(MOST_NAMED):
        [(kind, text)] = told(number)
        assert (kind, text.partition(":")[0]) == ("made_by_scripts", f"host{number}")
        is_last = number == MOST_NAMED - 1
        assert text.endswith("(more such hosts are only counted)") == is_last
    assert told(MOST_NAMED) == [("made_by_scripts", None)]
    assert told(0) == []  # its counts were forgotten, but it was named
    assert len(watch) == 2


def test_counts_of_millions_of_hosts_take_little_memory():
    watch, page = HostWatch(), repeat(1)
    tracemalloc.start()
    for host in range(5 * MOST_HOSTS):
        watch.see(f"http://host{host}.example/", page)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(watch) == MOST_HOSTS
    assert taken < 5_000 * MOST_HOSTS


def test_one_host_takes_a_bounded_number_of_bytes():
    watch = HostWatch()
    tracemalloc.start()
    for number in range(5_000):
        watch.see("http://a/", repeat(10**9 + number))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 50_000


def test_neither_host_nor_url_can_harm_a_terminal():
    page = Verdict("exact", "http://a/\x1b[31m" + "x" * 9000, original_page=3)
    [(warning, _)] = warned([page] * 20, url="http://\x1b\u202e.example/")
    assert warning.text.isprintable()
    assert len(warning.text) < 1500


def test_pages_without_a_host_are_passed_over():
    watch = HostWatch()
    assert not any(watch.see(url, repeat(1)) for url in ["", "http://[1/", "a"] * 50)
    assert len(watch) == 0
