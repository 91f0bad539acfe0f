"""The pages of a finished crawl -> its pages without duplicates. A killed scan can be continued.

    inputs -> records -> the filter -> index, verdict log      judging, hours
    inputs, verdict log -> outputs                             writing, minutes

While pages are judged, only the index and the log (`work`) are written. Each commit of the
index has a bookmark: the length of the log. So after a kill the same command cuts the log to this
length and continues behind the last record in it; later verdicts are neither in the index nor in
the log. Once all pages are judged, the inputs are read again and outputs are written
from the beginning, with the best copy of each page if the policy is not "first" (`best_copy`). They
get their names when they are whole. If outputs were written during judging, they would have to be
cut to a commit, too, which Parquet files do not allow.

All state is in the folder of `work`.

Memory: as the filter, and up to 16 pages for each worker; more if another copy than the first is
kept (`best_copy`).
"""

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, DedupError, StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.judge import BOOKMARK
from dedup_filter.model import DROPPED, Verdict
from dedup_filter.scan.best_copy import BestCopies
from dedup_filter.scan.files import PIPE, Format, format_of, input_files, open_input
from dedup_filter.scan.inputs import Input, Record, records_in, require_fields
from dedup_filter.scan.outputs import OwnTexts, Summary, Wanted, write_outputs
from dedup_filter.scan.parquet import require_alike
from dedup_filter.scan.revisits import Revisits
from dedup_filter.scan.streams import GZIP_MAGIC
from dedup_filter.scan.work import (
    Entry,
    NoPagesError,
    Scan,
    Work,
    entries_in,
    found_of,
    new_crawl,
)
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_fields import PageText
from dedup_filter.upkeep import filter_options, index_at
from dedup_filter.wording import counted
from dedup_filter.workers import MOST_AUTOMATIC, cores


class Progress(NamedTuple):
    """The progress of judging."""

    passed: int
    """Bytes of the inputs that were read."""
    total: int
    """Bytes of all inputs."""
    records: int
    dropped: int
    url: str
    """Of the last record."""
    verdict: Verdict | None
    """On the last record; None: it is no page."""


Inputs = Sequence[Input]
Watch = Callable[[Progress], None]
Say = Callable[[str], None]


def scan(job: Scan, watch: Watch = lambda _: None, say: Say = lambda _: None) -> Summary:
    """Scan, or continue an interrupted scan; `say` gets messages for people.

    Cost: as `NearDuplicateFilter.see_many`, 3 to 5 ms a page of 100 KB for each worker. Disk space
    besides the outputs: the index (docs/scaling.md), 200 bytes a page for the log, and a copy of
    standard input.

    Raises:
        ConfigError: an input, an output or an option cannot be used, an output exists already, or
            another scan to it was interrupted.
        StoreBusy: another process is scanning to the output.
        DedupError: an input does not have the format of its name, or there is no page in any input.
        OSError: a file cannot be read or written.
    """
    NearDuplicateFilter.check_options(job.index or "index", **job.options)
    if not job.outputs:
        raise ConfigError(
            "there is no file to write: give -o FILE, --mark FILE or --duplicates FILE"
        )
    files = input_files(job.inputs, job.written, say)
    kind = _kind(job, files)
    with _naming_output(job), Work(job, files) as work:
        inputs = [Input.of(name, work.place_of(name), kind, job.names) for name in files]
        # A WARC file is also replayed: its images and documents stay, unless they are to be judged.
        options: dict[str, Any] = {"payloads": "none"} if kind == "warc" else {}
        if job.index is not None:  # the options of the index hold, unless others are given
            options |= filter_options(index_at(str(job.index)))
        job = replace(job, options={**options, **job.options})
        if not work.state.is_judged:
            _judge(job, inputs, kind, work, watch, say)
        else:
            say("Continuing an interrupted scan: all records are judged.")
        work.require_same_inputs()
        summary = _write(job, inputs, kind, work)
        work.finish()
    return summary


