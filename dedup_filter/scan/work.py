"""The state of a scan: a folder beside its output, OUTPUT.scan, removed at the end.

    scan.json       the inputs and options of the scan, and its state
    index           unless an index is named, which stays
    verdicts.jsonl  the verdict on each record (`verdict_log`)
    input           a copy of standard input
    copies          the best copy of each page, while outputs are written
    lock            held by the process that scans

Outputs are written under names that end in .part. A folder with other contents is not a scan's and
is left alone. scan.json is removed last: if the process is killed while it empties the folder, the
rest is still recognized as a scan's.
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
"""Names that may be in the folder before scan.json is."""


@dataclass(frozen=True)
class Scan:
    """The inputs, outputs and options of a scan."""

    inputs: Sequence[str]
    """Files, folders and patterns, in order; "-" is standard input."""
    output: Path
    duplicates: Path | None = None
    """The file for duplicates; None: they are not written."""
    mark: bool = False
    """Whether all pages are written to `output`, each with its mark."""
    keep: Policy = "first"
    """Which copy of a page is kept."""
    index: Path | None = None
    """An index to use and to update; None: a temporary one."""
    names: FieldNames = field(default_factory=lambda: FieldNames("html", ("text",), "url"))
    """Fields or columns of pages."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the filter, see `NearDuplicateFilter.open`."""
    force: bool = False
    """Whether outputs are replaced, and another interrupted scan is forgotten."""

    @property
    def outputs(self) -> list[Path]:
        """The files that are written."""
        return [self.output, *([self.duplicates] if self.duplicates else [])]

    @property
    def folder(self) -> Path:
        """The folder of the scan's state."""
        return self.output.parent / f"{self.output.name}.scan"


class NoPagesError(DedupError):
    """There is no page to judge, so this scan cannot be continued."""


