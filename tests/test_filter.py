"""The promises of `NearDuplicateFilter`, by their numbers in the head note of filter.py.

Pages that look alike and must be kept are in museum/, what cannot be judged in bad_pages.py.
"""

import random
from io import BytesIO

import pytest
from lxml import html as lxml_html
from site_pages import GLUE, NOUNS

from dedup_filter import NearDuplicateFilter, Verdict, fingerprint, hamming_distance
from dedup_filter.text.reading import MAX_PAGE_LENGTH


def article(seed, words=300):
    """A text of sentences: nouns of its own choice held together by stopwords."""
    generator = random.Random(seed)
    vocabulary = generator.sample(NOUNS, 20) + [f"name{generator.randrange(10**6)}"] * 3
    return " ".join(generator.choice(vocabulary if i % 2 else GLUE) for i in range(words))


def edited(text, seed, changes):
    words = text.split()
    generator = random.Random(seed)
    for place in generator.sample(range(len(words)), changes):
        words[place] = generator.choice(NOUNS)
    return " ".join(words)


def page(text, title="A title"):
    paragraphs = text.split(". ")
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><head><title>{title}</title></head><body><article>{body}</article></body></html>"


def test_1_the_first_page_is_new_and_its_repeats_name_it(pages):
    first = article(1)
    assert pages.see("u:1", text=first).outcome == "new"
    for number in range(2, 6):
        verdict = pages.see(f"u:{number}", text=edited(first, number, 5))
        assert (verdict.outcome, verdict.original) == ("near", "u:1")
        assert verdict.is_duplicate
        assert 0 <= verdict.distance <= pages.config.max_distance
        assert pages.config.min_similarity <= verdict.similarity <= 1.0
    assert len(pages) == 1


def test_2_without_confirmation_the_distance_alone_decides():
    first, other = article(3), edited(article(3), 9, 110)
    distance = hamming_distance(fingerprint(first), fingerprint(other))
    assert 0 < distance <= 12, "the example must be within reach"
    for options, outcome, candidates in (
        ({"max_distance": distance - 1, "min_similarity": None}, "new", 0),
        ({"max_distance": distance, "min_similarity": None}, "near", 1),
        ({}, "new", 1),  # looked at, and not similar enough
    ):
        with NearDuplicateFilter.open(**options) as pages:
            pages.see("u:1", text=first)
            verdict = pages.see("u:2", text=other)
            assert (verdict.outcome, verdict.candidates) == (outcome, candidates)
            assert verdict.distance == (distance if outcome == "near" else None)
            assert (verdict.language, verdict.shingles) == ("en", 298)


@pytest.mark.parametrize("text", ["Contact us by letter.", "Photo: a bridge in winter", "联系我们"])
def test_4_a_short_page_repeats_only_an_equal_one(pages, text):
    assert pages.see("u:1", text=text).reason == "too_short"
    assert pages.see("u:2", text=text + " now").reason == "too_short"
    verdict = pages.see("u:3", text=f"  {text.upper()}\n")
    assert (verdict.outcome, verdict.original) == ("exact", "u:1")
    assert (verdict.distance, verdict.similarity) == (0, 1.0)


STOPWORDS = "the of and to in that is it for on with as by at from but not or be are".split()


@pytest.mark.parametrize("options", [{}, {"min_similarity": None}])
def test_4_so_does_a_page_of_stopwords_alone(options):
    texts = [" ".join(STOPWORDS * 2), " ".join(STOPWORDS[::-1] * 3)]
    with NearDuplicateFilter.open(**options) as pages:
        for text in texts:
            verdict = pages.see("", text=text)
            assert (verdict.reason, verdict.fingerprint, verdict.candidates) == (
                "too_short",
                None,
                0,
            )
            assert [near.page for near in pages.find(text=text.upper())] == [verdict.page]
        assert pages.see("", text=texts[0].title()).original_page == 1
        pages.check()


@pytest.mark.parametrize("text", ["", " ... ", "the", " ".join(STOPWORDS), "的了 " * 20])
def test_a_text_without_a_feature_has_no_fingerprint(text):
    assert fingerprint(text) is None
    assert (fingerprint(text, features="words") is None) == (not any(map(str.isalnum, text)))


