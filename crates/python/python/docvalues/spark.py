"""A data source for Spark 4: `spark.dataSource.register(docvalues.spark.DocValues)`.

    spark.read.format("docvalues").option("where", "size > 1MB").load("logs/*.dv")

Options: `path` of a segment, a store or a pattern; `where`, which docvalues evaluates; `commit` of a store. Each segment is a
partition. A schema that is given to Spark (`.schema("host string, size long")`) leaves the other columns out. IP addresses
and UUIDs are strings, `u64` is `decimal(20, 0)`, and nanoseconds that are not whole microseconds are an error.

Filters of Spark are evaluated by Spark, not pushed down: with `spark.sql.python.filterPushdown.enabled`, Spark 4.1 to 4.3 apply
the filters of a query also to the next query of the same data frame, if that has none.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema

from ._docvalues import Segment
from ._docvalues import open as open_segment

_TYPES: dict[str, spark.DataType] = {
    "i64": spark.LongType(),
    "u64": spark.DecimalType(20, 0),
    "f64": spark.DoubleType(),
    "bool": spark.BooleanType(),
    "date": spark.DateType(),
    "bytes": spark.BinaryType(),
    **dict.fromkeys(("timestamp[ms]", "timestamp[us]", "timestamp[ns]"), spark.TimestampType()),
    **dict.fromkeys(("string", "ip", "uuid"), spark.StringType()),
}


class DocValues(DataSource):
    """Segments and stores, as Spark's format `docvalues`."""

    @classmethod
    def name(cls) -> str:
        return "docvalues"

    def _open(self) -> Segment:
        if "path" not in self.options:
            raise ValueError("expected a path: spark.read.format('docvalues').load(PATH)")
        commit = self.options.get("commit")
        return open_segment(self.options["path"], commit=None if commit is None else int(commit))

    def schema(self) -> spark.StructType:
        with self._open() as segment:
            types = segment.schema.types
        return spark.StructType([spark.StructField(name, _spark_type(kind)) for name, kind in types.items()])

    def reader(self, schema: spark.StructType) -> DataSourceReader:
        return _Reader(self._open(), schema, self.options.get("where"))


def _spark_type(kind: str) -> spark.DataType:
    is_list = kind.startswith("list<")
    value = _TYPES[kind.removeprefix("list<").removesuffix(">")]
    return spark.ArrayType(value) if is_list else value


def _arrow_schema(schema: spark.StructType) -> Any:
    """Times in UTC, which is the only choice before Spark 4.2."""
    utc: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **utc)


class _Reader(DataSourceReader):
    """Opened once: the workers open the same files, or the same commit of a store."""

    def __init__(self, segment: Segment, schema: spark.StructType, where: str | None) -> None:
        self.segment = segment
        self.schema = schema
        self.where = where

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(part) for part in range(self.segment.parts)] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        schema = _arrow_schema(self.schema)
        names = self.schema.fieldNames()
        with self.segment.scan(names, where=self.where, part=partition.value, as_text=True) as scan:
            for batch in scan:
                yield pa.record_batch(batch).cast(schema)
