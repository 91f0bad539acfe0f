"""Results -> lines of JSON on standard output, written as they come."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

__all__ = ["Shown", "fingerprint_options", "max_distance_option", "shown_as", "write_lines"]

Shown = Callable[[int], int | str]

max_distance_option = click.option(
    "--max-distance",
    "--distance",
    "-d",
    type=click.IntRange(0, 12),
    default=3,
    show_default=True,
    metavar="BITS",
    help="Near are fingerprints that differ in at most so many bits, 0 to 12.",
)
_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write objects with named fields, not bare arrays."
)
_hex_option = click.option(
    "--hex",
    "as_hex",
    is_flag=True,
    help='Write fingerprints as strings like "0x1f", for readers that round large numbers.',
)


def fingerprint_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what all have that compare fingerprints and write them."""
    return max_distance_option(_hex_option(_json_option(command)))


def shown_as(as_hex: bool) -> Shown:
    """Return how fingerprints are written: as numbers, or as strings in hexadecimal."""
    return hex if as_hex else int


def write_lines(values: Iterable[Any]) -> None:
    """Write each value on a line of its own, and see to it that all have left.

    Raises:
        BrokenPipeError: nobody reads them any more.
    """
    sys.stdout.writelines(json.dumps(value) + "\n" for value in values)
    sys.stdout.flush()
