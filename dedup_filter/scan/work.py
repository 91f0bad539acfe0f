"""The state of a scan: a folder beside its first output, OUTPUT.scan, removed at the end.

    scan.json       the inputs and options of the scan, and how far it is
    index           unless an index is named, which stays
    verdicts.jsonl  the verdict on each record of the inputs, in their order (`Entry`)
    input           a copy of standard input
    part0, ...      the outputs until they are whole
    lock            held by the process that scans

A line of the verdicts has file, start, end, number and URL of the record (`inputs`), and the
verdict, or why the record has no page; null values are left out. The outputs depend only on these
lines, the index and the inputs:

    [0, 1024, 4096, 3, "https://example.com/a", {"outcome": "new", "cluster": 3, ...}]
    [0, 4096, 4100, 4, "", {"outcome": "bad", "reason": "is no object of JSON"}]

A folder with other contents is not a scan's and is left alone. scan.json is removed last: if the
process is killed while it empties the folder, the rest is still recognized as a scan's.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, NamedTuple, get_args

import xxhash
from filelock import FileLock, Timeout

from dedup_filter.errors import ConfigError, DedupError, StoreBusy
from dedup_filter.model import REPEATS, Verdict
from dedup_filter.scan.files import PIPE, local_path, version_of
from dedup_filter.scan.inputs import Record
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.text.page_url import url_key
from dedup_filter.upkeep.whole_file import require_free, require_place, whole_file

Policy = Literal["first", "longest", "canonical"]
"""Which copy of a page is kept: see `best_copy`."""
POLICIES: tuple[Policy, ...] = get_args(Policy)
_OURS = ("input.new", "lock", "scan.new")
"""Names that may be in the folder before scan.json is."""
_CHUNK = 2**20


BAD, NOT_PAGE = "bad", "not_page"
"""The outcomes of records without a page."""
_MARK = [*Verdict("new").as_json()]


class Entry(NamedTuple):
    """The position of a record, and its verdict."""

    file: int
    """The number of its input, from 0."""
    start: int
    end: int
    number: int
    url: str
    found: dict[str, Any]
    """The result of `found_of`."""

    @property
    def outcome(self) -> str:
        """Outcome of the verdict, `BAD` or `NOT_PAGE`."""
        outcome: str = self.found["outcome"]
        return outcome

    @property
    def line(self) -> bytes:
        """The line of the log."""
        *place, found = self
        values = {name: value for name, value in found.items() if value is not None}
        return json.dumps([*place, values], separators=(",", ":")).encode() + b"\n"

    @property
    def mark(self) -> dict[str, Any]:
        """The mark that is written with the page: the fields of `Verdict.as_json`."""
        return {name: self.found.get(name) for name in _MARK}

    @property
    def kept_page(self) -> int | None:
        """The number of the page that this page repeats; its own number if it was kept.

        None: a bad record, or a page that an earlier scan has kept.
        """
        if self.outcome in REPEATS:
            return int(self.found["cluster"])
        return self.found.get("page") if self.outcome in ("new", "unjudged") else None


def found_of(record: Record, verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on a page, and the values by which its copies are scored.

    They are `page` (its number), `words` and `named` (the key of its canonical URL).
    """
    if record.problem or record.not_page:
        outcome = BAD if record.problem else NOT_PAGE
        return {"outcome": outcome, "reason": record.problem or record.not_page}
    named = None if verdict.canonical is None else url_key(verdict.canonical)
    return {**verdict.as_json(), "page": verdict.page, "words": verdict.words, "named": named}


def entries_in(path: Path) -> Iterator[Entry]:
    """Yield the lines of a log, in order."""
    with path.open("rb") as file:
        for line in file:
            yield Entry._make(json.loads(line))


@dataclass(frozen=True)
class Scan:
    """The inputs, outputs and options of a scan."""

    inputs: Sequence[str]
    """Files, folders and patterns, in order (`files`); "-" is standard input."""
    output: Path | None = None
    """The file for the pages without duplicates. None: not written, as the other two files."""
    duplicates: Path | None = None
    """The file for duplicates, each with its mark."""
    mark: Path | None = None
    """The file for all pages, each with its mark."""
    revisits: bool = False
    """Whether dropped pages of WARC files become revisit records."""
    keep: Policy = "first"
    """Which copy of a page is kept."""
    index: Path | None = None
    """An index to use and to update; None: a temporary one."""
    names: FieldNames = field(default_factory=lambda: FieldNames("html", ("text",), "url"))
    """Fields or columns of pages."""
    text_out: str | None = None
    """The field or column of kept pages that gets their clean text; None: none gets it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the filter, see `NearDuplicateFilter.open`."""
    force: bool = False
    """Whether outputs are replaced, and another interrupted scan is forgotten."""

    @property
    def outputs(self) -> list[Path]:
        """The files that are written."""
        return [each for each in (self.output, self.duplicates, self.mark) if each is not None]

    @property
    def folder(self) -> Path:
        """The folder of the scan's state."""
        first = self.outputs[0]
        return first.parent / f"{first.name}.scan"

    @property
    def written(self) -> list[Path]:
        """All files and folders that are written."""
        return [*self.outputs, self.folder, *([self.index] if self.index else [])]


class NoPagesError(DedupError):
    """There is no page to judge, so this scan cannot be continued."""


def new_crawl() -> str:
    """Return a new name for the crawl of a scan in its index."""
    return f"scan {token_hex(8)}"


@dataclass(frozen=True)
class State:
    """The contents of scan.json: how far a scan is."""

    scan: Mapping[str, Any] = field(default_factory=dict)
    """All that the verdicts depend on."""
    crawl: str = field(default_factory=new_crawl)
    is_judged: bool = False
    """Whether all pages are judged."""
    outputs: Sequence[str] = ()
    """The outputs that are moved to their places."""
    is_over: bool = False


