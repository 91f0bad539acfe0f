"""What a scan has while it lasts: a folder beside its output, OUTPUT.scan, gone at the end.

    scan.json       what is scanned, and how far it is
    index           unless an index is named, which stays
    verdicts.jsonl  what was found of each record (`verdict_log`)
    input           what came by standard input
    copies          which of the copies of each page is the best, while outputs are written
    lock            of the process that is at it

Outputs are written under names that end in .part. A folder that holds anything else is somebody's
own, and is left alone. The note goes last, so a kill while the folder is emptied leaves nothing
that could be taken for a scan.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from filelock import FileLock, Timeout

from dedup_filter.errors import ConfigError, DedupError, StoreBusy
from dedup_filter.scan.best_copy import Policy
from dedup_filter.scan.inputs import PIPE, files_in
from dedup_filter.scan.outputs import Summary
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.upkeep.whole_file import require_free, require_place

_OURS = ("index", "input", "lock", "scan.new", "verdicts.jsonl")
"""What may be in the folder before its note is."""


@dataclass(frozen=True)
class Scan:
    """What is to be scanned, and where to."""

    inputs: Sequence[str]
    """Files, folders and patterns, in order; "-" is standard input."""
    output: Path
    duplicates: Path | None = None
    """Where pages that repeat others are written to; None: nowhere."""
    mark: bool = False
    """Whether all pages are written to `output`, each with its mark."""
    keep: Policy = "first"
    """Which copy of a page is kept."""
    index: Path | None = None
    """An index to use and to keep; None: one that is gone at the end."""
    names: FieldNames = field(default_factory=lambda: FieldNames("html", ("text",), "url"))
    """Fields or columns of pages."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the filter, see `NearDuplicateFilter.open`."""
    force: bool = False
    """Whether outputs are replaced, and what is left of another scan is forgotten."""

    @property
    def outputs(self) -> list[Path]:
        """What is written."""
        return [self.output, *([self.duplicates] if self.duplicates else [])]

    @property
    def folder(self) -> Path:
        """Where the scan is while it lasts."""
        return self.output.parent / f"{self.output.name}.scan"


class NoPagesError(DedupError):
    """Nothing was found that could be judged: there is no use in going on with this scan."""


