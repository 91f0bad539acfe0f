"""Every constant that decides a verdict, with its measure.

Measures: F1 of the whole-page sets (English / Chinese), copies found and different pages lost on
sites that change from fetch to fetch, kinds of look-alikes of `tests/museum`. How they were taken:
docs/decisions/0013. What only bounds time or memory stands beside the code that it bounds; what
chooses the main content of a page, in `text.content`.
"""

MIN_WORDS = 20
"""Words of an ordinary sentence. Pages may have the same shorter text by chance ("Photo: Reuters",
"No results"), so no candidates are looked up by it."""

LINE_WORDS = 16
"""Words of a line: a name, a price, a date (Kohlschütter et al. 2010). A longer block is prose."""

PARAGRAPH_WORDS = 30
"""Words from which a new block is a paragraph that no edit explains. 20: .969 / .988 where 30: .970
/ .993. 60: 3 more of 434 different pages lost."""

ARTICLE_WORDS = 60
"""Words of prose that two pages share, from which they are an article with something beside it. If
fewer words are new, every new line must be in the original. 30: recipes that differ in their
quantities are lost."""

LONG_WORDS = 200
"""Words of a shared text beyond which lines may be missing. 150: job advertisements that differ in
their town are lost. 400: .970 / .986 where 200: .970 / .991, and .877 where .882 of the copies on
changing sites."""

HALF = 0.5
"""Of the words that `min_similarity` lets be missing: how many may be on one host, or of a page
that is a part of a larger one. Of the prose of an article: how many words outside its body do not
count; a third: .883 of the copies on changing sites for .894, .87 for .96 of real pages with other
headlines beside them. Of the words that tell two headlines apart: how many the shared text must
have. Of a page: what is more than a part of it."""

MOST = 0.75
"""Share of something that is most of it: of a block's phrases that are missing if it is new. With
.5, 2 % of the look-alikes are lost."""

THIRD = 1 / 3
"""Words of links within an article that do not count, as a share of its prose: with half, lists
below a longer introduction are lost. Share of new words, and of links among these, from which a
page may be the first of another template: with fewer links it may be a long article in a light
frame."""

FRAME_TIMES = 2
"""A block that so many pages of a host have shown belongs to its frame, and so many later pages
make it known. One is not enough: two pages may share a block by chance, and what varies (a list of
headlines) shows as such on the third page only."""

MENU_SHARE = 0.9
"""Share of a host's pages with menus from which a page without any is a print view. With 1, one
landing page without menus hides the print views of a host (230 of 300 found)."""

EDGE_LINES = 2
"""Lines that a print view adds above and below its article ("Printed from ...")."""

CUT_HEADLINE = 40
"""Characters of a headline from which its beginning counts as the whole ("A long story about ...").
"""
