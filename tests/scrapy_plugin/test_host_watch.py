"""Each host gets each warning once, when nearly all of its last pages are alike."""

from hypothesis import given
from hypothesis import strategies as st

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.advice import MOST_HOSTS, MOST_NAMED, HostWatch

PAGES = {
    "new": Verdict("new"),
    "revisit": Verdict("revisit", "http://a/1", original_page=1),
    "script": Verdict("unjudged", reason="by_script"),
    "no text": Verdict("unjudged", reason="no_text"),
    "json": Verdict("unjudged", reason="not_html"),
    "one": Verdict("near", "http://a/1", original_page=1),
    "two": Verdict("exact", "http://a/2", original_page=2),
}
ALIKE = {"script": "scripts", "no text": "scripts", "one": 1, "two": 2}
runs = st.lists(st.tuples(st.sampled_from(sorted(PAGES)), st.integers(1, 60)), max_size=6)


@given(runs)
def test_a_warning_comes_once_when_45_of_the_last_50_pages_are_alike(runs):
    watch, warned, seen = HostWatch(), [], []
    expected = []
    for name in [name for name, times in runs for _ in range(times)]:
        seen.append(ALIKE.get(name))
        found = watch.see("http://a/x", PAGES[name])
        warned += [found.kind] if found else []
        kind = "made_by_scripts" if seen[-1] == "scripts" else "one_original"
        is_due = seen[-1] is not None and seen[-50:].count(seen[-1]) >= 45
        expected += [kind] if is_due and kind not in expected else []
    assert warned == expected


def warnings_of(*hosts, name="one", times=50):
    watch = HostWatch()
    found = [watch.see(f"http://{host}/", PAGES[name]) for host in hosts for _ in range(times)]
    return [each for each in found if each]


def test_the_message_names_host_and_page_escaped_for_a_log():
    verdict = PAGES["one"]._replace(original="http://a/\u202e")
    watch = HostWatch()
    *_, warned = filter(None, (watch.see("http://a/x", verdict) for _ in range(50)))
    assert warned.text.startswith("a: 45 of the last 50 pages repeat http://a/\\u202e: look at")
    [warned] = warnings_of("b", name="script")
    assert warned.text.startswith("b: 45 of the last 50 pages have no text without their scripts")


def test_the_log_names_some_hosts_and_further_ones_are_counted():
    found = warnings_of(*map("h{}".format, range(MOST_NAMED + 5)))
    assert [each.text is None for each in found] == [False] * MOST_NAMED + [True] * 5
    assert found[MOST_NAMED - 1].text.endswith("(more such hosts are only counted)")


def test_pages_without_a_host_are_not_counted_and_hosts_are_bounded():
    watch = HostWatch()
    assert not any(watch.see(url, PAGES["one"]) for url in ["", "mailto:a"] * 60)
    for number in range(MOST_HOSTS + 7):
        watch.see(f"http://{number}/", PAGES["new"])
    assert len(watch) == MOST_HOSTS
