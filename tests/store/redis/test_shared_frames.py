"""Frames that crawlers of one index share, through real servers."""

import json
from functools import partial

import pytest

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import StoreError
from dedup_filter.frames.host_frames import pack
from dedup_filter.frames.slots import VISITS
from dedup_filter.store.redis.frames import MOST_UPDATES
from dedup_filter.upkeep import index_at
from dedup_filter.upkeep.lines import exported, import_lines

SITE = "http://site.example"


@pytest.fixture
def servers(redis_server):
    """One server: the list of a host is one key. For a cluster see test_many_crawlers.py."""
    return redis_server


@pytest.fixture
def open_pages(servers, crawler):
    """Open the index as one more process does; in the end it is whole."""
    return partial(crawler, servers, max_distance=12)


@pytest.fixture
def framed(article):
    """A page of the site: an article, below a notice of twice its length that all pages have."""
    notice = article(999, words=300)
    return lambda seed: f"<div><p>{notice}</p></div><article><p>{article(seed)}</p></article>"


def frame_keys(servers):
    return list(servers.client().scan_iter("dedup:pages:f:*"))


def updates(servers, pages):
    """The updates of the one host that has any."""
    pages.flush()
    (key,) = frame_keys(servers)
    return servers.client().lrange(key, 0, -1)


def see_all(pages, framed, seeds):
    for seed in seeds:
        assert pages.see(f"{SITE}/{seed}", html=framed(seed)).outcome == "new"
    pages.flush()  # updates are sent with the next call


def repeats_the_mirror(pages, framed, article, seed):
    """Tell whether an article that is there without a frame is known again within it."""
    assert pages.see(f"http://mirror.example/{seed}", text=article(seed)).outcome == "new"
    return pages.see(f"{SITE}/again/{seed}", html=framed(seed)).is_duplicate


def test_the_frame_of_a_host_in_a_directory_is_imported(
    servers, open_pages, framed, article, tmp_path
):
    with NearDuplicateFilter.open(tmp_path / "index", max_distance=12) as pages:
        see_all(pages, framed, range(40))
    with index_at(str(tmp_path / "index")).recorded() as recorded:
        [host] = recorded.hosts()
        lines = [json.dumps(line).encode() for line in exported(recorded)]
    found = [import_lines(enumerate(lines, 1), index_at(servers.url)) for _ in range(2)]
    assert [(each["hosts"], each["hosts_known"]) for each in found] == [(1, 0), (0, 1)]
    with index_at(servers.url).recorded() as recorded:
        restored = recorded.host(host.name)
    assert restored.pages == MOST_UPDATES
    assert restored.sightings.keys() == host.sightings.keys()
    assert repeats_the_mirror(open_pages(), framed, article, 50)


def test_a_frame_that_others_saw_is_known_to_who_comes_after_them(
    servers, open_pages, framed, article
):
    assert not repeats_the_mirror(open_pages(), framed, article, 10)
    servers.flush()
    for seed in range(3):
        with NearDuplicateFilter.open(servers.url) as first:
            see_all(first, framed, [seed])
    pages = open_pages()
    assert repeats_the_mirror(pages, framed, article, 10)
    assert len(updates(servers, pages)) == 4  # the page that was dropped has shown its text


@pytest.mark.parametrize("settle", ["commit", "release"])
def test_pages_count_when_they_are_committed(servers, open_pages, framed, article, settle):
    one, other = open_pages(), open_pages()
    claims = [other.claim(f"{SITE}/{seed}", html=framed(seed)) for seed in range(3)]
    assert frame_keys(servers) == []
    for verdict in claims:
        getattr(other, settle)(verdict)
    other.flush()
    assert repeats_the_mirror(one, framed, article, 10) == (settle == "commit")


def test_a_page_that_repeats_a_pending_one_does_not_count(servers, open_pages, article):
    pages = open_pages()
    held = pages.claim("http://mirror.example/", text=article(0))
    html = f"<p>{article(0)}</p><p>menu"
    assert pages.see(f"{SITE}/0", html=html).original_page == held.page
    assert open_pages().claim(f"{SITE}/1", html=html).original_page == held.page
    pages.flush()
    assert frame_keys(servers) == []


def test_a_list_is_bounded(servers, open_pages, framed):
    pages = open_pages()
    see_all(pages, framed, range(MOST_UPDATES + 2))
    see_all(open_pages(), framed, [100])
    assert len(updates(servers, pages)) == MOST_UPDATES
    assert len(b"".join(updates(servers, pages))) < MOST_UPDATES * 100


