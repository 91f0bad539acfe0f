"""Which stored pages a page is compared with, and how their hosts are related to its own."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from measured_pages import measured, new, shown_once, words

from dedup_filter.comparison.candidates import (
    MOST_COMPARED,
    MOST_SHARING,
    NAMED_EVIDENCE,
    SHARED_EVIDENCE,
    found_beyond,
    found_by_phrases,
    found_by_texts,
    relation,
)
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.frames.host_frames import host_hash
from dedup_filter.model import Match


def stored(page, fingerprint, sketch, host="b.example"):
    return SimpleNamespace(page=page, fingerprint=fingerprint, sketch=sketch, host=host)


class TestFoundByTexts:
    def test_each_page_is_found_by_the_first_text_that_it_is_near_to(self):
        near = [[Match(7, 0, 3), Match(5, 0, 4)], [Match(5, 0, 1), Match(6, 0, 2)]]
        assert found_by_texts(near) == ({7: (0, 3), 5: (0, 4), 6: (1, 2)}, 0)
        assert found_by_texts([]) == ({}, 0)

    def test_the_nearest_of_each_text_are_found_and_it_is_said_how_often_there_were_more(self):
        many = [Match(row, 0, row // 9) for row in range(MOST_COMPARED + 1)]
        found, capped = found_by_texts([many, [Match(900, 0, 0)], many[:MOST_COMPARED]])
        assert [*found] == [*range(MOST_COMPARED), 900]
        assert capped == 1


class TestFoundBeyond:
    """A page is found at any distance if its text tells enough."""

    FAR = (1 << 64) - 1

    @pytest.mark.parametrize(("there", "is_found"), [(75, True), (74, False), (100, True)])
    def test_if_it_has_three_quarters_of_the_phrases_that_its_sketch_can_tell_of(
        self, there, is_found
    ):
        page = measured(new(words("a", 102)))
        kept = measured(new(words("a", there + 2)))
        found = found_beyond(page, [stored(3, page.fingerprint ^ self.FAR, kept.sketch)], 32)
        assert found == ({3: (0, 64)} if is_found else {})

    @pytest.mark.parametrize("evidence", [NAMED_EVIDENCE, SHARED_EVIDENCE])
    def test_if_its_sketch_can_tell_of_enough_phrases_or_of_all(self, evidence):
        """The sketch of a page of many more words samples few of those that both have."""
        more, found = new(words("more", 600)), {}
        for count in range(90, 420, 2):
            page = measured(new(words("a", count)))
            kept = measured(new(words("a", count)), more).sketch
            sampled = int(contained(page.texts[0].hashes, [kept])[1][0])
            found.setdefault(sampled, set()).add(
                bool(found_beyond(page, [stored(3, 0, kept)], evidence))
            )
        assert {evidence - 1, evidence} <= set(found)
        assert found == {sampled: {sampled >= evidence} for sampled in found}
        short = measured(new(words("a", 32)))
        assert found_beyond(short, [stored(3, 0, short.sketch)], evidence)

    def test_by_the_nearest_of_its_texts(self):
        page = measured(new(words("a", 60)), shown_once(words("b", 60)))
        assert len(page.texts) == 2
        for number, text in enumerate(page.texts):
            kept = [stored(3, text.fingerprint ^ 1, page.sketch)]
            assert found_beyond(page, kept, 32) == {3: (number, 1)}

    def test_a_page_without_a_text_finds_none(self):
        page = measured(new("short"))
        assert found_beyond(page, [stored(3, 0, page.sketch)], 32) == {}


class TestFoundByPhrases:
    """Of pages that share keys, those are found that share most."""

    def found(self, shared, host="a.example", hosts=None):
        page = measured(new(words("a", 60)))
        kept = [stored(n, 0, page.sketch, (hosts or {}).get(n, "b.example")) for n in shared]
        return set(found_by_phrases(page, host, shared, kept))

    def test_not_those_of_other_hosts_with_the_same_menus(self):
        page = measured(new(words("a", 60)))
        site = {"a.example", "b.example"}
        page = replace(page, site_counts=[{host_hash(host): 1 for host in site}])
        hosts = ["a.example", "b.example", "c.example", ""]
        kept = [stored(n, 0, page.sketch, host) for n, host in enumerate(hosts)]
        shared = dict.fromkeys(range(4), 1)
        assert set(found_by_phrases(page, "a.example", shared, kept)) == {0, 2, 3}
        assert set(found_by_phrases(page, "", shared, kept)) == {2, 3}

    def test_those_that_share_most_and_of_equal_ones_the_earliest(self):
        shared = dict.fromkeys(range(100, 100 + MOST_SHARING), 2) | {200: 3, 99: 2, 300: 1}
        first = {200, 99, *range(100, 100 + MOST_SHARING - 2)}
        assert self.found(dict(reversed(shared.items()))) == first

    def test_if_their_texts_tell_enough(self):
        page, other = measured(new(words("a", 60))), measured(new(words("b", 60)))
        kept = [stored(1, page.fingerprint, other.sketch), stored(2, 0, page.sketch)]
        assert set(found_by_phrases(page, "a", {1: 8, 2: 1}, kept)) == {2}


@pytest.mark.parametrize(
    ("own_host", "host", "sites", "expected"),
    [
        ("a", "a", "", (True, False)),
        ("a", "b", "", (False, False)),
        ("a", "b", "b", (False, True)),
        ("a", "c", "b", (False, False)),
        ("a", "a", "ab", (True, True)),
        # Two pages without a host are of no host.
        ("", "", "", (False, False)),
    ],
)
def test_hosts_are_the_same_or_show_the_same_menus(own_host, host, sites, expected):
    page = replace(measured(new("page")), site_counts=[{host_hash(s): 2} for s in sites])
    assert relation(page, own_host, host) == expected
