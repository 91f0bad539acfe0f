"""A folder of real pages with the texts of their articles -> pages that can be edited.

Forms of a set, each that of a public one:

    ground-truth.json + html/ID.html.gz          {ID: {"articleBody", "url"}}
    ground-truth/ID.json + html/ID.html.gz       {"url", "ground_truth": {"title", "main_content"}}
    html/HOST1.html + text/HOST1.txt
    NAME/source.html + NAME/expected.html + NAME/expected-metadata.json

The article of a page is found by its true text: all elements without blocks inside, of which that
text has every letter. A page is `editable` if they hold most of the true text, and if a heading
says what the title says. Links to the canonical page are taken out of it: copies are to be found by
what they say.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from string import digits
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from lxml import etree
from lxml import html as lxml_html

from dedup_filter.text.decode import as_utf8, parse

__all__ = ["Draft", "Editable", "RealPage", "editable", "plain", "read_set"]

COVERED = 0.8
"""The least share of the true text that is found on an editable page."""
LEAST_LETTERS = 500
"""Of an editable article: some 100 words."""
HEADLINE_INSIDE = 0.6
"""The least share of a headline's runs of four letters that the title has."""
LEAST_HEADLINE = 8
"""Such runs."""
LONG = 25
"""Letters of an element that is of the article wherever it stands; a shorter one must stand beside
a longer one."""
TEASER = 28
"""Least letters of a link that is a headline."""
SHORT_LINE = 8
"""Most words of a line whose number is changed."""
PARAGRAPH = (30, 90)
"""Words of a paragraph that is added, and of one that is removed."""
MARK = "data-benchmark"
BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td tfoot th "
    "thead tr ul".split()
)
LISTS = ("ul", "ol", "dl", "table", "tbody", "thead", "tr")
UNSEEN = ("script", "style", "noscript", "template", "head", "svg", "iframe", "textarea", "select")
METADATA = "//script|//meta[@property or @name or @itemprop]|//link[not(@rel='stylesheet')]"
"""What repeats a page's article or address beside its text."""

Element: TypeAlias = lxml_html.HtmlElement


class RealPage(NamedTuple):
    """A page of a set, and what its article says."""

    name: str
    url: str
    body: bytes
    text: str
    title: str = ""


def read_set(folder: Path) -> list[RealPage]:
    """Read all pages of a set in the order of their names; [] if the folder has none."""
    return sorted(_pages(folder), key=lambda page: page.name)


def _pages(folder: Path) -> Iterator[RealPage]:
    if (folder / "ground-truth.json").exists():
        truth = json.loads((folder / "ground-truth.json").read_bytes())
        for name, facts in truth.items():
            body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
            yield RealPage(name, facts["url"], body, facts["articleBody"])
    for path in folder.glob("ground-truth/*.json"):
        facts = json.loads(path.read_bytes())
        said = facts["ground_truth"]
        page = folder / "html" / f"{path.stem}.html.gz"
        if page.exists():
            text, title = said.get("main_content") or "", said.get("title") or ""
            yield RealPage(path.stem, facts["url"], gzip.decompress(page.read_bytes()), text, title)
    for path in folder.glob("text/*.txt"):
        page = folder / "html" / f"{path.stem}.html"
        if page.exists():
            url = f"http://{path.stem.rstrip(digits)}/{path.stem}"
            text = path.read_text("utf-8", errors="replace")
            yield RealPage(path.stem, url, page.read_bytes(), text)
    for path in folder.glob("*/expected.html"):
        tree = parse(as_utf8(path.read_bytes()))
        text = "" if tree is None else text_of(tree)
        name, body = path.parent.name, path.with_name("source.html").read_bytes()
        facts = json.loads(path.with_name("expected-metadata.json").read_bytes())
        yield RealPage(name, f"http://{name}.example/", body, text, facts.get("title") or "")


def plain(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text)).casefold()


def text_of(element: Element) -> str:
    """Return what an element says, with single blanks."""
    return " ".join("".join(pieces_of(element)).split())


def pieces_of(element: Element) -> list["etree._ElementUnicodeResult"]:
    """Return the pieces of text in an element that are not in one whose text is not shown."""
    pieces = element.xpath(".//text()")
    # The parent of a tail is the element before it.
    return [piece for piece in pieces if piece.is_tail or piece.getparent().tag not in UNSEEN]


def words_of(text: str) -> int:
    """Count words."""
    return len(text.split())