def test_4_short_pages_with_other_titles_are_other_pages(pages):
    assert pages.see("u:1", html=page("See the table.", "Rainfall")).reason == "too_short"
    assert pages.see("u:2", html=page("See the table.", "Snowfall")).reason == "too_short"
    assert pages.see("u:3", html=page("See the table.", "Snowfall")).original == "u:2"


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ({}, "either html or text"),
        ({"html": "a", "text": "b"}, "either html or text"),
        ({"html": 3}, "cannot be made of int"),
        ({"text": ["a"]}, "cannot be made of list"),
        ({"text": b"a"}, "cannot be made of bytes"),
        ({"url": None, "html": "a"}, "a URL is a str, not NoneType"),
        ({"html": "a", "content_type": b"text/html"}, "is a str, not bytes"),
    ],
)
def test_a_page_that_cannot_be_meant_is_a_type_error(page, why):
    for options in ({}, {"features": "shingles", "image_weight": 1}):
        with NearDuplicateFilter.open(**options) as pages:
            with pytest.raises(TypeError, match=why):
                pages.see(**{"url": "u:1", **page})
            assert len(pages) == 0


def test_a_verdict_is_neither_true_nor_false_and_is_shown_in_short(pages):
    pages.see("u:1", text=article(1))
    verdict = pages.see("u:2", text=article(1))
    with pytest.raises(TypeError, match=r"test verdict\.is_duplicate"):
        bool(verdict)
    assert repr(Verdict("near", "u:1", distance=3)) == "Verdict('near', original='u:1', distance=3)"
    assert eval(repr(verdict)) == verdict


def test_other_arguments_that_cannot_be_meant(pages):
    with pytest.raises(TypeError, match="a URL is a str"):
        pages.forget(None)


def test_the_frame_that_a_page_consists_of_does_not_count_as_its_words(pages, article):
    """The same long terms on each page; from the third on they are known as frame."""
    terms = "".join(f"<p>{article(seed, words=90)}</p>" for seed in range(9))
    counts = []
    for number in range(5):
        html = (
            f"<html><body><h1>No. {number}</h1><p>{article(100 + number)}</p>{terms}</body></html>"
        )
        verdict = pages.see(f"https://example.com/{number}", html=html)
        assert verdict.outcome == "new"
        counts.append(verdict.words)
    assert counts == [9 * 90 + 155] * 2 + [155] * 3


def test_ten_megabytes_of_one_word_are_too_large_and_two_are_judged(pages):
    assert pages.see("u:1", text="word " * 2_000_000).reason == "too_large"
    assert pages.see("u:2", html="<p>" + "word " * 2_000_000).reason == "too_large"
    assert pages.see("u:3", html=page(article(1), "长" * 3_000_000)).reason == "too_large"
    assert pages.see("u:4", text="harbour " * 200_000).outcome == "new"
    assert pages.see("u:5", html="x" * (MAX_PAGE_LENGTH + 1)).reason == "too_large"


def test_str_bytes_tree_and_text_of_one_page_are_one_page(pages):
    html = page(article(7))
    tree, document = lxml_html.document_fromstring(html), lxml_html.parse(BytesIO(html.encode()))
    assert pages.see("u:str", html=html).outcome == "new"
    for same in (html.encode(), html.encode("utf-16"), tree, document):
        assert pages.see("u:same", html=same).original == "u:str"
    assert pages.see("u:text", text=article(7)).original == "u:str"


MENU = "".join(f'<li><a href="/{n}">{n} and more</a></li>' for n in NOUNS[:12])
NOTICE = article(99, 40)
OTHER_NOTICE = article(98, 40)


def framed(text, extra="", notice=NOTICE):
    """A page of a site: a menu, a list of headlines, an article, a notice."""
    return f"""<html><head><title>A title</title></head><body><ul>{MENU}</ul><div>{extra}
        <p>{text}</p></div><div><p>{notice}</p></div></body></html>"""


def see_all(pages, host, seeds, **options):
    return [
        pages.see(f"https://{host}/{seed}", html=framed(article(seed, 120), **options))
        for seed in seeds
    ]


