"""A crawl that is there already -> the pages without duplicates. It can be killed and goes on.

    inputs -> records -> the filter -> index, verdict log      judging, hours
    inputs, verdict log -> outputs                             writing, minutes

While pages are judged nothing is written but the index and the log (`verdict_log`). Each commit of
the index has a bookmark: how long the log was, and which record came last. So the same command,
after a kill, cuts the log there and goes on with the next record; of the page that it judged just
then neither the index nor the log knows. When all is judged the inputs are read again, and outputs
are made from the beginning; they take their names when they are whole.

All this is in a folder beside the output, OUTPUT.scan, which is gone at the end:

    scan.json       what is scanned, and how far it is
    index           unless an index is named, which stays
    verdicts.jsonl  the log
    input           what came by standard input
    lock            of the process that is at it

Memory: that of the filter, and 4 pages for each of its workers.
"""

import io
import json
import os
import shutil
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from dedup_filter.errors import ConfigError, DedupError, StoreBusy, StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scan.inputs import PIPE, Format, Record, files_in, format_of, records_in
from dedup_filter.scan.outputs import Summary, Target, write_outputs
from dedup_filter.scan.parquet import require_alike
from dedup_filter.scan.streams import Spooled, Stream
from dedup_filter.scan.verdict_log import Entry, VerdictLog, entries_in
from dedup_filter.text.page_fields import FieldNames, PageText
from dedup_filter.warc.gzip_member import GZIP_MAGIC


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
    index: Path | None = None
    """An index to use and to keep; None: one that is gone at the end."""
    names: FieldNames = field(default_factory=lambda: FieldNames("html", ("text",), "url"))
    """Fields or columns of pages."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the filter, see `NearDuplicateFilter.open`."""
    force: bool = False
    """Whether outputs are replaced, and what is left of another scan is forgotten."""


class Progress(NamedTuple):
    """How far pages are judged."""

    passed: int
    """Bytes of the inputs."""
    total: int
    """0: not known."""
    records: int
    dropped: int


Watch = Callable[[Progress], None]


def scan(job: Scan, watch: Watch = lambda _: None) -> Summary:
    """Scan, or go on with a scan that was interrupted.

    Cost: that of `NearDuplicateFilter.see_many`, 3 to 5 ms a page of 100 KB for each worker. Room
    on the disk besides the outputs: the index (docs/scaling.md), 200 bytes a page for the log, and
    what comes by standard input.

    Raises:
        ConfigError: an input, an output or an option cannot be used, an output is there already,
            or another scan to it was interrupted.
        StoreBusy: another process is at it.
        DedupError: an input cannot be read as what its name says, or no page is in any.
        OSError: a file cannot be read or written.
    """
    NearDuplicateFilter.check_options(**job.options)
    files = files_in(job.inputs)
    kind = _kind(job, files)
    with _Work.of(job, files) as work:
        if work.state == "judging":
            _judge(job, files, kind, work, watch)
            work.note("judged")
        if work.state == "judged":
            work.require_same_inputs(job, files)
            work.note("written", _write(job, files, kind, work))
        return work.finish()


def _kind(job: Scan, files: Sequence[str]) -> Format:
    """Return the format of all inputs. Raises ConfigError: something does not fit."""
    kinds: list[Format] = [format_of(name) or "lines" for name in files]
    kind = kinds[0]
    for name, other in zip(files, kinds, strict=True):
        if other != kind:
            raise ConfigError(f"{files[0]} and {name} have different formats: scan them one by one")
    if files.count(PIPE) > 1:
        raise ConfigError("standard input can be read only once")
    if kind == "parquet":
        require_alike([Path(name) for name in files], job.names)
    of_marks: Format = "lines" if kind == "warc" else kind
    _require_ending(job.output, of_marks if job.mark else kind)
    _require_ending(job.duplicates, of_marks)
    if kind == "warc" and not job.mark:
        for name in files:
            if _is_gzip(Path(name)) != str(job.output).endswith(".gz"):
                raise ConfigError(
                    f"records are written as compressed as they are in {name}: give {job.output} "
                    "a name that ends as that does"
                )
    return kind


def _require_ending(path: Path | None, wanted: Format) -> None:
    if path is not None and format_of(path.name) not in (None, wanted):
        what = {"lines": "lines of JSON", "parquet": "Parquet", "warc": "WARC records"}[wanted]
        raise ConfigError(f"{path} would hold {what}: give it a name that ends so")


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == GZIP_MAGIC[:2]


