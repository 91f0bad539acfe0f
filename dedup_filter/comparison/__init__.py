"""Layer "comparison": a page and the pages an index found -> the kept page that it repeats, if any.

    look_ups     a page, the look-ups of an index -> verdict: the order of look-ups, the original
    candidates   pages that the look-ups found -> candidates
    rule         a page, its candidates -> for each candidate the rule that refuses it, or none
    near_pages   a page, records -> the pages like it, for `find`

Pure: it knows no store.
"""
