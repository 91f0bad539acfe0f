"""What the filter says of each kind of bad pages: on hosts of their own, on one host, all in one.

Seen too: the same pages as parsed trees.
"""

import pytest
from bad_pages import BY_SCRIPT, KINDS, SMALL, article
from gate import slow

from dedup_filter import NearDuplicateFilter
from dedup_filter.text.decode import parse


def one_page(kind, seed=1):
    return KINDS[kind].make(seed, 0)


def four_pages(kind):
    return [KINDS[kind].make(*page) for page in ((1, 0), (1, 0), (1, 2), (2, 0))]


def said(verdict):
    return verdict.reason or verdict.outcome


def seen(htmls, **options):
    """See pages on hosts of their own."""
    with NearDuplicateFilter.open(**options) as pages:
        verdicts = [pages.see(f"https://{n}.example/", html=html) for n, html in enumerate(htmls)]
        pages.check()
    return verdicts


@pytest.mark.parametrize(
    "kind",
    [kind if kind in SMALL else slow(kind) for kind in KINDS],
)
def test_pages_of_a_kind(kind):
    verdicts = seen(four_pages(kind))
    assert tuple(map(said, verdicts)) == KINDS[kind].said
    originals = {verdict.original for verdict in verdicts if verdict.is_duplicate}
    assert originals <= {"https://0.example/"}


@pytest.mark.parametrize("kind", SMALL)
def test_the_same_as_parsed_trees(kind):
    trees = [parse(page) for page in four_pages(kind) if isinstance(page, str)]
    verdicts = seen(tree for tree in trees if tree is not None)
    # A tree has no bytes to know it by.
    expected = ("by_script",) * 4 if KINDS[kind].said == BY_SCRIPT else KINDS[kind].said
    assert tuple(map(said, verdicts)) == expected[: len(verdicts)]


@pytest.mark.parametrize("earlier_pages", [slow(0), 4])
@pytest.mark.parametrize("kind", SMALL)
def test_on_one_host_a_page_repeats_its_own_versions_only(kind, earlier_pages):
    with NearDuplicateFilter.open() as pages:
        for seed in range(3, 3 + earlier_pages):
            assert not pages.see(
                f"https://a.example/{seed}", html=one_page(kind, seed)
            ).is_duplicate
        first, again, edited, other = (
            pages.see(f"https://a.example/page/{number}", html=html)
            for number, html in enumerate(four_pages(kind))
        )
        pages.check()
    assert not first.is_duplicate
    assert not other.is_duplicate
    assert again.outcome == ("exact" if "exact" in KINDS[kind].said else "unjudged")
    # Where every line is a block, an edited one is new on its host and found nowhere: kept.
    assert edited.original in (None, "https://a.example/page/0")


def test_no_kind_repeats_another():
    verdicts = seen(one_page(kind, seed) for seed, kind in enumerate(SMALL, start=10))
    assert [said(verdict) for verdict in verdicts] == [KINDS[kind].said[0] for kind in SMALL]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (one_page("chinese"), one_page("chinese").encode("gbk")),
        (one_page("chinese"), f"<meta charset=utf-8>{one_page('chinese')}".encode("gbk")),
        (one_page("chinese"), one_page("no such charset")),
        (article(1, 0), one_page("NUL characters")),
        (article(1, 0), one_page("three hundred levels")),
        (article(1, 0), article(1, 0).replace("</p>", "</p>" + "<div>" * 100_000)),
        (article(1, 0), one_page("xhtml")),
        (article(1, 0), one_page("xhtml").encode("utf-16")),
        (one_page("arabic"), one_page("arabic").replace(" ", "\u200f \u200e")),
        (one_page("arabic"), one_page("arabic").replace(" ", "\u2067 \u2069")),
        (one_page("script alone"), one_page("script alone").encode()),
    ],
    ids=lambda page: "",
)
def test_the_same_text_in_worse_condition_is_an_exact_repeat(one, other):
    first, again = seen([one, other])
    assert (first.is_duplicate, again.outcome) == (False, "exact")
