"""Layer "store": kept pages, recorded and found; in memory, in a directory, on servers.

    protocol      what every store promises
    location      where an index is -> its store, opened
    records       what is recorded of a page, and how its fingerprint was made
    phrase_table  keys of phrases -> pages
    sqlite/       one SQLite database, in a directory or in memory
    redis/        one log that all processes follow, on a server or a cluster

A store knows fingerprints, look-ups and the rule of `comparison`; it knows no text.
"""
