"""Each host and each template gets each warning once, when most of its last pages are alike."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter import Verdict
from dedup_filter.review.watch import MOST_GROUPS, MOST_NAMED, UNJUDGED, Watch
from dedup_filter.text.page_url import patterns


def repeat(original, url="http://b/original", outcome="near", **given):
    return Verdict(outcome, url, 1, original_page=original, **given)


PAGES = {
    "new": Verdict("new"),
    "revisit": Verdict("revisit", "http://a/1", original_page=1),
    "script": Verdict("unjudged", reason="by_script"),
    "short": Verdict("unjudged", reason="too_short"),
    "fault": Verdict("unjudged", reason="error"),
    "one": repeat(1),
    "two": repeat(2, outcome="exact"),
}
runs = st.lists(st.tuples(st.sampled_from(sorted(PAGES)), st.integers(1, 60)), max_size=6)


def due_after(names):
    """The warnings that the last 50 pages of a host with one template call for."""
    last = names[-50:]
    if len(last) < 20:
        return
    page = last[-1]
    if page in ("script", "short") and 5 * last.count(page) > len(last):
        yield page
    if page in ("one", "two") and 5 * (last.count("one") + last.count("two")) > 4 * len(last):
        yield "mostly_dropped"  # two originals of twenty pages and more are few


@given(runs)
def test_each_warning_comes_once_when_it_is_due(runs):
    watch, seen, found, expected = Watch(), [], [], []
    for name in [name for name, times in runs for _ in range(times)]:
        seen.append(name)
        found += [each.kind for each in watch.see("http://a/x", PAGES[name])]
        expected += [each for each in due_after(seen) if each not in expected]
    kinds = {"script": "unjudged", "short": "unjudged"}
    assert found == [kinds.get(each, each) for each in expected]


def warnings_of(pages, **options):
    watch = Watch(**options)
    return [each for url, verdict in pages for each in watch.see(url, verdict)]


def test_of_a_template_that_loses_its_pages_two_are_named_and_the_command_that_shows_them():
    lost = "http://shop.example/p/{}?a=1&b='\x1b"
    pages = [("http://shop.example/about", PAGES["new"])] * 9
    pages += [(lost.format(1), PAGES["new"]), (lost.format(2), PAGES["new"])]
    pages += [(lost.format(n), repeat(10 + n % 2, lost.format(1 + n % 2))) for n in range(3, 40)]
    [warned] = warnings_of(pages, index="my pages")
    assert warned.kind == "mostly_dropped"
    said, again, command = warned.text.split("; ")
    shown = [f"http://shop.example/p/{n}?a=1&b='\\x1b" for n in (1, 20)]
    name = "shop.example/p/*?a=*&b=*"
    assert said == f"18 of the last 20 pages of {name} repeat another: {' and '.join(shown)}"
    assert "--duplicates" in again
    assert shlex.split(command) == [
        "see:",
        "dedup-filter",
        "compare",
        "--index",
        "my pages",
        *shown,
    ]


FORTY = range(40)
OTHERS = {
    "a mirror": [(f"http://m/{n}.htm", repeat(n + 1, f"http://a/p/{n}")) for n in FORTY],
    "a mirror with the same paths": [
        (f"http://m/p/{n}", repeat(n // 9 + 1, f"http://a/p/{n}")) for n in FORTY
    ],
    "session ids": [
        (f"http://a/p/{n % 4}?sid={n}", repeat(n % 4 + 1, f"http://a/p/{n % 4}?sid=0"))
        for n in FORTY
    ],
    "ids of other names": [
        (
            f"http://a/s{n:03}a17bc/p/{n % 4}?x=7{n}abcdef",
            repeat(n % 4 + 1, f"http://a/s777a17bc/p/{n % 4}?x=77abcdef", "exact"),
        )
        for n in FORTY
    ],
    "print views": [
        (f"http://a/print/{n % 4}", repeat(n % 4 + 1, f"http://a/{n % 4}")) for n in FORTY
    ],
    "a canonical URL": [
        (
            f"http://a/p/{n % 4}?from={n}",
            repeat(n % 4 + 1, f"http://a/p/{n % 4}?from=x", canonical=f"http://a/p/{n % 4}"),
        )
        for n in FORTY
    ],
    "revisits": [
        (f"http://a/p/{n}", Verdict("revisit", f"http://a/p/{n}", original_page=1)) for n in FORTY
    ],
    "pages fetched again": [
        (f"http://a/p/{n % 4}", repeat(n % 4 + 1, f"http://a/p/{n % 4}")) for n in FORTY
    ],
    "a fifth kept": [
        (f"http://a/p/{n}", PAGES["new"] if n % 5 == 0 else repeat(1, "http://a/p/0"))
        for n in FORTY
    ],
    "few pages": [(f"http://a/p/{n}", repeat(1, "http://a/q")) for n in range(19)],
}


@pytest.mark.parametrize("pages", OTHERS.values(), ids=OTHERS)
def test_copies_that_are_meant_to_be_dropped_give_no_warning(pages):
    assert warnings_of(pages) == []


def test_arguments_tell_pages_from_one_another_unless_they_look_like_ids():
    pages = [(f"http://a/p?id={n}", repeat(n % 3 + 1, f"http://a/p?id=5{n % 3}")) for n in FORTY]
    [warned] = warnings_of(pages)
    assert warned.text.startswith("20 of the last 20 pages of a/p?id=* repeat another")


@pytest.mark.parametrize("reason", UNJUDGED)
def test_pages_that_are_unjudged_for_one_reason_are_named_with_a_remedy(reason):
    pages = [(f"http://a/{n}", Verdict("unjudged", reason=reason)) for n in range(5)]
    pages = [("http://a/", PAGES["new"])] * 15 + pages + pages
    [warned] = warnings_of(pages)
    assert warned.kind == "unjudged"
    assert warned.text == f"5 of the last 20 pages of a {UNJUDGED[reason]}"
    assert f"({reason}): " in warned.text


def test_pages_of_many_templates_that_repeat_one_page_are_named_by_their_host():
    names = [chr(ord("a") + n % 26) * (1 + n // 26) for n in FORTY]
    pages = [(f"http://a\u202e/{name}/b/c", repeat(1, "http://b/\x1b")) for name in names]
    [warned] = warnings_of(pages)
    assert warned.kind == "one_original"
    said = "20 of the last 20 pages of a\\u202e repeat another: http://b/\\x1b and http://a\\u202e/"
    assert warned.text.startswith(said)
    assert (
        "All repeat the first, so look at some in a browser. If they show a consent" in warned.text
    )


def test_a_template_that_repeats_one_page_may_be_a_consent_form():
    [warned] = warnings_of([(f"http://a/p/{n}", repeat(1)) for n in FORTY])
    assert warned.kind == "mostly_dropped"
    assert "a/p/* repeat another: http://b/original and http://a/p/19. All repeat" in warned.text
    assert warned.text.endswith("; see: dedup-filter compare http://b/original http://a/p/19")


def test_the_log_names_some_hosts_and_further_ones_are_counted():
    hosts = range(MOST_NAMED + 5)
    found = warnings_of((f"http://h{host}/", PAGES["one"]) for host in hosts for _ in range(50))
    assert [each.text is None for each in found] == [False] * MOST_NAMED + [True] * 5
    assert found[MOST_NAMED - 1].text.endswith("(more of this kind are only counted)")


def test_pages_without_a_host_are_not_counted_and_groups_are_bounded():
    watch = Watch()
    assert not any(watch.see(url, PAGES["one"]) for url in ["", "mailto:a"] * 60)
    for number in range(MOST_GROUPS // 2):
        watch.see(f"http://{number}/p/x/y", PAGES["new"])
    assert len(watch) == MOST_GROUPS


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://a:8080/P/Oak%20chair.html", ("a:8080/P/*", "a:8080/*/*")),
        ("http://a/2026/11/28/title", ("a/*/*/*/*",)),
        ("http://a/title/", ("a/*",)),
        ("http://a/", ()),
        ("http://a/?id=3&utm_source=x", ("a/?id=*",)),
        ("http://a/view?b=1&a=2", ("a/view?a=*&b=*", "a/*?a=*&b=*")),
        ("http://[1/", ()),
    ],
)
def test_the_patterns_of_a_url(url, found):
    assert patterns(url) == found
