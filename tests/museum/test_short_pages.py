"""A few short pages each that look alike and are not the same: none of them may be dropped."""

import pytest
from museum.frames import legal, links, listed
from museum.language import TEXTS, Writer

from dedup_filter import NearDuplicateFilter

COMMENTS = "".join(f"<p>{Writer(n).person()} says: {Writer(n).sentence()}</p>" for n in range(6))
EVENTS, EVENTS_ZH = TEXTS.EVENTS["en"], TEXTS.EVENTS["zh"]


def page(title: str, body: str, end: str = "", language: str = "en") -> str:
    notice = " ".join(legal(5, language))
    return f"""<html lang="{language}"><head><title>{title}</title></head><body>
        {links(TEXTS.MENUS[language][:6])}<div id="main">{body}</div>{end}
        <div id="end"><p>{notice}</p></div></body></html>"""


def wall(times: int) -> str:
    """The same comments, several times."""
    return f'<div id="talk">{COMMENTS * times}</div>'


def contents(kind: str) -> str:
    entries = (f'<a href="/{kind}/{n}">The {kind} number {n}</a>' for n in range(60))
    return page("Contents", f"<h1>Contents</h1><p>{TEXTS.PAYWALL}</p>{listed(*entries)}")


BACKWARDS = " ".join(word[::-1] for word in " ".join(EVENTS[3:] + EVENTS[2::-1]).split())
KNOWN = [page(event[:20], f"<p>{event}</p>") for event in EVENTS]
ON_ONE_HOST = {
    "short texts": [page(f"Event {n}", f"<p>{e}</p>") for n, e in enumerate(EVENTS)],
    "short Chinese texts": [
        page(f"活动{n}", f"<p>{e}</p>", language="zh") for n, e in enumerate(EVENTS_ZH)
    ],
    "one title": [page("Events", f"<p>{event}</p>") for event in EVENTS],
    "short articles above comments": [page("News", f"<p>{e}</p>", wall(2)) for e in EVENTS],
    "articles long enough to be judged above comments": [
        page("News", f"<p>{text}</p>", wall(3)) for text in (" ".join(EVENTS), BACKWARDS)
    ],
}


NOTES = f"<p>{TEXTS.EVENTS['en'][0]} {TEXTS.EVENTS['en'][1]} {TEXTS.EVENTS['en'][2]}</p>"
SHOWN = {
    "signs of numbers": ["<p>5 °C</p>", "<p>−5 °C</p>"],
    "ticks and crosses": ["<p>Wifi ✓</p>", "<p>Wifi ✗</p>"],
    "lines by breaks": ["<p>Room 4<br>Anna</p>", "<p>Room 5<br>Anna</p>"],
    "text of a field": ["<textarea>Two herons.</textarea>", "<textarea>A soup pot.</textarea>"],
    "text of a drawing": ["<svg><text>North</text></svg>", "<svg><text>South</text></svg>"],
    "an inner frame": [
        '<iframe srcdoc="&lt;p&gt;Two herons."></iframe>',
        '<iframe srcdoc="&lt;p&gt;A soup pot."></iframe>',
    ],
}
"""What a reader sees of pages that say nothing else of their own."""
NOTED = {
    "options": ["<select><option>Oak</select>", "<select><option>Ash</select>"],
    "alternatives of pictures": ['<img src="/1" alt="Oak">', '<img src="/1" alt="Ash">'],
}
NOT_FOUND = "<p>We are sorry: the page {} is not on this site. {}</p>".format


def dropped(pages: list[str], hosts: str = "a") -> list[int]:
    """Show the pages to a filter, hosts in turn; give the numbers of those it would drop."""
    with NearDuplicateFilter.open() as known:
        verdicts = [
            known.see(f"https://{hosts[number % len(hosts)]}.example/{number}", html=page)
            for number, page in enumerate(pages)
        ]
        known.check()
    return [number for number, verdict in enumerate(verdicts) if verdict.is_duplicate]


@pytest.mark.parametrize("pages", ON_ONE_HOST.values(), ids=ON_ONE_HOST)
def test_pages_of_one_host(pages):
    assert dropped(pages) == []


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_pages_of_one_host_that_show_something_else(shown):
    assert dropped([page("Notes", f"<h1>Notes</h1>{NOTES}{each}") for each in shown]) == []


@pytest.mark.parametrize("noted", NOTED.values(), ids=NOTED)
def test_pages_that_differ_in_what_is_beside_their_text_are_not_equal(pages, noted):
    """Beside one text it is no reason to keep a page, but the verdict tells."""
    one, other = (page("Notes", f"<h1>Notes</h1>{NOTES}{each}") for each in noted)
    shown = [one, other, one]
    found = [pages.see(f"https://a.example/{n}", html=each) for n, each in enumerate(shown)]
    assert [each.outcome for each in found] == ["new", "near", "exact"]


def test_a_message_that_repeats_the_path_asked_for_is_one_page():
    paths = ["/area/1", "/shop/bench", "/wp-login.php"]
    shown = [NOT_FOUND(path, TEXTS.PAYWALL) for path in paths]
    assert dropped([page("Not found", f"<h1>Not found</h1>{each}") for each in shown]) == [1, 2]


def test_first_pages_of_several_hosts_with_the_same_legal_notice():
    texts = [EVENTS[:3], EVENTS[3:], [EVENTS_ZH[0], *EVENTS[::-2]]]
    assert dropped([page("Events", f"<p>{' '.join(text)}</p>") for text in texts], "abc") == []


def test_tables_of_contents_of_two_hosts_with_the_same_introduction():
    assert dropped([*KNOWN, contents("ship"), contents("bridge")], "ab") == []


def test_what_is_the_same_is_still_found_among_them():
    reports = [
        f"<h1>{e}</h1><p>{e}</p><p>{' '.join(EVENTS[: n + 1])}</p>" for n, e in enumerate(EVENTS)
    ]
    pages = [page(f"Report {n}", report) for n, report in enumerate(reports)]
    elsewhere = f"<nav>{links(TEXTS.MENUS['zh'])}</nav><main>{reports[5]}</main>"
    assert dropped([*pages, elsewhere], "aaaaaab") == [6]
