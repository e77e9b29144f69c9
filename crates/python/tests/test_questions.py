"""Answers to random questions about random tables equal those of polars."""

import datetime as dt
import itertools
import math
from collections import namedtuple

import docvalues as dv
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

UTC = dt.timezone.utc
TYPES = [pl.String, pl.Int64, pl.UInt64, pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime("us", "UTC"), pl.List(pl.String)]
SCHEMA = pl.Schema(zip(["id", "i", "u", "f", "s", "b", "d", "t", "tags"], TYPES))
WORDS = ["", "a", "ab", "abc", "b", "ba", "it's", 'say "hi"', "ä", "€uro", "back\\slash"]
VALUES = {
    "i": st.sampled_from([-(2**40), -7, -1, 0, 1, 2, 7, 100]) | st.integers(-20, 20),
    "u": st.sampled_from([0, 1, 2, 1000, 2**40]) | st.integers(0, 5),
    "f": st.sampled_from([0.0, -0.0, 0.5, -1.5, math.nan, 1e300, -1e-300]) | st.integers(-3, 3).map(float),
    "s": st.sampled_from(WORDS),
    "b": st.booleans(),
    "d": st.dates(dt.date(2023, 12, 30), dt.date(2024, 3, 2)),
    "t": st.datetimes(dt.datetime(2023, 12, 31), dt.datetime(2024, 3, 2)).map(lambda time: time.replace(tzinfo=UTC)),
    "tags": st.lists(st.sampled_from(["x", "y", "z", "x y"]), max_size=3),
}
NUMBERS = ["i", "u", "f"]


