"""`python -m dedup_filter`: the same as the console script `dedup-filter`."""

from dedup_filter.cli import main

if __name__ == "__main__":
    main()
