from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, final
from uuid import UUID

__version__: str

class ArrowStream(Protocol):
    """A table: of polars, pyarrow, pandas, a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class ArrowArray(Protocol):
    """A record batch or an array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> object: ...

Path: TypeAlias = str | PathLike[str]
Source: TypeAlias = Path | Iterable[Path]
# A mapping of names to lists of values is for small data: bool, int, float, str, bytes, date, datetime, objects of `uuid` and
# `ipaddress`, lists of these, None. A column may also be an array of numpy or Arrow, or a series.
Data: TypeAlias = ArrowStream | ArrowArray | Mapping[str, Collection[Any] | ArrowArray | ArrowStream]
# A mapping has the names of docs/query.md: "i64", "u64", "f64", "bool", "date", "timestamp[ms]", "timestamp[us]",
# "timestamp[ns]", "ip", "uuid", "string", "bytes"; "list<string>" has any number of values in each document.
SchemaLike: TypeAlias = ArrowSchema | ArrowStream | Mapping[str, str]
# Numbers of documents: integers of Arrow, of numpy, or of any iterable.
Docs: TypeAlias = ArrowArray | ArrowStream | Iterable[SupportsIndex]
# Strings or bytes as stored; of a column of IP addresses or UUIDs, also their text and objects of `ipaddress` and `uuid`.
Ids: TypeAlias = ArrowArray | ArrowStream | Iterable[str | bytes | UUID | IPv4Address | IPv6Address | None]
Strings: TypeAlias = Literal["offsets", "views", "dictionary"]
Names: TypeAlias = str | Iterable[str]
Progress: TypeAlias = Callable[[int], object]

def open(source: Source, *, commit: int | None = None, untrusted: bool = False) -> Segment:
    """Opens a segment file, the newest commit of a store's folder, or several files and glob patterns as one.

    `commit` is the number of a commit that the store keeps. `untrusted` also checks what only a hostile writer gets wrong.

    >>> for name in ("monday.dv", "tuesday.dv"):
    ...     docs = dv.write(name, {"size": [512, 9_000]})
    >>> with dv.open("*day.dv") as hits:
    ...     print(hits.count("size > 1kB"))
    2
    """

