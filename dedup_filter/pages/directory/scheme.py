"""Scheme: everything that shapes a fingerprint, by name and version.

Fingerprints made in different ways cannot be compared, so an index says how its own were made
and is refused to who makes them otherwise. Belongs to it: the recipe of features with its
sizes and hash, the sketch, and the versions of what texts are read with. Does not: what may
differ from one look-up to the next (`max_distance`, `min_similarity`, `scope`, `revisit`), and
`learn_frames`, which chooses what of a page is its text: texts are then compared as ever.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from dedup_filter.errors import SchemeMismatch
from dedup_filter.fingerprints import MOST_SKETCH_BYTES

__all__ = ["Scheme"]

TEXT_VERSION = 3
"""Of everything in `text`, `features` and `fingerprints` that is no option: which blocks are
content, the normal form, words, weights. Raise it with any change after which some page gets
another fingerprint, digest or sketch; `tests/pages/directory/test_scheme.py` watches some."""

_REMEDY = (
    "go back to what it was made with, make its fingerprints anew with "
    "`dedup-filter index migrate`, or choose another folder"
)
_WHY = {
    "text": "the way that texts are read",
    "jieba": "the Chinese dictionary jieba",
    "stopwordsiso": "the stopword lists stopwordsiso",
    "justext": "the lists of frequent words of justext",
}


@dataclass(frozen=True)
class Scheme:
    """The parts of a scheme: name -> version or value, all of them strings."""

    parts: Mapping[str, str]

    @classmethod
    def of(cls, **options: object) -> "Scheme":
        """Name the scheme of this version of the package, with these options."""
        installed = {name: _installed(name) for name in ("jieba", "stopwordsiso", "justext")}
        sketch = f"fracminhash {MOST_SKETCH_BYTES}"
        parts = {"text": TEXT_VERSION, "fingerprint": "simhash 64", "sketch": sketch}
        return cls({name: str(value) for name, value in (parts | installed | options).items()})

    @classmethod
    def from_json(cls, text: str) -> "Scheme":
        """Read what `to_json` wrote."""
        return cls(dict(json.loads(text)))

    def to_json(self) -> str:
        """Write it down."""
        return json.dumps(dict(self.parts), sort_keys=True)

    def require(self, stored: "Scheme", index: str, remedy: str = _REMEDY) -> None:
        """Refuse an index of this name whose scheme is another.

        Raises:
            SchemeMismatch: naming what differs.
        """
        differences = [
            f"{_WHY.get(name, name)} ({there} there, {here} here)"
            for name in sorted({*self.parts, *stored.parts})
            if (there := stored.parts.get(name, "none")) != (here := self.parts.get(name, "none"))
        ]
        if differences:
            raise SchemeMismatch(
                f"the fingerprints in index {index} were made in another way: "
                f"{', '.join(differences)}; {remedy}"
            )


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # the dictionary is there all the same, if in another way
        return "unknown"
