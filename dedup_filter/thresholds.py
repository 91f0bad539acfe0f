"""Every constant that decides a verdict, with its measure.

Measures: F1 of the whole-page sets (English / Chinese), copies found and different pages lost on
sites that change from fetch to fetch, kinds of look-alikes of `tests/museum`. docs/decisions/0013
describes how they were taken. A constant that only bounds time or memory is beside its code;
constants that choose the main content of a page are in `text.content`.
"""

MIN_WORDS = 20
"""Words of an ordinary sentence. Pages may have the same shorter text by chance ("Photo: Reuters",
"No results"), so no candidates are looked up by a shorter text."""

LINE_WORDS = 16
"""Words of a line: a name, a price, a date (Kohlschütter et al. 2010). A longer block is prose."""

ARTICLE_WORDS = 60
"""If two pages share this many words of prose, the prose is an article: other text may stand beside
it, and other papers may print it under headlines of their own."""

LONG_WORDS = 200
"""A shared text of fewer words may be a notice that two hosts show. A page with as many words is
judged by them, however much it hides."""

HEADLINE_WORDS = 4
"""Words of a headline, without function words, that hardly stand above two texts by chance."""

HALF = 0.5
"""A half in six rules. On one host, or if a page is a part of a larger page, half of the words that
`min_similarity` allows may be missing. The shared text must have half of the words in which two
headlines differ, and two headlines are of one form if half of the words are the same at an end.
More than half of a page is more than a part of it, and more than half of the pages of a host are
most pages. If half of the shared prose is cut into other blocks, only phrases are compared."""

MOST = 0.75
"""A block is new if this share of its phrases is missing. With .5, 2 % of the look-alikes are
lost."""

THIRD = 1 / 3
"""A third in three rules. On one host, a third of the prose may be in edited paragraphs. Words of
links within a story do not count up to a third of its prose: with half, lists below a longer
introduction are lost. A page may be the first of another template if a third of its words are new,
and a third of these are links: with fewer links it may be a long article in a light frame."""

MOST_EDITED = 60
"""Words that edits of a page on one host may add, however long it is. Without this bound, one more
section in a paragraph of a long contract is lost; F1 and copies found are the same."""

FRAME_TIMES = 2
"""A block on this many pages of a host belongs to its frame, and the frame is known after this
many later pages. One is not enough: two pages may share a block by chance, and varying blocks (a
list of headlines) can be recognized only on the third page."""

NEARLY_ALL = 0.9
"""If this share of a host's pages has menus, a page without any is a print view. With 1, one
landing page without menus hides the print views of a host (230 of 300 found)."""

EDGE_LINES = 2
"""Lines that a print view adds above and below its article ("Printed from ...")."""
