"""Which stored page a page repeats: each rule of `comparison` where it holds and just fails.

Texts are made of words that occur once, so that a text of n words has n - 2 shingles, and pages are
so short that a sketch has all of them: shares are counted, not estimated.
"""

from functools import partial

import pytest
from measured_pages import aside, frame, measured, new, shown_once, words

from dedup_filter.fingerprints.profile import PageProfile, Passage
from dedup_filter.pages.comparison import Candidate, choose, ranked, similarities
from dedup_filter.text import Headline

LEAST = 0.8
SEA, HILLS = Headline("Ice in the harbour"), Headline("Snow on the hills")


page = partial(measured, headline=SEA, is_frame_known=True)


def original(*texts: str, headline: Headline = SEA) -> PageProfile:
    return page(*map(new, texts), headline=headline)


def share(
    judged: PageProfile,
    kept: PageProfile,
    *,
    is_same_host: bool,
    has_same_menus: bool | None = None,
    text: int = 0,
    least: float | None = LEAST,
) -> float | None:
    """Return the share of a page that one stored page has; None: it does not repeat it."""
    if has_same_menus is None:
        has_same_menus = is_same_host
    candidate = Candidate(text, 3, is_same_host, has_same_menus, kept.sketch, kept.headline)
    return similarities(judged, [candidate], least)[0]


on_any_host = pytest.mark.parametrize("is_same_host", [True, False], ids=["here", "elsewhere"])


class TestContainment:
    @on_any_host
    def test_the_original_has_at_least_the_share_asked_for(self, is_same_host):
        judged = page(new(words("a", 102)))
        assert share(judged, original(words("a", 82)), is_same_host=is_same_host) == 0.8
        assert share(judged, original(words("a", 81)), is_same_host=is_same_host) is None

    @on_any_host
    def test_what_the_original_has_more_does_not_count_against_it(self, is_same_host):
        judged = page(new(words("a", 102)))
        kept = original(words("a", 102), words("more", 80))
        assert share(judged, kept, is_same_host=is_same_host) == 1.0

    def test_it_is_asked_of_the_page_and_not_of_the_original(self):
        small, large = words("a", 82), words("a", 130)
        assert share(page(new(small)), original(large), is_same_host=False) == 1.0
        assert share(page(new(large)), original(small), is_same_host=False) is None

    @on_any_host
    @pytest.mark.parametrize(("least", "held"), [(0.5, 52), (0.9, 92), (1.0, 102)])
    def test_the_share_is_a_setting(self, is_same_host, least, held):
        judged = page(new(words("a", 102)))
        for count, is_repeated in ((held, True), (held - 1, False)):
            found = share(
                judged, original(words("a", count)), is_same_host=is_same_host, least=least
            )
            assert (found is not None) == is_repeated

    @on_any_host
    def test_of_fewer_than_sixty_words_it_has_more(self, is_same_host):
        judged = page(new(words("a", 59)))
        assert share(judged, original(words("a", 57)), is_same_host=is_same_host) == 55 / 57
        assert share(judged, original(words("a", 56)), is_same_host=is_same_host) is None
        judged = page(new(words("a", 60)))
        assert share(judged, original(words("a", 49)), is_same_host=is_same_host) == 47 / 58

    @on_any_host
    def test_a_larger_page_has_more_of_what_is_a_part_of_it(self, is_same_host):
        judged, rest = page(new(words("a", 62))), words("more", 100)
        held, fails = (original(words("a", count), rest) for count in (56, 55))
        assert share(judged, held, is_same_host=is_same_host) == 54 / 60
        assert share(judged, fails, is_same_host=is_same_host) is None

    @on_any_host
    def test_a_page_of_which_half_is_there_is_no_part(self, is_same_host):
        judged = page(new(words("a", 62)))
        kept = original(words("a", 55), words("more", 20))
        assert share(judged, kept, is_same_host=is_same_host) == 53 / 60

    def test_without_a_least_share_the_fingerprints_decide(self):
        judged, kept = page(new(words("a", 62))), original(words("b", 62), headline=HILLS)
        for is_same_host in (True, False):
            found = share(judged, kept, is_same_host=is_same_host, least=None)
            assert found == 0.0

    def test_all_candidates_are_told_in_their_order(self):
        judged = page(new(words("a", 102)))
        kept = [original(words("a", count)) for count in (102, 60, 92)]
        candidates = [Candidate(0, 3, False, False, each.sketch, each.headline) for each in kept]
        assert similarities(judged, candidates, LEAST) == [1.0, None, 0.9]
        assert similarities(judged, [], LEAST) == []


