"""Debian packages of documentation -> their pages, and the truth about pairs of them.

Packages are fetched by `apt-get download` and unpacked; those that are there are not fetched again.

The truth shares no code with the library. A headline is a page's first h1 that fewer than a tenth
of the package's pages show, else its title without the segments that a tenth show. A text is that
of the body without script, style and nav. Shingles are all runs of four words, in exact sets;
those that a third of a sample of the package's pages show are its frame.

Cost: 2 to 3 ms a page of 30 KB; texts are parsed again for each pair that is compared.
"""

import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit

from lxml import etree
from lxml import html as lxml_html

__all__ = ["DIFFERENT", "DUPLICATE", "Drop", "Reference", "Truth", "jaccard", "text_shingles"]

DUPLICATE, DIFFERENT = 0.8, 0.4
"""Jaccard similarities of two pages: from the first they are duplicates, below the second not."""

NO_HEADLINE = 1 / 10
"""What so many of a package's pages have for a heading or in their titles names none of them."""
FRAME = 1 / 3
SEGMENTS = re.compile(r"\s*[—|·»]\s*|\s[-–:]\s|:\s|\s\(")
"""Where titles are cut."""
SAMPLE = 60


Shown = TypeVar("Shown", str, int)


class Facts(NamedTuple):
    """What is known of a page, by other means than the library's."""

    h1: list[str]
    title: list[str]
    """Its segments."""
    text: str


class Drop(NamedTuple):
    """A dropped page beside its original, by the truth."""

    url: str
    original: str
    outcome: str
    is_same_headline: bool
    is_same_text: bool
    inside: float
    """Share of the page's shingles, its package's frame left out, that its original has."""
    jaccard: float
    """Of all shingles."""

    @property
    def is_lost(self) -> bool:
        """Whether a page of another headline is gone that said something else."""
        return not self.is_same_headline and not self.is_same_text

    @property
    def is_one_host(self) -> bool:
        """Whether both are of one package."""
        return urlsplit(self.url).netloc == urlsplit(self.original).netloc


class Reference:
    """The pages of a package, by their paths, and the URL below which they are shown."""

    def __init__(self, package: str, cache: Path) -> None:
        self.root = _unpacked(package, cache)
        self.url = f"http://{package}/"
        found = filter(_is_page, sorted(self.root.rglob("*.html")))
        self.paths = [str(path.relative_to(self.root)) for path in found]
        facts = {path: _facts(self.body(path)) for path in self.paths}
        shared = _shared([{*page.h1, *page.title} for page in facts.values()], NO_HEADLINE)
        self.headlines = {path: _headline(facts[path], shared) for path in self.paths}
        self.texts = {path: hash(facts[path].text) for path in self.paths}
        sample = random.Random(0).sample(self.paths, min(SAMPLE, len(self.paths)))
        self.frame = _shared([self.shingles(path) for path in sample], FRAME)

    def at(self, path: str) -> str:
        """Return the URL of a page."""
        return self.url + quote(path)

    def body(self, path: str) -> bytes:
        """Read a page."""
        return (self.root / path).read_bytes()

    def shingles(self, path: str) -> set[int]:
        """Return the hashes of the runs of four words of a page."""
        return text_shingles(_facts(self.body(path)).text)


def text_shingles(text: str) -> set[int]:
    """Return the hashes of the runs of four words (or Chinese characters) of a text."""
    words = re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", text.lower())
    return {hash(tuple(words[i : i + 4])) for i in range(max(len(words) - 3, 1))}


def jaccard(one: set[int], other: set[int]) -> float:
    """Return the exact Jaccard similarity."""
    return len(one & other) / max(len(one | other), 1)


class Truth:
    """What is true of pages of several references, given by their URLs."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self._references = references

    def drop(self, url: str, original: str, outcome: str) -> Drop:
        """Compare a dropped page with its original."""
        (here, path), (there, other) = self._page(url), self._page(original)
        new, old = here.shingles(path), there.shingles(other)
        own = new - here.frame
        return Drop(
            url,
            original,
            outcome,
            is_same_headline=here.headlines[path] == there.headlines[other],
            is_same_text=here.texts[path] == there.texts[other],
            inside=len(own & old) / len(own) if own else 1.0,
            jaccard=jaccard(new, old),
        )

    def copies(self, urls: Iterable[str]) -> set[str]:
        """List the pages of which headline and text were on an earlier page."""
        seen: set[tuple[str, int]] = set()
        copies = set()
        for url in urls:
            reference, path = self._page(url)
            shown = (reference.headlines[path], reference.texts[path])
            if shown in seen:
                copies.add(url)
            seen.add(shown)
        return copies

    def due(self) -> set[str]:
        """List the pages of the last reference that an earlier one has alike at the same path."""
        return {self._references[-1].at(path) for path in self._due}

    @cached_property
    def _due(self) -> list[str]:
        *earlier, last = self._references
        pairs = ((path, other) for other in earlier for path in last.paths if path in other.texts)
        return [
            path
            for path, other in pairs
            if jaccard(last.shingles(path), other.shingles(path)) >= DUPLICATE
        ]

    def _page(self, url: str) -> tuple[Reference, str]:
        reference = next(each for each in self._references if url.startswith(each.url))
        path = unquote(urlsplit(url).path).lstrip("/")
        is_folder = (reference.root / path).is_dir()
        return reference, str(Path(path, "index.html")) if is_folder else path


def _unpacked(package: str, cache: Path) -> Path:
    """Fetch a package unless it is there; return the folder that all its pages are in."""
    folder = cache / package
    if not folder.exists():
        with tempfile.TemporaryDirectory() as fetched:
            subprocess.run(["apt-get", "download", "-q", package], cwd=fetched, check=True)
            (file,) = Path(fetched).iterdir()
            cache.mkdir(parents=True, exist_ok=True)
            subprocess.run(["dpkg-deb", "-x", str(file), str(folder)], check=True)
    root = folder / "usr" / "share" / "doc"
    while len(inner := [each for each in root.iterdir() if _has_pages(each)]) == 1:
        root = inner[0]
    return root


def _has_pages(path: Path) -> bool:
    return path.suffix == ".html" or (not path.is_symlink() and any(path.rglob("*.html")))


def _is_page(path: Path) -> bool:
    """Tell whether a reader gets to see this; doxygen's search boxes are filled by scripts."""
    return path.is_file() and path.parent.name != "search"


def _facts(body: bytes) -> Facts:
    tree = lxml_html.document_fromstring(body)
    title = _joined(tree.itertext("title"))
    h1 = [_joined(each.itertext()) for each in tree.iter("h1")]
    etree.strip_elements(tree, "script", "style", "nav", "head", with_tail=False)
    return Facts(h1, SEGMENTS.split(title), _joined(tree.itertext()))


def _joined(pieces: Iterable[object]) -> str:
    """Join pieces of text; permanent links beside headings are no text."""
    return " ".join(" ".join(map(str, pieces)).replace("¶", "").split())


def _shared(pages: Sequence[set[Shown]], share: float) -> set[Shown]:
    """List what this share of the pages show, and two at least."""
    shown = Counter(each for page in pages for each in page)
    return {each for each, count in shown.items() if count >= max(2, share * len(pages))}


def _headline(facts: Facts, shared: set[str]) -> str:
    """Return what tells the page from its neighbours; if nothing does, all that there is."""
    own_h1 = [each for each in facts.h1 if each and each not in shared]
    own_title = [each for each in facts.title if each and each not in shared]
    return own_h1[0] if own_h1 else " ".join(own_title or [*facts.h1, *facts.title])
