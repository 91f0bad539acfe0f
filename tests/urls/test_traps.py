"""Parts of a site that bring hardly anything but duplicates."""

from urllib.parse import parse_qsl, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.urls.traps import Part, Traps

HOST = "https://a.example"


def parts_of(url):
    """The parts of a site that a URL lies in, by hand."""
    found = urlsplit(url)
    folders = found.path.split("/")[1:-1]
    parts = {
        Part(HOST, "path", "/" + "".join(f"{each}/" for each in folders[:depth]))
        for depth in range(1, len(folders) + 1)
    }
    return parts | {Part(HOST, "parameter", name) for name, _ in parse_qsl(found.query)}


URLS = st.builds(
    f"{HOST}/{{}}{{}}{{}}".format,
    st.sampled_from(["", "a/", "a/b/", "c/"]),
    st.integers(0, 5),
    st.sampled_from(["", "?x=1", "?x=2", "?y=1&x=1"]),
)
RUNS = st.lists(st.tuples(URLS, st.sampled_from([True] * 30 + [False]), st.integers(1, 60)))


@given(RUNS)
def test_a_part_is_a_trap_if_95_of_100_of_its_last_pages_are_duplicates(runs):
    traps, active, shown = Traps(), set(), {}
    for url, is_duplicate, times in runs:
        for _ in range(times):
            made, freed = traps.add_verdict(url, is_duplicate=is_duplicate)
            parts = parts_of(url)
            assert set(freed) == (set() if is_duplicate else active & parts)
            for part in freed:
                del shown[part]
            active -= set(freed)
            for part in parts:
                shown.setdefault(part, []).append(is_duplicate)
            new = {
                part
                for part in parts - active
                if is_duplicate and len(shown[part]) >= 50 and sum(shown[part][-50:]) >= 47.5
            }
            assert set(made) == new
            active |= new
            assert set(traps.active) == active
            saving = traps.saving_for(url)
            assert (saving is not None) == bool(active & parts)
            if saving is not None:
                assert set(saving.reasons) <= active & parts


def test_the_first_request_into_a_trap_is_made_and_then_one_of_twenty():
    traps = Traps([Part(HOST, "path", "/a/")])
    audits = [traps.saving_for(f"{HOST}/a/{n}").is_audit for n in range(100)]
    assert [place for place, is_audit in enumerate(audits) if is_audit] == [0, 20, 40, 60, 80]
    assert traps.saving_for(f"{HOST}/b/1") is None


def test_the_smallest_trap_is_named():
    inner, outer = Part(HOST, "path", "/a/b/"), Part(HOST, "path", "/a/")
    traps = Traps([outer, inner])
    assert traps.saving_for(f"{HOST}/a/b/1").reasons == (inner,)
    assert traps.saving_for(f"{HOST}/a/1").reasons == (outer,)
    assert traps.add_verdict(f"{HOST}/a/b/1", is_duplicate=False) == ([], [inner, outer])


def test_an_origin_is_forgotten():
    parts = [Part(HOST, "path", "/a/"), Part("https://b.example", "path", "/a/")]
    traps = Traps(parts)
    assert not traps.forget({"https://c.example"})
    assert traps.forget({HOST})
    assert traps.active == parts[1:]
    for n in range(49):
        assert traps.add_verdict(f"{HOST}/a/{n}", is_duplicate=True) == ([], [])
    assert not traps.forget({HOST})
    assert traps.add_verdict(f"{HOST}/a/49", is_duplicate=True) == ([], [])


def test_strange_urls_are_in_no_trap():
    traps = Traps([Part(HOST, "path", "/a/")])
    for url in ("", "mailto:a", "http://[1/", f"{HOST}/a/" + "x" * 100_000):
        assert traps.saving_for(url) is None
        assert traps.add_verdict(url, is_duplicate=True) == ([], [])
