"""What is remembered of each page, on disk or in memory.

    index_directory   the folder: its files, whose it is, table files
    page_reader       SQLite's database, opened; rows -> records
    page_store        records -> rows: transactions, grouped
    frame_store       what hosts have shown
    page_index        fingerprints and digests, searched; it follows the database
    directory_pages   all of it as one: profiles of pages in, verdicts out
    records           what goes in and comes out, and how its fingerprints were made

Pages are known by their numbers, counted from 1. The database knows no tables and no text.
"""