def grams(text: str, size: int = 4) -> set[str]:
    """Cut letters into runs."""
    letters = plain(text)
    return {letters[i : i + size] for i in range(len(letters) - size + 1)}


class Editable:
    """A real page whose article and headline are known, element by element."""

    def __init__(self, page: RealPage, tree: Element, headline: str, paragraphs: list[str]) -> None:
        self.page, self._tree = page, tree
        self.headline, self.paragraphs = headline, paragraphs
        self.host = urlsplit(page.url).hostname or page.name

    def draft(self) -> "Draft":
        """Return a copy of the page to be edited."""
        return Draft(deepcopy(self._tree), self.headline)

    @property
    def text(self) -> str:
        """The article alone."""
        return "\n\n".join(self.paragraphs)

    @property
    def aside(self) -> str:
        """The element that links are added in beside the article; half of all pages have each."""
        return "aside" if len(self.paragraphs) % 2 else "footer"

    def passage(self) -> str | None:
        """Return a paragraph of middle length."""
        fewest, most = PARAGRAPH
        return next((each for each in self.paragraphs if fewest <= words_of(each) <= most), None)


def editable(page: RealPage) -> Editable | str:
    """Find headline and article of a page; return why it is not editable if they are not there."""
    tree = parse(as_utf8(page.body))
    if tree is None or tree.find("body") is None:
        return "no page"
    for element in tree.xpath("//link[@rel='canonical']|//meta[@charset or @http-equiv]"):
        element.drop_tree()
    headings = _headings(tree, page.title or tree.findtext(".//title") or "")
    if not headings:
        return "no headline"
    headline = text_of(headings[0])
    for heading in headings:
        if plain(text_of(heading)) == plain(headline):
            heading.set(MARK, "headline")
    whole = plain(page.text)
    paragraphs = _mark_article(tree, whole)
    if len(whole) < LEAST_LETTERS:
        return "short article"
    if sum(len(said) for said in paragraphs) < COVERED * len(whole):
        return "article not found"
    return Editable(page, tree, headline, list(paragraphs.values()))


def _headings(tree: Element, title: str) -> list[Element]:
    """Return the elements that say what the title says, the best first; else an only h1."""
    headings = [each for each in tree.xpath("//body//h1|//body//h2|//body//h3") if _is_seen(each)]
    whole = grams(title)
    for candidates, least in (headings, 0), (list(_leaves(tree)), len(whole) / 2):
        alike = []
        for element in candidates:
            own = grams(text_of(element))
            share = len(own & whole) / len(own) if own else 0
            if len(own) >= max(LEAST_HEADLINE, least) and share >= HEADLINE_INSIDE:
                alike.append((share * len(own), element))
        if alike:
            return [each for _, each in sorted(alike, key=lambda pair: -pair[0])]
    h1 = [each for each in headings if each.tag == "h1"]
    return h1 if len(h1) == 1 and len(grams(text_of(h1[0]))) >= LEAST_HEADLINE else []


def _mark_article(tree: Element, whole: str) -> dict[str, str]:
    """Mark the elements of an article; return their texts by letters."""
    leaves = [(leaf, plain(text_of(leaf))) for leaf in _leaves(tree)]
    inside = [(leaf, said) for leaf, said in leaves if said and said in whole]
    around = {leaf.getparent() for leaf, said in inside if len(said) >= LONG}
    paragraphs: dict[str, str] = {}
    for leaf, said in inside:
        if len(said) >= LONG or leaf.getparent() in around:
            leaf.set(MARK, "article")
            paragraphs.setdefault(said, text_of(leaf))
    return paragraphs


def _leaves(tree: Element) -> Iterator[Element]:
    """Return visible blocks that have no block inside and are no headline."""
    for element in tree.find("body").iter(*BLOCKS):
        has_block = next(element.iterdescendants(*BLOCKS), None) is not None
        if not has_block and element.get(MARK) is None and _is_seen(element):
            yield element


def _is_seen(element: Element) -> bool:
    return not any(up.tag in UNSEEN for up in (element, *element.iterancestors()))


