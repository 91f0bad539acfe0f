"""Rules in a crawl: what they save, and that a contradiction takes everything back."""

import random

import pytest
from dust_sites import DUST, MATTERS, SITE, pages
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.urls.live import LiveRules
from dedup_filter.urls.mining import Evidence, Proven
from dedup_filter.urls.rule import Rule

SID = Rule(SITE, "parameters", ("sid",))


def story(number, sid=None):
    return f"{SITE}/story/{number}" + ("" if sid is None else f"?sid={sid}")


class World:
    """Requests one after the other; those that rules save are made if a rule is retired."""

    def __init__(self, same_at, live):
        self.same_at, self.live = same_at, live
        self.made, self.held, self.audits = [], [], 0

    def request(self, url):
        saving = self.live.saving_for(url)
        if saving is not None and not saving.is_audit:
            self.held.append((url, saving.reasons))
            return
        self.audits += saving is not None
        self.make(url)

    def make(self, url):
        self.made.append(url)
        retired = self.live.add_verdict(url, self.same_at(url))
        if self.live.is_due:
            retired += self.live.use_rules(self.live.mining()())[1]
        if retired:
            again = [url for url, rules in self.held if not set(rules) <= set(self.live.active)]
            self.held = [each for each in self.held if each[0] not in again]
            for each in again:
                self.make(each)

    @property
    def contents(self):
        return {self.same_at(url) for url in self.made}


def without_parameters(url):
    return hash(url.partition("?")[0])


def test_rules_are_learnt_and_save_requests():
    world = World(without_parameters, LiveRules())
    for n in range(300):
        for sid in (None, f"a{n}", f"b{n}"):
            world.request(story(n, sid))
    assert world.live.active == [SID]
    assert len(world.contents) == 300
    assert len(world.held) > 500
    assert 0.02 * len(world.held) - 2 < world.audits < 0.02 * len(world.held) + 3


def test_what_no_rule_changes_is_always_requested():
    live = LiveRules([Proven(SID, Evidence(50))])
    assert live.saving_for(story(1, "x")) is None  # nothing of this form was seen in this crawl
    live.add_verdict(story(1, "x"), 1)
    assert live.saving_for(story(1)) is None
    assert live.saving_for(story(1, "x")) is None  # asked for again: the very page that was kept
    assert live.saving_for(story(1, "y")).is_audit  # the first use
    assert not live.saving_for(story(1, "z")).is_audit


@pytest.mark.parametrize("share", [0, 0.02, 0.25, 1])
def test_the_audit_is_the_first_use_and_a_share_of_all(share):
    live = LiveRules([Proven(SID, Evidence(50))], share)
    live.add_verdict(story(1), 1)
    audits = [live.saving_for(story(1, n)).is_audit for n in range(1_000)]
    assert audits[0]
    assert sum(audits) == pytest.approx(1_000 * share, abs=1)


@pytest.mark.parametrize("same", [2, None], ids=["another page", "not judged"])
def test_one_contradiction_retires_a_rule_for_good(same):
    live = LiveRules([Proven(SID, Evidence(50))])
    live.add_verdict(story(1), 1)
    assert live.add_verdict(story(1, "x"), same) == [SID]
    assert live.active == []
    assert live.saving_for(story(1, "y")) is None
    for n in range(100):
        for sid in (None, f"a{n}"):
            live.add_verdict(story(1_000 + n, sid), 1_000 + n)
    live.use_rules(live.mining()())
    # Of pages that could not be judged the mining knows nothing; the crawl does.
    assert live.active == []
    assert list(live.proven()) == []


def test_what_an_earlier_crawl_has_kept_saves_no_request_in_this_one():
    live = LiveRules([Proven(SID, Evidence(50))], audit=0)
    live.add_verdict(story(1), 7, is_kept=False)  # it repeats what is kept of an earlier crawl
    assert live.saving_for(story(1, "x")) is None
    live.add_verdict(story(1, "x"), 7)  # that page, seen again
    assert live.saving_for(story(1, "y")) is not None


LANG = Rule(SITE, "parameters", ("lang",))


@pytest.mark.parametrize("is_plain_seen", [True, False])
def test_a_contradiction_of_two_rules_together_is_not_the_end_of_both(is_plain_seen):
    live = LiveRules([Proven(SID, Evidence(50)), Proven(LANG, Evidence(50))])
    for n in range(40):
        for sid in (None, f"a{n}"):
            live.add_verdict(story(n, sid), n)
    live.add_verdict(story(99, "x"), 99)
    if is_plain_seen:
        live.add_verdict(story(99), 99)  # it stands for the story from now on
    retired = live.add_verdict(f"{story(99)}?lang=de", 100)
    assert set(retired) == ({LANG} if is_plain_seen else {SID, LANG})
    assert live.active == ([SID] if is_plain_seen else [])
    live.use_rules(live.mining()())
    assert live.active == [SID]
    assert live.add_verdict(f"{story(98)}?lang=de", 101) == []


