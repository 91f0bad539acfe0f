"""Data frames: Python on their rows, plans that do not grow, columns by their names."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from dedup_filter.text.page_fields import path_to

Row = dict[str, Any]

_ROWS = 64
"""Rows that Python gets, and returns, at a time: 7 MB of HTML."""
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def mapped(
    rows: DataFrame, function: Callable[[Iterator[Row]], Iterator[Row]], schema: pa.Schema
) -> DataFrame:
    """Apply a function to the rows of each partition; it yields rows of a schema.

    Values that a row lacks are null. Memory: two batches of rows, and what the function holds.
    """

    def batches(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = function(row for batch in given for row in batch.to_pylist())
        while some := list(islice(made, _ROWS)):
            yield pa.RecordBatch.from_pylist(some, schema)

    return rows.mapInArrow(batches, from_arrow_schema(schema))


@contextmanager
def small_batches(spark: SparkSession) -> Iterator[None]:
    """Within the context, Python gets `_ROWS` rows at a time."""
    before = spark.conf.get(_BATCH, None)
    spark.conf.set(_BATCH, _ROWS)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_BATCH)
        else:
            spark.conf.set(_BATCH, before)


def cut(frame: DataFrame) -> DataFrame:
    """Compute a data frame now, and keep its rows instead of its plan.

    If the session has a checkpoint directory, the rows are written there and outlive an executor;
    else they stay on the executors.
    """
    if frame.sparkSession.sparkContext.getCheckpointDir():
        return frame.checkpoint()
    return frame.localCheckpoint()


def fields_in(rows: StructType) -> Row:
    """Return a mapping with the names of some columns, and of the fields within them."""
    return {
        each.name: fields_in(each.dataType) if isinstance(each.dataType, StructType) else None
        for each in rows
    }


def column(there: Mapping[str, Any], name: str) -> Column:
    """Return a column of `fields_in`, or a field within one, by a name as for `path_to`."""
    return F.col(".".join(f"`{each}`" for each in path_to(there, name)))
