"""Conditions in the query language, for `docvalues.polars` and `docvalues.spark`.

polars and Spark filter what they get, so a condition only has to match at least the same documents; `None` stands for all.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

_INTEGERS = ("i64", "u64", "date", "timestamp[ms]", "timestamp[us]", "timestamp[ns]")

MAX_DEPTH = 60
"""Nested parentheses; a query has at most 64."""

MAX_TEXT = 1 << 20
"""Bytes of a query."""


def column(name: str) -> str:
    return _quoted(name, "`")


def comparison(name: str, kind: str, operator: str, value: Any) -> str | None:
    """A comparison with a column whose type is `kind`."""
    text = literal(kind, value)
    if text is None or (kind == "bool" and operator not in ("=", "!=")):
        return None
    # For polars and Spark, NaN is above every number.
    if kind == "f64" and operator in (">", ">="):
        return f"{column(name)} exists and not {column(name)} {'<=' if operator == '>' else '<'} {text}"
    return f"{column(name)} {operator} {text}"


def is_in(name: str, kind: str, values: Any) -> str | None:
    """A test for one of some values; nulls are equal to nothing."""
    literals = [literal(kind, value) for value in values if value is not None]
    return None if None in literals else f"{column(name)} in ({', '.join(text for text in literals if text)})"


def presence(name: str, kind: str, test: str) -> str | None:
    """`exists` or `missing`. Lists without values may be null or empty, so they are left to the caller."""
    return None if kind.startswith("list") else f"{column(name)} {test}"


def conjunction(parts: list[str | None]) -> str | None:
    found = " and ".join(part for part in parts if part)
    return found if found and len(found.encode()) <= MAX_TEXT else None


def literal(kind: str, value: Any) -> str | None:
    """A value that a column of this type may have; days and times also as stored numbers."""
    match value:
        case bool():
            return str(value).lower() if kind == "bool" else None
        case int() if kind in _INTEGERS:
            return str(value)
        case float() if kind == "f64" and math.isfinite(value):
            return repr(value)
        case str() if kind == "string":
            return _quoted(value, '"')
        case dt.date() if kind == "date" and not isinstance(value, dt.datetime):
            return _quoted(value.isoformat(), '"')
    return None


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote * 2) + quote
