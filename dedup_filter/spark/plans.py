"""Data frames of a loop -> data frames whose plans do not grow; names of columns -> columns."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own manual has it
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from dedup_filter.text.page_fields import path_to

_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def cut(frame: DataFrame) -> DataFrame:
    """Compute a data frame now, and keep its rows instead of its plan.

    If the session has a checkpoint directory, the rows are written there and outlive an executor;
    else they stay on the executors.
    """
    if frame.sparkSession.sparkContext.getCheckpointDir():
        return frame.checkpoint()
    return frame.localCheckpoint()


def content(frame: DataFrame) -> tuple[int, ...]:
    """Return numbers that are equal for the same distinct rows, and almost never for others."""
    hashed = frame.select(F.xxhash64(*frame.columns).alias("hash"))
    counts = hashed.agg(F.count("hash"), F.coalesce(F.bit_xor("hash"), F.lit(0))).first()
    assert counts is not None, "there is always one row of totals"
    return tuple(counts)


@contextmanager
def batches_of(spark: SparkSession, rows: int) -> Iterator[None]:
    """Within the context, Spark passes batches of `rows` rows to Python."""
    before = spark.conf.get(_BATCH, None)
    spark.conf.set(_BATCH, rows)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_BATCH)
        else:
            spark.conf.set(_BATCH, before)


def fields_in(rows: StructType) -> dict[str, Any]:
    """Return a mapping with the names of some columns, and of the fields within them."""
    return {
        each.name: fields_in(each.dataType) if isinstance(each.dataType, StructType) else None
        for each in rows
    }


def column(there: Mapping[str, Any], name: str) -> Column:
    """Return a column of `fields_in`, or a field within one, by a name as for `path_to`."""
    return F.col(".".join(f"`{each}`" for each in path_to(there, name)))


def arrow_schema(rows: StructType) -> pa.Schema:
    """Return the Arrow schema of some rows."""
    return to_arrow_schema(rows)
