"""Layer "hamming": which fingerprints are within k bits of one, or of one another.

    Layout, plan    which blocks of the 64 bits lead which tables, for a distance and a number
    Tables          fingerprints sorted by each permutation of a layout; the first one has the rows
    HammingIndex    fresh entries and tables: add, remove, within; one fingerprint or many
    near_pairs      a batch of fingerprints -> all pairs within k bits, once each
    clusters        pairs -> connected components

Pure: knows nothing of pages, files or settings.
"""
