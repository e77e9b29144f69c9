"""Segments and stores in Spark: `pip install pyspark`, Java 17, half a minute. Runs if both are there."""

import datetime as dt
import os
import shutil
import sys

import docvalues as dv
import pytest

pyspark = pytest.importorskip("pyspark")
if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    pytest.skip("there is no Java", allow_module_level=True)


@pytest.fixture(scope="module")
def spark():
    from docvalues.spark import DocValues
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
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


def test_documents_filters_and_partitions(spark, in_a_folder_of_its_own):
    for name in ("a.dv", "b.dv"):
        dv.write(name, ROWS, types={"id": "uuid", "n": "u64"})
    frame = spark.read.format("docvalues").load(f"{in_a_folder_of_its_own}/?.dv")
    assert frame.rdd.getNumPartitions() == 2
    assert frame.count() == 8
    row = frame.where("n = 1").selectExpr("*", "unix_seconds(t) as seconds").first().asDict()
    assert row == row | {name: values[0] for name, values in ROWS.items() if name != "t"}
    assert row["seconds"] == ROWS["t"][0].timestamp()
    # As in Spark, for which NaN is above all numbers.
    counts = {"n >= 2": 2, "f > 0": 2, "not b": 1, "s like '%b%'": 2, "size(tags) = 2": 1, "true": 4}
    for where, found in counts.items():
        assert frame.where(where).count() == 2 * found, where
    reader = spark.read.format("docvalues").schema("s string").option("where", "n > 1 or b = true")
    some = reader.load(f"{in_a_folder_of_its_own}/a.dv")
    assert [row.s for row in some.collect()] == ["a", None, "ab"]


def test_a_store(spark, in_a_folder_of_its_own):
    with dv.Store.create("store", {"id": "string"}, id_field="id", keep_commits=2) as store:
        store.upsert({"id": ["a", "b"]})
        first = store.commit()
        store.delete(ids=["a"])
        store.commit()
    reader = spark.read.format("docvalues")
    assert [row.id for row in reader.load(f"{in_a_folder_of_its_own}/store").collect()] == ["b"]
    assert reader.option("commit", first).load(f"{in_a_folder_of_its_own}/store").count() == 2
