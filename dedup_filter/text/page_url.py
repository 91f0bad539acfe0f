"""A URL -> its host, its canonical form, and a key that is equal for two spellings of one address.

The canonical form is w3lib's, which crawlers use to tell requests apart: arguments sorted, fragment
dropped, escapes unified. The key is stored with each page: never change it under an old index.

A page may name its canonical URL (RFC 6596):

    <link rel="canonical" href="...">        in the head, where search engines read it
    Link: <...>; rel="canonical"             in the headers

Such a URL is returned as written, or joined with the URL of a base element; `canonical_of` joins it
with the page's URL. If a page names several, none counts, so only a few of many are returned. Cost:
10 us, and 10 us more if there is a link. Nothing here raises.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, cast
from urllib.parse import parse_qsl, urljoin, urlsplit

import xxhash
from lxml import etree
from w3lib.url import canonicalize_url

_CANONICAL = re.compile(r"https?://[a-z0-9][a-z0-9.-]*/[A-Za-z0-9/_.~-]*")
"""Most URLs are canonical already, and this test takes 0.4 us instead of 6."""
_NO_URL = "(no URL)"
"""The host of all pages without a URL, a name that no host has. It is stored: never change it."""
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_MOST = 8
"""At most this many different URLs are returned: more than one is ambiguous anyway."""
_LINK = re.compile(r"<([^<>]*)>([^<>]*)")
_RELATION = re.compile(r""";\s*rel\s*=\s*("[^"]*"|[^\s";,]*)""", re.IGNORECASE)
Kinship = Literal["same", "spelling", "view", "series", "other"]
"""How two URLs are related: equal; different in the visitor or his way; another view, such as a
print view; pages or records with other numbers; anything else."""
ONE_PAGE: tuple[Kinship, ...] = ("same", "spelling", "view")
"""The relations of URLs of one page."""
_WORST_FIRST: tuple[Kinship, ...] = ("series", "other", "view", "spelling", "same")
_ENDING = re.compile(r"\.(?:amp|[a-z]?html?|php|aspx?|jsp)$|^(?:index|default)\.[a-z]+$")
_PAGE = re.compile(r"/(?:page|seite|pagina|p)?[-_/]?\d{1,4}$")
"""The end of a path that numbers pages or records; the first page may have none."""
_PAGING = re.compile("^p$|^pg|pag|seite|start|offset|review|comment|answer")
"""Names of arguments that number the pages of a list."""
_VIEWS = frozenset("amp print mobile m view full".split())
"""Segments of a path that name a view of a page."""
_SESSION = re.compile("sess|(?<![a-z])sid$|^utm_|clid$|^ref(?:_.*|err?er)?$")
"""Names of arguments that tell the visitor, or where he came from; not "newsid", "reference"."""
# Other forms of these take three to ten times as long.
_related = etree.XPath("boolean(//@rel[. = 'next' or . = 'prev'][parent::a or parent::link])")
_short_links = etree.XPath("descendant-or-self::a[string-length() < 20][@href]")
_END_OF_LINK = 32
"""Characters at the end of a link's address that are searched for its page number."""
_MOST_SHORT = 1_000
"""At most so many short links are searched for page numbers."""
_NEXT = frozenset(
    "next|next page|next »|next ›|»|older posts|weiter|nächste|nächste seite|suivant|page suivante"
    "|siguiente|successivo|próxima|volgende|następna|далее|下一页|下一頁|次へ|다음".split("|")
)
_HAS_DIGIT = re.compile(r"\d")
base_of = etree.XPath("normalize-space(//base/@href)")
"""The URL of the first base element of a page, "" for none."""


def canonical(url: str) -> str:
    """Return the canonical form of a URL, equal for all its spellings."""
    if _CANONICAL.fullmatch(url):
        return url
    try:
        return str(canonicalize_url(url))
    except ValueError:  # "http://[1/": such a URL has one spelling
        return url


def host_of(url: str) -> str:
    """Return the host of a URL, with its port if that is not the usual one; "" if it has none.

    Pages without a URL may be of one host, so they are judged as if they were: by the rules that
    distinguish pages of one template. A key that is no URL has no host, so no other page is on it.
    """
    if not url:
        return _NO_URL
    try:
        split = urlsplit(url)
    except ValueError:  # "http://[1/"
        return ""
    host = split.netloc.rpartition("@")[2].lower()
    return host.removesuffix(_DEFAULT_PORTS.get(split.scheme, ":"))


@lru_cache(maxsize=256)  # called when a page is read, and when it is recorded
def url_key(url: str) -> int:
    """Hash the canonical form of a URL. Cost: 0.4 us, 15 if it is not canonical yet."""
    return xxhash.xxh3_64_intdigest(canonical(url).encode("utf-8", "surrogatepass"))


class Place(NamedTuple):
    """The URL of a page, its host and its key."""

    url: str
    host: str
    key: int
    """The same for all spellings of the URL."""

    @classmethod
    def of(cls, url: str) -> "Place":
        """Read a URL, "" for none."""
        return cls(url, host_of(url), url_key(url))

    @classmethod
    def without_url(cls, name: str) -> "Place":
        """Give a page without a URL a name, under which it is recorded."""
        return cls(name, _NO_URL, url_key(name))


def kinship(url: str, other: str) -> Kinship:
    """Return how the URLs of two pages of one site are related. Cost: 5 us."""
    (mine, asked), (theirs, known) = _named(url), _named(other)
    kinds = {_of_paths(mine, theirs)}
    for name in asked.keys() | known.keys():
        kinds.add(_of_values(name, asked.get(name), known.get(name)))
    return next(each for each in _WORST_FIRST if each in kinds)


