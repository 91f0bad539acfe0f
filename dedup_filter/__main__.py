"""`python -m dedup_filter`: the same as the console script `dedup-filter`."""

from dedup_filter.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
