"""Columnar doc values: facet, sort, group, filter and fetch from files and stores, beside Arrow, polars and DuckDB.

>>> import docvalues as dv
>>> dv.write("doctest.dv", {"host": ["a.example", "b.example", "a.example"], "size": [512, 9_000, 700]})
3
>>> hits = dv.open("doctest.dv")
>>> hits.facet("host", where="size < 1kB").to_pydict()
{'host': ['a.example'], 'count': [2]}
>>> hits.top(["-size"], 1).to_pydict()
{'host': ['b.example'], 'size': [9000]}
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _docvalues
from ._docvalues import Scan, Schema, Segment, Store, Table, __version__, open, write
from ._errors import ColumnError, CorruptError, DataError, Error, ExistsError, NotFoundError, QueryError, StorageError

if TYPE_CHECKING:
    import polars

    from ._docvalues import Source

__all__ = [
    "ColumnError",
    "CorruptError",
    "DataError",
    "Error",
    "ExistsError",
    "NotFoundError",
    "QueryError",
    "Scan",
    "Schema",
    "Segment",
    "StorageError",
    "Store",
    "Table",
    "__version__",
    "open",
    "scan_polars",
    "write",
]


# A forked process has none of the threads that searches wait for: it gets an error instead.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_docvalues._forked)


def scan_polars(source: Source | Segment, *, commit: int | None = None) -> polars.LazyFrame:
    """A `LazyFrame` over a segment, a store or many files; needs polars.

    Projection, row limit and the predicates that a search can answer are pushed down; polars filters the rest.
    """
    from .polars import scan_polars as scan

    return scan(source, commit=commit)
