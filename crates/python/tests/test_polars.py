"""`scan_polars` gives what a filter in polars gives, whatever is pushed down."""

import datetime as dt
import math

import docvalues as dv
import polars as pl
from docvalues.polars import condition
from hypothesis import given
from hypothesis import strategies as st
from test_questions import SCHEMA, VALUES, tables

c = pl.col


@st.composite
def predicates(draw, frame):
    name = draw(st.sampled_from([name for name in frame.columns if name not in ("id", "tags")]))
    column, value = c(name), draw(VALUES[name])
    values = draw(st.lists(st.none() | VALUES[name], max_size=3))
    forms = [
        lambda: column == value,
        lambda: column != value,
        lambda: column.is_null(),
        lambda: column.is_not_null(),
        lambda: column.is_in(values),
        lambda: column.eq_missing(value),
        lambda: column.cast(pl.String) == "1",  # nothing that a search has
    ]
    if name != "b":
        low, high = (pl.lit(bound, SCHEMA[name]) for bound in (draw(VALUES[name]), value))
        closed = draw(st.sampled_from(["both", "left", "right", "none"]))
        forms += [lambda: column < value, lambda: column <= value, lambda: column > value, lambda: value <= column]
        forms += [lambda: column.is_between(low, high, closed=closed)]
    else:
        forms += [lambda: column, lambda: ~column]
    if name == "s":
        forms += [lambda: column.str.starts_with(value), lambda: column.str.ends_with(value)]
        forms += [lambda: column.str.contains(value, literal=True), lambda: column.str.contains("^a")]
        forms += [lambda: column.str.contains("a"), lambda: column.str.contains(".")]
    if name in ("i", "u", "f"):
        forms += [lambda: column > 1.5, lambda: column + 1 > 2]
    return draw(st.sampled_from(forms))()


def combined(frame):
    return st.recursive(
        predicates(frame),
        lambda inner: st.builds(lambda a, b: a & b, inner, inner)
        | st.builds(lambda a, b: a | b, inner, inner)
        | st.builds(lambda a: ~a, inner),
        max_leaves=4,
    )


@given(st.data())
def test_answers_do_not_depend_on_what_is_pushed_down(data):
    frame = data.draw(tables())
    dv.write("a.dv", frame)
    lazy = dv.scan_polars("a.dv")
    assert lazy.collect_schema() == pl.Schema({name: SCHEMA[name] for name in sorted(frame.columns)})
    stored = pl.DataFrame(dv.open("a.dv").scan())
    predicate = data.draw(combined(frame))
    columns = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, unique=True))
    n = data.draw(st.integers(0, 40))
    for ask in (
        lambda rows: rows.filter(predicate),
        lambda rows: rows.filter(predicate).select(columns),
        lambda rows: rows.filter(predicate).select(columns).head(n),
        lambda rows: rows.head(n).filter(predicate),
        lambda rows: rows.select(columns).slice(n, 3),
        lambda rows: rows.select(pl.len()),
        lambda rows: rows.filter(predicate).group_by("i").len().sort("i"),
    ):
        assert ask(lazy).collect().equals(ask(stored.lazy()).collect())


def test_what_a_search_can_answer_is_pushed_down():
    types = {"i": "i64", "f": "f64", "s": "string", "b": "bool", "d": "date", "t": "timestamp[us]", "tags": "list<string>"}
    day, time = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29)
    for predicate, text in [
        (c("i") == 7, "`i` = 7"),
        ((c("i") >= 7) & (c("s") != 'a"b') & c("b"), '`i` >= 7 and `s` != "a""b" and `b` = true'),
        ((c("i") < 7) | c("s").is_null(), "(`i` < 7 or `s` missing)"),
        (c("f") > 1.0, "`f` exists and not `f` <= 1.0"),
        (c("s").is_in(["a", None]), '`s` in ("a")'),
        (c("i").is_between(1, 2, closed="left"), "`i` >= 1 and `i` < 2"),
        (c("s").str.starts_with("a"), '`s` ^= "a"'),
        (c("s").str.contains("a.", literal=True), '`s` *= "a."'),
        (c("d") == day, f"`d` = {(day - dt.date(1970, 1, 1)).days}"),
        (c("t") >= pl.lit(time, pl.Datetime("us")), "`t` >= 1709164800000000"),
        # Partly.
        ((c("i") == 7) & (c("i") + 1 > 2), "`i` = 7"),
        ((c("i") == 7) & (c("t") >= pl.lit(time, pl.Datetime("ms"))), "`i` = 7"),
        (c("t").is_in([day]) & (c("i") == 7) & (c("d") > pl.lit(time)), "`i` = 7"),
        (c("t").is_between(pl.lit(time, pl.Datetime("ms")), pl.lit(time)), "`t` <= 1709164800000000"),
        # Not at all.
        (c("t") >= pl.lit(time, pl.Datetime("ms")), None),
        (c("t").is_in([day]), None),
        (c("i") == pl.lit(day), None),
        ((c("i") == 7) | (c("i") + 1 > 2), None),
        ((c("i") == 7) | (c("t") >= pl.lit(time, pl.Datetime("ms"))), None),
        (c("f") == math.nan, None),
        (c("s").str.contains("a."), None),
        (c("tags").is_not_null(), None),
        (~(c("i") == 7), None),
        (c("s").map_elements(len, pl.Int64) > 1, None),
    ]:
        assert condition(predicate, types) == text


def test_a_store_and_many_files():
    rows = {"id": ["a", "b"], "n": [1, 2]}
    dv.write("a.dv", rows)
    dv.write("b.dv", rows)
    assert dv.scan_polars(["a.dv", "b.dv"]).select(pl.len()).collect().item() == 4
    assert dv.scan_polars("?.dv").filter(c("n") == 2).collect().height == 2
    with dv.Store.create("store", {"id": "string", "n": "i64"}, id_field="id", keep_commits=2) as store:
        store.upsert(rows)
        first = store.commit()
        store.delete(ids=["a"])
        store.commit()
        assert dv.scan_polars(store.snapshot()).collect().rows() == [("b", 2)]
    assert dv.scan_polars("store", commit=first).filter(c("n") < 2).collect().rows() == [("a", 1)]
