"""Users with few rights: what the documentation says that they need is enough."""

import re
from pathlib import Path

import pytest
from shared_crawlers import let_lapse, stop
from site_pages import framed

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.upkeep import index_at

BOUNDS = {"max_pages": 20, "expire_days": 1, "canonical": True}
DOCUMENT = (Path(__file__).parents[3] / "docs" / "scaling.md").read_text("utf-8")


def rights(user):
    """Read what is given to a user in the documentation, without the password."""
    told = re.search(rf"\n    ACL SETUSER {user} on >PASSWORD (.*?)\n\n", DOCUMENT, re.DOTALL)
    return told[1].split()


def rights_on_a_cluster():
    told = re.search(r"On a cluster.*?`(\+[^`]*)`", DOCUMENT, re.DOTALL)
    return told[1].split()


@pytest.fixture
def login(servers):
    """Make a user, with the rights that are documented; return an address with it.

    In the end nothing was refused: not all of that is told to who was refused it.
    """
    made, nodes = [], getattr(servers, "nodes", [servers])

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
        node.ask("ACL", "DELUSER", *made)
    entries = [entry for node in nodes for entry in node.client().acl_log()]
    refused = {(each["reason"], each["object"]) for each in entries}
    # How the library calls itself, where servers have a word for that.
    assert refused <= {("command", "client"), ("command", "client|setinfo")}


def crawl(url, article):
    """Do all that crawlers do, some of it as it comes of a crash or a lost answer."""
    for crawl in ("one", "two"):
        one = NearDuplicateFilter.open(url, crawl=crawl, **BOUNDS)
        other = NearDuplicateFilter.open(url, **BOUNDS)
        for number in range(6):
            one.see(f"http://a.example/{number}", html=framed(article(number)))
        held = [other.claim(f"http://b.example/{n}", html=framed(article(10 + n))) for n in (1, 2)]
        waits = one.claim("http://c.example/", html=framed(article(11)))
        assert waits.original_page is not None
        assert one.conductor.fate(waits.original_page) == "pending"
        other.commit(held[0])
        other.release(held[1])
        other.claim("http://b.example/forgotten", text=article(13))
        for number in range(16):
            other.see(f"http://d.example/{number}", text=article(100 + number))
        one.see("http://d.example/29", text=article(129))
        other.see("http://d.example/short", text="few words")
        one.forget("http://a.example/1")
        one.conductor.totals()
        one.claim("http://d.example/held", text=article(200))
        let_lapse(one)
        other.see("http://d.example/last", text=article(201))
        one.conductor._process.bring()
        other.check()
        one.close()
        other.close()


def test_a_crawler_needs_what_is_documented(login, article):
    crawl(login("crawler"), article)


def test_readers_and_who_looks_after_an_index_need_what_is_documented(servers, login, article):
    crawl(servers.url, article)
    with (
        NearDuplicateFilter.open(servers.url, **BOUNDS) as alive,
        NearDuplicateFilter.open(servers.url, **BOUNDS) as dead,
    ):
        alive.claim("http://a.example/alive", text=article(300))
        dead.claim("http://a.example/dead", text=article(301))
        stop(dead)
        let_lapse(dead)
        index = index_at(login("reader"))
        assert index.figures()["processes"] == 1
        assert index.check().faults == []
        with index.recorded() as recorded:
            records = [each for each in recorded.records() if each.is_kept]
            crawls, scheme = recorded.crawls(), recorded.scheme
            assert recorded.host("a.example") is not None
        assert (len(records), len(crawls)) == (len(alive) - 1, 3)
    index = index_at(login("keeper", *rights("crawler"), *rights("reader")))
    assert index.forget([records[0].url]) == {records[0].url: 1}
    keeper = index.target(scheme)
    for each in crawls:
        keeper.restore_crawl(each)
    keeper.restore(records[0])
    keeper.close()
    assert index.check().faults == []
