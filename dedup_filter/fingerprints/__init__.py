"""Layer "fingerprints": weighted features -> 64 bits, and how two pages compare.

`simhash` and `sketch` take arrays of hashes and weights; `profile` joins them with a page's texts.
"""
