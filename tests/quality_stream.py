"""Labelled streams of documents and pages, made of the demo site's own articles and frames.

Every article comes in versions that are edited more and more: sentences are left out, or
replaced by sentences of other articles. The truth is computed by code that shares nothing
with the library: the Jaccard similarity of the sets of runs of four words (five characters
in Chinese). Edits come from a fixed seed.
"""

import re
from html import escape
from random import Random
from string import Template, ascii_lowercase
from typing import NamedTuple

from crawler.demo_site.pages import SITE_FOLDER, read_article

EDITED = (0.0, 0.0, 0.02, 0.03, 0.05, 0.05, 0.07, 0.1, 0.1, 0.15, 0.2, 0.3, 0.4, 0.7)
"""Share of sentences that are edited, version by version."""
FRAMES = {
    "en": ("newspaper", "gazette", "blog", "print"),
    "zh": ("portal-zh", "table-zh", "corridor-zh", "forum-zh"),
    "zh-hant": ("portal-zh", "corridor-zh", "forum-zh"),
}
DUPLICATE, DIFFERENT = 0.8, 0.4
_SENTENCE = re.compile(r"[^.!?。!?]+[.!?。!?]+[”」\"']*\s*")


class Document(NamedTuple):
    """A version of an article."""

    url: str
    text: str
    html: str
    grams: frozenset[str]


def documents(language: str, seed: int = 1) -> list[Document]:
    """Return all versions of all articles of a language, shuffled."""
    chance, made = Random(seed), []
    files = sorted((SITE_FOLDER / "articles" / language).glob("*"))
    articles = {file.stem: read_article(f"{language}/{file.stem}") for file in files}
    titles = [article.title for article in articles.values()]
    for name, article in articles.items():
        foreign = [
            sentence
            for other in articles.values()
            if other is not article
            for paragraph in other.paragraphs
            for sentence in _SENTENCE.findall(paragraph)
        ]
        for number, share in enumerate(EDITED):
            edited = [_edit(each, share, foreign, chance) for each in article.paragraphs]
            frame = FRAMES[language][number % len(FRAMES[language])]
            html = _page(frame, article.title, edited, chance.sample(titles, 2))
            text = "\n".join(edited)
            # Numbers would say that the versions are pages of one sequence.
            url = f"http://{frame}.example/{name}/{ascii_lowercase[number]}"
            made.append(Document(url, text, html, _grams(text, language)))
    chance.shuffle(made)
    return made


def jaccard(one: Document, other: Document) -> float:
    """Return the exact similarity of two documents' texts."""
    return len(one.grams & other.grams) / len(one.grams | other.grams)


def _edit(paragraph: str, share: float, foreign: list[str], chance: Random) -> str:
    sentences = []
    for sentence in _SENTENCE.findall(paragraph) or [paragraph]:
        if chance.random() >= share:
            sentences.append(sentence)
        elif chance.random() < 0.5:
            sentences.append(chance.choice(foreign))
    return "".join(sentences)


def _grams(text: str, language: str) -> frozenset[str]:
    if language != "en":
        letters = "".join(re.findall(r"\w+", text))
        return frozenset(letters[i : i + 5] for i in range(len(letters) - 4))
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[i : i + 4]) for i in range(len(words) - 3))


def _page(frame: str, title: str, paragraphs: list[str], related: list[str]) -> str:
    shown = [escape(paragraph, quote=False) for paragraph in paragraphs]
    links = "".join(f'<li><a href="/{i}">{escape(r)}</a></li>' for i, r in enumerate(related))
    comments = SITE_FOLDER / "templates" / f"{frame}.comments.html"
    template = (SITE_FOLDER / "templates" / f"{frame}.html").read_text(encoding="utf-8")
    return Template(template).substitute(
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
