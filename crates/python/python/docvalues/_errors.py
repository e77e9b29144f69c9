"""The errors of docvalues."""

from __future__ import annotations

from errno import EEXIST, ENOENT
from functools import partial
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


class StorageError(Error, OSError):
    """The operating system refused a call: `errno` has the reason, if it gave one, and `filename` is `file`."""

    def __init__(self, message: str, *, errno: int | None = None, file: str | None = None, **places: Any) -> None:
        super().__init__(message, file=file, **places)
        self.errno = errno
        self.filename = file

    # `OSError` keeps these two where pickle does not see them.
    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.message, errno=self.errno, file=self.file), (), self.__dict__


class NotFoundError(StorageError, FileNotFoundError):
    """There is no such file or commit, or no store in the folder."""

    def __init__(self, message: str, *, errno: int | None = None, **places: Any) -> None:
        super().__init__(message, errno=errno or ENOENT, **places)


class ExistsError(StorageError, FileExistsError):
    """There is a store in the folder already."""

    def __init__(self, message: str, *, errno: int | None = None, **places: Any) -> None:
        super().__init__(message, errno=errno or EEXIST, **places)


class ColumnError(Error, KeyError):
    """There is no column of that name; in a condition, this is a `QueryError`."""


class QueryError(Error, ValueError):
    """A condition that is not a query or does not fit its column: the message points at the character."""


class DataError(Error, ValueError):
    """A value or type that a column cannot hold: `column` and `row` name its place in the data."""


class CorruptError(Error, ValueError):
    """A damaged file."""
