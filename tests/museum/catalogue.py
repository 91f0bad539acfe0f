"""All kinds of sites in the museum."""

from museum import hidden_text, manuals, media, records, talk, trade, walls
from museum.kinds import Kind

__all__ = ["KINDS"]

_ROOMS = (hidden_text, manuals, media, records, talk, trade, walls)

KINDS = [each for room in _ROOMS for each in vars(room).values() if isinstance(each, Kind)]