class TestOnOneHost:
    def test_another_headline_is_another_page(self):
        text = words("a", 230)
        judged = page(new(text))
        assert share(judged, original(text), is_same_host=True) == 1.0
        assert share(judged, original(text, headline=HILLS), is_same_host=True) is None

    @pytest.mark.parametrize(("times", "is_repeated"), [(1, False), (2, True)])
    def test_what_two_pages_of_the_host_are_headed_by_is_no_headline(self, times, is_repeated):
        """The title of the site counts until it is known for that."""
        text = words("a", 102)
        kept = original(text, headline=Headline("Ice"))
        judged = page(
            new(text),
            headline=Headline("", "Ice | The Paper"),
            times_shown=lambda part: {"The Paper": times}.get(part, 0),
        )
        assert (share(judged, kept, is_same_host=True) is not None) == is_repeated

    def test_two_section_numbers_are_two_pages(self):
        text = words("a", 230)
        judged = page(new(text), headline=Headline("3.2 Setup"))
        there = original(text, headline=Headline("4.1 Setup"))
        assert share(judged, there, is_same_host=True) is None
        assert share(judged, original(text, headline=Headline("Setup")), is_same_host=True) == 1.0

    def test_a_headline_is_new_to_a_page_without_one(self):
        text = words("a", 102)
        kept = original(text, headline=Headline())
        assert share(page(new(text)), kept, is_same_host=True) is None
        judged = page(new(text), headline=Headline())
        assert share(judged, original(text), is_same_host=True) == 1.0

    def test_the_candidate_has_as_much_of_the_whole_text(self):
        """The half of a block beside the main text that is not there: the block is not lost."""
        main, beside = words("a", 162), words("b", 140)
        judged = page(new(main), aside(beside))
        for count, is_repeated in ((80, True), (79, False)):
            kept = original(main, words("b", count))
            assert judged.whole.size == 300
            assert share(judged, kept, is_same_host=False) == 1.0
            assert (share(judged, kept, is_same_host=True) is not None) == is_repeated

    @pytest.mark.parametrize(("count", "is_repeated"), [(12, True), (13, False)])
    def test_of_a_long_text_new_blocks_are_at_most_six_in_a_hundred(self, count, is_repeated):
        text = words("a", 200)
        judged, kept = page(new(text), new(words("n", count))), original(text)
        assert (share(judged, kept, is_same_host=True) is not None) == is_repeated
        assert share(judged, kept, is_same_host=False) is not None

    def test_the_candidate_may_have_the_block_at_another_place(self):
        text, block = words("a", 200), words("n", 12)
        judged, kept = page(new(text), new(block)), original(block, text)
        assert share(judged, kept, is_same_host=True) is not None

    @pytest.mark.parametrize(("count", "is_repeated"), [(199, True), (198, False)])
    def test_of_a_shorter_text_no_new_block_is_little(self, count, is_repeated):
        text = words("a", count)
        judged, kept = page(new(text), new("n1")), original(text)
        assert (share(judged, kept, is_same_host=True) is not None) == is_repeated

    def test_frame_that_the_candidate_lacks_is_no_new_block(self):
        text = words("a", 102)
        judged, kept = page(new(text), frame(words("f", 20))), original(text)
        assert share(judged, kept, is_same_host=True) == 1.0

    def test_an_edited_sentence_is_no_new_block(self):
        text, sentence = words("a", 102), words("s", 17)
        once_edited = sentence.replace("s7", "edited")
        judged, kept = page(new(text), new(once_edited)), original(text, sentence)
        assert share(judged, kept, is_same_host=True) is not None

    @pytest.mark.parametrize(("there", "is_repeated"), [(5, True), (4, False)])
    def test_a_block_of_which_a_quarter_is_there_is_no_new_one(self, there, is_repeated):
        """17 words, 15 shingles: a quarter of them are 3.75."""
        text = words("a", 102)
        block = f"{words('s', there + 1)} {words('n', 16 - there)}"
        judged, kept = page(new(text), new(block)), original(text, words("s", there + 1))
        assert (share(judged, kept, is_same_host=True) is not None) == is_repeated

    @pytest.mark.parametrize(
        ("count", "before", "is_repeated"), [(16, 102, False), (17, 102, True), (16, 190, True)]
    )
    def test_a_new_line_of_a_short_text_must_be_there_in_all(self, count, before, is_repeated):
        text, block = words("a", before), words("s", count)
        judged, kept = page(new(text), new(block)), original(text, block.replace("s7", "edited"))
        assert (share(judged, kept, is_same_host=True) is not None) == is_repeated

    @pytest.mark.parametrize(
        ("block", "other"),
        [
            ("Article number 63432", "Article number 63433"),
            ("Temperature at noon in the harbour 14", "Temperature at noon in the harbour 17"),
        ],
    )
    def test_a_number_in_a_line_of_its_own_is_new(self, block, other):
        text = words("a", 102)
        judged, kept = page(new("Lamp"), new(block), new(text)), original("Lamp", other, text)
        assert share(judged, kept, is_same_host=True) is None

    def test_of_a_page_of_few_words_of_its_own_a_new_line_is_counted_not_sampled(self):
        around = words("f", 1_500)
        kept = original("How do I mend a lamp", around)
        for number in range(50):
            judged = page(new(f"How do I mend a w{number}"), frame(around))
            assert share(judged, kept, is_same_host=True) is None

    def test_new_text_beside_the_main_text_counts(self):
        text = words("a", 102)
        judged, kept = page(new(text), aside("price 17 and 4")), original(text)
        assert share(judged, kept, is_same_host=True) is None
        assert share(judged, kept, is_same_host=False) == 1.0

    def test_a_page_of_which_more_is_unread_than_its_own_repeats_nothing(self):
        own, beside = words("a", 62), frame(words("f", 13))
        kept = original(own)
        for unread, is_repeated in ((62, True), (63, False)):
            judged = page(new(own), beside, unread=unread)
            assert not judged.is_unread
            assert (share(judged, kept, is_same_host=True) is not None) == is_repeated