@pytest.mark.parametrize(("days", "seconds"), [(None, 30 * 86_400), (2, 2 * 86_400)])
def test_a_list_does_not_last_for_ever(servers, open_pages, framed, days, seconds):
    see_all(open_pages(learn_frames=False), framed, [1])
    assert frame_keys(servers) == []
    see_all(open_pages(expire_days=days), framed, [0])
    (key,) = frame_keys(servers)
    assert seconds - 60 < servers.client().ttl(key) <= seconds


def test_servers_that_were_emptied(servers, open_pages, framed, article):
    one, other = open_pages(), open_pages()
    see_all(one, framed, range(3))
    see_all(other, framed, range(10, 13))
    servers.flush()
    see_all(one, framed, range(20, 22))
    see_all(other, framed, range(30, 32))
    assert repeats_the_mirror(open_pages(), framed, article, 40)


def test_keys_of_another_application(servers, open_pages, framed):
    pages = open_pages()
    see_all(pages, framed, [0])
    (key,) = frame_keys(servers)
    servers.client().delete(key)
    servers.client().set(key, "something else")
    with pytest.raises(StoreError, match="other keys are there"):
        pages.see(f"{SITE}/1", html=framed(1))
    assert len(pages) == 1
    assert servers.client().get(key) == b"something else"
    servers.client().delete(key)


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"short",
        b"\2" + bytes(8),
        b"\1" + bytes(4) + b"\xff" * 4,
        pack(1, [7, 7, 7]),
    ],
    ids=["empty", "short", "newer format", "cut off", "a block again and again"],
)
def test_entries_that_are_damaged_stop_nothing(servers, open_pages, framed, article, entry):
    see_all(open_pages(), framed, [0])
    (key,) = frame_keys(servers)
    servers.client().rpush(key, entry)
    see_all(open_pages(), framed, [1, 2])
    assert repeats_the_mirror(open_pages(), framed, article, 10)


def test_who_does_not_know_whether_an_update_was_added_reads_all(servers, open_pages, framed):
    pages = open_pages()
    see_all(pages, framed, [0])
    assert pages.see(f"{SITE}/1", html=framed(1)).outcome == "new"
    commands = pages.conductor._pages.begin

    def lost(*given):
        commands(*given)
        raise StoreError("no answer")

    pages.conductor._pages.begin = lost
    with pytest.raises(StoreError):
        pages.flush()
    pages.conductor._pages.begin = commands
    see_all(pages, framed, [2])
    known = pages.conductor._hosts.host("site.example")
    (key,) = frame_keys(servers)
    with index_at(servers.url).recorded() as recorded:
        assert recorded.host("site.example") == known
    assert known.pages == servers.client().llen(key) == 3


def test_places_that_change_are_learnt_by_visits_of_several_crawlers(servers, open_pages, article):
    """Each crawler has met a change at one page only."""

    def html(seed, visit):
        quote = f'<div class="quote"><p>{article(100 * seed + visit, words=24)}</p></div>'
        text = "".join(f"<p>{article(1000 * seed + part, words=60)}</p>" for part in range(2))
        return f"<title>Page {seed}</title><main><h1>Page {seed}</h1>{quote}{text}</main>"

    def see(visit, seed):
        with NearDuplicateFilter.open(servers.url, crawl=f"{visit}") as pages:
            found = pages.see(f"{SITE}/{seed}", html=html(seed, visit))
            return found, pages.conductor.learnt

    assert {see(0, seed)[0].outcome for seed in range(1, 9)} == {"new"}
    visits = [see(1, seed) for seed in range(1, 9)]
    assert [found.change > 0 for found, _ in visits] == [True] * VISITS + [False] * (8 - VISITS)
    assert [learnt for _, learnt in visits] == [0] * (VISITS - 1) + [1] + [0] * (8 - VISITS)


def test_waiting_pages_are_judged_again_by_updates_of_others(open_pages, framed, article):
    one, other = open_pages(), open_pages()
    see_all(one, framed, [0])
    see_all(other, framed, [1, 2])
    # For a page that is dropped no other is judged again.
    one.see(f"{SITE}/print", html=framed(0))
    mirrored = one.see("http://b.example/0", html=f"<p>{article(0)}</p>")
    assert mirrored.original == f"{SITE}/0"
