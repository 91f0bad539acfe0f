"""The text layer: bytes of a page -> str -> lxml tree -> blocks -> main text.

    decode        bytes and Content-Type -> str; as_utf8: -> bytes of UTF-8
    parse         str or UTF-8 -> lxml tree, always as HTML
    tree_blocks   tree -> blocks
                      elements      what each element is
                      marked_text   tree -> all its text, with marks
                      concealed     which of it is read: hidden text and script_data, too
    find_content  blocks -> the blocks of the main text
    parse_page    str or UTF-8 -> Page: its blocks, title, language, headlines, menus, images
    read_page     tree -> Page
    normalize     text -> its normal form; count_words: -> number of words, in any script

Pure functions of their arguments that never raise on any page. Nothing here knows of hosts,
features or an index.
"""

from dedup_filter.text.blocks import Block, text_hash
from dedup_filter.text.concealed import tree_blocks
from dedup_filter.text.content import find_content, whole_content, word_sum
from dedup_filter.text.decode import as_utf8, decode, looks_binary, parse
from dedup_filter.text.headlines import (
    MOST_OF_HEADLINE,
    Headline,
    is_headed_alike,
    is_headed_as_elsewhere,
    part_hash,
    title_parts,
)
from dedup_filter.text.images import ImageSource
from dedup_filter.text.menus import ANY_MENU, first_link, has_links, menus
from dedup_filter.text.plain_text import count_words, normalize, normalize_parts
from dedup_filter.text.reading import NO_PARTS, Page, Shown, WantedParts, parse_page, read_page

__all__ = [
    "ANY_MENU",
    "MOST_OF_HEADLINE",
    "NO_PARTS",
    "Block",
    "Headline",
    "ImageSource",
    "Page",
    "Shown",
    "WantedParts",
    "as_utf8",
    "count_words",
    "decode",
    "find_content",
    "first_link",
    "has_links",
    "is_headed_alike",
    "is_headed_as_elsewhere",
    "looks_binary",
    "menus",
    "normalize",
    "normalize_parts",
    "parse",
    "parse_page",
    "part_hash",
    "read_page",
    "text_hash",
    "title_parts",
    "tree_blocks",
    "whole_content",
    "word_sum",
]