def _judge(job: Scan, files: Sequence[str], kind: Format, work: "_Work", watch: Watch) -> None:
    """Judge all pages, from the bookmark of the index on."""
    log = VerdictLog(work.log)
    options = {"workers": "auto", **job.options}
    folder = job.index or work.folder / "index"
    judged = NearDuplicateFilter.open(folder, crawl=work.crawl, **options)
    at = _Bookmark(work.crawl, 0, 0, 0, 1)
    is_over = False

    def bookmark() -> str:
        if is_over:
            raise StoreError("a scan broke off")
        return json.dumps(at._replace(log=log.flush()))

    try:
        kept = judged.keep_bookmark(bookmark)
        at = _Bookmark.read(kept, work.crawl) or at
        log.cut(at.log)
        records = _records(files, kind, work, job.names, at)
        told = _Told(files, watch)
        for file, record, verdict in _verdicts(judged, records, files):
            found = {"problem": record.problem} if record.problem else verdict.as_json()
            log.add(Entry(file, record.start, record.end, record.number, record.url, found))
            at = _Bookmark(work.crawl, 0, file, record.end, record.number + 1)
            told.tell(file, record, verdict)
    except BaseException:
        # It may have come between a verdict and its entry: what is not committed is judged again.
        is_over = True
        with suppress(DedupError, OSError):
            judged.close()
        raise
    else:
        judged.close()
        log.flush()
    finally:
        log.close()


class _Bookmark(NamedTuple):
    """How far a scan is."""

    crawl: str
    log: int
    """Bytes of the log."""
    file: int
    end: int
    """Where in the file the last record ended."""
    number: int
    """Of the next line."""

    @classmethod
    def read(cls, kept: str | None, crawl: str) -> "_Bookmark | None":
        """Read what an index has; None if it has none of this crawl."""
        found = None if kept is None else cls._make(json.loads(kept))
        return found if found is not None and found.crawl == crawl else None


def _records(
    files: Sequence[str], kind: Format, work: "_Work", names: FieldNames, at: _Bookmark
) -> Iterator[tuple[int, Record]]:
    for file in range(at.file, len(files)):
        name = files[file]
        start, number = (at.end, at.number) if file == at.file else (0, 1)
        with _stream(name, kind, work) as stream:
            for record in records_in(name, stream, names, start, number):
                yield file, record


@contextmanager
def _stream(name: str, kind: Format, work: "_Work") -> Iterator[Stream | None]:
    """Open what lines are read from."""
    if kind != "lines":
        yield None
    elif name == PIPE:
        with (
            Spooled(sys.stdin.buffer, work.spool) as spooled,
            Stream(io.BufferedReader(spooled)) as stream,
        ):
            yield stream
    else:
        with Stream.open(Path(name)) as stream:
            yield stream


def _verdicts(
    judged: NearDuplicateFilter, records: Iterator[tuple[int, Record]], files: Sequence[str]
) -> Iterator[tuple[int, Record, Verdict]]:
    """Judge records in order."""
    ahead: deque[tuple[int, Record]] = deque()

    def pages() -> Iterator[dict[str, Any]]:
        for file, record in records:
            ahead.append((file, record))
            # A page without a URL is told by its place.
            url = record.url or f"{files[file]}:{record.number}"
            page = record.page
            if isinstance(page, PageText):
                yield {"url": url, **page._asdict()}
            else:  # without text it is not judged, and keeps its place among the others
                yield {"url": url, "text": ""}

    for verdict in judged.see_many(pages()):
        file, record = ahead.popleft()
        if isinstance(record.page, PageText):
            yield file, record, verdict
        else:
            yield file, record, verdict.as_unjudged(record.page)


class _Told:
    """Tells how far pages are judged."""

    def __init__(self, files: Sequence[str], watch: Watch) -> None:
        sizes = [0 if name == PIPE else Path(name).stat().st_size for name in files]
        self._before = [0, *accumulate(sizes)]
        self._total = 0 if PIPE in files else sum(sizes)
        self._watch = watch
        self._records = self._dropped = 0

    def tell(self, file: int, record: Record, verdict: Verdict) -> None:
        """Tell of one more."""
        self._records += 1
        self._dropped += verdict.is_duplicate
        passed = self._before[file] + record.passed
        self._watch(Progress(passed, self._total, self._records, self._dropped))


def _write(job: Scan, files: Sequence[str], kind: Format, work: "_Work") -> Summary:
    """Write the outputs, under other names."""
    inputs = [(name, work.spool if name == PIPE else Path(name)) for name in files]
    with ExitStack() as opened:
        targets = [
            Target(path.name, opened.enter_context(_part(path).open("wb"))) for path in work.outputs
        ]
        kept, dropped = targets[0], targets[1] if job.duplicates else None
        entries = entries_in(work.log)
        summary = write_outputs(kind, inputs, entries, kept, dropped, mark=job.mark)
        for target in targets:
            target.file.flush()
            os.fsync(target.file.fileno())
    without = sum(summary.reasons.get(reason, 0) for reason in ("no_field", "wrong_type"))
    if without == summary.pages and (summary.pages or summary.bad):
        looked = ", ".join(filter(None, (job.names.html, *job.names.text)))
        raise _NoPagesError(
            f"no page is in {', '.join(job.inputs)} (looked for: {looked}); say where with "
            f"--html-field or --text-fields. {' '.join(summary.first_bad[:1])}".rstrip()
        )
    return summary


class _NoPagesError(DedupError):
    """Nothing was found that could be judged: there is no use in going on with this scan."""


