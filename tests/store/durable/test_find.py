"""What is like a page, against a scan of all that was kept; nothing changes by asking."""

import random

import pytest

from dedup_filter import fingerprint, hamming_distance

WORDS = (
    "the of and to in is was that for it with as his on be at by had not are but from or have an"
    " harbour winter ferry captain island farm fodder ice member town price north road bridge"
    " school teacher train station summer market river boat light"
).split()
K = 8


def text_of(rng, length=120):
    return " ".join(rng.choices(WORDS, k=length))


def edited(rng, text, edits):
    words = text.split()
    for at in rng.sample(range(len(words)), edits):
        words[at] = rng.choice(WORDS)
    return " ".join(words)


def shingles(text):
    words = text.split()
    return set(zip(words, words[1:], words[2:], strict=False))


def scanned(kept, text):
    asked = fingerprint(text)
    near = []
    for number, (url, other) in enumerate(kept):
        distance = hamming_distance(fingerprint(other), asked)
        if distance <= K:
            share = len(shingles(text) & shingles(other)) / len(shingles(text))
            near.append((distance, number, url, share))
    return sorted(near)


def test_all_kept_pages_within_k_bits_are_found_nearest_first(local_place):
    rng = random.Random(4)
    families = [text_of(rng) for _ in range(6)]
    texts = [edited(rng, rng.choice(families), rng.choice((2, 9, 30))) for _ in range(60)]
    kept = []
    with local_place.open(max_distance=K, min_similarity=0.97) as pages:
        for number, text in enumerate(texts):
            url = f"http://{number}.example/"
            if not pages.see(url, text=text).is_duplicate:
                kept.append((url, text))
        asked = [edited(rng, rng.choice(families), rng.choice((0, 5))) for _ in range(20)]
        found = [pages.find(text=text) for text in asked]
        by_print = [pages.find(fingerprint=fingerprint(text)) for text in asked]
    assert sum(len(each) > 2 for each in found) > 5
    for text, near, near_print in zip(asked, found, by_print, strict=True):
        wanted = scanned(kept, text)
        far = [each for each in near if each.source]
        assert all(each.distance > K and each.similarity >= 0.74 for each in far)
        within = [each for each in near if not each.source]
        assert [(each.distance, each.url) for each in within] == [w[::2] for w in wanted]
        shares = [each.similarity for each in within]
        assert shares == pytest.approx([share for *_, share in wanted], abs=0.02)
        assert [each[:2] for each in near_print] == [each[:2] for each in within]
        assert {each.similarity for each in near_print} <= {None}


def test_asking_changes_nothing(place):
    rng = random.Random(7)
    first, second, third = (text_of(rng) for _ in range(3))
    page = "<html><title>{0}</title><ul><li><a href=/>Home</a></ul><p>{0}</html>"
    with place.open() as asking:
        verdicts = []
        for number, text in enumerate((first, second, first, third)):
            for asked in (first, second, third):
                asking.find("http://a.example/x", html=page.format(asked))
                asking.find("http://b.example/never", text=asked)
                asking.find("http://c.example/never", fingerprint=fingerprint(asked))
            size = len(asking)
            asking.find("http://a.example/y", html=page.format(text))
            assert len(asking) == size
            verdicts.append(asking.see(f"http://a.example/{number}", html=page.format(text)))
    assert [each.outcome for each in verdicts] == ["new", "new", "exact", "new"]


def test_pending_pages_are_found_when_they_are_kept(pages):
    text = text_of(random.Random(1))
    verdict = pages.claim("http://a.example/", text=text)
    assert pages.find(text=text) == []
    pages.commit(verdict)
    assert [each.url for each in pages.find(text=text)] == ["http://a.example/"]
    assert pages.find(text=text)[0].page == verdict.page


def test_released_and_forgotten_pages_are_not_found(pages):
    text = text_of(random.Random(1))
    pages.release(pages.claim("http://a.example/", text=text))
    assert pages.find(text=text) == []
    pages.see("http://a.example/", text=text)
    pages.forget("http://a.example/")
    assert pages.find(text=text) == []


def test_short_page_is_found_by_what_equals_it(pages):
    pages.see("http://a.example/", text="Photo: Reuters")
    near = pages.find(text="photo: REUTERS")
    assert [each[:3] for each in near] == [("http://a.example/", 0, 1.0)]
    assert pages.find(text="Photo: AP") == []


def test_page_that_cannot_be_judged_is_like_none(pages):
    pages.see("http://a.example/", text=text_of(random.Random(1)))
    assert pages.find(html=b"\x89PNG\r\n\x1a\n" + bytes(500)) == pages.find(text="...") == []


def test_scope_host_finds_pages_of_the_host(place):
    text = text_of(random.Random(2))
    with place.open(scope="host") as pages:
        for host in "ab":
            pages.see(f"http://{host}.example/", text=text)
        found = {host: pages.find(f"http://{host}.example/x", text=text) for host in "abc"}
    assert {host: [each.url for each in near] for host, near in found.items()} == {
        "a": ["http://a.example/"],
        "b": ["http://b.example/"],
        "c": [],
    }


@pytest.mark.parametrize(
    "given",
    [{}, {"fingerprint": 1, "text": "a"}, {"fingerprint": "1"}, {"text": "a", "html": "a"}],
)
def test_exactly_one_thing_is_asked_about(pages, given):
    with pytest.raises(TypeError):
        pages.find(**given)


def test_fingerprint_has_64_bits(pages):
    with pytest.raises(ValueError, match="18446744073709551616"):
        pages.find(fingerprint=2**64)


def test_similarity_of_two_recorded_pages(place, article):
    texts = [article(1, words=400), article(1, words=400) + article(2, words=100), article(3)]
    with place.open() as pages:
        one, more, other = (
            pages.see(f"http://a.example/{n}", text=text).page for n, text in enumerate(texts)
        )
        assert pages.conductor.similarity(one, one) == 1
        assert pages.conductor.similarity(one, more) == pages.conductor.similarity(more, one)
        assert 0.6 < pages.conductor.similarity(one, more) < 0.95
        assert pages.conductor.similarity(one, other) < 0.1
        claimed = pages.claim("http://a.example/4", text=article(4, words=400))
        assert pages.conductor.similarity(claimed.page, one) < 0.1
        pages.release(claimed)
        assert pages.conductor.similarity(claimed.page, one) is None
        assert pages.conductor.similarity(one, claimed.page) is None
