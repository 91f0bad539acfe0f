"""The edits of `benchmarks/real_pages.py` do to a page what they are named after."""

import gzip
import json
import re

import pytest
from lxml import html
from made_text import prose
from real_page_sets import Editable, RealPage, editable, plain, read_set
from real_pages import EDITS, others_of, retitled, shelled, variants, whole_set

LINKS = 6


def headline(number):
    return " ".join(prose(f"headline {number}", words=18).split()[:11])


def paragraphs(number):
    return [prose(f"{number} {n}", words=40) for n in range(6)]


def markup(number, said=None):
    links = "".join(f"<li><a href=/{n}>{headline(f'{number} {n}')}</a></li>" for n in range(LINKS))
    body = "".join(f"<p class=t>{each}</p>" for each in said or paragraphs(number))
    title = headline(number)
    return (
        f"<html><head><title>{title} - Site {number}</title>"
        f'<link rel="canonical" href="/{number}"><script>var page = "{title}"</script></head>'
        f"<body><nav><a href=/>Home</a></nav><div><h1><span>{title}</span></h1>"
        f"<div><b>{number} comments</b></div><article>{body}</article></div>"
        f"<ul>{links}</ul><footer>All rights of site {number} are reserved.</footer></body></html>"
    )


def real(number, said=None):
    text = "\n\n".join(said or paragraphs(number))
    url = f"https://host{number}.example/page"
    return RealPage(f"page{number}", url, markup(number, said).encode(), text)


def seen(page):
    tree = html.fromstring(page)
    for element in tree.xpath("//script|//title"):
        element.drop_tree()
    return re.sub(r"\s+", " ", " ".join(tree.itertext()))


@pytest.fixture(scope="module")
def pages():
    return [editable(real(number)) for number in range(8)]


def test_article_and_headline_of_a_page_are_found(pages):
    for number, page in enumerate(pages):
        assert page.headline == headline(number)
        assert page.paragraphs == paragraphs(number)
        assert b"canonical" not in page.draft().markup()
        assert seen(page.draft().markup()) == seen(markup(number))


def test_pages_of_which_something_is_not_found_are_left_out():
    whole = real(1)
    assert editable(whole._replace(text=prose("another", words=300))) == "article not found"
    assert editable(whole._replace(text="too little")) == "short article"
    assert editable(whole._replace(body=b"")) == "no page"
    bare = re.sub(rb"<h1>.*?</h1>", b"", whole.body)
    assert editable(whole._replace(body=bare)) == "no headline"


def test_an_article_in_the_page_of_another_leaves_nothing_of_that_one_but_its_frame(pages):
    one, other = pages[:2]
    made = shelled(other, one.headline, one.paragraphs)
    text = seen(made)
    assert all(each in text for each in one.paragraphs)
    assert not any(each in text for each in (*other.paragraphs, other.headline))
    assert "All rights of site 1 are reserved." in text
    assert text.count(headline("1 0")) == 1
    assert one.headline in html.fromstring(made).findtext(".//title")
    assert b"script" not in made
    assert b"data-benchmark" not in made


def test_what_stands_over_a_copy_elsewhere_is_of_the_article(pages):
    for page in pages:
        assert retitled(page) != page.headline
        assert plain(retitled(page)) in plain(page.text)


@pytest.mark.parametrize("name", EDITS)
def test_edits_change_what_they_are_named_after_and_nothing_else(pages, name):
    page, others = pages[0], others_of(pages, 0)
    before = seen(page.draft().markup()).split()
    draft = page.draft()
    assert EDITS[name](draft, others, page)
    made = draft.markup()
    text = seen(made)
    after = text.split()
    kept = [each for each in page.paragraphs if each in text]
    assert len(kept) == len(page.paragraphs) - (name == "paragraph less")
    if name == "unchanged":
        assert after == before
    elif name == "number beside":
        differing = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        assert differing == [("0", "1")]
    elif name == "other headlines beside":
        assert not any(headline(f"0 {n}") in text for n in range(LINKS))
        assert sum(each in text for each in others.headlines) >= LINKS / 2
    elif name == "paragraph less":
        assert len(before) - len(after) in range(30, 60)
    elif name == "paragraph more":
        assert others.passage in text
        assert len(after) - len(before) == len(others.passage.split()) >= 30
    else:
        assert len(after) > len(before)
        assert (b"<div hidden>" in made) == (name == "hidden block")


def test_others_are_of_other_hosts_and_differ(pages):
    others = others_of(pages, 3)
    chosen = [pages[3], others.shell, *others.known]
    assert len({each.host for each in chosen}) == len(chosen) == 6


def test_only_a_paragraph_more_makes_another_page(pages):
    made = list(variants(pages[0], others_of(pages, 0)))
    assert {each.name for each in made if not each.is_copy} == {"paragraph more"}
    assert {each.table for each in made} == {"alone", "another shell", "same host", "mirror"}
    assert {each.name for each in made if each.table == "mirror"} == set(EDITS)


def test_pages_with_equal_articles_are_copies_in_the_crawl_of_a_whole_set():
    half = paragraphs(0)[:4] + paragraphs(9)[:2]
    given = [real(0), real(1), real(2, [*paragraphs(0)[:-1], "It ends."]), real(3, half)]
    again = real(4)._replace(url=f"{given[1].url}/")
    fetches = list(whole_set([*given, again]))
    assert [each.says for each in fetches] == ["page0", "page1", "page0", "page3", "page1"]
    rows = [each.groups[0][1] for each in fetches]
    assert rows == ["pages"] * 3 + ["pages half like an earlier one", "fetched again"]
    assert len({each.url for each in fetches}) == len(fetches)


def test_sets_of_all_forms_are_read(tmp_path):
    page = real(0)
    (tmp_path / "a" / "html").mkdir(parents=True)
    (tmp_path / "a" / "html" / "page0.html.gz").write_bytes(gzip.compress(page.body))
    facts = {"page0": {"articleBody": page.text, "url": page.url}}
    (tmp_path / "a" / "ground-truth.json").write_text(json.dumps(facts))
    for folder in ("html", "ground-truth"):
        (tmp_path / "b" / folder).mkdir(parents=True)
    (tmp_path / "b" / "html" / "page0.html.gz").write_bytes(gzip.compress(page.body))
    said = {"url": page.url, "ground_truth": {"title": headline(0), "main_content": page.text}}
    (tmp_path / "b" / "ground-truth" / "page0.json").write_text(json.dumps(said))
    for folder in ("html", "text"):
        (tmp_path / "c" / folder).mkdir(parents=True)
    (tmp_path / "c" / "html" / "page0.html").write_bytes(page.body)
    (tmp_path / "c" / "text" / "page0.txt").write_text(page.text)
    (tmp_path / "d" / "page0").mkdir(parents=True)
    (tmp_path / "d" / "page0" / "source.html").write_bytes(page.body)
    body = "".join(f"<p>{each}</p>" for each in paragraphs(0))
    (tmp_path / "d" / "page0" / "expected.html").write_text(f"<div>{body}</div>")
    (tmp_path / "d" / "page0" / "expected-metadata.json").write_text('{"title": null}')
    for name in "abcd":
        (read,) = read_set(tmp_path / name)
        found = editable(read)
        assert isinstance(found, Editable)
        assert found.paragraphs == paragraphs(0)
    assert read_set(tmp_path) == []
