"""Pages that look alike and are not the same: none of them may be dropped."""

from dedup_filter import NearDuplicateFilter

MENU = "".join(
    f'<li><a href="/{n}">{n.title()}</a></li>' for n in "news sport arts weather jobs".split()
)
MENU_ZH = "".join(
    f'<li><a href="/{n}">{n}</a></li>' for n in "首页 新闻 体育 财经 科技 娱乐".split()
)
LEGAL = """All content of this site is protected by copyright. No part of it may be reproduced or
sent on in any form without the written permission of the publisher, except for short quotations
with a link to the page they are from. The publisher takes no responsibility for what is said on
the sites that are linked from here. Complaints are answered within ten working days by the
editor, whose decision may be taken to the press council of the county."""
LEGAL_ZH = """本网站所刊载的全部内容，包括文字、图片、音频和视频，其版权均属于本公司所有。
未经本公司书面授权，任何单位和个人不得以任何方式转载、复制或者用于商业用途。凡注明来源为其他媒体的作品，均转载自其他媒体，
转载目的在于传递更多信息，并不代表本网站赞同其观点和对其真实性负责。
如因作品内容、版权和其他问题需要同我们联系，
请在三十日内与编辑部联系，我们将在收到通知以后的七个工作日之内予以答复并且作出处理。"""
PAYWALL = """You have read your three free articles this month. To go on reading, choose the
subscription that suits you: the whole newspaper every morning on all your devices for nine pounds
a month, or the weekend edition with the crossword and the magazine for four. You can cancel at
any time, and students pay half. If you already take the printed paper, reading here is free: you
only have to tell us the number on your last bill."""
COMMENTS = "".join(
    f"<p>{name} says: {text}</p>"
    for name, text in [
        ("Anna", "I have waited for this since the spring, and it was well worth it, thank you."),
        ("Ben", "Could somebody tell me whether the ferry runs on the second Sunday as well?"),
        ("Carla", "The same was said about the bridge ten years ago and look where we are now."),
        ("David", "My grandmother sold fish there when the old market was still under the arches."),
        ("Elif", "Not a word about the people who live above the shops and cannot sleep at night."),
        (
            "Frank",
            "Well written as always, although the map shows the harbour the wrong way round.",
        ),
    ]
)
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


def english(title: str, body: str, end: str = "") -> str:
    return f"""<html lang="en"><head><title>{title}</title></head><body><ul>{MENU}</ul>
        <div id="main">{body}</div>{end}<div id="end"><p>{LEGAL}</p></div></body></html>"""


def chinese(title: str, body: str) -> str:
    return f"""<html lang="zh"><head><title>{title}</title></head><body><ul>{MENU_ZH}</ul>
        <div id="main">{body}</div><div id="end"><p>{LEGAL_ZH}</p></div></body></html>"""


def dropped(*pages: str, hosts: tuple[str, ...] = ("a.example",)) -> list[int]:
    """Show the pages to a filter, hosts in turn; give the numbers of those it would drop."""
    with NearDuplicateFilter.open() as known:
        verdicts = [
            known.see(f"https://{hosts[number % len(hosts)]}/{number}", html=page)
            for number, page in enumerate(pages)
        ]
        known.check()
    return [number for number, verdict in enumerate(verdicts) if verdict.is_duplicate]


def test_short_texts_above_the_same_legal_notice():
    assert dropped(*(english(f"Event {n}", f"<p>{e}</p>") for n, e in enumerate(EVENTS))) == []


def test_short_chinese_texts_above_the_same_legal_notice():
    assert dropped(*(chinese(f"活动{n}", f"<p>{e}</p>") for n, e in enumerate(EVENTS_ZH))) == []


def test_short_texts_with_the_same_title():
    assert dropped(*(english("Events", f"<p>{event}</p>") for event in EVENTS)) == []


def test_first_pages_of_several_hosts_with_the_same_legal_notice():
    texts = [EVENTS[:3], EVENTS[3:], [EVENTS_ZH[0], *EVENTS[::-2]]]
    pages = [english("Events", f"<p>{' '.join(text)}</p>") for text in texts]
    assert dropped(*pages, hosts=("a.example", "b.example", "c.example")) == []


