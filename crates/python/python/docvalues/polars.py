"""Segments, stores and files as a polars `LazyFrame`: `docvalues.scan_polars`."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.io.plugins import register_io_source

from ._docvalues import Segment
from ._docvalues import open as open_segment

if TYPE_CHECKING:
    from ._docvalues import Source

_OPERATORS = {"Eq": "=", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_BOUNDS = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_PATTERNS = {"StartsWith": "^=", "EndsWith": "$="}
_INTEGERS = ("i64", "u64", "date", "timestamp[ms]", "timestamp[us]", "timestamp[ns]")

# A query has at most 64 nested parentheses, and 1 MiB of text.
_MAX_DEPTH = 60
_MAX_TEXT = 1 << 20


def scan_polars(source: Source | Segment, *, commit: int | None = None) -> pl.LazyFrame:
    """A `LazyFrame` over a segment, a store or many files.

    Projection, row limit and the predicates that a search can answer are pushed down. polars filters every batch again, so
    that the answer does not depend on which these are. IP addresses and UUIDs are text.
    """
    segment = source if isinstance(source, Segment) else open_segment(source, commit=commit)
    layout: Any = {"strings": "views", "as_text": True}
    types = segment.schema.types

    def read(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        columns = with_columns
        if predicate is not None and columns is not None:
            columns = [*columns, *(name for name in predicate.meta.root_names() if name not in columns)]
        # A row limit is one of rows before the predicate.
        where = condition(predicate, types) if predicate is not None and n_rows is None else None
        with segment.scan(columns, where=where, limit=n_rows, batch_rows=batch_size or 65_536, **layout) as scan:
            for batch in scan:
                frame = pl.DataFrame(batch)
                if predicate is not None:
                    frame = frame.filter(predicate)
                yield frame if with_columns is None else frame.select(with_columns)

    with segment.scan(limit=0, **layout) as empty:
        schema = pl.DataFrame(empty).schema
    return register_io_source(read, schema=schema, is_pure=True)


def condition(predicate: pl.Expr, types: Mapping[str, str]) -> str | None:
    """A query that matches at least the documents for which `predicate` is true; `None` if that would be all of them."""
    try:
        node = json.loads(predicate.meta.serialize(format="json"))
        return _conjunction([_condition(node, types, 0)])
    except Exception:  # JSON has no NaN and no functions, and other releases of polars may have other forms
        return None


def _condition(node: Any, types: Mapping[str, str], depth: int) -> str | None:
    match node:
        case {"Column": name} if types.get(name) == "bool":
            return _comparison(name, "bool", "=", True)
        case {"BinaryExpr": {"op": "And" | "LogicalAnd" as op}}:
            return _conjunction([_condition(part, types, depth) for part in _operands(node, op)])
        case {"BinaryExpr": {"op": "Or" | "LogicalOr" as op}} if depth < _MAX_DEPTH:
            parts = [_condition(part, types, depth + 1) for part in _operands(node, op)]
            return None if None in parts else f"({' or '.join(part for part in parts if part)})"
        case {"BinaryExpr": {"left": {"Column": name}, "op": op, "right": {"Literal": _} as value}} if op in _OPERATORS:
            return _comparison(name, kind := types.get(name, ""), _OPERATORS[op], _value(kind, value))
        case {"Function": {"input": [{"Column": name}, *arguments], "function": {"Boolean": function}}}:
            return _boolean(name, types.get(name, "list"), function, arguments)
        case {"Function": {"input": [{"Column": name}, {"Literal": _} as value], "function": {"StringExpr": function}}}:
            return _pattern(name, kind := types.get(name, ""), function, _value(kind, value))
    return None


def _operands(node: Any, op: str) -> list[Any]:
    """The operands of nested operations of one kind."""
    match node:
        case {"BinaryExpr": {"left": left, "op": found, "right": right}} if found == op:
            return [*_operands(left, op), *_operands(right, op)]
    return [node]


def _boolean(name: str, kind: str, function: Any, arguments: list[Any]) -> str | None:
    match function, arguments:
        case "IsNull" | "IsNotNull", []:
            return _presence(name, kind, "missing" if function == "IsNull" else "exists")
        case {"IsBetween": {"closed": closed}}, [{"Literal": _} as low, {"Literal": _} as high] if closed in _BOUNDS:
            bounds = zip(_BOUNDS[closed], (low, high))
            return _conjunction(
                [_comparison(name, kind, operator, _value(kind, bound)) for operator, bound in bounds]
            )
        case {"IsIn": {"nulls_equal": False}}, [{"Literal": _} as values]:
            return _is_in(name, kind, _value(kind, values))
    return None


def _pattern(name: str, kind: str, function: Any, value: Any) -> str | None:
    match function:
        case str() if function in _PATTERNS:
            operator = _PATTERNS[function]
        # Text without special characters is a regular expression that matches itself.
        case {"Contains": {"literal": is_literal}} if is_literal or str(value).isalnum():
            operator = "*="
        case _:
            return None
    text = _literal(kind, value) if kind == "string" else None
    return text and f"{_column(name)} {operator} {text}"


def _value(kind: str, node: Any) -> Any:
    """The value of a literal for a column of type `kind`: days and times as numbers, lists as such; `None` for days or
    times of another type."""
    expression = pl.Expr.deserialize(io.BytesIO(json.dumps(node).encode()), format="json")
    literal = pl.select(expression).to_series()
    type_: Any = getattr(literal.dtype, "inner", literal.dtype)
    # polars gives literals the type of their column, before it asks for a scan.
    if type_.is_temporal() and kind != ("date" if type_ == pl.Date else f"timestamp[{type_.time_unit}]"):
        return None
    value = literal.to_physical().item()
    return value.to_list() if isinstance(value, pl.Series) else value


def _column(name: str) -> str:
    return _quoted(name, "`")


def _comparison(name: str, kind: str, operator: str, value: Any) -> str | None:
    """A comparison with a column whose type is `kind`."""
    text = _literal(kind, value)
    if text is None or (kind == "bool" and operator not in ("=", "!=")):
        return None
    # For polars, NaN is above every number.
    if kind == "f64" and operator in (">", ">="):
        return f"{_column(name)} exists and not {_column(name)} {'<=' if operator == '>' else '<'} {text}"
    return f"{_column(name)} {operator} {text}"


def _is_in(name: str, kind: str, values: Any) -> str | None:
    """A test for one of some values; nulls are equal to nothing."""
    if values is None:
        return None
    literals = [_literal(kind, value) for value in values if value is not None]
    return None if None in literals else f"{_column(name)} in ({', '.join(text for text in literals if text)})"


def _presence(name: str, kind: str, test: str) -> str | None:
    """`exists` or `missing`. Lists without values may be null or empty, so they are left to the caller."""
    return None if kind.startswith("list") else f"{_column(name)} {test}"


def _conjunction(parts: list[str | None]) -> str | None:
    found = " and ".join(part for part in parts if part)
    return found if found and len(found.encode()) <= _MAX_TEXT else None


def _literal(kind: str, value: Any) -> str | None:
    """A value of a column of this type in the query language."""
    match value:
        case bool():
            return str(value).lower() if kind == "bool" else None
        case int() if kind in _INTEGERS:
            return str(value)
        case float() if kind == "f64" and math.isfinite(value):
            return repr(value)
        case str() if kind == "string":
            return _quoted(value, '"')
    return None


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote * 2) + quote
