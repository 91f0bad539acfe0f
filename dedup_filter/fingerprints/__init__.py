"""Layer "fingerprints": weighted features -> 64 bits, and the comparison of two pages.

`sketch` takes arrays of hashes and weights; `profile` joins its numbers with a page's texts.
"""
