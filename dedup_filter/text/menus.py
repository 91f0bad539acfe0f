"""Blocks -> the menus of a page: what tells that two hosts show their pages in the same frame.

A menu is a few links in a row. The first ones of a page, at its head, and the last one, at its
foot, are the same on all pages of a template, wherever they are served; those in between (related
articles, tags) belong to the page. One of them may hold the name of the host: so there are three.

Pure. Cost: 10 us for a page of 200 blocks.
"""

from collections.abc import Sequence

from dedup_filter.text.blocks import Block, text_hash

__all__ = ["ANY_MENU", "has_links", "menus"]

_LINKS = 4
"""Links of a menu. Three ("Home", "About", "Contact") stand on pages that have nothing else in
common."""
_WORDS = 6
"""Links of a menu that stand in one block."""
_DENSITY = 0.2
"""Share of links among the words of a block from which it is a menu, with other text beside it."""


def _menu_hash(texts: Sequence[str]) -> int:
    """Return the 64 bits by which links in a row are known again. No block has the same."""
    return text_hash("\n".join(["\0menu\0", *texts]))


ANY_MENU = _menu_hash(())
"""Stands for all menus, where it is asked whether pages of a host have any."""


def menus(blocks: Sequence[Block]) -> list[int]:
    """Return 64 bits each of the first two menus of a page and of the last, if it has so many."""
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
    """Tell whether so much of a block is links that it is a menu, or a part of one."""
    return block.link_words > _DENSITY * block.words
