"""Users with few rights: what the documentation says that they need is enough, and is refused
nothing.
"""

import re
from pathlib import Path

import pytest
from site_pages import framed

from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep import index_at

DOCUMENT = (Path(__file__).parents[3] / "docs" / "scaling.md").read_text("utf-8")


def rights(user):
    """Read what is given to a user in the documentation, without the password."""
    told = re.search(rf"\n    ACL SETUSER {user} on >PASSWORD (.*?)\n\n", DOCUMENT, re.DOTALL)
    return told[1].split()


def rights_on_a_cluster():
    told = re.search(r"On a cluster.*?`(\+[^`]*)`", DOCUMENT, re.DOTALL)
    return told[1].split()


@pytest.fixture
def nodes(servers):
    return getattr(servers, "nodes", [servers])


@pytest.fixture
def login(servers, nodes):
    """Make a user, with the rights that are documented; return an address with it."""
    made = []

    def make(name, *given):
        given = given or rights(name)
        more = rights_on_a_cluster() if len(nodes) > 1 else []
        for node in nodes:
            node.ask("ACL", "SETUSER", name, "reset", "on", "nopass", *given, *more)
            node.ask("ACL", "LOG", "RESET")
        made.append(name)
        return servers.url.replace("://", f"://{name}:any@")

    yield make
    for node in nodes:
        node.ask("ACL", "DELUSER", "nobody", *made)


@pytest.fixture
def require_nothing_refused(nodes):
    """Ask the servers what they have refused: not all of it is told to who was refused it."""

    def require():
        entries = [entry for node in nodes for entry in node.client().acl_log()]
        refused = {(each["reason"], each["object"]) for each in entries}
        # How the library calls itself, where servers have a word for that.
        assert refused <= {("command", "client"), ("command", "client|setinfo")}

    return require


def crawl(url, let_lapse, article):
    """Do all that crawlers do, some of it as it comes of a crash or a lost answer."""
    bounds = {"max_pages": 20, "expire_days": 1}
    for crawl in ("one", "two"):
        one = NearDuplicateFilter.open(url, crawl=crawl, **bounds)
        other = NearDuplicateFilter.open(url, **bounds)
        for number in range(6):
            one.see(f"http://a.example/{number}", html=framed(article(number)))
        held = [other.claim(f"http://b.example/{n}", html=framed(article(10 + n))) for n in (1, 2)]
        waits = one.claim("http://c.example/", html=framed(article(11)))
        assert waits.original_page is not None
        assert one.fate(waits.original_page) == "pending"
        other.commit(held[0])
        other.release(held[1])
        other.claim("http://b.example/forgotten", text=article(13))
        other._kept._log.held.clear()
        for number in range(30):
            other.see(f"http://d.example/{number}", text=article(100 + number))
        other.see("http://d.example/short", text="few words")
        one.forget("http://a.example/1")
        one.totals()
        one.claim("http://d.example/held", text=article(200))
        let_lapse(one)
        other.see("http://d.example/last", text=article(201))
        other._kept._log.tend()
        other.check()
        one.close()
        other.close()


def test_a_crawler_needs_what_is_documented(login, require_nothing_refused, let_lapse, article):
    crawl(login("crawler"), let_lapse, article)
    require_nothing_refused()


def test_a_reader_needs_what_is_documented(
    servers, login, require_nothing_refused, let_lapse, article
):
    crawl(servers.url, let_lapse, article)
    with (
        NearDuplicateFilter.open(servers.url) as alive,
        NearDuplicateFilter.open(servers.url) as dead,
    ):
        alive.claim("http://a.example/alive", text=article(300))
        dead.claim("http://a.example/dead", text=article(301))
        let_lapse(dead)
        index = index_at(login("reader"))
        assert index.figures()["processes"] == 1
        assert index.check().faults == []
        with index.source() as source:
            assert len(list(source.pages)) == len(alive) - 1
            assert len(source.crawls) == 3
    require_nothing_refused()


def test_who_looks_after_an_index_needs_both(
    servers, login, require_nothing_refused, let_lapse, article
):
    crawl(servers.url, let_lapse, article)
    index = index_at(login("keeper", *rights("crawler"), *rights("reader")))
    with index.source() as source:
        records = [page.record for page in source.pages]
        crawls, scheme = source.crawls, source.scheme
    assert index.forget([records[0].url]) == {records[0].url: 1}
    keeper = index.target(scheme)
    for each in crawls:
        keeper.restore_crawl(each)
    keeper.restore(records[0])
    keeper.close()
    assert index.compact()["after"]
    assert index.check().faults == []
    require_nothing_refused()