def test_a_page_that_changes_contradicts_nothing():
    live = LiveRules([Proven(SID, Evidence(50))])
    live.add_verdict(story(1), 1)
    assert live.add_verdict(story(1), 2) == []
    assert live.add_verdict(story(1, "x"), 2) == []
    assert live.active == [SID]


def test_a_contradiction_while_rules_are_looked_for_counts():
    live = LiveRules([Proven(SID, Evidence(50))])
    for n in range(40):
        live.add_verdict(story(n), n)
        live.add_verdict(story(n, n), n)
    look = live.mining()
    assert live.add_verdict(story(3, "other"), 77) == [SID]
    assert live.use_rules(look()) == ([], [])
    assert live.active == []
    assert live.is_due


def test_a_contradiction_after_the_search_began_is_found_as_it_ends():
    live = LiveRules()
    for n in range(40):
        live.add_verdict(story(n), n)
        live.add_verdict(story(n, n), n)
    look = live.mining()
    live.add_verdict(story(3, "other"), 77)
    assert live.use_rules(look()) == ([], [])
    assert live.active == []


def test_rules_that_nothing_confirms_are_forgotten():
    proven = [Proven(SID, Evidence(50, [("a", "b")]))]
    for crawl in range(1, 5):
        proven = list(LiveRules(proven).proven(is_over=True))
        assert [evidence.unconfirmed for _, evidence in proven] == [crawl]
        assert list(LiveRules(proven).proven()) == proven  # a crawl that was killed counts not
    confirmed = LiveRules(proven)
    for n in range(20):
        confirmed.add_verdict(story(n), n)
        confirmed.add_verdict(story(n, n), n)
    confirmed.use_rules(confirmed.mining()())
    ((rule, evidence),) = confirmed.proven(is_over=True)
    assert (rule, evidence.support, evidence.unconfirmed) == (SID, 70, 0)
    assert list(LiveRules(proven).proven(is_over=True)) == []


@pytest.mark.parametrize("order", range(4))
def test_a_site_of_all_kinds_loses_no_page(order):
    made = pages(DUST, MATTERS, many=40, shuffle=order)
    same_at = {page.url: page.same for page in made}
    world = World(same_at.__getitem__, LiveRules())
    for page in made:
        world.request(page.url)
    assert world.contents == set(same_at.values())
    duplicates = len(made) - len(set(same_at.values()))
    assert len(world.held) > duplicates / 10


def test_of_a_site_that_answers_at_random_all_is_requested():
    answers = random.Random(1)
    world = World(lambda _: answers.randrange(5), LiveRules())
    for n in range(500):
        world.request(story(n // 5, n % 5))
    assert world.live.active == []
    assert len(world.made) == 500


def test_strange_urls_are_requested():
    live = LiveRules([Proven(SID, Evidence(50))])
    many = "&".join(f"p{n}=1" for n in range(10_000))
    for url in ("", "http://[1/", f"{SITE}/{'x' * 100_000}?sid=1", f"{SITE}/?sid=1&{many}"):
        assert live.add_verdict(url, 1) == live.add_verdict(url, 2) == []
        assert live.saving_for(url) is None


URLS = st.builds(
    "https://a.example/{}{}{}".format,
    st.sampled_from(["a", "b", "c", "print/a", "print/b", "a/", "B"]),
    st.sampled_from(["", "?x=1", "?x=2", "?y=1", "?y=2", "?z=0"]),
    st.sampled_from(["", "#f"]),
)


@given(st.lists(URLS, max_size=150), st.integers(0), st.integers(1, 30))
def test_nothing_stays_held_back_by_a_rule_that_a_page_contradicts(urls, seed, kinds):
    """In a world where pages are what chance says, for a rule given that cannot be right."""

    def same_at(url):
        return random.Random(f"{seed} {url.partition('#')[0]}").randrange(kinds)

    given_rules = [
        Rule("https://a.example", "parameters", ("x",)),
        Rule("https://a.example", "segment", ("print",)),
        Rule("https://a.example", "value", ("z", "=0")),
    ]
    live = LiveRules([Proven(rule, Evidence(50)) for rule in given_rules], audit=0.3)
    world = World(same_at, live)
    for url in urls:
        world.request(url)
    stand = set(live.active)
    assert all(set(rules) <= stand for _, rules in world.held)
    # The rules that stand, by hand, on all that was made: equal URLs had equal pages.
    found = {}
    for url in world.made:
        path, _, query = url.partition("#")[0].partition("?")
        if given_rules[1] in stand:
            path = path.replace("/print/", "/")
        if given_rules[0] in stand and query.startswith("x="):
            query = ""
        if given_rules[2] in stand and query == "z=0":
            query = ""
        assert found.setdefault((path, query), same_at(url)) == same_at(url)
