"""Blocks -> the menus of a page, by which hosts are known to show their pages in the same frame.

A menu is a few links in a row. The first two menus of a page, at its head, and the last one, at its
foot, are the same on all pages of a template, on any host; those between (related articles, tags)
belong to the page. Three are taken, because one of them may hold the name of the host.

Pure. Cost: 10 us for a page of 200 blocks.
"""

from collections.abc import Sequence

import xxhash

from dedup_filter.text.blocks import Block

__all__ = ["ANY_MENU", "first_link", "has_links", "menus"]

_LINKS = 4
"""Links of a menu. Pages with nothing else in common may share three: "Home", "About",
"Contact"."""
_WORDS = 6
"""Words of links from which fewer blocks are a menu: it may stand in one block."""
_DENSITY = 0.2
"""Share of links in the words of a block from which it is a menu, other text aside."""


def _menu_hash(texts: Sequence[str]) -> int:
    """Return 64 bits that identify links in a row; no block has the same."""
    joined = "\n".join(["\0menu\0", *texts])
    return xxhash.xxh3_64_intdigest(joined.encode("utf-8", "surrogatepass"))


ANY_MENU = _menu_hash(())
"""Counted for each page that has any menu."""


def menus(blocks: Sequence[Block]) -> list[int]:
    """Return the hashes of the first two menus of a page and of the last, as far as it has them."""
    links = [block for block in blocks if has_links(block)]
    found: list[int] = []
    texts: list[str] = []
    words = 0.0
    for block in links:
        texts.append(block.text)
        words += block.link_words
        if len(texts) == _LINKS or words >= _WORDS:
            found.append(_menu_hash(texts))
            texts, words = [], 0
            if len(found) == 2:
                break
    last = [block.text for block in links[-_LINKS:]]
    if len(last) == _LINKS:
        found.append(_menu_hash(last))
    return list(dict.fromkeys(found))


def has_links(block: Block) -> bool:
    """Tell whether enough of a block is links for it to be a menu, or a part of one."""
    return block.link_words > _DENSITY * block.words


def first_link(blocks: Sequence[Block]) -> int:
    """Return the position of the first block that has links; 0 if none has."""
    return next((block.position for block in blocks if has_links(block)), 0)
