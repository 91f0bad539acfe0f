"""Layer "fingerprints": weighted features -> 64 bits, and the comparison of two pages.

`simhash` and `sketch` take arrays of hashes and weights; `profile` joins them with a page's texts.
"""
