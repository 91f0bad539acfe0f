"""Layer "hamming": find the fingerprints within k bits of a query, or all pairs within k bits.

    Layout, plan    distance k, number of entries -> which blocks of the 64 bits lead each table
    Table           fingerprints and rows, sorted by one permutation of a layout
    HammingIndex    all tables, and fresh entries: add, remove, within
    near_pairs      a batch of fingerprints -> all pairs within k bits, once each
    clusters        pairs -> connected components

Pure: knows nothing of pages, files or settings.
"""
