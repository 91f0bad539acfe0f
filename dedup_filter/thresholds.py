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

PARAGRAPH_WORDS = 30
"""Words from which a new block is a paragraph that no edit explains. 20: .969 / .988 where 30: .970
/ .993. 60: 3 more of 434 different pages lost."""

ARTICLE_WORDS = 60
"""If two pages share this many words of prose, the prose is an article, with other text beside it.
If fewer words of a page are new, every new line must be in the original. 30: recipes that differ
in their quantities are lost."""

LONG_WORDS = 200
"""Words of a shared text beyond which lines may be missing. 150: job advertisements that differ in
their town are lost. 400: .970 / .986 (200: .970 / .991), and .877 of the copies on changing sites
(200: .882)."""

HALF = 0.5
"""A half in four rules. On one host, or if a page is a part of a larger page, half of the words
that `min_similarity` allows may be missing. Words outside an article's body do not count up to half
of its prose (a third: .883 of the copies on changing sites, not .894; .87 of real pages with other
headlines beside them, not .96). The shared text must have half of the words in which two headlines
differ. More than half of a page is more than a part of it."""

MOST = 0.75
"""A block is new if this share of its phrases is missing. With .5, 2 % of the look-alikes are
lost."""

THIRD = 1 / 3
"""A third in two rules. Words of links within an article do not count up to a third of its prose:
with half, lists below a longer introduction are lost. A page may be the first of another template
if a third of its words are new, and a third of these are links: with fewer links it may be a long
article in a light frame."""

FRAME_TIMES = 2
"""A block on this many pages of a host belongs to its frame, and the frame is known after this
many later pages. One is not enough: two pages may share a block by chance, and varying blocks (a
list of headlines) can be recognized only on the third page."""

MENU_SHARE = 0.9
"""Share of a host's pages with menus from which a page without any is a print view. With 1, one
landing page without menus hides the print views of a host (230 of 300 found)."""

EDGE_LINES = 2
"""Lines that a print view adds above and below its article ("Printed from ...")."""

CUT_HEADLINE = 40
"""Characters of a headline from which its beginning counts as the whole ("A long story about ...").
"""