class TestFrames:
    def test_a_short_text_in_two_heavy_frames_is_found(self, pages):
        see_all(pages, "a.example", range(20, 25))
        see_all(pages, "b.example", range(30, 35), notice=OTHER_NOTICE)
        pages.see("https://a.example/1", html=framed(article(1, 70)))
        copy = framed(article(1, 70), notice=OTHER_NOTICE)
        assert pages.see("https://b.example/1", html=copy).original == "https://a.example/1"

    def test_the_first_page_of_a_host_is_found_when_its_front_page_shows_it_in_full(self, pages):
        posts = [article(seed, 120) for seed in range(20, 26)]
        pages.see("https://a.example/0", html=page(posts[0]))
        assert pages.see("https://a.example/", html=page(". ".join(posts))).outcome == "new"
        copy = pages.see("https://mirror.example/", html=page(posts[0]))
        assert copy.original == "https://a.example/0"
        see_all(pages, "a.example", range(30, 33))
        again = pages.see("https://other.example/", html=page(posts[0]))
        assert again.original == "https://a.example/0"

    def test_the_frame_of_a_mirror_is_learnt_although_all_its_pages_are_dropped(self, pages):
        see_all(pages, "a.example", range(20, 30))
        # Not those that were the first of their host: what they are about may be its frame yet.
        verdicts = see_all(pages, "mirror.example", range(22, 30), notice=OTHER_NOTICE)
        assert all(verdict.is_duplicate for verdict in verdicts[1:])
        new = framed(article(50, 70), notice=OTHER_NOTICE)
        assert pages.see("https://mirror.example/new", html=new).shingles == 68

    @pytest.mark.parametrize(
        ("learns", "kind", "shingles"), [(1, "html", 68), (0, "html", 108), (1, "text", 108)]
    )
    def test_are_learnt_from_pages_of_the_host_where_that_is_asked_for(
        self, learns, kind, shingles
    ):
        with NearDuplicateFilter.open(learn_frames=bool(learns)) as pages:
            for seed in range(5):
                page = framed(article(seed, 200)) if kind == "html" else f"{NOTICE} {article(seed)}"
                pages.see(f"https://a.example/{seed}", **{kind: page})
            found = pages.see("https://a.example/x", html=framed(article(9, 70)))
            pages.check()
        assert found.shingles == shingles

    @pytest.mark.parametrize("url", ["", "u:1", "http://[1/", "//", "http://", "\ud800", "页面"])
    def test_urls_without_a_host_are_judged_without_a_frame(self, pages, url):
        for _ in range(2):
            pages.see("https://a.example/1", html=framed(article(1)))
            assert pages.see(url, html=framed(article(2))).outcome in ("new", "exact")
        assert len(pages) == 2


def picture_page(images, title="A title", heading="A heading", words=150):
    shown = "".join(f'<img src="{image}">' for image in images)
    return f"""<html><head><title>{title}</title></head><body><ul>{MENU}</ul><div>
        <h1>{heading}</h1>{shown}<p>{article(1, words)}</p></div>
        <div><p>{NOTICE}</p></div></body>"""


FIRST = (["a.jpg", "b.jpg"], "Ice closes the harbour again", "The ferry waits for spring")
OTHER = {
    "image_weight": (["c.jpg", "d.jpg"], *FIRST[1:]),
    "title_weight": (FIRST[0], "Children learn to sail on a lake", FIRST[2]),
    "heading_weight": (*FIRST[:2], "Apple trees behind our station"),
}


class TestWeightsOfParts:
    @pytest.mark.parametrize("pages_of_host", [0, 4])
    @pytest.mark.parametrize("name", OTHER)
    def test_only_a_part_with_weight_tells_pages_with_one_text_apart(self, name, pages_of_host):
        text = article(1, 150)
        other = picture_page(*OTHER[name]).replace(text, edited(text, 1, 1))
        rest = {weight: 200 for weight in OTHER if weight not in (name, "image_weight")}
        for weights, outcome in ((rest, "near"), ({**rest, name: 200}, "new")):
            options = {"features": "shingles", "min_similarity": None, **weights}
            with NearDuplicateFilter.open(**options) as pages:
                see_all(pages, "a.example", range(20, 20 + pages_of_host))
                see_all(pages, "b.example", range(30, 30 + pages_of_host))
                pages.see("https://a.example/x/1", html=picture_page(*FIRST))
                assert pages.see("https://b.example/x/1", html=other).outcome == outcome
                pages.check()