class TestWhereTheFrameIsNotKnown:
    """All that is on the page may be frame, so its own text may be the little that is new."""

    @pytest.mark.parametrize("count", [200, 400])
    def test_a_new_line_is_lost_even_in_a_long_text(self, count):
        text, line = words("a", count), words("n", 10)
        kept = original(text)
        for is_frame_known in (True, False):
            judged = page(new(text), new(line), is_frame_known=is_frame_known)
            found = share(judged, kept, is_same_host=True)
            assert (found is not None) == is_frame_known

    def test_and_must_be_there_in_all(self):
        text, line = words("a", 210), words("n", 16)
        kept = original(text, line.replace("n7", "edited"))
        for is_frame_known in (True, False):
            judged = page(new(text), new(line), is_frame_known=is_frame_known)
            found = share(judged, kept, is_same_host=True)
            assert (found is not None) == is_frame_known

    @pytest.mark.parametrize(("count", "is_repeated"), [(950, True), (949, False)])
    def test_from_a_thousand_words_on_a_little_is_new(self, count, is_repeated):
        text, more = words("a", count), words("n", 50)
        judged = page(new(text), new(more), is_frame_known=False)
        assert (share(judged, original(text), is_same_host=True) is not None) == is_repeated

    def test_and_no_more_than_that(self):
        text, more = words("a", 950), words("n", 70)
        judged = page(new(text), new(more), is_frame_known=False)
        assert share(judged, original(text), is_same_host=True) is None

    def test_what_was_shown_before_may_be_little_of_a_shorter_text(self):
        text, line = words("a", 400), words("n", 10)
        judged = page(new(text), shown_once(line), is_frame_known=False)
        assert share(judged, original(text), is_same_host=True) is not None

    @pytest.mark.parametrize("is_frame_known", [True, False])
    def test_with_nothing_new_in_sight_no_more_is_unread_than_is_new(self, is_frame_known):
        old, fresh = words("b", 80), words("a", 19)
        kept = original(old, fresh)
        for unread, is_repeated in ((19, True), (20, is_frame_known)):
            judged = page(shown_once(old), new(fresh), unread=unread, is_frame_known=is_frame_known)
            assert (share(judged, kept, is_same_host=True) is not None) == is_repeated

    def test_with_more_than_a_sentence_in_sight_as_elsewhere(self):
        old, fresh = words("b", 80), words("a", 20)
        kept = original(old, fresh)
        for unread, is_repeated in ((20, True), (21, False)):
            judged = page(shown_once(old), new(fresh), unread=unread, is_frame_known=False)
            assert (share(judged, kept, is_same_host=True) is not None) == is_repeated


