"""Layer "comparison": a page and what an index has found -> which kept page it repeats, if any.

    look_ups          a page, the look-ups of an index -> verdict: what is looked up, in which order
    candidates        what the look-ups found -> candidates
    rule              a page, its candidates -> of each, the rule that refuses it, or none
    shared_headlines  headlines of both, pages of their hosts -> whether they may be one page
    original          candidates that fit -> the original
    near_pages        a page, records -> the pages like it, for `find`

Pure: it knows no store.
"""
