"""Labelled streams of documents and pages, made of the demo site's own articles and frames.

Every article comes in versions that are edited more and more: sentences are left out, or
replaced by sentences of other articles. The truth is computed by code that shares nothing
with the library: the Jaccard similarity of the sets of runs of four words (five characters
in Chinese). Edits come from a fixed seed.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

SITE = Path(__file__).parent.parent / "crawler" / "demo_site"
EDITED = (0.0, 0.0, 0.02, 0.03, 0.05, 0.05, 0.07, 0.1, 0.1, 0.15, 0.2, 0.3, 0.4, 0.7)
"""Share of sentences that are edited, version by version."""
FRAMES = {
    "en": ("newspaper", "gazette", "blog", "print"),
    "zh": ("portal-zh", "table-zh", "corridor-zh", "forum-zh"),
    "zh-hant": ("portal-zh", "corridor-zh", "forum-zh"),
}
DUPLICATE, DIFFERENT = 0.8, 0.4
_SENTENCE = re.compile(r"[^.!?。!?]+[.!?。!?]+[”」\"']*\s*")


@dataclass(frozen=True)
class Document:
    """A version of an article."""

    url: str
    text: str
    html: str
    grams: frozenset[str | tuple[str, ...]]


def documents(language: str, seed: int = 1) -> list[Document]:
    """Return all versions of all articles of a language, shuffled."""
    generator = random.Random(seed)
    articles = {file.stem: _read(file) for file in sorted((SITE / "articles" / language).glob("*"))}
    made = [
        document for name in articles for document in _versions(name, articles, language, generator)
    ]
    generator.shuffle(made)
    return made


def jaccard(one: Document, other: Document) -> float:
    """Return the exact similarity of two documents' texts."""
    return len(one.grams & other.grams) / len(one.grams | other.grams)


def _read(file: Path) -> tuple[str, list[str]]:
    header, *paragraphs = file.read_text(encoding="utf-8").strip().split("\n\n")
    return re.search("title: (.*)", header)[1], paragraphs


def _versions(
    name: str,
    articles: dict[str, tuple[str, list[str]]],
    language: str,
    generator: random.Random,
) -> Iterator[Document]:
    title, paragraphs = articles[name]
    foreign = [
        sentence
        for other, (_, texts) in articles.items()
        if other != name
        for text in texts
        for sentence in _SENTENCE.findall(text)
    ]
    for number, share in enumerate(EDITED):
        edited = [_edit(paragraph, share, foreign, generator) for paragraph in paragraphs]
        frame = FRAMES[language][number % len(FRAMES[language])]
        related = generator.sample([other[0] for other in articles.values()], 2)
        html = _page(frame, title, edited, related)
        text = "\n".join(edited)
        url = f"http://{frame}.example/{name}/{number}"
        yield Document(url, text, html, frozenset(_grams(text, language)))


def _edit(paragraph: str, share: float, foreign: list[str], generator: random.Random) -> str:
    sentences = []
    for sentence in _SENTENCE.findall(paragraph) or [paragraph]:
        if generator.random() >= share:
            sentences.append(sentence)
        elif generator.random() < 0.5:
            sentences.append(generator.choice(foreign))
    return "".join(sentences)


def _grams(text: str, language: str) -> set[str] | set[tuple[str, ...]]:
    if language != "en":
        letters = "".join(re.findall(r"\w+", text))
        return {letters[i : i + 5] for i in range(len(letters) - 4)}
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}


def _page(frame: str, title: str, paragraphs: list[str], related: list[str]) -> str:
    shown = [escape(paragraph, quote=False) for paragraph in paragraphs]
    links = "".join(f'<li><a href="/{i}">{escape(r)}</a></li>' for i, r in enumerate(related))
    comments = SITE / "templates" / f"{frame}.comments.html"
    return Template((SITE / "templates" / f"{frame}.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        author="A. Writer",
        date="1 May 2024",
        home="/",
        charset="utf-8",
        body="".join(f"<p>{paragraph}</p>" for paragraph in shown),
        lines="<br><br>".join(shown),
        related=f"<ul>{links}</ul>",
        comments=comments.read_text(encoding="utf-8") if comments.exists() else "",
    )
