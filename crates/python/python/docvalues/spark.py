"""A data source for Spark 4: `spark.dataSource.register(docvalues.spark.DocValues)`.

    spark.read.format("docvalues").option("where", "size > 1MB").load("logs/*.dv")

Options: `path` of a segment, a store or a pattern; `where`; `commit` of a store. Each segment is a partition. A schema
given to Spark (`.schema("host string, size long")`) leaves the other columns out. IP addresses and UUIDs are strings, `u64`
is `decimal(20, 0)`. Filters of Spark 4.1 and later are pushed down; Spark evaluates them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema

from . import _conditions as conditions
from ._docvalues import Segment
from ._docvalues import open as open_segment

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

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

_OPERATORS = {"EqualTo": "=", "LessThan": "<", "LessThanOrEqual": "<=", "GreaterThan": ">", "GreaterThanOrEqual": ">="}
_PATTERNS = {"StringStartsWith": "^=", "StringEndsWith": "$=", "StringContains": "*="}


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


class _Reader(DataSourceReader):
    """Opened once: the workers open the same files, or the same commit of a store."""

    def __init__(self, segment: Segment, schema: spark.StructType, where: str | None) -> None:
        self.segment = segment
        self.schema = schema
        self.where = where

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        types = self.segment.schema.types
        where = None if self.where is None else f"({self.where})"
        self.where = conditions.conjunction([where, *(_condition(each, types) for each in filters)]) or self.where
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(part) for part in range(self.segment.parts)] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(self.schema, timezone="UTC")
        names = self.schema.fieldNames()
        with self.segment.scan(names, where=self.where, part=partition.value, as_text=True) as scan:
            for batch in scan:
                yield pa.record_batch(batch).cast(schema)


def _condition(each: Any, types: dict[str, str]) -> str | None:
    """A filter of Spark in the query language."""
    operator = type(each).__name__
    name = ".".join(getattr(each, "attribute", ()))
    kind = types.get(name)
    if kind is None:
        return None
    if operator in _OPERATORS:
        return conditions.comparison(name, kind, _OPERATORS[operator], each.value)
    if operator in _PATTERNS and kind == "string":
        return f"{conditions.column(name)} {_PATTERNS[operator]} {conditions.literal(kind, each.value)}"
    if operator == "In":
        return conditions.is_in(name, kind, each.value)
    if operator in ("IsNull", "IsNotNull"):
        return conditions.presence(name, kind, "missing" if operator == "IsNull" else "exists")
    return None
