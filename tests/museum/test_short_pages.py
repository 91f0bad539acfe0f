"""A few short pages each that look alike and are not the same: none of them may be dropped."""

import pytest
from museum.frames import MENUS, legal, links, listed, table
from museum.language import PAYWALL, Writer

from dedup_filter import NearDuplicateFilter

COMMENTS = "".join(f"<p>{Writer(n).person()} says: {Writer(n).sentence()}</p>" for n in range(6))
EVENTS = [
    "The choir of the fishermen's church sings in the harbour hall on Friday at eight.",
    "On Saturday morning the allotment society gives away apple trees behind the station.",
    "A lecture on the lighthouses of the northern coast begins at six in the old library.",
    "Children under twelve can learn to sail on the reservoir during the first week of May.",
    "The night bus to the island will not stop at the mill until the bridge is painted.",
    "Two hundred runners are expected at the start of the town's first marathon for dogs.",
]
EVENTS_ZH = [
    "渔民合唱团星期五晚上八点在港口大厅演唱，门票可以在码头售票处购买。",
    "星期六上午，园艺协会在火车站后面免费赠送苹果树苗，每户限领两棵。",
    "关于北方海岸灯塔历史的讲座六点钟在老图书馆开始，欢迎市民参加。",
    "十二岁以下的儿童可以在五月的第一个星期到水库学习驾驶帆船。",
    "在大桥粉刷完毕之前，开往海岛的夜班公共汽车不在磨坊站停靠。",
    "预计将有两百名跑步爱好者参加本市第一届带狗马拉松比赛。",
]


def page(title: str, body: str, end: str = "", language: str = "en") -> str:
    notice = " ".join(legal(5, language))
    return f"""<html lang="{language}"><head><title>{title}</title></head><body>
        {links(MENUS[language][:6])}<div id="main">{body}</div>{end}<div id="end"><p>{notice}</p>
        </div></body></html>"""


def wall(times: int) -> str:
    """The same comments, several times."""
    return f'<div id="talk">{COMMENTS * times}</div>'


def gallery(captions: list[str]) -> str:
    figures = (f"<figure><img src=x><figcaption>{c}</figcaption></figure>" for c in captions)
    return page("Pictures", f"<p>{legal(3)[1]}</p>{''.join(figures)}")


def contents(kind: str) -> str:
    entries = (f'<a href="/{kind}/{n}">The {kind} number {n}</a>' for n in range(60))
    return page("Contents", f"<h1>Contents</h1><p>{PAYWALL}</p>{listed(*entries)}")


BACKWARDS = " ".join(word[::-1] for word in " ".join(EVENTS[3:] + EVENTS[2::-1]).split())
CONSENT = f'<div class="cookieConsent"><p>{PAYWALL}</p><button>Accept</button></div>'
NOT_FOUND = "<h1>Not found</h1><p>There is no page /{} on this site. It may have been moved.</p>"
SHELL = "<html><head><title>{}</title></head><body><div id=root>Loading …</div></body></html>"
PRODUCTS = ["oak table, 180 x 90 cm", "walnut chair with arms", "pine shelf for books"]
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
    "galleries": [gallery(some) for some in (EVENTS[:3], EVENTS[3:], EVENTS[1:5:2])],
    "teasers": [page(e[:20], f"<p>{e}</p><div class=wall><p>{PAYWALL}</p></div>") for e in EVENTS],
    "cookie walls": [page(e[:20], f"{CONSENT}<p>{e}</p>") for e in EVENTS],
    "built by scripts": [SHELL.format(f"Product {n}") for n in range(5)],
    "errors": [page("Error", NOT_FOUND.format(n)) for n in ("map", "tour", "shop")],
    "products": [
        page(name, f"<h1>{name}</h1>{table([('Price', 90 + n)])}<p>{PAYWALL}</p>")
        for n, name in enumerate(PRODUCTS)
    ],
}


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
    elsewhere = f"<nav>{links(MENUS['zh'])}</nav><main>{reports[5]}</main>"
    assert dropped([*pages, elsewhere], "aaaaaab") == [6]