@contextmanager
def _naming_output(job: Scan) -> Iterator[None]:
    """Name the output in an error of the system that names no file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        again = "the same command continues from here"
        raise OSError(
            f"scanning to {job.outputs[0]}: {error.strerror or error}; {again}"
        ) from error


def _kind(job: Scan, files: Sequence[str]) -> Format:
    """Return the format of all inputs. ConfigError: formats, or names of outputs, do not fit."""
    kinds: dict[Format, str] = {format_of(name) or "lines": name for name in files}
    if len(kinds) > 1:
        raise ConfigError(f"{' and '.join(kinds.values())} have different formats: scan each alone")
    [kind] = kinds
    if files.count(PIPE) > 1:
        raise ConfigError("standard input can be read only once")
    if kind == "parquet":
        require_alike(files, job.names)
    if job.revisits and (kind != "warc" or job.output is None):
        raise ConfigError("--revisits is for WARC files that are written with -o")
    if kind == "warc" and job.text_out is not None:
        raise ConfigError(
            "WARC records stay as they are: --with-text is for JSON lines and Parquet"
        )
    _require_ending(job.output, kind)
    for path in job.duplicates, job.mark:
        _require_ending(path, "lines" if kind == "warc" else kind)
    if kind == "warc" and job.output is not None:
        for name in files:
            is_gzip = _is_gzip(name)
            if is_gzip not in (None, str(job.output).endswith(".gz")):
                raise ConfigError(
                    f"{name} holds {'gzip members' if is_gzip else 'plain records'}, which are "
                    f"written as they are: give {job.output} a name that ends in "
                    f"{'.warc.gz' if is_gzip else '.warc'}"
                )
    return kind


def _require_ending(path: Path | None, wanted: Format) -> None:
    if path is not None and format_of(path.name) not in (None, wanted):
        what = {"lines": "lines of JSON", "parquet": "Parquet", "warc": "WARC records"}[wanted]
        end = {"lines": ".jsonl, or .jsonl.gz", "parquet": ".parquet", "warc": ".warc, or .warc.gz"}
        raise ConfigError(f"{path} gets {what}: give it a name that ends in {end[wanted]}")


def _is_gzip(name: str) -> bool | None:
    """Return whether the first record of a WARC file is compressed; None: it begins with none."""
    with open_input(name) as file:
        start = file.read(5)
    return start.startswith(GZIP_MAGIC) if start.startswith((GZIP_MAGIC, b"WARC/")) else None


def _judge(job: Scan, inputs: Inputs, kind: Format, work: Work, watch: Watch, say: Say) -> None:
    if kind == "lines":
        require_fields(inputs, job.names)
    before = [0, *accumulate(size for _, size, *_ in work.state.scan["inputs"])]
    is_over, dropped = False, 0

    def bookmark() -> str:
        if is_over:
            raise StoreError("the scan broke off")
        log.flush()
        return json.dumps([work.state.crawl, log.tell()])

    judged, length = _opened(job, work)
    try:
        with work.log.open("ab") as log:
            log.seek(log.truncate(length))
            [(done, last)] = deque(enumerate(entries_in(work.log), 1), 1) or [(0, None)]
            if done:
                say(f"Continuing an interrupted scan: {counted(done, 'record')} judged already.")
            judged.conductor.bookmark = bookmark
            records = _records(job, inputs, last)
            for count, (file, record, verdict) in enumerate(_verdicts(judged, records, inputs), 1):
                place = file, record.start, record.end, record.number, record.url
                log.write(Entry(*place, found_of(record, verdict)).line)
                dropped += verdict.outcome in DROPPED
                on_page = None if record.problem or record.not_page else verdict
                passed = before[file] + record.passed
                watch(Progress(passed, before[-1], count, dropped, record.url, on_page))
            judged.close()
    except BaseException:
        # The error may have come between verdict and log line: both are discarded from the last
        # commit on.
        is_over = True
        with suppress(DedupError, OSError):
            judged.close()
        raise
    work.save(is_judged=True)


def _opened(job: Scan, work: Work) -> tuple[NearDuplicateFilter, int]:
    """Open the index, and return it with the length of the log in its bookmark."""
    options = {**job.options, "workers": _workers(job.options.get("workers", "auto"))}
    while True:
        judged = NearDuplicateFilter.open(work.index, crawl=work.state.crawl, **options)
        crawl, length, *_ = json.loads(judged.conductor.store.note(BOOKMARK) or '["", 0]')
        if crawl == work.state.crawl or not work.has_log:
            return judged, length if crawl == work.state.crawl else 0
        # Nothing was committed, or another scan has used the index since and left its bookmark.
        # Begin again as a new crawl, so that pages recorded before are not taken for copies.
        judged.close()
        work.log.unlink()
        work.save(crawl=new_crawl())


def _workers(processes: int | str) -> int:
    """Leave out this process, which reads pages, too."""
    number = min(cores(), MOST_AUTOMATIC) if isinstance(processes, str) else processes
    return max(number - 1, 0)


def _records(job: Scan, inputs: Inputs, last: Entry | None) -> Iterator[tuple[int, Record]]:
    """Yield the records behind the last one in the log, each with the number of its file."""
    payloads = FilterConfig.of(job.options).judged_payloads
    file, start, number = (0, 0, 1) if last is None else (last.file, last.end, last.number + 1)
    for _, place, kind in inputs[file:]:
        for record in records_in(place, kind, job.names, start, number, payloads=payloads):
            yield file, record
        file, start, number = file + 1, 0, 1


def _verdicts(
    judged: NearDuplicateFilter, records: Iterator[tuple[int, Record]], inputs: Inputs
) -> Iterator[tuple[int, Record, Verdict]]:
    ahead: deque[tuple[int, Record]] = deque()

    def pages() -> Iterator[dict[str, Any]]:
        for file, record in records:
            ahead.append((file, record))
            url = inputs[file].url_of(record.url, record.number)
            if isinstance(record.page, PageText):
                yield {"url": url, **record.page._asdict()}
            else:  # it is not judged, but keeps its place among the others
                yield {"url": url, "text": ""}

    for verdict in judged.see_many(pages()):
        file, record = ahead.popleft()
        page = record.page
        yield file, record, verdict if isinstance(page, PageText) else verdict.as_unjudged(page)


def _write(job: Scan, inputs: Inputs, kind: Format, work: Work) -> Summary:
    config = NearDuplicateFilter.check_options(work.index, **job.options)
    repeats = (*DROPPED, *(["revisit"] if config.revisit == "drop" else []))
    with ExitStack() as opened:
        index = opened.enter_context(SqliteStore.open_to_read(work.index))
        entries: Callable[[], Iterator[Entry]] = partial(entries_in, work.log)
        if job.keep != "first":
            entries = BestCopies(work.log, index, job.keep, config.min_similarity).entries
        texts = None if job.text_out is None else OwnTexts(index, config)
        parts = [opened.enter_context(work.part_of(path).open("wb")) for path in job.outputs]
        revisits = Revisits(inputs, entries, repeats) if job.revisits else None
        wanted = Wanted(job, parts, repeats, revisits, texts)
        summary = write_outputs(kind, inputs, entries(), wanted)
        for part in parts:
            part.flush()
            os.fsync(part.fileno())
    without = sum(summary.reasons.get(reason, 0) for reason in ("no_field", "wrong_type"))
    if kind != "warc" and without == summary.pages and (summary.pages or summary.bad):
        looked = ", ".join(filter(None, (job.names.html, *job.names.text)))
        raise NoPagesError(
            f"no page is in {', '.join(job.inputs)} (looked for: {looked}); say where with "
            f"--html-field or --text-fields. {' '.join(summary.first_bad[:1])}".rstrip()
        )
    return summary
