"""Tree -> the images of a page, and which of them belong to chosen blocks of its text.

An image has no text, so blocks do not tell where it stands. So the page is cut into blocks again,
from a copy in which every image is a word, and those words are searched for. An image belongs to
the main content if most text of the smallest container around it that holds text does:

                    holds text       most of it is content
    <figure><img>   its article      yes
    <nav><a><img>   the menu         no

Left out are images that no reader sees (in noscript, template, ...), and all images of a tree
deeper than 256 levels, because to copy it recurses on the C stack. An image is identified by its
address or its bytes; what a script would load in its place is not known.

Cost: 3 ms for a page of 100 KB, 1.8 times what reading its text takes; nothing if no images are
asked for.
"""

import re
import secrets
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote_to_bytes, urldefrag, urljoin

import xxhash
from lxml import etree

from dedup_filter.text.blocks import Block
from dedup_filter.text.concealed import tree_blocks
from dedup_filter.text.containers import Container

__all__ = ["Image", "ImageSource", "images_inside", "page_images"]

_MOST_IMAGES = 1_000
"""Of a page, in its order. A page with more is a gallery, of which they are enough."""
_MOST = 0.5

# Like the marks of `marked_text`, no page can know it; its lead character is none of theirs.
_MARK = "\uf8ff" + "".join(chr(0xE000 + secrets.randbelow(0x1800)) for _ in range(3))
_MARKED = re.compile(f"{_MARK}([0-9]+){_MARK}")

_is_deep = etree.XPath("boolean(" + "/*" * 256 + ")")
_base = etree.XPath("string(//base/@href)")


@dataclass(frozen=True, slots=True)
class ImageSource:
    """What identifies images: the address of their page, and the bytes of some of them."""

    url: str
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """Bytes by address, absolute or as the page gives it."""


class Image(NamedTuple):
    """An image, and the blocks of the smallest container around it that holds text."""

    hash: int
    """XXH3 of its bytes if they are known, else of its absolute URL."""
    first: int
    """Position of the container's first block."""
    end: int
    """Position after its last block."""


def page_images(tree: etree._Element, source: ImageSource) -> list[Image]:
    """Return the images of a page, in its order. The tree is not changed."""
    if _is_deep(tree):
        return []
    copy = deepcopy(tree)
    copy.tail = None
    addresses = _mark(copy)
    if not addresses:
        return []
    resolve = _resolver(tree, source.url)
    contents = {resolve(address): content for address, content in source.contents.items()}
    hashes = [_hash(resolve(address), contents) for address in addresses]
    return [Image(hashes[number], *place) for number, place in _places(tree_blocks(copy))]


def images_inside(
    images: Sequence[Image], content: Iterable[Block], blocks: Sequence[Block]
) -> tuple[int, ...]:
    """Return the hashes of the images that belong to some of a page's blocks, in page order."""
    if not images or not blocks:
        return ()
    length = max(blocks[-1].position + 1, *(image.end for image in images))
    of_content, of_all = _running_words(content, length), _running_words(blocks, length)
    return tuple(
        image.hash
        for image in images
        if of_content[image.end] - of_content[image.first]
        > _MOST * (of_all[image.end] - of_all[image.first])
    )


def _mark(copy: etree._Element) -> list[str]:
    """Replace the images of a tree by words; return the address of each by its number."""
    addresses: list[str] = []
    for image in copy.iter("img", "{http://www.w3.org/1999/xhtml}img"):
        address = (image.get("src") or "").strip()
        if address and len(addresses) < _MOST_IMAGES:
            image.text = f" {_MARK}{len(addresses)}{_MARK} "
            addresses.append(address)
    return addresses


def _places(marked: Sequence[Block]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the number of each image, and the blocks, numbered without images, around it."""
    has_text = [_MARK not in block.text or _has_more(block.text) for block in marked]
    numbers = list(accumulate(has_text, initial=0))
    for block in marked:
        for mark in _MARKED.finditer(block.text):
            first, end = _around(block.container, numbers)
            yield int(mark[1]), (first, end)


def _has_more(text: str) -> bool:
    return bool(_MARKED.sub("", text).strip())


def _around(container: Container, numbers: Sequence[int]) -> tuple[int, int]:
    """Return the blocks of the smallest container with text around a place, within its frame."""
    while True:
        first, end = numbers[container.first], numbers[container.end]
        if first < end or container.parent is None or container.frame == container:
            return first, end
        container = container.parent


def _running_words(blocks: Iterable[Block], length: int) -> list[float]:
    words = [0.0] * length
    for block in blocks:
        words[block.position] = block.words
    return list(accumulate(words, initial=0.0))


def _resolver(tree: etree._Element, url: str) -> Callable[[str], str]:
    """Return a function that makes addresses absolute by the page's base element and URL."""
    base = _joined(url, str(_base(tree)).strip()) or url

    def resolve(address: str) -> str:
        return address if _is_data(address) else _joined(base, address) or address

    return resolve


def _joined(base: str, address: str) -> str:
    try:
        return urldefrag(urljoin(base, address)).url
    except ValueError:  # "http://[1/"
        return ""


def _hash(url: str, contents: Mapping[str, bytes]) -> int:
    content = contents.get(url)
    if content is None:
        content = _data(url) if _is_data(url) else url.encode("utf-8", "surrogatepass")
    return xxhash.xxh3_64_intdigest(content)


def _is_data(address: str) -> bool:
    return address[:5].lower() == "data:"


def _data(url: str) -> bytes:
    """Return the content of a data: URL (RFC 2397); of a broken one, what is written there."""
    head, _, data = url.partition(",")
    written = data.encode("utf-8", "surrogatepass")
    content = unquote_to_bytes(written)
    if not head.lower().rstrip().endswith(";base64"):
        return content
    digits = b"".join(content.split()).rstrip(b"=")
    try:
        return b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
    except NotBase64:
        return written