@lru_cache(maxsize=4096)
def _named(url: str) -> tuple[list[str], dict[str, str]]:
    """Return the segments of a path, and the arguments, of a URL, in lower case."""
    try:
        split = urlsplit(url.lower())
    except ValueError:  # "http://[1/"
        return [url], {}
    segments = (_ENDING.sub("", each.partition(";")[0]) for each in split.path.split("/"))
    return [each for each in segments if each], dict(parse_qsl(split.query, True))


def _of_paths(mine: list[str], theirs: list[str]) -> Kinship:
    if mine == theirs:
        return "same"
    # "/news/bridge/amp" and "/print/bridge" are views of "/news/bridge".
    for view, whole in ((mine, theirs), (theirs, mine)):
        named = [each for each in view if each not in _VIEWS]
        if named and named != view and whole[-len(named) :] == named:
            return "view"
    first, second = (_PAGE.sub("", "/".join(each)) for each in (mine, theirs))
    return "series" if first == second else "other"


def _of_values(name: str, mine: str | None, theirs: str | None) -> Kinship:
    if mine == theirs:
        return "same"
    if _SESSION.search(name) or (name == "s" and _HAS_DIGIT.search((mine or "") + (theirs or ""))):
        return "spelling"  # "?s=shoes" is a search
    if name in _VIEWS:
        return "view"
    is_paging, value = _PAGING.search(name), (mine or "") + (theirs or "")
    if value.isdecimal() and ((mine and theirs) or is_paging):
        return "series"
    return "other"


def patterns(url: str) -> tuple[str, ...]:
    """Return the patterns that the URLs of a template may have, the narrower one first.

    A "*" stands for what differs: segments with a digit; the last segment, in the second pattern
    the last two; the values of arguments. If there are arguments, the path may be the template's
    own. Arguments that tell the visitor are left out. Empty for a URL that cannot be read.
    Cost: 4 us.

    >>> patterns("https://a.example/shop/oak/chair?sid=7")
    ('a.example/shop/oak/*', 'a.example/shop/*/*')
    >>> patterns("https://a.example/shop/17/view?size=3")
    ('a.example/shop/*/view?size=*', 'a.example/shop/*/*?size=*')
    """
    try:
        split = urlsplit(url)
        named = dict(parse_qsl(split.query, True))
    except ValueError:  # "http://[1/", or more arguments than are read
        return ()
    path = [
        "*" if _HAS_DIGIT.search(each) else each
        for each in split.path.strip("/").split("/")
        if each
    ]
    names = sorted(name for name in named if not _SESSION.search(name.lower()))
    query = "&".join(f"{name}=*" for name in names)
    least = 0 if names else 1
    paths = [
        "/".join(path[:-count] + ["*"] * count) if count else "/".join(path)
        for count in (least, least + 1)
        if count <= len(path)
    ]
    found = (f"{host_of(url)}/{each}{'?' * bool(query)}{query}" for each in paths)
    return tuple(dict.fromkeys(found))


def canonical_of(place: Place, links: Iterable[str]) -> str | None:
    """Return the URL that all canonical links of a page name; None for its own URL, or none."""
    try:
        urls = {url_key(url): url for url in (urljoin(place.url, link) for link in links)}
    except ValueError:  # "http://[1/"
        return None
    return urls.popitem()[1] if len(urls) == 1 and place.key not in urls else None


@lru_cache(maxsize=256)  # called for each candidate of a page
def named_key(place: Place, links: tuple[str, ...]) -> int:
    """Return the key of the canonical URL of a page, or of its own URL."""
    named = canonical_of(place, links)
    return place.key if named is None else url_key(named)


def canonical_links(root: etree._Element) -> tuple[str, ...]:
    """Return the different URLs that the head of a page names as canonical."""
    links = (link for head in root.iterchildren("head") for link in head.iterchildren("link"))
    found = _different((each.get("href", ""), each.get("rel", "")) for each in links)
    if not found:
        return ()
    try:
        return tuple(urljoin(str(base_of(root)), link) for link in found)
    except ValueError:  # "http://[1/"
        return ()


def is_paged(root: etree._Element) -> bool:
    """Return whether a page is one of a sequence, by its links.

    It links to the next or the previous page, to two pages in a row by ascending numbers, or by a
    number that the address of the link ends in.
    """
    if bool(_related(root)):
        return True
    last = None
    for link in cast("list[etree._Element]", _short_links(root))[:_MOST_SHORT]:
        text = ("".join(map(str, link.itertext())) if len(link) else link.text or "").strip()
        if text.lower() in _NEXT:
            return True
        number = int(text) if text.isdecimal() and len(text) < 5 else None
        if number is not None and (
            number - 1 == last
            or re.search(rf"[=/][\w-]*?0*{number}/?$", link.get("href", "")[-_END_OF_LINK:])
        ):
            return True
        last = number
    return False


def links_of_header(header: str) -> tuple[str, ...]:
    """Return the different URLs that a Link header (RFC 8288) names as canonical."""
    links = ((link, _RELATION.search(parameters)) for link, parameters in _LINK.findall(header))
    return _different((link, relation[1].strip('"')) for link, relation in links if relation)


def _different(links: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the different canonical ones of some links, given with their relations."""
    found = (link.strip() for link, relations in links if "canonical" in relations.lower().split())
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST]
