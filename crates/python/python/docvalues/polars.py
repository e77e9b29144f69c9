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
_INTEGERS = ("i64", "u64", "date", "timestamp[ms]", "timestamp[us]", "timestamp[ns]")
_PATTERNS = {"StartsWith": "^=", "EndsWith": "$="}

# A query has at most 64 nested parentheses, and 1 MiB of text.
_MAX_DEPTH = 60
_MAX_TEXT = 1 << 20


def scan_polars(source: Source | Segment, *, commit: int | None = None) -> pl.LazyFrame:
    """A `LazyFrame` over a segment, a store or many files.

    polars filters every batch, so a condition that is pushed down only has to match at least the same documents. IP addresses
    and UUIDs are text.
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
    except Exception:  # such as a function in Python
        return None
    found = _condition(node, types, 0)
    return found if found is not None and len(found.encode()) <= _MAX_TEXT else None


def _condition(node: Any, types: Mapping[str, str], depth: int) -> str | None:
    match node:
        case {"Column": name} if types.get(name) == "bool":
            return f"{_quoted(name, '`')} = true"
        case {"BinaryExpr": {"op": "And" | "LogicalAnd" as op}}:
            parts = [_condition(part, types, depth) for part in _operands(node, op)]
            return " and ".join(part for part in parts if part) or None
        case {"BinaryExpr": {"op": "Or" | "LogicalOr" as op}} if depth < _MAX_DEPTH:
            parts = [_condition(part, types, depth + 1) for part in _operands(node, op)]
            return None if None in parts else f"({' or '.join(part for part in parts if part)})"
        case {"BinaryExpr": {"left": {"Column": name}, "op": op, "right": {"Literal": _} as value}}:
            return _comparison(name, _OPERATORS.get(op), _value(value), types)
        case {"Function": {"input": [{"Column": name}, *arguments], "function": {"Boolean": function}}}:
            return _boolean(name, function, arguments, types)
        case {
            "Function": {
                "input": [{"Column": name}, {"Literal": _} as value],
                "function": {"StringExpr": function},
            }
        } if types.get(name) == "string":
            return _pattern(name, function, _value(value))
    return None


def _operands(node: Any, op: str) -> list[Any]:
    """The operands of nested operations of one kind."""
    match node:
        case {"BinaryExpr": {"left": left, "op": found, "right": right}} if found == op:
            return [*_operands(left, op), *_operands(right, op)]
    return [node]


def _comparison(name: str, operator: str | None, value: Any, types: Mapping[str, str]) -> str | None:
    kind, column = types.get(name, ""), _quoted(name, "`")
    literal = _literal(kind, value)
    if operator is None or literal is None or (kind == "bool" and operator not in ("=", "!=")):
        return None
    # For polars, NaN is above every number.
    if kind == "f64" and operator in (">", ">="):
        return f"{column} exists and not {column} {'<=' if operator == '>' else '<'} {literal}"
    return f"{column} {operator} {literal}"


def _boolean(name: str, function: Any, arguments: list[Any], types: Mapping[str, str]) -> str | None:
    column = _quoted(name, "`")
    match function, arguments:
        case "IsNull" | "IsNotNull", [] if not types.get(name, "list").startswith("list"):
            return f"{column} {'missing' if function == 'IsNull' else 'exists'}"
        case {"IsBetween": {"closed": closed}}, [{"Literal": _} as low, {"Literal": _} as high] if closed in _BOUNDS:
            bounds = zip(_BOUNDS[closed], (low, high))
            parts = [_comparison(name, operator, _value(bound), types) for operator, bound in bounds]
            return " and ".join(part for part in parts if part) or None
        case {"IsIn": {"nulls_equal": False}}, [{"Literal": _} as values]:
            found = _value(values)
            literals = [_literal(types.get(name, ""), value) for value in found if value is not None]
            return None if None in literals else f"{column} in ({', '.join(text for text in literals if text)})"
    return None


def _pattern(name: str, function: Any, value: Any) -> str | None:
    match function:
        case str() if function in _PATTERNS:
            operator = _PATTERNS[function]
        # Text without special characters is a regular expression that matches itself.
        case {"Contains": {"literal": is_literal}} if is_literal or str(value).isalnum():
            operator = "*="
        case _:
            return None
    literal = _literal("string", value)
    return literal and f"{_quoted(name, '`')} {operator} {literal}"


def _value(node: Any) -> Any:
    """The value of a literal: days and times as numbers, lists as such."""
    expression = pl.Expr.deserialize(io.BytesIO(json.dumps(node).encode()), format="json")
    value = pl.select(expression.to_physical()).item()
    return value.to_list() if isinstance(value, pl.Series) else value


def _literal(kind: str, value: Any) -> str | None:
    """A value of a column in the query language."""
    if kind == "bool" and isinstance(value, bool):
        return str(value).lower()
    if kind in _INTEGERS and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if kind == "f64" and isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if kind == "string" and isinstance(value, str):
        return _quoted(value, '"')
    return None


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote * 2) + quote
