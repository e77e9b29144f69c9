"""Segments and stores in Spark: `pip install pyspark`, Java 17, half a minute. Runs if pyspark is there."""

import datetime as dt

import docvalues as dv
import pytest

pyspark = pytest.importorskip("pyspark")


@pytest.fixture(scope="module")
def spark():
    from docvalues.spark import DocValues
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.python.filterPushdown.enabled", "true").getOrCreate()
    session.dataSource.register(DocValues)
    yield session
    session.stop()


ROWS = {
    "n": [1, 2, None, 4],
    "s": ["a", None, 'b"', "ab"],
    "f": [0.5, float("nan"), None, -1.0],
    "b": [True, False, None, True],
    "d": [dt.date(2024, 2, 29), None, None, dt.date(1960, 1, 1)],
    "t": [dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc), None, None, None],
    "tags": [["x", "y"], None, ["x"], None],
    "id": ["123e4567-e89b-12d3-a456-426614174000"] * 4,
}


def test_documents_filters_and_partitions(spark):
    for name in ("a.dv", "b.dv"):
        dv.write(name, ROWS, types={"id": "uuid", "n": "u64"})
    frame = spark.read.format("docvalues").load(str(name).replace("b.dv", "?.dv"))
    assert frame.rdd.getNumPartitions() == 2
    assert frame.count() == 8
    row = frame.where("n = 1").first()
    assert (int(row.n), row.s, row.f, row.b, row.d, row.tags, row.id) == tuple(
        ROWS[key][0] for key in ("n", "s", "f", "b", "d", "tags", "id")
    )
    seconds = frame.where("n = 1").selectExpr("unix_seconds(t) as t").first().t
    assert seconds == ROWS["t"][0].timestamp()
    # Those of Spark with NaN above all numbers, pushed down or not.
    for where, found in [
        ("n >= 2", 2), ("n <> 2", 2), ("n is null", 1), ("f > 0", 2), ("f < 0 or n = 2", 2), ("b", 2), ("not b", 1),
        ("s = 'b\"'", 1), ("s like 'a%'", 2), ("s like '%b%'", 2), ("s in ('a', 'ab')", 2), ("d = date'2024-02-29'", 1),
        ("tags is null", 2), ("array_contains(tags, 'x')", 2), ("s is not null and n > 1", 1), ("n % 2 = 0", 2),
    ]:  # fmt: skip
        assert frame.where(where).count() == 2 * found, where
    some = spark.read.format("docvalues").schema("s string").option("where", "n > 1 or b = true").load("a.dv")
    assert [row.s for row in some.collect()] == ["a", None, "ab"]


def test_a_store_is_read_as_it_was_opened(spark):
    with dv.Store.create("store", {"id": "string"}, id_field="id") as store:
        store.upsert({"id": ["a", "b"]})
        store.commit()
        frame = spark.read.format("docvalues").load("store")
        assert sorted(row.id for row in frame.collect()) == ["a", "b"]
