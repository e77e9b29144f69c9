"""The errors of docvalues."""

from __future__ import annotations

import errno
from typing import Any


class Error(Exception):
    """Any error of docvalues. `file`, `section` and `offset` name its place, if it has one."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        section: str | None = None,
        offset: int | None = None,
        column: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.section = section
        self.offset = offset
        self.column = column
        self.row = row

    # `KeyError` would quote the message, and `OSError` build one of its own.
    def __str__(self) -> str:
        return self.message


class NotFoundError(Error, FileNotFoundError):
    """There is no such file, or no store in the folder."""

    def __init__(self, message: str, *, file: str | None = None, **places: Any) -> None:
        super().__init__(message, file=file, **places)
        self.errno = errno.ENOENT
        self.filename = file


class ColumnError(Error, KeyError):
    """There is no column of that name; in a condition, this is a `QueryError`."""


class QueryError(Error, ValueError):
    """A condition that is not a query or does not fit its column: the message points at the character."""


class DataError(Error, ValueError):
    """A value or type that a column cannot hold: `column` and `row` name its place in the data."""


class CorruptError(Error, ValueError):
    """A damaged file."""