class TestOnAnotherHostOfTheSite:
    """Its pages are told apart as those of one host are."""

    def test_another_headline_is_another_page(self):
        text = words("a", 230)
        for headline, is_repeated in ((SEA, True), (HILLS, False)):
            kept = original(text, headline=headline)
            found = share(page(new(text)), kept, is_same_host=False, has_same_menus=True)
            assert (found is not None) == is_repeated

    def test_a_new_line_is_lost(self):
        text = words("a", 102)
        judged, kept = page(new(text), new("price 17 and 4")), original(text)
        assert share(judged, kept, is_same_host=False, has_same_menus=True) is None
        assert share(judged, kept, is_same_host=False) is not None

    @pytest.mark.parametrize("is_frame_known", [True, False])
    def test_a_banner_above_the_menus_is_not(self, is_frame_known):
        """ "This is a copy of the paper": on one host it is what makes another page of it."""
        text = words("a", 102)
        banner = Passage(
            words("n", 10), 0, in_own=True, in_rare=True, in_whole=False, is_above=True
        )
        judged, kept = page(banner, new(text), is_frame_known=is_frame_known), original(text)
        assert share(judged, kept, is_same_host=False, has_same_menus=True) is not None
        assert share(judged, kept, is_same_host=True) is None
        below = page(banner._replace(is_above=False), new(text), is_frame_known=is_frame_known)
        assert share(below, kept, is_same_host=False, has_same_menus=True) is None