class Draft:
    """A copy of a page that is being edited. Edits tell whether the page had a place for them."""

    def __init__(self, tree: Element, headline: str) -> None:
        self._tree, self._headline = tree, headline

    def markup(self) -> bytes:
        """Write the page in UTF-8."""
        for element in self._tree.xpath(f"//*[@{MARK}]"):
            del element.attrib[MARK]
        return bytes(lxml_html.tostring(self._tree, encoding="utf-8", doctype="<!DOCTYPE html>"))

    def replace_article(self, headline: str, paragraphs: list[str]) -> bool:
        """Put another article under another headline in place of the page's own.

        Scripts and metadata go, too: they may repeat what the page was about.
        """
        for element in self._tree.xpath(METADATA):
            element.drop_tree()
        for element in self._marked("headline"):
            for child in list(element):
                child.drop_tree()
            element.text = headline
        for title in self._tree.xpath("//title"):
            old = title.text or ""
            title.text = (
                old.replace(self._headline, headline) if self._headline in old else headline
            )
        article = self._marked("article")
        like = next(iter(self._long("p", "div")), None)
        place = next(iter(self._long()))
        while place.getparent().tag in LISTS:
            place = place.getparent()
        for paragraph in paragraphs:
            place.addprevious(_like(like, paragraph))
        for element in article:
            element.drop_tree()
        return True

    def change_teasers(self, headlines: list[str]) -> bool:
        """Let all links beside the article that are headlines show others."""
        teasers = [link for link in self._tree.xpath("//body//a") if self._is_beside(link)]
        teasers = [link for link in teasers if len(plain(text_of(link))) >= TEASER]
        for link, headline in zip(teasers, headlines * len(teasers), strict=False):
            _replace_text(max(pieces_of(link), key=len), headline)
        return len(teasers) >= 3

    def add_teasers(self, tag: str, headlines: list[str]) -> bool:
        """Add a block of links below the article, or an aside or a footer to the page."""
        links = "".join(f'<li><a href="/{n}.html"></a></li>' for n in range(len(headlines)))
        block = lxml_html.fragment_fromstring(
            f"<{tag}><h3>More stories</h3><ul>{links}</ul></{tag}>"
        )
        for link, headline in zip(block.iter("a"), headlines, strict=True):
            link.text = headline
        self._body().append(block) if tag != "div" else self._long()[-1].addnext(block)
        return True

    def add_hidden(self, text: str) -> bool:
        """Add a block that is not shown."""
        block = lxml_html.fragment_fromstring("<div hidden><p></p></div>")
        block[0].text = text
        self._body().insert(0, block)
        return True

    def change_number(self) -> bool:
        """Count one up in a short line beside the article."""
        for leaf in filter(self._is_beside, _leaves(self._tree)):
            if words_of(text_of(leaf)) <= SHORT_LINE:
                for part in pieces_of(leaf):
                    if number := re.search(r"\d+", part):
                        more = f"{int(number[0]) + 1}"
                        _replace_text(part, part[: number.start()] + more + part[number.end() :])
                        return True
        return False

    def remove_paragraph(self) -> bool:
        """Take a paragraph of middle length out of the article."""
        said = Counter(map(text_of, self._long()))
        some = [text for text in said if PARAGRAPH[0] / 2 <= words_of(text) <= PARAGRAPH[1]]
        words = sum(map(words_of, said))
        if not some or words_of(some[len(some) // 2]) > words / 4:
            return False
        for element in self._marked("article"):
            if text_of(element) == some[len(some) // 2]:
                element.drop_tree()
        return True

    def add_paragraph(self, text: str | None) -> bool:
        """Put a paragraph into the middle of the article."""
        places = self._long("p", "div")
        if text and places:
            middle = places[len(places) // 2]
            middle.addnext(_like(middle, text))
        return bool(text and places)

    def _body(self) -> Element:
        return self._tree.find("body")

    def _marked(self, kind: str) -> list[Element]:
        return list(self._tree.xpath(f"//*[@{MARK}='{kind}']"))

    def _long(self, *tags: str) -> list[Element]:
        """Return the longer elements of the article, all or those of some tags."""
        article = (each for each in self._marked("article") if not tags or each.tag in tags)
        return [each for each in article if len(plain(text_of(each))) >= LONG]

    def _is_beside(self, element: Element) -> bool:
        around = (element, *element.iterancestors())
        within = element.iterdescendants()
        is_marked = any(each.get(MARK) for each in (*around, *within))
        return not is_marked and _is_seen(element)


def _like(model: Element | None, text: str) -> Element:
    """Return a paragraph in the manner of another one."""
    made = lxml_html.Element("p" if model is None else model.tag)
    if model is not None and model.get("class"):
        made.set("class", model.get("class"))
    made.text = text
    return made


def _replace_text(piece: "etree._ElementUnicodeResult", text: str) -> None:
    parent = piece.getparent()
    assert parent is not None
    if piece.is_tail:
        parent.tail = text
    else:
        parent.text = text