class Work:
    """The folder of a scan's state; it is this process's while the context is open.

    Raises:
        ConfigError: on opening: an output cannot be written or exists, the folder is not a scan's,
            or belongs to another interrupted scan.
        StoreBusy: on opening: another process is scanning to the output.
    """

    def __init__(self, job: Scan, files: Sequence[str]) -> None:
        self.folder = job.folder
        self.index = job.index or self.folder / "index"
        self.log = self.folder / "verdicts.jsonl"
        self._input = self.folder / "input"
        self._note = self.folder / "scan.json"
        self._lock = FileLock(self.folder / "lock", timeout=0, thread_local=False)
        self._job, self._files = job, files
        self.state = State()
        self._pipe: list[Any] = []
        """What describes the standard input of this process."""

    @property
    def has_log(self) -> bool:
        """Whether anything was judged."""
        return self.log.exists() and self.log.stat().st_size > 0

    def place_of(self, name: str) -> str:
        """Return the name of the file in which an input is."""
        return str(self._input) if name == PIPE else name

    def part_of(self, output: Path) -> Path:
        """Return where an output is until it is whole."""
        return self.folder / f"part{self._job.outputs.index(output)}"

    def save(self, **values: Any) -> None:
        """Save fields of the state."""
        self.state = replace(self.state, **values)
        fresh = self._note.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self.state)), "utf-8")
        fresh.replace(self._note)

    def require_same_inputs(self) -> None:
        """Raise DedupError if an input has changed since it was judged."""
        if self._described() != self.state.scan:
            raise DedupError("an input has changed while it was scanned: give --force to scan anew")

    def finish(self) -> None:
        """Move the outputs to their places, and remove the folder."""
        self.save(outputs=[str(path.absolute()) for path in self._job.outputs])
        for path in self._job.outputs[::-1]:
            part = self.part_of(path)
            if path.parent.stat().st_dev == part.stat().st_dev:
                part.replace(path)
            else:  # another file system
                with whole_file(path) as copy, part.open("rb") as content:
                    shutil.copyfileobj(content, copy)
        self.save(is_over=True)
        self._forget()

    def __enter__(self) -> "Work":
        """Continue the scan in the folder, or begin a new one."""
        output = self._job.outputs[0]
        _require_outputs(self._job.outputs, self._files)
        try:
            self.folder.mkdir(exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise StoreBusy(f"another process is scanning to {output}") from None
        except OSError as error:
            raise ConfigError(f"{output} cannot be written: {error.strerror}") from None
        try:
            self._begin()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Remove the folder if there is nothing to continue."""
        is_begun = self.state.is_judged or self.has_log
        if error is not None and (not is_begun or isinstance(error, NoPagesError)):
            self._forget()
        self._leave()

    def _begin(self) -> None:
        if self._note.exists():
            self.state = State(**json.loads(self._note.read_text("utf-8")))
        elif others := [each.name for each in self.folder.iterdir() if each.name not in _OURS]:
            raise ConfigError(f"{self.folder} is needed for the scan, but holds {others[0]!r}")
        if self.state.is_over:
            self._forget()
        for path in self._job.outputs:
            if str(path.absolute()) not in self.state.outputs and not self._job.force:
                require_free(path)
        self._read_pipe()
        scan, before = self._described(), self.state.scan
        differ = [name for name, value in scan.items() if before and value != before.get(name)]
        if differ and not self._job.force:
            raise ConfigError(
                f"{self.folder} belongs to another interrupted scan, with other "
                f"{' and '.join(differ)}. Give its command again to continue it, or --force to "
                "forget it"
            )
        if differ:
            self._forget()
        if self._pipe:
            self._input.with_suffix(".new").replace(self._input)
        self.save(scan=scan)

    def _read_pipe(self) -> None:
        """Copy standard input to the folder, if it is an input."""
        if PIPE in self._files:
            content = xxhash.xxh3_128()
            with self._input.with_suffix(".new").open("wb") as copy:
                while block := sys.stdin.buffer.read(_CHUNK):
                    content.update(block)
                    copy.write(block)
                self._pipe = [PIPE, copy.tell(), content.hexdigest()]

    def _described(self) -> dict[str, Any]:
        """Return all that the verdicts depend on, as plain JSON."""
        job, names = self._job, self._job.names
        return {
            "inputs": [self._pipe if name == PIPE else version_of(name) for name in self._files],
            "fields": [names.html, [*names.text], names.url, names.title],
            "options": {name: job.options[name] for name in sorted({*job.options} - {"workers"})},
            "index": None if job.index is None else str(job.index.absolute()),
        }

    def _forget(self) -> None:
        """Remove the contents of the folder, scan.json last."""
        self.state = State()
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name not in ("lock", "input.new", self._note.name):
                path.unlink()
        self._note.unlink(missing_ok=True)

    def _leave(self) -> None:
        """Release the lock of the folder, and remove the folder if it is empty."""
        self._input.with_suffix(".new").unlink(missing_ok=True)
        self._lock.release()
        if not self._note.exists():
            with suppress(OSError):  # another process uses it, or it is not ours
                (self.folder / "lock").unlink(missing_ok=True)
                self.folder.rmdir()


def _require_outputs(outputs: Sequence[Path], files: Sequence[str]) -> None:
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise ConfigError(f"{outputs[-1]} cannot be written twice: name another file")
    for path in outputs:
        require_place(path)
        for read in filter(None, map(local_path, files)):
            if path.exists() and path.samefile(read):
                raise ConfigError(f"{path} is one of the inputs: name another file to write to")