def test_short_articles_under_the_same_wall_of_comments():
    walls = [f'<div id="talk">{COMMENTS}{COMMENTS}</div>' for _ in EVENTS]
    pages = [english("News", f"<p>{e}</p>", wall) for e, wall in zip(EVENTS, walls, strict=True)]
    assert dropped(*pages) == []


def test_articles_long_enough_to_be_judged_under_the_same_wall_of_comments():
    texts = [" ".join(EVENTS[n:] + EVENTS[:n][::-1]) for n in (0, 3)]
    texts = [texts[0], " ".join(word[::-1] for word in texts[1].split())]
    wall = f'<div id="talk">{COMMENTS}{COMMENTS}{COMMENTS}</div>'
    assert dropped(*(english("News", f"<p>{text}</p>", wall) for text in texts)) == []


def test_galleries_with_the_same_introduction():
    captions = [EVENTS[:3], EVENTS[3:], EVENTS[1:5:2]]
    pages = [
        english(
            "Pictures",
            f"<p>{LEGAL[:200]}</p>"
            + "".join(f"<figure><img src=x><figcaption>{c}</figcaption></figure>" for c in some),
        )
        for some in captions
    ]
    assert dropped(*pages) == []


def test_paywalled_articles_with_their_own_teasers():
    pages = [english(e[:20], f"<p>{e}</p><div class=wall><p>{PAYWALL}</p></div>") for e in EVENTS]
    assert dropped(*pages) == []


def test_cookie_walls_in_front_of_short_pages():
    consent = f'<div class="cookieConsent"><p>{PAYWALL}</p><button>Accept</button></div>'
    assert dropped(*(english(e[:20], f"{consent}<p>{e}</p>") for e in EVENTS)) == []


def test_pages_built_by_scripts_that_have_their_own_titles():
    shell = "<html><head><title>{}</title></head><body><div id=root>Loading …</div></body></html>"
    assert dropped(*(shell.format(f"Product {n}") for n in range(5))) == []


def test_error_pages_that_name_what_was_not_found():
    text = "<h1>Not found</h1><p>There is no page /{} on this site. It may have been moved.</p>"
    assert dropped(*(english("Error", text.format(n)) for n in ("map", "tour", "shop"))) == []


def test_product_pages_with_the_same_delivery_terms():
    products = ["oak table, 180 x 90 cm", "walnut chair with arms", "pine shelf for books"]
    prices = "<table><tr><td>Price</td><td>{}</td></tr></table>"
    pages = [
        english(product, f"<h1>{product}</h1>{prices.format(90 + n)}<p>{PAYWALL}</p>")
        for n, product in enumerate(products)
    ]
    assert dropped(*pages) == []


def index_page(kind: str, introduction: str) -> str:
    links = "".join(f'<li><a href="/{kind}/{n}">The {kind} number {n}</a></li>' for n in range(60))
    return english("Contents", f"<h1>Contents</h1><p>{introduction}</p><ul>{links}</ul>")


def test_tables_of_contents_with_the_same_introduction():
    known_hosts = [english(event[:20], f"<p>{event}</p>") for event in EVENTS]
    indexes = [index_page("ship", PAYWALL), index_page("bridge", PAYWALL)]
    assert dropped(*known_hosts, *indexes, hosts=("a.example", "b.example")) == []


def test_what_is_the_same_is_still_found_among_them():
    reports = [
        f"<h1>{e}</h1><p>{e}</p><p>{' '.join(EVENTS[: n + 1])}</p>" for n, e in enumerate(EVENTS)
    ]
    pages = [english(f"Report {n}", report) for n, report in enumerate(reports)]
    elsewhere = f"<nav><ul>{MENU_ZH}</ul></nav><main>{reports[5]}</main>"
    assert dropped(*pages, elsewhere, hosts=("a.example",) * 6 + ("b.example",)) == [6]