class Work:
    """The folder of a scan's state."""

    def __init__(self, job: Scan, files: Sequence[str]) -> None:
        self.outputs, self.folder = job.outputs, job.folder
        _require_outputs(self.outputs, files)
        self.index = job.index or self.folder / "index"
        self.log = self.folder / "verdicts.jsonl"
        self.spool = self.folder / "input"
        self.copies = self.folder / "copies"
        self._lock = FileLock(self.folder / "lock", timeout=0, thread_local=False)
        self._state_file = self.folder / "scan.json"
        self._job = job
        self._files = files
        self._saved: dict[str, Any] = {}

    @property
    def state(self) -> str:
        """The next step: "judging", "judged" (writing), "written" (naming the outputs)."""
        state: str = self._saved.get("state", "")
        return state

    @property
    def crawl(self) -> str:
        """The name of the scan's crawl in its index."""
        name: str = self._saved["crawl"]
        return name

    @property
    def has_log(self) -> bool:
        """Whether anything was judged."""
        return self.log.exists() and self.log.stat().st_size > 0

    def save(self, state: str, **values: Any) -> None:
        """Save the state of the scan, and further values."""
        self._saved |= {"state": state, **values}
        fresh = self._state_file.with_suffix(".new")
        fresh.write_text(json.dumps(self._saved), "utf-8")
        fresh.replace(self._state_file)

    def require_same_inputs(self) -> None:
        """Raise DedupError if an input has changed since it was judged."""
        if self._described() != self._saved["scan"]:
            raise DedupError("an input has changed while it was scanned: give --force to scan anew")

    def finish(self) -> Summary:
        """Give the outputs their names, and remove the folder."""
        for path in self.outputs[::-1]:
            if part_of(path).exists():
                part_of(path).replace(path)
        summary = Summary(*self._saved["summary"])
        self._remove_parts()
        self._empty()
        return summary

    def __enter__(self) -> "Work":
        """Continue the scan in the folder, or begin a new one."""
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
        """Remove the folder if there is nothing to continue."""
        is_begun = self.state != "judging" or self.has_log
        if error is not None and (not is_begun or isinstance(error, NoPagesError)):
            self._remove_parts()
            self._empty()
        self._leave()

    def _begin(self) -> None:
        scan, force = self._described(), self._job.force
        if self._state_file.exists():
            self._saved = json.loads(self._state_file.read_text("utf-8"))
            before = self._saved["scan"]
            differ = [name for name, value in scan.items() if value != before.get(name)]
            if differ and not force:
                raise ConfigError(
                    f"{self.folder} belongs to another interrupted scan, with other "
                    f"{' and '.join(differ)}. Give its command again to continue it, or --force "
                    "to forget it"
                )
            if differ:
                self._remove_parts()
                self._empty()
        elif others := [each.name for each in self.folder.iterdir() if each.name not in _OURS]:
            raise ConfigError(f"{self.folder} is needed for the scan, but holds {others[0]!r}")
        if self.state != "written" or self._saved["outputs"] != self._outputs():
            self._require_free(scan)

    def _require_free(self, scan: Mapping[str, Any]) -> None:
        """Require that outputs do not exist; save their names, and make their .part files."""
        is_new = not self.state
        for path in self.outputs if not self._job.force else ():
            require_free(path)
            if is_new:  # else it may be of this scan
                require_free(part_of(path))
        # The same scan may have been begun with other outputs.
        parts = {str(part_of(path).absolute()) for path in self.outputs}
        parts.update(self._saved.get("parts", ()))
        if is_new:
            self._saved |= {"scan": scan, "crawl": new_crawl()}
        state = "judged" if self.state == "written" else self.state or "judging"
        self.save(state, parts=sorted(parts))
        try:
            for path in self.outputs:
                part_of(path).open("ab").close()
        except OSError as error:
            self._remove_parts()
            if is_new:
                self._empty()
            raise ConfigError(f"{path} cannot be written: {error.strerror}") from None

    def written(self, summary: Summary) -> None:
        """Save that the outputs are written, and need only be renamed."""
        self.save("written", summary=summary, outputs=self._outputs())

    def _outputs(self) -> list[Any]:
        job, paths = self._job, [str(path.absolute()) for path in self.outputs]
        return [*paths, job.mark, job.keep, job.names.date]

    def _described(self) -> dict[str, Any]:
        """Return all that the verdicts depend on, as plain JSON."""
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
        for path in map(Path, self._saved.get("parts", ())):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _empty(self) -> None:
        """Remove the contents of the folder, scan.json last."""
        for folder in (self.folder / "index", self.copies):
            shutil.rmtree(folder, ignore_errors=True)
        for path in (self.log, self.spool, self._state_file):
            path.unlink(missing_ok=True)
        self._saved = {}

    def _leave(self) -> None:
        """Release the lock of the folder, and remove the folder if it is empty."""
        self._lock.release()
        if not self._state_file.exists():
            with suppress(OSError):  # another process uses it, or it is not ours
                (self.folder / "lock").unlink(missing_ok=True)
                self.folder.rmdir()


def _require_outputs(outputs: Sequence[Path], files: Sequence[str]) -> None:
    """Require that outputs differ from inputs, and from each other."""
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise ConfigError(f"{outputs[0]} cannot be written twice: name another file for duplicates")
    for path in outputs:
        require_place(path)
        for name in files:
            if name != PIPE and path.exists() and path.samefile(name):
                raise ConfigError(f"{path} is one of the inputs: name another file to write to")


def input_files(job: Scan, say: Callable[[str], None] = lambda _: None) -> list[str]:
    """Return the files to scan; files that the scan itself writes are left out and reported.

    If such a file is named itself, it stays and is refused later.

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
        say(f"{name} is not read: this scan writes it")
    if not files:
        raise ConfigError(f"no file in {', '.join(job.inputs)} but what this scan writes")
    return files


def part_of(path: Path) -> Path:
    """Return the temporary name of an output until it is whole."""
    return path.with_name(f"{path.name}.part")


def new_crawl() -> str:
    """Return a new name for the crawl of a scan."""
    return f"scan {token_hex(8)}"
