"""Pages without a URL are judged as pages of one host; those with a key as pages of any host."""

import random

import pytest
from gate import slow
from made_text import prose
from site_pages import MENU, framed

from dedup_filter import NearDuplicateFilter

NOTICE = prose("notice", words=90)
RECORDS = [
    f"<h1>Staff</h1><dl><dt>Name<dd>{name}<dt>Room<dd>B {n}</dl>"
    for n, name in enumerate("Anna Jonas Maria Peter Laura Felix".split())
]
"""The frame of a staff directory, with a person in each."""


def record(number):
    return framed(NOTICE).replace("<article>", f"{RECORDS[number]}<article>")


def outcomes(pages, url):
    return [pages.see(url.format(n), html=record(n)).outcome for n in range(len(RECORDS))]


def test_pages_of_one_template_are_told_apart(pages):
    assert outcomes(pages, "") == ["new"] * len(RECORDS)


def with_line(number):
    """A long article with another line below; on one host each is another page."""
    return framed(prose("article", words=300) + f"<p>Line {number} of its own.</p>")


def test_a_key_that_is_no_url_is_of_no_host(pages):
    shown = [with_line(number).replace(MENU, "") for number in range(3)]
    found = [pages.see(f"doc-{number}", html=html).outcome for number, html in enumerate(shown)]
    assert found == ["new", "near", "near"]


def test_to_pages_of_hosts_they_are_of_the_same_site_by_their_menus_alone(pages):
    assert pages.see("https://www.example.com/0", html=with_line(0)).outcome == "new"
    assert pages.see("", html=with_line(1)).outcome == "new"
    assert pages.see("", html=with_line(2).replace(MENU, "")).outcome in ("near", "new")


@pytest.mark.parametrize(
    "options",
    [
        {},
        *(slow(options) for options in ({"scope": "host"}, {"learn_frames": False})),
    ],
)
def test_verdicts_are_those_on_pages_of_one_host(options):
    """Articles in a frame, some edited, with another line or headline, or again as they were."""
    draw = random.Random(5)
    crawl = []
    for number in range(60):
        text = prose(number % 14, edits=draw.randrange(4))
        more = draw.choice([NOTICE, "", f"Line {number} of its own, of a few words"])
        headline = f"<h1>Story {draw.choice([number, number % 14])}</h1>"
        crawl.append(framed(f"{headline}{text}", more) if draw.random() < 0.8 else text)

    def verdicts(url_of):
        with NearDuplicateFilter.open(**options) as pages:
            found = [pages.see(url_of(n), html=page) for n, page in enumerate(crawl)]
        return [(each.outcome, each.original_page, each.similarity) for each in found]

    wanted = verdicts(lambda n: f"https://one.example/{chr(97 + n // 26)}{chr(97 + n % 26)}")
    assert verdicts(lambda n: "") == wanted
    assert {outcome for outcome, *_ in wanted} == {"new", "near", "exact"}
