"""The block-level elements of a page that hold text: which blocks each holds, and what is frame.

Kept as columns, because hundreds of pages may wait to be judged again (see `frames`), and an object
for each container would be two thirds of all that Python's garbage collector passes over.

Cost: 0.3 us a container; in memory 40 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dedup_filter.text.elements import Role

__all__ = ["NOWHERE", "Container", "Containers"]

NOWHERE = -1
"""Stands for the number of a container that there is not."""


class Containers:
    """The containers of a page by their numbers, each after the one around it."""

    __slots__ = ("ends", "firsts", "frames", "parents", "roles")

    def __init__(self) -> None:
        self.roles: list[Role] = []
        self.parents: list[int] = []
        """The container around each; `NOWHERE`: there is none."""
        self.firsts: list[int] = []
        """The position of the first block in each."""
        self.ends: list[int] = []
        """The position after the last one, once the container is closed."""
        self.frames: list[int] = []
        """The container that is page frame, of each and those around it.

        The outermost that is "sure", else the innermost that is "named"; `NOWHERE`: there is none.
        """

    def open(self, role: Role, parent: int, first: int) -> int:
        """Add a container that holds no block yet; return its number."""
        number = len(self.roles)
        self.roles.append(role)
        self.parents.append(parent)
        self.firsts.append(first)
        self.ends.append(first)
        frame = NOWHERE if parent == NOWHERE else self.frames[parent]
        if role.frame and (frame == NOWHERE or self.roles[frame].frame != "sure"):
            frame = number
        self.frames.append(frame)
        return number

    def __len__(self) -> int:
        return len(self.roles)


class Container(NamedTuple):
    """One of the containers of a page."""

    containers: Containers
    number: int

    @property
    def role(self) -> Role:
        """What its element says of the text directly inside it."""
        return self.containers.roles[self.number]

    @property
    def first(self) -> int:
        """The position of its first block."""
        return self.containers.firsts[self.number]

    @property
    def end(self) -> int:
        """The position after its last block."""
        return self.containers.ends[self.number]

    @property
    def parent(self) -> Container | None:
        """The container around it."""
        return self._other(self.containers.parents[self.number])

    @property
    def frame(self) -> Container | None:
        """The container that is page frame, see `Containers.frames`."""
        return self._other(self.containers.frames[self.number])

    def _other(self, number: int) -> Container | None:
        return None if number == NOWHERE else Container(self.containers, number)
