"""A crawl that believes canonical links: parts of a page are dropped for it, and nothing else."""

import json

import pytest


@pytest.fixture
def pages(site, article):
    """Serve an article on one page and on three, and a site that names its front page on all."""

    def add(path, numbers, canonical=None, headline="Harbour", header=None):
        link = "" if canonical is None else f'<link rel="canonical" href="{canonical}">'
        text = "".join(f"<p>{article(number, words=60)}</p>" for number in numbers)
        page = f"<html><head><title>{headline}</title>{link}</head><body><h1>{headline}</h1>{text}"
        site.add(path, page)
        if header is not None:
            site.pages[path][1]["Link"] = f"<{header}>; rel=canonical"

    add("/whole", range(9))
    add("/part/1", range(3), "/whole")
    add("/part/2", range(3, 6), f"{site.url}/whole")
    add("/part/3", range(6, 9), header="/whole")
    add("/extra", [0, 1, 2, 99], "/whole")
    add("/", range(100, 106), "/", headline="Front page")
    for number in range(8):
        add(f"/news/{number}", range(200 + 5 * number, 204 + 5 * number), "/", headline="News")
    return list(site.pages)


def test_parts_are_dropped_for_the_page_that_they_name(project, site, pages):
    project.spider(in_turn=True)
    settings = {"DEDUP_WORKERS": 1, "DEDUP_DUPLICATES": "dropped.jsonl"}
    crawl = project.crawl_well(*site.urls(*pages), DEDUP_CANONICAL="True", **settings)

    parts = {f"{site.url}/part/{number}" for number in (1, 2, 3)}
    assert set(crawl.urls) == {*site.urls(*pages)} - parts
    assert (crawl.stats["dedup/canonical"], crawl.stats["dedup/near"]) == (3, 3)
    lines = (project.folder / "dropped.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert {each["url"] for each in told} == parts
    assert {(each["original"], each["reason"]) for each in told} == {
        (f"{site.url}/whole", "canonical")
    }
    assert min(each["distance"] for each in told) > 12
    assert len(crawl.lines("% similar, canonical): ")) == 3
