"""The truth of `benchmarks/dynamic_pages.py` holds for its pages, and its counts are right."""

import gzip
import json
import re
from itertools import combinations

import pytest
from changing_sites import LENGTHS, read_sentences
from dynamic_pages import COPIES, DIFFERENT, ELSEWHERE, Crawl, crawls
from lxml import html
from side_by_side import Answer, Fetch, Tally

MADE = {"en": [], "zh": []}


def visible(markup):
    return re.sub(r"\s+", " ", " ".join(html.fromstring(markup).itertext()))


@pytest.fixture(scope="module")
def fetches():
    (crawl,) = crawls(seed=3, count=1, sentences=MADE, only=None)
    return list(crawl.fetches())


@pytest.mark.slow
def test_a_crawl_depends_on_its_seed_alone(fetches):
    again, other = (next(crawls(seed, 1, MADE, None)) for seed in (3, 4))
    assert list(again.fetches()) == fetches
    assert [fetch.content for fetch in other.fetches()] != [fetch.content for fetch in fetches]


def test_urls_are_fetched_once_and_copies_come_after_what_they_copy(fetches):
    assert len({fetch.url for fetch in fetches}) == len(fetches)
    said = set()
    for fetch in fetches:
        assert (fetch.groups[0][0] == "where") == (fetch.says in said)
        said.add(fetch.says)


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_copies_say_what_the_article_says(kind, language):
    crawl = Crawl(7, MADE)
    site, other = crawl.site(language, "all"), crawl.site(language, "related 5", "within")
    host = other if kind in ELSEWHERE else site
    for article in map(site.texts.article, LENGTHS):
        text = visible(crawl.copy(kind, site, host, article).content)
        lost = [each for each in article.sentences if each.strip().rstrip(".。") not in text]
        assert not lost
        is_headed_alike = kind not in ("short headline", "other headline")
        assert (text.count(article.headline) >= 2) == is_headed_alike
        assert article.sentences[0] in visible(crawl.show(site, article).content)


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_of_a_series_differ_in_what_readers_see(name, language):
    crawl = Crawl(5, MADE)
    pages = list(DIFFERENT[name](crawl.site(language), crawl))
    shown = [page.text or f"{page.headline} {visible(page.body)}" for page in pages]
    assert len(set(shown)) == len(shown) >= 5
    if name.startswith(("variant", "job", "notice")):
        for one, other in combinations(shown, 2):
            assert 1 <= len(set(re.findall(r"\S+", one)) - set(re.findall(r"\S+", other))) <= 6
    if name.startswith(("update", "correction")):
        for old, new in zip(pages[::2], pages[1::2], strict=True):
            assert (old.is_article, new.is_article) == (True, False)
            assert len(visible(new.body)) > len(visible(old.body)) + 15
            assert new.headline == old.headline


def test_no_sentence_of_the_sets_is_read_twice(tmp_path):
    said = [f"The {word} of the harbour was painted before the winter came." for word in "abc"]
    texts = [" ".join(said[:2]), " ".join(said), " ".join(said).replace("winter", "autumn")]
    with gzip.open(tmp_path / "some.docs.jsonl.gz", "wt") as docs:
        docs.writelines(json.dumps({"id": text, "text": text}) + "\n" for text in texts)
    with gzip.open(tmp_path / "some.pairs.tsv.gz", "wt") as pairs:
        pairs.write("id_a\tid_b\tlabel\n")
    found = read_sentences(tmp_path, seed=1)
    assert len(found["en"]) == 1  # they are alike
    assert found["zh"] == []


class Repeats:
    def __init__(self, *originals):
        self.originals = iter(originals)

    def see(self, fetch):
        return Answer(next(self.originals))


def test_counts_are_of_right_originals_and_of_lost_pages():
    fetches = [
        Fetch("u/1", "", "a", (("pages", "first"),)),
        Fetch("u/2", "", "b", (("pages", "other"),)),
        Fetch("u/3", "", "a", (("copies", "same"),)),
        Fetch("u/4", "", "a", (("copies", "same"),)),
        Fetch("u/5", "", "b", (("copies", "same"),)),
    ]
    tally = Tally()
    judges = {"one": Repeats(None, "u/1", "u/1", "u/3", "u/1"), "new": Repeats(*[None] * 5)}
    tally.judge(fetches, judges)
    assert tally.pages["found", "copies", "same"] == 3
    assert tally.counts["one"] == {("lost", "pages", "other"): 1, ("found", "copies", "same"): 2}
    assert (tally.misnamed["one"], tally.misnamed["new"]) == (1, 0)
    assert not tally.counts["new"]
