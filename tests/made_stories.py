"""Pages of made text for the rule of the comparison: stories, their markup, and crawls of them."""

import random
from collections.abc import Callable, Sequence
from functools import cache

from dedup_filter import NearDuplicateFilter, Verdict

GLUE = "the a of in on with and under near from this that is was has by for".split()
LETTERS = "bcdfghklmnprstvw"
SIGNS = (
    "港口委员会星期冬季保持开放过去五年里冰封住船渡轮农场饲料城市桥图书馆花园老师医生火车站山水风雨"
)
HEADS = {"en": "Old harbour closed by early winter ice", "zh": "老港口冬季被冰封住渡轮停航"}
HOST = "http://a.example/"


@cache
def paragraph(seed: object, words: int = 45, language: str = "en") -> str:
    """A paragraph whose phrases are in no other one."""
    chance = random.Random(f"{seed} {language}")
    if language == "zh":
        return "".join(chance.choices(SIGNS, k=2 * words)) + "的。"
    said = []
    for number in range(words):
        name = "".join(chance.choice(LETTERS) + chance.choice("aeiou") for _ in range(3))
        said.append(chance.choice(GLUE) if number % 3 else name)
    return " ".join(said) + "."


def story(seed: object, count: int = 4, language: str = "en") -> list[str]:
    return [paragraph(f"{seed}-{number}", 45, language) for number in range(count)]


def edited(text: str, count: int, seed: int = 0) -> str:
    """Change some words next to one another."""
    at = len(text.split()) // 2
    said = text.split()
    said[at : at + count] = [f"edited{seed}x{number}" for number in range(count)]
    return " ".join(said)


Markup = Callable[[Sequence[str]], str]
MARKUP: dict[str, Markup] = {
    "p": lambda texts: "".join(f"<p>{each}</p>" for each in texts),
    "div": lambda texts: "".join(f"<div>{each}</div>" for each in texts),
    "table": lambda texts: (
        f"<table>{''.join(f'<tr><td>{each}</td></tr>' for each in texts)}</table>"
    ),
    "dl": lambda texts: f"<dl>{''.join(f'<dt>{each}</dt>' for each in texts)}</dl>",
    "ul": lambda texts: f"<ul>{''.join(f'<li>{each}</li>' for each in texts)}</ul>",
    "br": lambda texts: f"<p>{'<br>'.join(texts)}</p>",
}
MENU = "".join(
    f'<li><a href="/s/{name}">{name} pages</a>' for name in "news sport town sea".split()
)
paragraphs = MARKUP["p"]


def teasers(seed: object, count: int = 8) -> str:
    """A list of links to other stories."""
    entries = (paragraph(f"{seed} teaser {number}", 7) for number in range(count))
    return (
        "<ul>"
        + "".join(f'<li><a href="/t/{each[:9]}">{each}</a></li>' for each in entries)
        + ("</ul>")
    )


def page(
    body: str, head: str = HEADS["en"], *, beside: str = "", menu: str = MENU, more: str = ""
) -> str:
    """A page whose text is in its `main` element; `more` stands in its head."""
    return (
        f"<html><head><title>{head}</title>{more}</head><body><nav><ul>{menu}</ul></nav>"
        f"<main><article><h1>{head}</h1>{body}</article></main>{beside}</body></html>"
    )


def plain(body: str, head: str = HEADS["en"]) -> str:
    """A page whose markup names neither its text nor its frame."""
    return (
        f"<html><head><title>{head}</title></head><body><ul>{MENU}</ul>"
        f"<div><h1>{head}</h1>{body}</div></body></html>"
    )


def others(make: Callable[..., str] = page, count: int = 3, end: str = "") -> list[str]:
    """Other pages of a host, after which its frame is known."""
    heads = [f"Other story {number} of the wide town" for number in range(count)]
    return [
        make(paragraphs(story(f"other {number}")) + end, head) for number, head in enumerate(heads)
    ]


def crawl(*seen: tuple[str, str], **options: object) -> list[Verdict]:
    """See pages, given by URL and markup."""
    with NearDuplicateFilter.open(**options) as pages:
        verdicts = [pages.see(url, html=html) for url, html in seen]
        pages.check()
    return verdicts


def second(
    first: str,
    then: str,
    *,
    known: bool = False,
    make: Callable[..., str] = page,
    urls: tuple[str, str] = (f"{HOST}harbour", f"{HOST}ice"),
    **options: object,
) -> str:
    """Return what is said of a page after another one: its outcome, and why it is no repeat."""
    before = [(f"{HOST}other-{name}", html) for name, html in zip("abc", others(make), strict=True)]
    verdict = crawl(*(before if known else ()), (urls[0], first), (urls[1], then), **options)[-1]
    refused = verdict.refused
    return refused.rule if refused else "repeats" if verdict.is_duplicate else verdict.outcome
