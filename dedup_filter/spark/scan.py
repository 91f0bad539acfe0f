"""Files of a finished crawl -> folders with its pages without duplicates, on Spark.

    lines     the text of each line, byte for byte            read and cut in parts by Spark
    parquet   rows with all their columns                     the same
    warc      a line of JSON with the place of a record       each file by one task, from its path

The folders contain part files in no order, as Spark writes them. Duplicates, and in `mark` all
pages, have the verdict in a field or column "dedup". Pages are ordered by file, and within a file
by line. Invalid records are counted, and left out.

The session is refused within a minute if its master has no executors: Spark itself would wait for
ever. Paths are Spark's: on a file system that all executors see, or URLs (s3a://, hdfs://).
"""

import json
import os
import re
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it

from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.model import REPEATS
from dedup_filter.scan.files import Format, format_of, input_files
from dedup_filter.scan.inputs import read_item, records_in
from dedup_filter.scan.outputs import MARK, Summary, with_field
from dedup_filter.scan.parquet import missing_columns
from dedup_filter.scan.work import Scan
from dedup_filter.spark.data_frames import Row, fields_in, mapped, small_batches
from dedup_filter.spark.page_verdicts import VERDICT, verdicts
from dedup_filter.text.page_fields import URL_NAMES, FieldNames, PageText, path_to
from dedup_filter.wording import printable

_LONGEST_ANSWER = 10.0
"""Seconds that a master may take to answer."""
_LONGEST_START = 60.0
"""Seconds until an executor must have done its first job."""
_PARTITIONS_HERE = "8"
"""Partitions of a shuffle on this machine; Spark's default of 200 is for clusters."""
_STANDALONE = re.compile(r"spark://(.+)")
_MOST_SHOWN = 10
_PREFIX = "_dedup_"
_ORDER = ["_file", "_path", "_block", "_place"]
"""Columns by which records are ordered; columns that a format does not use are 0."""
_RECORDS = pa.schema(
    {
        "_file": pa.int32(),
        "_path": pa.string(),
        "_block": pa.int64(),
        "_place": pa.int64(),
        "line": pa.binary(),
        **dict.fromkeys(("url", "html", "text", "content_type", "link", "title"), pa.string()),
        "body": pa.binary(),
        "_problem": pa.string(),
    }
)
_LINES = pa.schema({"value": pa.binary()})


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """Start a session on a master, and end it.

    Raises:
        DedupError: Java is missing, the master does not answer or is no master, or no
            executor starts.
    """
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise DedupError("Spark needs Java 17 or newer: none is on PATH, and JAVA_HOME is not set")
    _require_answer(master)
    # Executors on this machine have the packages that this process has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable if master.startswith("local") else "")
    try:
        made = SparkSession.builder.master(master).appName("dedup-filter")
        if master.startswith("local"):
            made = made.config("spark.sql.shuffle.partitions", _PARTITIONS_HERE)
        spark = made.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:  # of many kinds, some of them Java's
        raise DedupError(f"Spark cannot be started on {master}: {_first_line(error)}") from None
    try:
        spark.sparkContext.setLogLevel("ERROR")
        _require_executor(spark, master)
        yield spark
    finally:
        spark.stop()


def _require_answer(master: str) -> None:
    """Check that one of the masters of a standalone cluster answers; Spark checks other masters."""
    found = _STANDALONE.fullmatch(master)
    for address in found[1].split(",") if found else ():
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), _LONGEST_ANSWER).close()
        except (OSError, ValueError) as error:
            reason = error
        else:
            return
    if found:
        raise DedupError(f"no Spark master answers at {master} ({reason})")


def _require_executor(spark: SparkSession, master: str) -> None:
    job = Thread(target=spark.range(1).count, daemon=True)
    job.start()
    job.join(_LONGEST_START)
    if job.is_alive():
        spark.sparkContext.cancelAllJobs()
        raise DedupError(
            f"the Spark master at {master} has started no executor within {_LONGEST_START:.0f} s"
        )


