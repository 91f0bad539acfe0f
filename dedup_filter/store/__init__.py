"""Layer "store": records and finds kept pages, in memory, in a directory or on servers.

    protocol      the contract of every store
    location      the location of an index -> its store, opened
    records       the record of a page, and the scheme of its fingerprint
    phrase_table  keys of phrases -> pages
    sqlite/       one SQLite database, in a directory or in memory
    redis/        one log that all processes follow, on a server or a cluster

A store knows fingerprints, look-ups and the rules of `comparison`, but no analysis of text.
"""
