"""The text layer: bytes of a page -> str -> lxml tree -> blocks -> main text.

    decode        bytes and Content-Type -> str; -> lxml tree
    marked_text   tree -> all its text, with marks
    blocks        marked text -> blocks; `concealed`: which hidden text and script data is read, too
    content       blocks -> the blocks of the main text
    reading       all of these: -> Page, Document or why there is none

Pure functions of their arguments that never raise on any page. Nothing here knows of hosts,
features or an index.
"""

from dedup_filter.text.blocks import Block, text_hash
from dedup_filter.text.content import ANY_MENU, find_content, first_link, whole_content, word_sum
from dedup_filter.text.decode import as_utf8, decode, looks_binary, parse
from dedup_filter.text.headlines import Headline, is_headed_alike, is_headed_as_elsewhere
from dedup_filter.text.plain_text import count_words, normalize, normalize_parts
from dedup_filter.text.reading import MOST_OF_HEADLINE, Page, Shown, part_hash, read_page

__all__ = [
    "ANY_MENU",
    "MOST_OF_HEADLINE",
    "Block",
    "Headline",
    "Page",
    "Shown",
    "as_utf8",
    "count_words",
    "decode",
    "find_content",
    "first_link",
    "is_headed_alike",
    "is_headed_as_elsewhere",
    "looks_binary",
    "normalize",
    "normalize_parts",
    "parse",
    "part_hash",
    "read_page",
    "text_hash",
    "whole_content",
    "word_sum",
]
