"""Layer "hamming": find the fingerprints within k bits of a query, or all pairs within k bits.

    Layout, plan    distance k, number of entries -> which blocks of the 64 bits lead each table
    Tables          fingerprints and rows, sorted by each permutation of a layout
    HammingIndex    fresh entries and tables: add, remove, within; one fingerprint or many
    near_pairs      a batch of fingerprints -> all pairs within k bits, once each
    clusters        pairs -> connected components

Pure: knows nothing of pages, files or settings.
"""