def scan_on(spark: SparkSession, job: Scan) -> Summary:
    """Judge the records of some files, and write folders; for the verdicts see `verdicts`.

    Raises:
        ConfigError: an input or an output cannot be used, or an option is wrong.
    """
    files: list[str] = []
    for each in job.inputs:
        is_sparks = "://" in each and format_of(each.rstrip("/")) != "warc"
        files += [each] if is_sparks else input_files([each], job.written)
    kinds = {format_of(name.rstrip("/")) for name in files}
    if len(kinds) != 1 or None in kinds:
        raise ConfigError("on Spark all inputs are of one kind: .jsonl, .parquet or .warc files")
    for output in job.outputs:
        if output.exists() and not job.force:
            raise ConfigError(f"{output} is there already: name another, or give --force")
    kind = kinds.pop()
    try:
        records = _records(spark, kind, files, job.names)
        return _written(records, kind, job)
    except AnalysisException as error:
        raise ConfigError(f"Spark cannot use a file: {_first_line(error)}") from None
    except PySparkException as error:
        raise DedupError(f"Spark has given up: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return printable(str(error).strip().partition("\n")[0], 300)


def _records(
    spark: SparkSession, kind: Format | None, files: list[str], names: FieldNames
) -> DataFrame:
    if kind == "warc":
        # One archive a task, so that long archives are in different tasks.
        numbered = spark.createDataFrame([*enumerate(files)], "number int, name string")
        archives = numbered.repartition(len(files), "number")
        return mapped(archives, partial(_archives, names=names), _RECORDS)
    if kind == "parquet":
        rows = spark.read.parquet(*files)
        place = F.col("_metadata.row_index").alias("_place")
        placed = rows.select("*", *_file_columns(files), place)
        return placed.withColumns({"_block": F.lit(0), "_problem": F.lit(None).cast("string")})
    lines = spark.read.text(files).where("trim(value) != ''")
    placed = lines.select(
        F.col("value").cast("binary").alias("line"),
        *_file_columns(files),
        F.col("_metadata.file_block_start").alias("_block"),
    )
    return mapped(placed, partial(_lines, names=names), _RECORDS)


def _file_columns(files: list[str]) -> list[Column]:
    """Return the place of a row's file among the inputs, and its path; the place of a URL is 0."""
    paths = F.lit([Path(name).absolute().as_uri() for name in files if "://" not in name] or [""])
    path = F.regexp_replace("_metadata.file_path", "^file:/+", "file:///")
    return [F.array_position(paths, path).cast("int").alias("_file"), path.alias("_path")]


def _lines(rows: Iterator[Row], names: FieldNames) -> Iterator[Row]:
    for row in rows:
        found = read_item(row["line"], names)
        if isinstance(found, str):
            yield {**row, "_problem": found}
        else:
            yield {**row, "_place": 0, "url": _valid(found[0]), **_page(found[1])}


def _archives(rows: Iterator[Row], names: FieldNames) -> Iterator[Row]:
    for number, name in (row.values() for row in rows):
        for record in records_in(name, None, names):
            place = {"url": record.url, "file": name, "start": record.start, "end": record.end}
            order = {"_file": number, "_path": name, "_block": 0, "_place": record.start}
            line = {"line": json.dumps(place).encode(), "url": _valid(record.url)}
            yield {**order, **line, "_problem": record.problem, **_page(record.page)}


def _page(page: PageText | str) -> Row:
    if isinstance(page, str):
        return {}
    row: Row = page._asdict()
    if isinstance(page.html, bytes):
        row = {**row, "html": None, "body": page.html}
    return {name: _valid(each) if isinstance(each, str) else each for name, each in row.items()}


def _valid(text: str | None) -> str | None:
    """Replace unpaired surrogates, which Arrow refuses."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _written(records: DataFrame, kind: Format | None, job: Scan) -> Summary:
    columns: dict[str, str | Sequence[str]] = {"title": "title", "link": "link"}
    if kind == "warc":
        columns["html"] = "body"
    if kind == "parquet":
        columns = _columns(records, job.names)
    with small_batches(records.sparkSession):
        bad = records.where("_problem IS NOT NULL").select("_path", "_problem")
        first_bad = [f"{path}: {problem}" for path, problem in bad.limit(_MOST_SHOWN).collect()]
        pages = records.where("_problem IS NULL")
        found = verdicts(pages, order=_ORDER, columns=columns, prefix=_PREFIX, **job.options)
        is_repeat = F.col(f"{_PREFIX}outcome").isin(*REPEATS)
        if job.mark is not None:
            _write(_with_mark(found, kind), kind, job.mark, job)
        if job.output is not None:
            _write(_as_it_came(found.where(~is_repeat), kind), kind, job.output, job)
        if job.duplicates is not None:
            _write(_with_mark(found.where(is_repeat), kind), kind, job.duplicates, job)
        counts = found.groupBy(f"{_PREFIX}outcome", f"{_PREFIX}reason").count().collect()
        bad_count = bad.count()
        without_url = found.where("coalesce(url, '') = ''").count() if "url" in found.columns else 0
    outcomes, reasons = Counter[str](), Counter[str]()
    for outcome, reason, count in counts:
        outcomes[outcome] += count
        reasons[reason] += count if outcome == "unjudged" else 0
    total, dropped = outcomes.total(), sum(outcomes[each] for each in REPEATS)
    return Summary(
        total, total - dropped, {**outcomes}, {**+reasons}, without_url, bad_count, first_bad
    )


def _columns(rows: DataFrame, names: FieldNames) -> dict[str, str | Sequence[str]]:
    there = fields_in(rows.schema)
    if missing := missing_columns(there, names):
        raise ConfigError(f"the input {missing}")
    url = names.url or next((name for name in URL_NAMES if name in there), None)
    given = {"html": [names.html], "text": names.text, "url": [url], "title": [names.title]}
    found = {
        name: [each for each in columns if each is not None and path_to(there, each)]
        for name, columns in given.items()
    }
    return {name: columns for name, columns in found.items() if columns}


def _mark() -> Column:
    return F.struct(*(F.col(f"{_PREFIX}{name}").alias(name) for name in VERDICT)).alias(MARK)


def _as_it_came(found: DataFrame, kind: Format | None) -> DataFrame:
    if kind == "parquet":
        ours = [*_ORDER, "_problem", *(f"{_PREFIX}{name}" for name in VERDICT)]
        return found.drop(*ours)
    return found.select(F.col("line").cast("string").alias("value"))


def _with_mark(found: DataFrame, kind: Format | None) -> DataFrame:
    if kind == "parquet":
        return _as_it_came(found.withColumn(MARK, _mark()), kind)
    marks = found.select("line", F.to_json(_mark(), {"ignoreNullFields": "false"}).alias("mark"))
    return mapped(marks, _marked, _LINES).select(F.col("value").cast("string"))


def _marked(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        yield {"value": with_field(row["line"], MARK, json.loads(row["mark"])).rstrip(b"\n")}


def _write(rows: DataFrame, kind: Format | None, folder: Path, job: Scan) -> None:
    writer = rows.write.mode("overwrite" if job.force else "errorifexists")
    if kind == "parquet":
        writer.parquet(str(folder))
    else:
        writer.text(str(folder))