class _Work:
    """The folder in which a scan is while it lasts."""

    def __init__(self, job: Scan, files: Sequence[str]) -> None:
        self.folder = job.output.with_name(f"{job.output.name}.scan")
        self.log = self.folder / "verdicts.jsonl"
        self.spool = self.folder / "input"
        self.outputs = [job.output, *([job.duplicates] if job.duplicates else [])]
        self._note = self.folder / "scan.json"
        self._scanned = _described(job, files)
        self._noted: dict[str, Any] = {}

    @classmethod
    @contextmanager
    def of(cls, job: Scan, files: Sequence[str]) -> Iterator["_Work"]:
        """Go on with what is there, or begin anew; what was never begun leaves nothing behind."""
        work = cls(job, files)
        work._require_outputs(files)
        with work._locked():
            work._begin(force=job.force)
            try:
                yield work
            except BaseException as error:
                is_useless = isinstance(error, _NoPagesError)
                if is_useless or (work.state == "judging" and not work._has_log()):
                    work._remove()
                raise

    @property
    def state(self) -> str:
        """Return what is next: "judging", "judged" (writing), "written" (naming the outputs)."""
        state: str = self._noted["state"]
        return state

    @property
    def crawl(self) -> str:
        """The name of the scan's crawl in its index."""
        name: str = self._noted["crawl"]
        return name

    def note(self, state: str, summary: Summary | None = None) -> None:
        """Note how far the scan is."""
        self._noted |= {"state": state, "summary": summary}
        fresh = self._note.with_suffix(".new")
        fresh.write_text(json.dumps(self._noted), "utf-8")
        fresh.replace(self._note)

    def require_same_inputs(self, job: Scan, files: Sequence[str]) -> None:
        """Refuse to write what would not be of the pages that were judged."""
        if _described(job, files) != self._scanned:
            raise DedupError("an input has changed while it was scanned: give --force to scan anew")

    def finish(self) -> Summary:
        """Give the outputs their names, and remove the folder."""
        for path in self.outputs[::-1]:
            if _part(path).exists():
                _part(path).replace(path)
        self._remove()
        return Summary(*self._noted["summary"])

    def _require_outputs(self, files: Sequence[str]) -> None:
        """Refuse outputs that are inputs, or the same."""
        first, *second = self.outputs
        if second and first.absolute() == second[0].absolute():
            raise ConfigError(f"{first} cannot be written twice: name another file for duplicates")
        for path in self.outputs:
            if path.is_dir():
                raise ConfigError(f"{path} is a folder: name a file to write to")
            for name in files:
                if name != PIPE and path.exists() and path.samefile(name):
                    raise ConfigError(f"{path} is one of the inputs: name another file to write to")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(exist_ok=True)
            lock = FileLock(self.folder / "lock", timeout=0, thread_local=False)
            lock.acquire()
        except Timeout:
            raise StoreBusy(f"another process is scanning to {self.outputs[0]}") from None
        except OSError as error:
            raise ConfigError(f"{self.outputs[0]} cannot be written: {error}") from None
        try:
            yield
        finally:
            lock.release()

    def _begin(self, *, force: bool) -> None:
        if self._note.exists():
            noted = json.loads(self._note.read_text("utf-8"))
            differ = [name for name, value in self._scanned.items() if value != noted["scan"][name]]
            if not differ:
                self._noted = noted
                return
            if not force:
                raise ConfigError(
                    f"{self.folder} is left of another scan, which was interrupted: it has other "
                    f"{' and '.join(differ)}. Give its command again to go on with it, or --force "
                    "to forget it"
                )
            self._empty()
        for path in self.outputs:
            if path.exists() and not force:
                raise ConfigError(f"{path} is there already: name another file, or give --force")
            try:
                _part(path).open("wb").close()
            except OSError as error:
                raise ConfigError(f"{path} cannot be written: {error}") from None
        self._noted = {"scan": self._scanned, "crawl": f"scan {token_hex(8)}"}
        self.note("judging")

    def _has_log(self) -> bool:
        return self.log.exists() and self.log.stat().st_size > 0

    def _empty(self) -> None:
        """Remove all of the folder, what tells whose it is at last."""
        shutil.rmtree(self.folder / "index", ignore_errors=True)
        for path in (self.log, self.spool, self._note):
            path.unlink(missing_ok=True)

    def _remove(self) -> None:
        self._empty()
        for path in self.outputs:
            _part(path).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _part(path: Path) -> Path:
    """Return the name that a file has until it is whole."""
    return path.with_name(f"{path.name}.part")


def _described(job: Scan, files: Sequence[str]) -> dict[str, Any]:
    """Return what the verdicts follow from, as plain JSON."""
    inputs = []
    for name in files:
        found = None if name == PIPE else Path(name).stat()
        inputs.append([name, found and found.st_size, found and found.st_mtime_ns])
    return {
        "format": 1,
        "inputs": inputs,
        "fields": [job.names.html, [*job.names.text], job.names.url],
        "options": {name: job.options[name] for name in sorted(job.options) if name != "workers"},
        "index": None if job.index is None else str(job.index.absolute()),
    }