class TestOnAnotherHost:
    @pytest.mark.parametrize(("count", "is_repeated"), [(34, True), (33, False)])
    def test_the_candidate_has_as_much_of_what_is_new_here(self, count, is_repeated):
        """Found by the text that was shown once; of what is new 40 shingles are asked for."""
        old = words("b", 160)
        judged = page(new(words("a", 42)), shown_once(old))
        kept = original(words("a", count), old)
        assert len(judged.texts) == 2
        assert (share(judged, kept, is_same_host=False, text=1) is not None) == is_repeated
        assert share(judged, kept, is_same_host=True, text=1) is not None, "no block is lost"

    @pytest.mark.parametrize(("count", "is_repeated"), [(12, True), (11, False)])
    def test_where_the_frame_is_known_the_candidate_has_all_that_is_none(self, count, is_repeated):
        """Found by what is new; of that and what was shown once 102 shingles are asked for."""
        passages = new(words("a", 62)), shown_once(words("b", 42)), frame(words("f", 40))
        kept = original(words("a", 62), words("b", count))
        known, unknown = (page(*passages, is_frame_known=each) for each in (True, False))
        assert known.not_frame.size == 102
        assert (share(known, kept, is_same_host=False) is not None) == is_repeated
        assert share(unknown, kept, is_same_host=False) == 1.0

    def test_two_editions_number_their_sections_as_they_like(self):
        text = words("a", 102)
        judged = page(new(text), headline=Headline("3.2 Setup"))
        kept = original(text, headline=Headline("4.1 Setup"))
        assert share(judged, kept, is_same_host=False) == 1.0

    def test_a_page_of_which_nothing_is_new_here(self):
        text = words("a", 102)
        judged = page(shown_once(text))
        assert share(judged, original(text), is_same_host=False) == 1.0

    @pytest.mark.parametrize(("count", "is_repeated"), [(200, True), (199, False)])
    def test_a_long_text_is_the_same_under_another_headline(self, count, is_repeated):
        text = words("a", count)
        judged, kept = page(new(text)), original(text, headline=HILLS)
        assert (share(judged, kept, is_same_host=False) is not None) == is_repeated
        assert share(judged, original(text), is_same_host=False) == 1.0

    @pytest.mark.parametrize(("count", "is_repeated"), [(200, True), (199, False)])
    def test_nearly_all_of_a_story_retold_is_there(self, count, is_repeated):
        judged = page(new(words("a", 202)))
        kept = original(words("a", count), headline=HILLS)
        assert (share(judged, kept, is_same_host=False) is not None) == is_repeated

    def test_the_headline_is_no_part_of_the_story(self):
        text = words("a", 202)
        judged = page(new(SEA.h1), new(text))
        assert share(judged, original(HILLS.h1, text, headline=HILLS), is_same_host=False)
        judged = page(new("Ice in the river"), new(text))
        kept = original(HILLS.h1, text, headline=HILLS)
        assert share(judged, kept, is_same_host=False) is None

    def test_the_frame_of_the_host_is_no_part_of_the_story(self):
        text = words("a", 202)
        judged, kept = page(new(text), frame(words("f", 20))), original(text, headline=HILLS)
        assert share(judged, kept, is_same_host=False) == 1.0

    def test_new_blocks_under_the_same_headline_do_not_count(self):
        text = words("a", 102)
        judged = page(new(text), new("Posted today by the harbour master"))
        assert share(judged, original(text), is_same_host=False) is not None


class TestRanked:
    @staticmethod
    def candidates(*distances: int) -> list[Candidate]:
        return [Candidate(0, distance, False, False, b"\0\x0e", SEA) for distance in distances]

    def test_the_nearest_comes_first_then_what_holds_most_then_the_earliest(self):
        candidates = self.candidates(5, 3, 3, 3, 7)
        assert ranked(candidates, [1.0, 0.8, 0.9, 0.9, 1.0]) == [2, 3, 1, 0, 4]

    def test_what_is_not_repeated_is_left_out(self):
        assert ranked(self.candidates(0, 9), [None, 0.9]) == [1]
        assert ranked(self.candidates(0), [None]) == []


class TestChoose:
    """Crawl 2 is the one that goes on."""

    @staticmethod
    def chosen(
        best: list[int], crawls: list[int], urls: list[int], url: int = 7
    ) -> tuple[int, bool]:
        candidates = [
            Candidate(0, 3, False, False, b"\0\x0e", SEA, crawl=crawl, url_key=key)
            for crawl, key in zip(crawls, urls, strict=True)
        ]
        return choose(best, candidates, url, lambda crawl: crawl == 2)

    def test_a_page_of_this_crawl_before_the_page_itself(self):
        assert self.chosen([0, 1], crawls=[1, 2], urls=[7, 8]) == (1, False)

    def test_of_two_of_this_crawl_the_best(self):
        assert self.chosen([1, 0], crawls=[2, 2], urls=[8, 9]) == (1, False)

    def test_the_page_itself_before_a_better_one_of_an_earlier_crawl(self):
        assert self.chosen([0, 1], crawls=[1, 1], urls=[8, 7]) == (1, True)

    def test_else_the_best_of_an_earlier_crawl(self):
        assert self.chosen([1, 0], crawls=[1, 1], urls=[8, 9]) == (1, False)

    def test_the_same_url_in_this_crawl_is_a_duplicate(self):
        assert self.chosen([0], crawls=[2], urls=[7]) == (0, False)
