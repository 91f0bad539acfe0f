"""The address of a Spark master -> a session with executors, or why there is none, within a minute.

Spark itself waits for ever for a master that has no executors.
"""

import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from pyspark.sql import SparkSession

from dedup_filter.errors import DedupError
from dedup_filter.wording import printable

_LONGEST_ANSWER = 10.0
"""Seconds that a master may take to answer."""
_LONGEST_START = 60.0
"""Seconds until an executor must have done its first job."""
_PARTITIONS_HERE = "8"
"""Partitions of a shuffle on this machine; Spark's default of 200 is for clusters."""
_STANDALONE = re.compile(r"spark://(.+)")


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
        reason = str(error).strip().partition("\n")[0]
        raise DedupError(f"Spark cannot be started on {master}: {printable(reason, 300)}") from None
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