class Work:
    """The folder in which a scan is while it lasts."""

    def __init__(self, job: Scan, files: Sequence[str]) -> None:
        self.outputs, self.folder = job.outputs, job.folder
        _require_outputs(self.outputs, files)
        self.index = job.index or self.folder / "index"
        self.log = self.folder / "verdicts.jsonl"
        self.spool = self.folder / "input"
        self.copies = self.folder / "copies"
        self._lock = FileLock(self.folder / "lock", timeout=0, thread_local=False)
        self._notes = self.folder / "scan.json"
        self._job = job
        self._files = files
        self._noted: dict[str, Any] = {}

    @property
    def state(self) -> str:
        """What is next: "judging", "judged" (writing), "written" (naming the outputs)."""
        state: str = self._noted.get("state", "")
        return state

    @property
    def crawl(self) -> str:
        """The name of the scan's crawl in its index."""
        name: str = self._noted["crawl"]
        return name

    @property
    def has_log(self) -> bool:
        """Whether anything was judged."""
        return self.log.exists() and self.log.stat().st_size > 0

    def note(self, state: str, **noted: Any) -> None:
        """Note how far the scan is, and further values."""
        self._noted |= {"state": state, **noted}
        fresh = self._notes.with_suffix(".new")
        fresh.write_text(json.dumps(self._noted), "utf-8")
        fresh.replace(self._notes)

    def require_same_inputs(self) -> None:
        """Refuse to write what would not be of the pages that were judged."""
        if self._described() != self._noted["scan"]:
            raise DedupError("an input has changed while it was scanned: give --force to scan anew")

    def finish(self) -> Summary:
        """Give the outputs their names, and remove the folder."""
        for path in self.outputs[::-1]:
            if part_of(path).exists():
                part_of(path).replace(path)
        summary = Summary(*self._noted["summary"])
        self._remove_parts()
        self._empty()
        return summary

    def __enter__(self) -> "Work":
        """Go on with what is there, or begin anew."""
        try:
            self.folder.mkdir(exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise StoreBusy(f"another process is scanning to {self.outputs[0]}") from None
        except OSError as error:
            raise ConfigError(f"{self.outputs[0]} cannot be written: {error.strerror}") from None
        try:
            self._begin()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Leave nothing behind if there is nothing to go on with."""
        is_begun = self.state != "judging" or self.has_log
        if error is not None and (not is_begun or isinstance(error, NoPagesError)):
            self._remove_parts()
            self._empty()
        self._leave()

    def _begin(self) -> None:
        scan, force = self._described(), self._job.force
        if self._notes.exists():
            self._noted = json.loads(self._notes.read_text("utf-8"))
            before = self._noted["scan"]
            differ = [name for name, value in scan.items() if value != before.get(name)]
            if differ and not force:
                raise ConfigError(
                    f"{self.folder} is of another scan, which was interrupted; it has other "
                    f"{' and '.join(differ)}. Give its command again to go on with it, or --force "
                    "to forget it"
                )
            if differ:
                self._remove_parts()
                self._empty()
        elif others := [each.name for each in self.folder.iterdir() if each.name not in _OURS]:
            raise ConfigError(f"{self.folder} holds {others[0]!r}: it is wanted for the scan")
        if self.state != "written" or self._noted["outputs"] != self._outputs():
            self._require_free(scan)

    def _require_free(self, scan: Mapping[str, Any]) -> None:
        """Refuse outputs that are there; note those that are to come, and make room for them."""
        is_new = not self.state
        for path in self.outputs if not self._job.force else ():
            require_free(path)
            if is_new:  # else it may be of this scan
                require_free(part_of(path))
        # The same scan may have been begun with other outputs.
        parts = {str(part_of(path).absolute()) for path in self.outputs}
        parts.update(self._noted.get("parts", ()))
        if is_new:
            self._noted |= {"scan": scan, "crawl": new_crawl()}
        state = "judged" if self.state == "written" else self.state or "judging"
        self.note(state, parts=sorted(parts))
        try:
            for path in self.outputs:
                part_of(path).open("ab").close()
        except OSError as error:
            self._remove_parts()
            if is_new:
                self._empty()
            raise ConfigError(f"{path} cannot be written: {error.strerror}") from None

    def written(self, summary: Summary) -> None:
        """Note that the outputs are there, and need only be named."""
        self.note("written", summary=summary, outputs=self._outputs())

    def _outputs(self) -> list[Any]:
        job, paths = self._job, [str(path.absolute()) for path in self.outputs]
        return [*paths, job.mark, job.keep, job.names.date]

    def _described(self) -> dict[str, Any]:
        """Return what the verdicts follow from, as plain JSON."""
        job, inputs = self._job, []
        for name in self._files:
            found = None if name == PIPE else Path(name).stat()
            inputs.append([name, found and found.st_size, found and found.st_mtime_ns])
        options = {name: value for name, value in sorted(job.options.items()) if name != "workers"}
        return {
            "format": 1,
            "inputs": inputs,
            "fields": [job.names.html, [*job.names.text], job.names.url, job.names.title],
            "options": options,
            "index": None if job.index is None else str(job.index.absolute()),
        }

    def _remove_parts(self) -> None:
        for path in map(Path, self._noted.get("parts", ())):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _empty(self) -> None:
        """Remove what is in the folder; at last the note that tells what the rest is."""
        for folder in (self.folder / "index", self.copies):
            shutil.rmtree(folder, ignore_errors=True)
        for path in (self.log, self.spool, self._notes):
            path.unlink(missing_ok=True)
        self._noted = {}

    def _leave(self) -> None:
        """Let go of the folder, and remove it if it is empty."""
        self._lock.release()
        if not self._notes.exists():
            with suppress(OSError):  # somebody else is at it, or it is not ours
                (self.folder / "lock").unlink(missing_ok=True)
                self.folder.rmdir()


def _require_outputs(outputs: Sequence[Path], files: Sequence[str]) -> None:
    """Refuse outputs that are inputs, or the same."""
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise ConfigError(f"{outputs[0]} cannot be written twice: name another file for duplicates")
    for path in outputs:
        require_place(path)
        for name in files:
            if name != PIPE and path.exists() and path.samefile(name):
                raise ConfigError(f"{path} is one of the inputs: name another file to write to")


def input_files(job: Scan, tell: Callable[[str], None] = lambda _: None) -> list[str]:
    """Return the files that are scanned; those that the scan itself writes are left out and told.

    One that is named itself stays, and is refused later.

    Raises:
        ConfigError: there is no such file, or no other.
    """
    outputs = {path.resolve() for path in job.outputs}
    folders = [job.folder, *([job.index] if job.index else [])]
    own, named = outputs.union(map(Path.resolve, folders)), {str(Path(name)) for name in job.inputs}
    files, left_out = [], []
    for name in files_in(job.inputs):
        path = Path(name).resolve()
        if name in named or own.isdisjoint((path, *path.parents)):
            files.append(name)
        elif path in outputs:
            left_out.append(name)
    for name in left_out:
        tell(f"{name} is not read: this scan writes it")
    if not files:
        raise ConfigError(f"no file in {', '.join(job.inputs)} but what this scan writes")
    return files


def part_of(path: Path) -> Path:
    """Return the name that a file has until it is whole."""
    return path.with_name(f"{path.name}.part")


def new_crawl() -> str:
    """Make up a name for the crawl of a scan."""
    return f"scan {token_hex(8)}"