def write(
    path: Path,
    data: Data,
    *,
    sort_by: Names | None = None,
    id_field: str | None = None,
    types: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Writes a segment file, batch by batch, and returns its number of documents.

    `sort_by` has names of columns, with `-` in front for descending. `types` are the types of columns that shall not have
    the one of the data: text as "ip" or "uuid", integers as "u64". `memory` bounds the buffers, in bytes; what is beyond
    goes to a temporary file. `progress` is called with the number of documents so far. A value that its column cannot hold
    raises a `DataError` with `column` and `row`, and no file is written.

    Integers become i64 or u64, floats f64, timestamps UTC in milliseconds, microseconds or nanoseconds; their zone is not kept,
    and one without a zone is taken to be in UTC. Decimals become f64, or i64 without decimal places, and must be exact;
    times and durations become integers of their unit; extension types other than IP addresses and UUIDs become the type
    that stores them. Of `types`, "ip" and "uuid" parse text of columns and lists, not of structs. Dictionaries are decoded,
    and structs become columns (`geo.city`). A list has the values of a document: they come back in ascending order, equal
    strings once, and an empty list as a missing one. In a column of doubles, integers of a mapping must be exact, and those
    of Arrow are refused. `progress` and Ctrl-C have their turn between batches, but not while the columns are encoded at
    the end.

    >>> dv.write("hits.dv", {"host": ["b", "a"], "client": ["10.0.0.7", "::1"]}, sort_by="host", types={"client": "ip"})
    2
    >>> dv.open("hits.dv").schema
    client: ip
    host: string
    """

def main(args: Sequence[str]) -> int:
    """Runs the command `dv` and returns its exit code."""

def _forked() -> None: ...

@final
class Table:
    """Rows in memory, as Arrow: `pl.DataFrame(it)`, `pa.table(it)`, `pa.record_batch(it)`, `pd.DataFrame.from_arrow(it)`.

    `info` has totals of the answer: `docs` (counted documents) and `missing` (those without a value); of a facet also
    `distinct` (values there are), of groups `distinct` if it is known, of a histogram `outside` (values outside of edges).

    >>> docs = dv.write("hits.dv", {"host": ["a", None, "a"]})
    >>> hosts = dv.open("hits.dv").facet("host")
    >>> hosts.to_pydict(), hosts.info
    ({'host': ['a'], 'count': [2]}, {'docs': 3, 'missing': 1, 'distinct': 1})
    """

    @property
    def columns(self) -> list[str]: ...
    @property
    def info(self) -> dict[str, int]: ...
    def __len__(self) -> int: ...
    def to_pydict(self) -> dict[str, list[Any]]:
        """Lists of bool, int, float, str, bytes, date and datetime. IP addresses and UUIDs are text, nanoseconds are int.

        A year that Python does not have, such as 10000, raises a `ValueError`; Arrow has it, and so does `repr`.
        """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def _repr_html_(self) -> str: ...

@final
class Schema:
    """Names and Arrow types of columns: `pa.schema(it)`, `pl.Schema(it)`. Iteration and `in` are those of the names.

    >>> docs = dv.write("hits.dv", {"host": ["a"], "tags": [["x", "y"]]})
    >>> schema = dv.open("hits.dv").schema
    >>> "host" in schema, list(schema), schema.types["tags"]
    (True, ['host', 'tags'], 'list<string>')
    """

    @property
    def names(self) -> list[str]: ...
    @property
    def types(self) -> dict[str, str]:
        """The types, by name, as docs/query.md calls them: "i64", "timestamp[ms]", "list<string>"."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Scan:
    """Documents as record batches, read when they are asked for. It can be read several times.

    A scan keeps its files open until it and its streams are gone, or `close` was called. Streams are read by the threads of
    their consumers, who get an error of docvalues as one of their own, with its text. Threads may share a scan, but not one
    iterator of it: while another thread reads from it, `next` raises a `RuntimeError`.

    >>> docs = dv.write("hits.dv", {"size": range(5)})
    >>> [batch.to_pydict()["size"] for batch in dv.open("hits.dv").scan(where="size > 0", batch_rows=3)]
    [[1, 2, 3], [4]]
    """

    @property
    def schema(self) -> Schema: ...
    def __iter__(self) -> Iterator[Table]: ...
    def read_all(self) -> Table: ...
    def close(self) -> None: ...
    def __enter__(self) -> Scan: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Segment:
    """A segment file, several, or a commit or snapshot of a store: documents that do not change. Made by `open`.

    Conditions (`where`) are those of docs/query.md. Documents have numbers from 0 on, over all files; deleted documents of a
    store keep theirs. Threads may share a segment. One that was opened by name can be pickled. After `close`, every call
    raises a `ValueError`, and scans and streams that were made before still work.

    >>> docs = dv.write("hits.dv", {"id": ["x", "y", "z"], "host": ["a", "b", "a"], "size": [5, 7, 9]}, id_field="id")
    >>> hits = dv.open("hits.dv")
    >>> hits.group("host", metrics=["sum(size)"], order="sum(size)").to_pydict()
    {'host': ['a', 'b'], 'count': [2, 1], 'sum(size)': [14, 7]}
    >>> hits.histogram("size", 5).to_pydict()
    {'from': [5], 'count': [3]}
    >>> hits.top("-size", 2, where="host = 'a'", columns=["id"], docs="doc").to_pydict()
    {'doc': [2, 0], 'id': ['z', 'x']}
    >>> hits.take([2, 0], ["size"]).to_pydict(), hits.lookup(["y"], ["size"]).to_pydict()
    ({'size': [9, 5]}, {'size': [7]})
    """

    @property
    def schema(self) -> Schema: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def sort_by(self) -> list[str]:
        """The keys by which the documents are sorted, if all files are sorted alike."""

    @property
    def parts(self) -> int:
        """The number of files, or of segments of a store."""

    def __len__(self) -> int:
        """The number of live documents."""

    def describe(self) -> Table:
        """A row for each column: `name`, `type`, `kind`, `docs` with a value and `values`, both null if they are not known."""

    def count(self, where: str | None = None) -> int: ...
    def facet(
        self,
        column: str,
        *,
        where: str | None = None,
        top: int = 10,
        order: Literal["count", "value"] = "count",
        min_count: int = 1,
        prefix: str | bytes | None = None,
    ) -> Table:
        """The most frequent values: a column of the name `column`, and `count`."""

    def top(
        self,
        sort: Names,
        n: int = 10,
        *,
        where: str | None = None,
        columns: Names | None = None,
        docs: str | None = None,
        as_text: bool = False,
    ) -> Table:
        """The first `n` documents in an order; `-size` is descending, `size:missing-first` begins with those without a value.

        `docs` is the name of a first column with the numbers of the documents, as `take` wants them. `columns` and `as_text`
        are those of `scan`.
        """

    def group(
        self,
        by: Names,
        *,
        where: str | None = None,
        metrics: Names = (),
        top: int = 10,
        order: str = "count",
        having: str | None = None,
        missing: bool = False,
    ) -> Table:
        """Groups of documents with equal values: the columns of `by`, `count`, and a column for each metric.

        Metrics are `sum(size)`, `min(size)`, `max(size)`, `mean(size)`, `p99(size)`, `distinct(host)`, `first(host by time)` and
        `last(host by time)`. `order` is "count", "value" or a metric, each with its greatest first except "value". `having` is a
        condition on `count` and metrics: "count > 10 and sum(size) < 1MB". `missing` adds the groups of documents without a value.
        """

    def histogram(
        self,
        column: str,
        step: float | str | Iterable[Any],
        *,
        where: str | None = None,
        metrics: Names = (),
    ) -> Table:
        """Counts in buckets: `from` (of the column's type), `count`, and a column for each metric.

        `step` is a width; a step of the calendar in UTC, such as "day", "15min", "2 weeks", "hour of day" or "weekday"; or
        edges.
        """

    def stats(
        self, column: str, *, where: str | None = None, distinct: bool = False
    ) -> Table:
        """One row: `docs`, `missing`, `values`, `nans`, `min`, `max`, `sum`, `mean`, `std`, and `distinct` on request.

        Strings, bytes, IP addresses and UUIDs have no `sum`, `mean` and `std`: these are null.
        `std` is the standard deviation of a sample, as in polars and DuckDB. Here and in metrics, sums of integers are i64, or
        u64, or doubles if one is beyond 64 bits.
        """

    def percentiles(
        self, column: str, at: float | Iterable[float] = (1, 5, 25, 50, 75, 95, 99), *, where: str | None = None
    ) -> Table:
        """The values at one percentile or several: `percent`, `value`."""

    def take(
        self,
        docs: Docs,
        columns: Names | None = None,
        *,
        as_text: bool = False,
    ) -> Table:
        """The values of documents, a row for each number, in any order and with repeats.

        A number without a document raises an `IndexError`; a deleted document of a store still has its values.
        """

    def lookup(
        self,
        ids: Ids,
        columns: Names | None = None,
        *,
        as_text: bool = False,
    ) -> Table:
        """The values of the documents with these ids, a row for each; nulls for an id that no document has.

        The files need an id index (`id_field`). Of several files that have an id, the last one counts.
        """

    def scan(
        self,
        columns: Names | None = None,
        *,
        where: str | None = None,
        limit: int | None = None,
        part: int | None = None,
        batch_rows: int = 65_536,
        docs: str | None = None,
        strings: Strings = "offsets",
        as_text: bool = False,
    ) -> Scan:
        """Documents in the order of their numbers; all columns without `columns`.

        `part` is the number of the only file to read. `docs` is the name of a first column with the numbers of the
        documents, as `take` wants them. `strings` is the layout of strings; "dictionary" has a dictionary for each batch.
        `as_text` returns IP addresses and UUIDs as text in place of extension types.
        """

    def check(self, *, progress: Progress | None = None) -> None:
        """Reads everything and raises a `CorruptError` for the first damage. Ctrl-C waits for the end of a file.

        `progress` is called with the number of files so far.
        """

    def close(self) -> None: ...
    def __enter__(self) -> Segment: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def _repr_html_(self) -> str | None: ...

@final
class Store:
    """A folder of segments that changes. One process at a time may have it open; others read it with `open`.

    A `with` block closes the store and commits nothing. With the durability "batch" or a number of seconds, what was not
    committed is in a log and comes back at `open`; otherwise it is lost.

    >>> with dv.Store.create("prices", {"sku": "string", "price": "f64"}, id_field="sku") as store:
    ...     docs = store.upsert({"sku": ["A-1", "A-2"], "price": [9.5, 12]})
    ...     docs = store.update({"sku": ["A-1"], "price": [8]})
    ...     print(store.delete(where="price > 10"), "deleted, commit", store.commit())
    1 deleted, commit 2
    >>> dv.open("prices").scan().read_all().to_pydict()
    {'sku': ['A-1'], 'price': [8.0]}
    """

    @staticmethod
    def create(
        path: Path,
        schema: SchemaLike,
        *,
        id_field: str | None = None,
        version_field: str | None = None,
        sort_by: Names | None = None,
        types: Mapping[str, str] | None = None,
        durability: Literal["batch", "commit"] | float = "commit",
        keep_commits: int | None = None,
        buffer: int | None = None,
    ) -> Store:
        """Creates a store; `types` of a schema of Arrow as in `write`.

        `durability` says when changes are on disk: after each call ("batch"), after `commit`, or within so many seconds.
        `keep_commits` is the number of commits that the store keeps from now on; a new one keeps the newest.
        `buffer` is the size of buffered documents that are written to a segment, in bytes.
        """

    @staticmethod
    def open(
        path: Path,
        *,
        durability: Literal["batch", "commit"] | float = "commit",
        keep_commits: int | None = None,
        buffer: int | None = None,
    ) -> Store: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def path(self) -> str: ...
    @property
    def id_field(self) -> str | None: ...
    @property
    def version_field(self) -> str | None: ...
    def __len__(self) -> int:
        """The number of documents of the last refresh or commit."""

    def upsert(self, data: Data, *, progress: Progress | None = None) -> dict[str, int]:
        """Adds documents, and replaces those with the same id. `snapshot` has them after `refresh` or `commit`.

        Returns counts of outcomes: "added", "replaced", "stale" (the store has a newer version), "refused", and those of
        `update`. If a value is refused, the batches before it stay. `progress` is called with the number of rows so far.
        """

    def update(
        self, data: Data, *, unset: Names = (), progress: Progress | None = None
    ) -> dict[str, int]:
        """Changes columns of the documents with the ids in `data`; a null leaves the value as it is.

        All these documents lose their values in the columns of `unset`. Returns counts of outcomes, as `upsert`: "updated",
        "not_found", "stale" and "refused".
        """

    def delete(self, *, ids: Ids | None = None, where: str | None = None) -> int:
        """Deletes documents by id or by a condition, and returns their number. Ctrl-C waits for it.

        Publishes the changes so far, as `refresh`. With `where`, a store with a log also commits them.
        """

    def refresh(self) -> bool:
        """Publishes the changes so far to `snapshot`, and returns whether there were any."""

    def commit(self) -> int:
        """Makes the changes so far durable and visible to `open`, and returns the number of the commit."""

    def snapshot(self) -> Segment:
        """The documents of the last refresh or commit."""

    def merge(self, to: int | None = None) -> int:
        """Merges segments, to at most `to` of them or by the default policy, and returns their number. Ctrl-C waits for it."""

    def stats(self) -> dict[str, int]:
        """`docs`, `segments`, `buffered_docs`, `buffer_bytes`, `log_bytes`, `unpublished` and `uncommitted` changes."""

    def check(self) -> None:
        """Checks the files of all commits and raises the error of the first problem. Ctrl-C waits for its end."""

    def close(self) -> None: ...
    def __enter__(self) -> Store: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def _repr_html_(self) -> str | None: ...
