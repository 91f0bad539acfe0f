"""The folder of an index: which files are in it, and whether one may be put there.

    pages.sqlite3 (-wal, -shm)   the record of all pages
    tables/                      derived from it, may be deleted
    lock, owner.json             who writes to it

A folder with anything else in it and no pages is somebody's own: it is left untouched.
"""

from dataclasses import dataclass
from pathlib import Path

from dedup_filter.errors import ConfigError, StoreError

__all__ = ["IndexDirectory"]

_PAGES = "pages.sqlite3"
_OURS = frozenset(
    (
        _PAGES,
        f"{_PAGES}-wal",
        f"{_PAGES}-shm",
        f"{_PAGES}-journal",
        "tables",
        "lock",
        "owner.json",
        "owner.json.new",
    )
)


@dataclass(frozen=True)
class IndexDirectory:
    """The paths of an index."""

    path: Path

    @classmethod
    def at(cls, path: str | Path) -> "IndexDirectory":
        """Name the paths; nothing is looked at yet."""
        return cls(Path(path).expanduser())

    @property
    def pages(self) -> Path:
        """The record."""
        return self.path / _PAGES

    @property
    def tables(self) -> Path:
        """The folder of table files."""
        return self.path / "tables"

    @property
    def lock(self) -> Path:
        """The file that the writer holds locked."""
        return self.path / "lock"

    @property
    def owner(self) -> Path:
        """The file that names the writer."""
        return self.path / "owner.json"

    def page_bytes(self) -> int:
        """Return the size of the record in bytes."""
        paths = (self.pages, Path(f"{self.pages}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def require_index(self) -> None:
        """Refuse a path where no index is.

        Raises:
            ConfigError: there is none.
            StoreError: the folder cannot be read.
        """
        if not self._has_pages():
            inside = self._index_inside()
            where = f"there is one in {inside}" if inside else "look at the path"
            raise ConfigError(f"there is no index at {self}: {where}")

    def prepare(self) -> None:
        """Make the folder if there is none; refuse one that is somebody's own.

        Raises:
            ConfigError: a file is there, or a folder with other files in it and no index.
            StoreError: the folder cannot be made or read.
        """
        if self._has_pages():
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            others = sorted(entry.name for entry in self.path.iterdir() if entry.name not in _OURS)
        except (FileExistsError, NotADirectoryError):
            raise ConfigError(
                f"an index is a folder, and {self} is or lies below a file: choose another path"
            ) from None
        except OSError as error:
            raise StoreError(
                f"the folder {self} cannot be made or read: {error.strerror}"
            ) from error
        if others:
            raise ConfigError(
                f"{self} is not an index: it holds {others[0]!r}"
                f"{' and other files' if len(others) > 1 else ''}; choose a new or empty folder"
            )

    def _has_pages(self) -> bool:
        try:
            return self.pages.is_file()
        except OSError as error:
            raise StoreError(f"the folder {self} cannot be read: {error.strerror}") from error

    def _index_inside(self) -> Path | None:
        """Find an index in a folder of this one, as a job has it."""
        try:
            return next((pages.parent for pages in sorted(self.path.glob(f"*/{_PAGES}"))), None)
        except OSError:
            return None

    def __str__(self) -> str:
        return str(self.path)
