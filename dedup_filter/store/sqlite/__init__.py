"""An index in one SQLite database, on disk or in memory.

    index_directory   the folder: its files, its lock
    page_reader       opens the database; rows -> records
    page_store        records -> rows: transactions, grouped
    frame_store       the frames of hosts
    entry_file        the entries of all kept pages in one file
    page_index        look-ups by fingerprint, digest and phrases; it follows the database
    sqlite_pages      index and store as one: profiles of pages in, verdicts out

Pages have numbers, counted from 1. The database layer knows neither the index nor the analysis
of texts.
"""
