"""Segments, stores and files as a polars `LazyFrame`: `docvalues.scan_polars`."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.io.plugins import register_io_source

from . import _conditions as conditions
from ._docvalues import Segment
from ._docvalues import open as open_segment

if TYPE_CHECKING:
    from ._docvalues import Source

_OPERATORS = {"Eq": "=", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_BOUNDS = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_PATTERNS = {"StartsWith": "^=", "EndsWith": "$="}


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
        return conditions.conjunction([_condition(node, types, 0)])
    except Exception:  # JSON has no NaN and no functions, and other releases of polars may have other forms
        return None


def _condition(node: Any, types: Mapping[str, str], depth: int) -> str | None:
    match node:
        case {"Column": name} if types.get(name) == "bool":
            return conditions.comparison(name, "bool", "=", True)
        case {"BinaryExpr": {"op": "And" | "LogicalAnd" as op}}:
            return conditions.conjunction([_condition(part, types, depth) for part in _operands(node, op)])
        case {"BinaryExpr": {"op": "Or" | "LogicalOr" as op}} if depth < conditions.MAX_DEPTH:
            parts = [_condition(part, types, depth + 1) for part in _operands(node, op)]
            return None if None in parts else f"({' or '.join(part for part in parts if part)})"
        case {"BinaryExpr": {"left": {"Column": name}, "op": op, "right": {"Literal": _} as value}} if op in _OPERATORS:
            return conditions.comparison(name, types.get(name, ""), _OPERATORS[op], _value(value))
        case {"Function": {"input": [{"Column": name}, *arguments], "function": {"Boolean": function}}}:
            return _boolean(name, types.get(name, "list"), function, arguments)
        case {"Function": {"input": [{"Column": name}, {"Literal": _} as value], "function": {"StringExpr": function}}}:
            return _pattern(name, types.get(name, ""), function, _value(value))
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
            return conditions.presence(name, kind, "missing" if function == "IsNull" else "exists")
        case {"IsBetween": {"closed": closed}}, [{"Literal": _} as low, {"Literal": _} as high] if closed in _BOUNDS:
            bounds = zip(_BOUNDS[closed], (low, high))
            return conditions.conjunction(
                [conditions.comparison(name, kind, operator, _value(bound)) for operator, bound in bounds]
            )
        case {"IsIn": {"nulls_equal": False}}, [{"Literal": _} as values]:
            return conditions.is_in(name, kind, _value(values))
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
    text = conditions.literal(kind, value) if kind == "string" else None
    return text and f"{conditions.column(name)} {operator} {text}"


def _value(node: Any) -> Any:
    """The value of a literal: days and times as numbers, lists as such."""
    expression = pl.Expr.deserialize(io.BytesIO(json.dumps(node).encode()), format="json")
    value = pl.select(expression.to_physical()).item()
    return value.to_list() if isinstance(value, pl.Series) else value