@st.composite
def tables(draw):
    names = draw(st.lists(st.sampled_from(list(VALUES)), min_size=2, unique=True))
    names = sorted({"i", "s", *names}, key=list(SCHEMA).index)
    rows = draw(st.lists(st.tuples(*(st.none() | VALUES[name] for name in names)), max_size=30))
    # Some tables are longer than a window of 65,536 documents.
    rows *= draw(st.sampled_from([1] * 9 + [5, 5, 70_000 // len(rows)])) if rows else 1
    frame = pl.DataFrame(rows, {name: SCHEMA[name] for name in names}, orient="row")
    return frame.with_columns(pl.Series("id", [f"id{n}" for n in range(len(rows))], pl.String))


@st.composite
def sources(draw, frame):
    """A segment with the documents of `frame`, and these as they are stored, with their numbers in `_row`."""
    kind = draw(st.sampled_from(["file", "sorted", "files", "store"]))
    tags = pl.col("tags").list.unique().list.sort()
    expected = frame.with_columns(pl.when(tags.list.len() > 0).then(tags)) if "tags" in frame.columns else frame
    if kind in ("file", "sorted"):
        keys = draw(st.sampled_from([["s"], ["-i"], ["s", "-i"]])) if kind == "sorted" else None
        dv.write("a.dv", frame, sort_by=keys, id_field="id")
        segment = dv.open("a.dv")
        assert segment.sort_by == (keys or [])
    elif kind == "files":
        cuts = sorted({0, len(frame), *draw(st.lists(st.integers(0, len(frame)), max_size=3))})
        cuts = cuts if len(cuts) > 1 else [0, 0]
        names = [f"part{n}.dv" for n in range(len(cuts) - 1)]
        for name, (start, end) in zip(names, itertools.pairwise(cuts)):
            dv.write(name, frame[start:end], id_field="id")
        segment = dv.open(names)
        assert segment.parts == len(names)
    else:
        segment, expected = draw(stored(frame, expected))
    stored_rows = pl.DataFrame(segment.scan(docs="_row"))
    assert stored_rows["_row"].is_sorted()
    assert stored_rows.drop("_row").select(frame.columns).sort("id").equals(expected.sort("id"))
    if kind in ("file", "files"):
        assert stored_rows["id"].equals(frame["id"])
    return segment, stored_rows


STORES = itertools.count()


@st.composite
def stored(draw, frame, expected):
    """A snapshot of a store: batches, documents that were replaced, and deleted ones."""
    with dv.Store.create(f"store{next(STORES)}", frame, id_field="id") as store:
        cut = draw(st.integers(0, len(frame)))
        store.upsert(frame[:cut])
        if draw(st.booleans()):
            store.commit()
        again = draw(st.integers(0, cut))
        counts = store.upsert(frame[again:])
        assert [counts["added"], counts["replaced"]] == [len(frame) - cut, cut - again]
        gone = draw(st.lists(st.integers(0, max(0, len(frame) - 1)), max_size=5, unique=True))
        gone = [f"id{n}" for n in gone if n < len(frame)]
        assert store.delete(ids=gone) == len(gone)
        expected = expected.filter(~pl.col("id").is_in(gone))
        store.commit() if draw(st.booleans()) else store.refresh()
        return store.snapshot(), expected


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def literal(value):
    """A value in the query language."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    return quoted(value if isinstance(value, str) else value.isoformat())


Where = namedtuple("Where", "text expr")
"""A condition in both languages."""


@st.composite
def atoms(draw, frame):
    name = draw(st.sampled_from([name for name in frame.columns if name != "id"]))
    column = pl.col(name)
    # Never null, and NaN only where docvalues has it.
    real = ~column.is_nan() if name == "f" else pl.lit(True)
    typed = lambda value: pl.lit(value, SCHEMA[name])
    values = VALUES[name].filter(lambda value: value == value)  # NaN equals nothing
    if name == "tags":
        tag = draw(st.sampled_from(["x", "y", "none"]))
        has = column.list.len().fill_null(0) > 0
        found = {"exists": has, "missing": ~has, f"= {quoted(tag)}": column.list.contains(tag)}
    else:
        some, value, end = draw(st.lists(values, max_size=3)), draw(values), draw(values)
        inside = pl.any_horizontal([pl.lit(False), *(column == typed(one) for one in some)])
        listed = ", ".join(map(literal, some))
        found = {
            "exists": column.is_not_null(),
            "missing": column.is_null(),
            f"= {literal(value)}": column == typed(value),
            f"!= {literal(value)}": column != typed(value),
            f"in ({listed})": inside,
            f"not in ({listed})": column.is_not_null() & ~inside,
        }
        if name != "b":
            found |= {
                f"< {literal(value)}": (column < typed(value)) & real,
                f"<= {literal(value)}": (column <= typed(value)) & real,
                f"> {literal(value)}": (column > typed(value)) & real,
                f">= {literal(value)}": (column >= typed(value)) & real,
                f"in {literal(value)}..{literal(end)}": (column >= typed(value)) & (column < typed(end)) & real,
            }
        if name == "s":
            found |= {
                f"^= {quoted(value)}": column.str.starts_with(value),
                f"$= {quoted(value)}": column.str.ends_with(value),
                f"*= {quoted(value)}": column.str.contains(value, literal=True),
                '~ "^[a€].*[bo]"': column.str.contains("^[a€].*[bo]"),
            }
    test = draw(st.sampled_from(list(found)))
    return Where(f"{name} {test}", found[test].fill_null(False))


def conditions(frame):
    """Conditions of a table, and none at all."""
    both = lambda a, b: Where(f"({a.text} and {b.text})", a.expr & b.expr)
    either = lambda a, b: Where(f"({a.text} or {b.text})", a.expr | b.expr)
    neither = lambda a, b: Where(f"not ({a.text} or {b.text})", ~(a.expr | b.expr))
    join = lambda inner: st.builds(lambda how, a, b: how(a, b), st.sampled_from([both, either, neither]), inner, inner)
    some = st.recursive(atoms(frame), join, max_leaves=4)
    return st.just(Where(None, pl.lit(True))) | some


def plain(rows):
    """Rows as tuples that compare as their values do: NaN equals NaN, -0.0 equals 0.0."""
    fix = lambda value: "nan" if value != value else 0.0 if isinstance(value, float) and value == 0 else value
    return [tuple(fix(value) for value in row) for row in rows]


def rows_of(table):
    return plain(pl.DataFrame(table).rows())


def check_scan(draw, segment, rows, found, where):
    columns = draw(st.lists(st.sampled_from(rows.columns[1:]), min_size=1, unique=True))
    limit = draw(st.none() | st.integers(0, len(found) + 1))
    scan = segment.scan(columns, where=where.text, limit=limit)
    assert pl.DataFrame(scan).equals(found.select(columns).head(len(found) if limit is None else limit))
    batches = list(segment.scan(columns, where=where.text, docs="n", batch_rows=7))
    assert sum(map(len, batches)) == len(found) and max(map(len, batches), default=0) <= 7
    assert segment.count(where.text) == len(found)
    # Any documents, in any order, and ids, also unknown ones.
    some = draw(st.lists(st.integers(0, max(0, len(rows) - 1)), max_size=20)) if len(rows) else []
    assert pl.DataFrame(segment.take(rows["_row"].gather(some), columns)).equals(rows[some].select(columns))
    ids = [*rows["id"].gather(some), "unknown"]
    asked = pl.DataFrame({"asked": ids})
    expected = asked.join(rows, left_on="asked", right_on="id", how="left", maintain_order="left", coalesce=False)
    assert pl.DataFrame(segment.lookup(ids, columns)).equals(expected.select(columns))


def check_facet(draw, segment, found, where):
    name = draw(st.sampled_from([name for name in found.columns[1:] if name != "id"]))
    values = found.select(pl.col(name)).drop_nulls()
    values = values.explode("tags") if name == "tags" else values
    values = values.with_columns(pl.col(name) + 0.0) if name == "f" else values  # -0.0 is 0.0
    counts = values.group_by(name).agg(pl.len().alias("count"))
    order, top = draw(st.sampled_from(["count", "value"])), draw(st.sampled_from([1, 3, 1_000]))
    by = [pl.col(name)] if order == "value" else [-pl.col("count").cast(pl.Int64), pl.col(name)]
    expected = counts.sort(by)
    facet = segment.facet(name, where=where.text, top=top, order=order)
    assert rows_of(facet) == plain(expected.rows())[:top]
    missing = found[name].null_count()
    assert facet.info == {"docs": len(found), "missing": missing, "distinct": len(expected)}


def exact_columns(found, most):
    """Some columns with one value each, without doubles, of which NaN has another place in polars."""
    names = [name for name in found.columns if name in VALUES and name not in ("f", "tags")]
    return st.lists(st.sampled_from(names), min_size=1, max_size=most, unique=True)


def check_top(draw, segment, found, where):
    names = draw(exact_columns(found, 3))
    descending = [draw(st.booleans()) for _ in names]
    n = draw(st.sampled_from([0, 1, 5, 50]))
    keys = ["-" * down + name for name, down in zip(names, descending)]
    expected = found.sort(names, descending=descending, nulls_last=True, maintain_order=True).head(n)
    top = pl.DataFrame(segment.top(keys, n, where=where.text, columns=["s"], docs="_row"))
    assert top.equals(expected.select("_row", "s"))


def check_group(draw, segment, found, where):
    by = draw(exact_columns(found, 2))
    missing = draw(st.booleans())
    metrics = {
        "sum(i)": pl.when(pl.col("i").count() > 0).then(pl.col("i").sum()),
        "min(i)": pl.col("i").min(),
        "max(i)": pl.col("i").max(),
        "mean(i)": pl.col("i").mean(),
        "distinct(s)": pl.col("s").drop_nulls().n_unique(),
    }
    rows = found if missing else found.drop_nulls(by)
    expected = rows.group_by(by).agg(pl.len().alias("count"), *(expr.alias(name) for name, expr in metrics.items()))
    ask = {"where": where.text, "metrics": list(metrics), "missing": missing}
    group = pl.DataFrame(segment.group(by, top=100_000, order="value", **ask))
    assert group.columns == expected.columns
    assert plain(group.select(by).rows()) == plain(expected.sort(by, nulls_last=True).select(by).rows())
    for found_row, row in zip(group.sort(by).rows(), expected.sort(by).rows()):
        assert all(same(one, other) for one, other in zip(found_row, row)), (found_row, row)
    largest = segment.group(by, where=where.text, metrics=["sum(i)"], top=3, order="sum(i)")
    sums = expected.drop_nulls(by)["sum(i)"].drop_nulls().sort(descending=True).head(3).to_list()
    assert [value for value in largest.to_pydict()["sum(i)"] if value is not None] == sums


def same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return one is None and other is None or None not in (one, other) and math.isclose(one, other, rel_tol=1e-12)
    return one == other


def check_histogram(draw, segment, found, where):
    step = draw(st.sampled_from([1, 3, 10]))
    small = Where(f"i in -50..=150 and ({where.text or 'true'})", None)
    rows = found.filter(pl.col("i").is_between(-50, 150))
    counts = rows.group_by(pl.col("i") // step * step).agg(pl.len().alias("count")).sort("i")
    buckets = pl.DataFrame(segment.histogram("i", step, where=small.text))
    assert buckets.filter(pl.col("count") > 0).rows() == counts.rows()
    edges = draw(st.lists(st.integers(-60, 160), min_size=2, max_size=4, unique=True).map(sorted))
    bounds = itertools.pairwise([*edges, 2**62])
    expected = [rows.filter((pl.col("i") >= a) & (pl.col("i") < b)).height for a, b in bounds]
    assert segment.histogram("i", edges, where=small.text).to_pydict() == {"from": edges, "count": expected}
    if "t" in found.columns:
        months = found.drop_nulls("t").group_by(pl.col("t").dt.truncate("1mo")).agg(pl.len().alias("count")).sort("t")
        buckets = pl.DataFrame(segment.histogram("t", "month", where=where.text))
        assert buckets.filter(pl.col("count") > 0).rows() == months.rows()


def check_stats(draw, segment, found, where):
    name = draw(st.sampled_from([name for name in NUMBERS if name in found.columns]))
    every = found[name].drop_nulls()
    values = every.filter(~every.is_nan()) if name == "f" else every
    stats = pl.DataFrame(segment.stats(name, where=where.text, distinct=True)).row(0, named=True)
    counts = {key: stats[key] for key in ("docs", "missing", "values", "nans")}
    assert counts == {
        "docs": len(found),
        "missing": len(found) - len(every),
        "values": len(every),
        "nans": len(every) - len(values),
    }
    assert (stats["min"], stats["max"]) == (values.min(), values.max())
    if len(values):
        numbers = values.to_list()
        total, mean = (math.fsum(numbers) if name == "f" else sum(numbers)), math.fsum(numbers) / len(numbers)
        assert math.isclose(stats["sum"], total, rel_tol=1e-9, abs_tol=1e-9) and (name == "f" or stats["sum"] == total)
        assert math.isclose(stats["mean"], mean, rel_tol=1e-9, abs_tol=1e-9)
        if max(map(abs, numbers)) < 1e9 and len(numbers) > 1:
            assert math.isclose(stats["std"], values.std(), rel_tol=1e-6, abs_tol=1e-6)
        at = draw(st.lists(st.integers(1, 100), min_size=1, max_size=3, unique=True).map(sorted))
        ranks = [max(0, -(-percent * len(numbers) // 100) - 1) for percent in at]
        found_at = segment.percentiles(name, at, where=where.text).to_pydict()
        assert found_at == {"percent": [float(p) for p in at], "value": [sorted(numbers)[rank] for rank in ranks]}


@given(st.data())
def test_answers_equal_those_of_polars(data):
    draw = data.draw
    segment, rows = draw(tables().flatmap(sources))
    where = draw(conditions(rows.drop("_row")))
    found = rows.filter(where.expr)
    with segment:
        assert len(segment) == len(rows)
        check_scan(draw, segment, rows, found, where)
        check_facet(draw, segment, found, where)
        check_top(draw, segment, found, where)
        check_group(draw, segment, found, where)
        check_histogram(draw, segment, found, where)
        check_stats(draw, segment, found, where)
