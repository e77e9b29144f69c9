"""Every Arrow type and pattern of nulls, in and out, equals pyarrow."""

import datetime as dt
import decimal
import gc
import ipaddress
import os
import struct
import uuid

import docvalues as dv
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import SWEEP
from hypothesis import given, settings
from hypothesis import strategies as st

DAYS = st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1))
TIMES = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
SECONDS = TIMES.map(lambda time: time.replace(microsecond=0))
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
BYTES = st.binary(max_size=30)
signed = lambda bits: st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
unsigned = lambda bits: st.integers(0, 2**bits - 1)
lists = lambda values, size=None: st.lists(values, min_size=size or 0, max_size=size or 4)
utc = lambda unit: pa.timestamp(unit, "UTC")
I64, U64, F64, STRING, BINARY = pa.int64(), pa.uint64(), pa.float64(), pa.string(), pa.binary()

# A type, its values in Python, and the type in which they come back.
TYPES = [
    (pa.bool_(), st.booleans(), pa.bool_()),
    *((getattr(pa, f"int{bits}")(), signed(bits), I64) for bits in (8, 16, 32, 64)),
    *((getattr(pa, f"uint{bits}")(), unsigned(bits), U64) for bits in (8, 16, 32, 64)),
    (pa.float16(), st.floats(width=16).map(np.float16), F64),
    (pa.float32(), st.floats(width=32), F64),
    (pa.float64(), st.floats(), F64),
    *((type_, TEXT, STRING) for type_ in (pa.string(), pa.large_string(), pa.string_view())),
    *((type_, BYTES, BINARY) for type_ in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(4), st.binary(min_size=4, max_size=4), BINARY),
    (pa.date32(), DAYS, pa.date32()),
    (pa.date64(), DAYS, pa.date32()),
    (pa.timestamp("s"), SECONDS, utc("ms")),
    (pa.timestamp("ms", "Europe/Berlin"), SECONDS, utc("ms")),
    (pa.timestamp("us"), TIMES, utc("us")),
    (pa.timestamp("ns", "UTC"), TIMES, utc("ns")),
    (pa.time32("ms"), st.times().map(lambda time: time.replace(microsecond=0)), I64),
    (pa.time64("us"), st.times(), I64),
    (pa.duration("us"), st.timedeltas(dt.timedelta(-1000), dt.timedelta(1000)), I64),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["", "a", "bb", "ä"]), STRING),
    (pa.dictionary(pa.int32(), pa.int64()), st.integers(-3, 3), I64),
    (pa.run_end_encoded(pa.int32(), pa.int64()), st.integers(-1, 1), I64),
    (pa.null(), st.none(), STRING),
    (pa.list_(pa.int64()), lists(signed(64)), pa.list_(I64)),
    (pa.large_list(pa.string()), lists(TEXT), pa.list_(STRING)),
    (pa.list_view(pa.int16()), lists(signed(16)), pa.list_(I64)),
    (pa.large_list_view(pa.string()), lists(TEXT), pa.list_(STRING)),
    (pa.list_(pa.float32(), 2), lists(st.floats(width=32, allow_nan=False), 2), pa.list_(F64)),
]


def array_of(type_, values):
    if pa.types.is_run_end_encoded(type_):
        return pc.run_end_encode(pa.array(values, type_.value_type), run_end_type=type_.run_end_type)
    if pa.types.is_timestamp(type_) and type_.tz:
        values = [value and value.replace(tzinfo=dt.timezone.utc) for value in values]
    return pa.array(values, type_)


def plain(array, to):
    """The values as numbers, text or bytes, with each bit of a double; a list as the set that a document has."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_list(to):
        return [one_document(values, to.value_type) for values in array.to_pylist()]
    if pa.types.is_time32(array.type):
        array = array.cast(pa.int32())
    if array.type == pa.binary(4) or pa.types.is_date64(array.type) or pa.types.is_float16(array.type):
        array = array.cast(to)
    values = array.cast(to)
    if pa.types.is_temporal(to):
        values = values.cast(pa.int32() if pa.types.is_date32(to) else I64)
    values = values.to_pylist()
    return [bits(value) for value in values] if to == F64 else values


def bits(value):
    return None if value is None else "nan" if value != value else struct.pack("<d", value)


def one_document(values, type_):
    """Text once each, numbers as often as they are there, ascending; no values are no list."""
    if not values:
        return None
    return sorted(set(values)) if type_ == STRING else sorted(values)


@st.composite
def layouts(draw, values):
    """Values and nulls, and how their array is laid out: chunks, and a number of values in front of it."""
    rows = draw(st.lists(st.none() | values, max_size=40))
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=3))
    front = draw(st.integers(0, min(3, len(rows))))
    return rows, sorted({0, len(rows), *cuts}), front


@pytest.mark.parametrize(("type_", "values", "to"), TYPES, ids=lambda part: str(part) if isinstance(part, pa.DataType) else "")
@settings(max_examples=200 if SWEEP else 10)
@given(st.data())
def test_every_type_and_null_pattern(type_, values, to, data):
    rows, cuts, front = data.draw(layouts(values))
    # Slices of a longer array, so that offsets and bitmaps begin anywhere.
    whole = array_of(type_, rows[:front] + rows)
    chunks = [whole[front + start : front + end] for start, end in zip(cuts, cuts[1:])]
    table = pa.table({"n": pa.array(range(len(rows)), I64), "column": pa.chunked_array(chunks, type_)})
    assert dv.write("a.dv", table) == len(rows)

    with dv.open("a.dv") as segment:
        expected = plain(array_of(type_, rows), to)
        for found in (pa.table(segment.scan()), pa.table(segment.take(range(len(rows))))):
            found_type = found["column"].type
            # Items of lists are never null.
            assert found_type == to or pa.types.is_list(to) and found_type.value_type == to.value_type
            assert found["n"].to_pylist() == list(range(len(rows)))
            assert plain(found["column"].combine_chunks(), to) == expected
        for strings in ("views", "dictionary"):
            found = pa.table(segment.scan(["column"], strings=strings))["column"].combine_chunks()
            assert to != STRING or strings != "views" or found.type == pa.string_view()
            assert plain(found.cast(to) if strings == "views" else found, to) == expected


def test_nulls_among_the_values_of_a_dictionary_and_of_runs():
    keys = pa.array([0, 1, None, 2, 1, 3], pa.int8())
    column = pa.DictionaryArray.from_arrays(keys, pa.array(["c", None, "b", "a"]))
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 6], pa.int16()), pa.array(["a", None, "b"]))
    for table, expected in [
        (pa.table({"c": column}), ["c", None, None, "b", None, "a"]),
        (pa.table({"c": column[1:5]}), [None, None, "b", None]),
        (pa.table({"c": pa.chunked_array([column[5:], column[:0], column[:2]])}), ["a", "c", None]),
        (pa.table({"c": runs[1:5]}), [None, None, "b", "b"]),
    ]:
        dv.write("a.dv", table)
        for strings in ("offsets", "views", "dictionary"):
            rows = dv.open("a.dv").scan(strings=strings).read_all()
            assert rows.to_pydict()["c"] == pa.table(rows)["c"].to_pylist() == expected
    # A scan of a file may be written over it.
    assert dv.write("a.dv", dv.open("a.dv").scan(), sort_by="-c") == 4
    assert dv.open("a.dv").scan().read_all().to_pydict()["c"] == ["b", "b", None, None]


def test_batches_have_less_than_2_gib():
    """Many rows may have one long string."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(300, "i1")), pa.array(["x" * (1 << 20)]))
    assert dv.write("a.dv", pa.table({"text": texts})) == 300
    segment = dv.open("a.dv")
    batches = [pa.record_batch(batch) for batch in segment.scan()]
    assert sum(batch.num_rows for batch in batches) == 300 and all(batch.nbytes < 200 << 20 for batch in batches)
    if SWEEP:
        rows = segment.take(np.zeros(2_100, "u8"))
        assert pa.table(rows).num_rows == 2_100
        with pytest.raises(dv.QueryError, match="read a stream"):
            pa.record_batch(rows)


def test_a_table_of_each_library_is_the_same():
    rows = {"n": [3, 1, 2], "text": ["a", None, "b"]}
    table = pa.table(rows)
    duckdb = pytest.importorskip("duckdb")
    sources = {
        "pyarrow": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
        "polars": pl.DataFrame(rows),
        "pandas": pd.DataFrame(rows),
        "duckdb": duckdb.sql("from (values (3, 'a'), (1, NULL), (2, 'b')) as t(n, text)"),
        "mapping": rows,
    }
    for name, source in sources.items():
        dv.write("a.dv", source)
        segment = dv.open("a.dv")
        assert segment.scan().read_all().to_pydict() == rows, name
        assert pa.table(segment.scan()).to_pydict() == rows, name
        assert pl.DataFrame(segment.scan()).to_dict(as_series=False) == rows, name
        scan = segment.scan()
        assert duckdb.sql("select sum(n), max(text) from scan").fetchall() == [(6, "b")], name
        assert pa.record_batch(segment.take([2, 0])).to_pydict() == {"n": [2, 3], "text": ["b", "a"]}, name


def test_addresses_and_uuids():
    ids = ["123e4567-e89b-12d3-a456-426614174000", None]
    ips = ["10.1.2.3", "2001:db8::1"]
    dv.write("a.dv", {"id": ids, "ip": ips}, types={"id": "uuid", "ip": "ip"})
    segment = dv.open("a.dv")
    assert segment.schema.types == {"id": "uuid", "ip": "ip"}
    assert segment.count('ip = "10.0.0.0/8"') == 1
    assert segment.scan(as_text=True).read_all().to_pydict() == {"id": ids, "ip": ips}
    table = pa.table(segment.scan())
    assert table.schema.field("id").type == pa.uuid()
    # Extension types go in as they came out.
    dv.write("b.dv", table)
    assert dv.open("b.dv").scan(as_text=True).read_all().to_pydict() == {"id": ids, "ip": ips}


def test_lists_of_addresses():
    ids = ["a", "b", "c"]
    dv.write("a.dv", {"id": ids, "ips": [["10.1.2.3", "::1"], None, []]}, types={"ips": "ip"})
    segment = dv.open("a.dv")
    assert segment.schema.types == {"id": "string", "ips": "list<ip>"} and segment.count('ips = "10.0.0.0/8"') == 1
    rows = segment.scan(as_text=True).read_all()
    assert rows.to_pydict() == {"id": ids, "ips": [["::1", "10.1.2.3"], None, None]}
    # Text goes in as it came out.
    with dv.Store.create("store", {"id": "string", "ips": "list<ip>"}, id_field="id") as store:
        store.upsert(rows)
        store.refresh()
        assert store.snapshot().lookup(ids, as_text=True).to_pydict() == rows.to_pydict()
    for tail in ([], [["x"]]):
        with pytest.raises(dv.DataError) as error:
            dv.write("b.dv", {"ips": [None, ["10.0.0.1"], ["::1", "10.0.0"], *tail]}, types={"ips": "ip"})
        assert (error.value.column, error.value.row) == ("ips", 2)


def test_addresses_and_uuids_of_python():
    one, other, v4, v6 = uuid.UUID(int=7), uuid.UUID(int=9), ipaddress.ip_address("10.1.2.3"), ipaddress.ip_address("::1")
    rows = {"id": [one, None], "ids": [None, [other, one]], "ip": [v4, v6], "ips": [[v4, v6], []]}
    types = {"id": "uuid", "ids": "list<uuid>", "ip": "ip", "ips": "list<ip>"}
    texts = {"id": [str(one), None], "ids": [None, [str(one), str(other)]], "ip": ["10.1.2.3", "::1"]}
    texts["ips"] = [["::1", "10.1.2.3"], None]

    def check(segment):
        assert segment.schema.types == types
        assert segment.scan(as_text=True).read_all().to_pydict() == texts
        return pa.table(segment.scan())

    dv.write("a.dv", rows)
    table = check(dv.open("a.dv"))
    assert table.schema.field("ids").type.value_type == table.schema.field("id").type == pa.uuid()
    # As Arrow, a table or its columns, they go in as they came out. pyarrow keeps the name of a type that it does not know in
    # the schema of the table.
    dv.write("b.dv", table)
    check(dv.open("b.dv"))
    dv.write("c.dv", dict(zip(table.column_names, table.columns)), types={"ip": "ip"})
    check(dv.open("c.dv"))
    with dv.Store.create("store", types) as store:
        store.upsert(rows)
        store.refresh()
        check(store.snapshot())
    interface = ipaddress.ip_interface("10.0.0.1/8")
    for values in ([one, "a"], ["a", one], [one, v4], [interface], [[one], [v4]], [[one, 1]]):
        with pytest.raises((TypeError, ValueError), match='^column "x": expected'):
            dv.write("b.dv", {"x": values})
    with pytest.raises(dv.DataError) as error:
        dv.write("b.dv", {"x": [[one, None]]})
    assert (error.value.column, error.value.row) == ("x", 0) and "drop the nulls" in str(error.value)


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (pa.array([[1], [2, None]], pa.list_(pa.int64())), 1),
        (pa.array([None, 1, 86_400_000], pa.int64()).cast(pa.date64(), safe=False), 1),
        (pa.array([None, decimal.Decimal("0.1234567890123456789")], pa.decimal128(38, 19)), 1),
    ],
)
def test_a_value_that_a_column_cannot_hold_names_column_and_row(in_a_folder_of_its_own, values, row):
    table = pa.table({"column": pa.chunked_array([values[:1], values[1:]])})
    with pytest.raises(dv.DataError) as error:
        dv.write("a.dv", table)
    assert (error.value.column, error.value.row) == ("column", row)
    assert "column" in str(error.value)
    assert not list(in_a_folder_of_its_own.iterdir()), "no file, not even a temporary one"


def test_a_mapping_that_is_no_table_names_its_column():
    for rows, column in [
        ({"a": [1], "b": [1, 2]}, "b"),
        ({"a": [1], "b": [2**64]}, "b"),
        ({"a": [pd.Timestamp(1, unit="ns")]}, "a"),
    ]:
        with pytest.raises(dv.QueryError, match=f'column "{column}": expected') as error:
            dv.write("a.dv", rows)
        assert error.value.column == column
    for values in ("text", {1}, (n for n in [1]), 1):
        with pytest.raises(TypeError, match='column "a": expected a list of values, found'):
            dv.write("a.dv", {"a": values})
    assert dv.write("a.dv", {}) == 0 and dv.open("a.dv").columns == []


def test_numbers_of_lists_are_exact():
    dv.write("a.dv", {"n": [1, 2.5, None], "u": [2**64 - 1, None, 0]})
    segment = dv.open("a.dv")
    assert segment.schema.types == {"n": "f64", "u": "u64"}
    assert segment.scan().read_all().to_pydict() == {"n": [1.0, 2.5, None], "u": [2**64 - 1, None, 0]}
    for numbers in ([2**64], [-1, 2**63], [2**53 + 1, 0.5]):
        with pytest.raises(ValueError):
            dv.write("a.dv", {"n": numbers})


@pytest.mark.parametrize("method", ["__arrow_c_stream__", "__arrow_c_array__"])
@pytest.mark.parametrize("first", ["pyarrow", "docvalues"])
def test_capsules_that_were_read_before_are_refused(method, first):
    data = pa.table({"n": [1]}) if "stream" in method else pa.record_batch({"n": [1]})
    capsules = getattr(data, method)()
    again = type("Again", (), {method: lambda self, requested_schema=None: capsules})()
    if first == "docvalues":
        assert dv.write("a.dv", again) == 1
    else:
        assert (pa.table if "stream" in method else pa.record_batch)(again).num_rows == 1
    with pytest.raises(dv.QueryError, match="already"):
        dv.write("b.dv", again)


def test_values_of_lists_keep_their_type():
    moments = np.array(["2024-01-01T00:00:00.000000001", "NaT"], "M8[ns]")
    dv.write("a.dv", {"ns": moments, "big_endian": moments.astype(">M8[ns]"), "day": moments.astype("M8[D]")})
    segment = dv.open("a.dv")
    assert segment.schema.types == {"ns": "timestamp[ns]", "big_endian": "timestamp[ns]", "day": "date"}
    nanos = [int(moments[0].astype("int64")), None]
    expected = {"ns": nanos, "big_endian": nanos, "day": [dt.date(2024, 1, 1), None]}
    assert segment.scan().read_all().to_pydict() == expected
    masked = np.ma.masked_array(moments, [False, True])
    dv.write("a.dv", {"ns": masked})
    assert dv.open("a.dv").scan().read_all().to_pydict() == {"ns": nanos}
    times = pd.Series([pd.Timestamp(2024, 1, 1), pd.Timestamp(2024, 1, 2)])
    dv.write("a.dv", {"t": times.tolist()})
    assert dv.open("a.dv").schema.types == {"t": "timestamp[us]"}
    dv.write("a.dv", {"t": [pd.NaT, times[0]], "d": [dt.date(2024, 1, 1), pd.NaT]})
    day = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    assert dv.open("a.dv").scan().read_all().to_pydict() == {"d": [day.date(), None], "t": [None, day]}
    for values in (
        moments - moments,
        np.array([1], "M8[ps]"),
        np.array([(1, 2)], "i4, i4"),
        np.array(["20000-01-01"], "M8[s]"),
        [pd.Timestamp(1, unit="ns")],
        [True, 2],
        [True, 2**63],
        [1.5, True],
        [[True], [2]],
    ):
        with pytest.raises((TypeError, ValueError)):
            dv.write("b.dv", {"column": values})


def test_an_array_that_is_not_of_its_schema_is_refused():
    schema, _ = pa.record_batch({"n": [1], "m": [2]}).__arrow_c_array__()
    _, array = pa.record_batch({"n": [1]}).__arrow_c_array__()
    data = type("Data", (), {"__arrow_c_array__": lambda self, requested_schema=None: (schema, array)})()
    with pytest.raises(dv.DataError, match="laid out"):
        dv.write("a.dv", data)


def test_types_without_a_column_of_their_own_become_others():
    """As docs/python.md says."""
    prices = pa.array([decimal.Decimal("1.50"), None], pa.decimal128(9, 2))
    cents = pa.array([decimal.Decimal(150), None], pa.decimal128(9, 0))
    geo = pa.array([{"city": "Bonn", "at": {"lat": 50.7}}, None])
    flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None], pa.int8()))
    dv.write("a.dv", pa.table({"price": prices, "cents": cents, "geo": geo, "flag": flags}))
    segment = dv.open("a.dv")
    types = {"cents": "i64", "flag": "i64", "geo.at.lat": "f64", "geo.city": "string", "price": "f64"}
    assert segment.schema.types == types and segment.columns == sorted(types)
    row = dict(zip(types, [150, 1, 50.7, "Bonn", 1.5]))
    assert segment.scan().read_all().to_pydict() == {name: [value, None] for name, value in row.items()}
    # Text within structs is no address, and integers of Arrow are no doubles.
    dv.write("a.dv", pa.table({"ip": pa.array(["::1"])}), types={"ip": "ip"})
    for column, types in (({"ip": pa.array([{"v6": "::1"}])}, {"ip.v6": "ip"}), ({"n": pa.array([1])}, {"n": "f64"})):
        with pytest.raises(dv.DataError) as error:
            dv.write("a.dv", pa.table(column), types=types)
        assert error.value.column == list(types)[0]


def test_slices_of_encoded_and_nested_text_fit_the_memory():
    text = pa.array([f"{n:05}" * 100 for n in range(200)] * 100)
    ends = pa.array(range(1, len(text) + 1), pa.int32())
    for column in (
        text.dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays(ends, text),
        pa.StructArray.from_arrays([text], ["s"]),
    ):
        assert dv.write("a.dv", pa.table({"c": column}), memory=4 << 20) == len(text)
        rows = dv.open("a.dv").scan().read_all().to_pydict()
        assert list(rows.values()) == [text.to_pylist()]


def test_types_that_no_column_has():
    for type_ in (pa.month_day_nano_interval(), pa.decimal256(40, 2), pa.map_(pa.string(), pa.int64())):
        with pytest.raises(dv.DataError) as error:
            dv.write("a.dv", pa.table({"column": pa.nulls(2, type_)}))
        assert error.value.column == "column"
    # polars has integers of 128 bits, and passes the addresses of objects.
    for values, type_ in (([2**100], pl.Int128), ([object()], pl.Object)):
        with pytest.raises(dv.DataError, match="expected a type that a field can hold") as error:
            dv.write("a.dv", pl.DataFrame({"n": [1], "column": values}, {"n": pl.Int64, "column": type_}))
        assert error.value.column == "column"
    own = type("Own", (pl.DataFrame,), {})
    with pytest.raises(dv.DataError, match="objects of Python"):
        dv.write("a.dv", own({"column": [object()]}, {"column": pl.Object}))
    objects = pl.Series([object()], dtype=pl.Object)
    with pytest.raises(TypeError, match='column "column": expected a type .* objects of Python'):
        dv.write("a.dv", {"column": objects})
    dv.write("a.dv", {"id": ["a"]}, id_field="id")
    with pytest.raises(TypeError, match="objects of Python"):
        dv.open("a.dv").lookup(objects)
    with pytest.raises(ValueError, match="__arrow_c_stream__"):
        dv.write("a.dv", 7)


def test_answers_own_their_values():
    dv.write("a.dv", {"n": range(100_000), "text": [f"text {n}" for n in range(100_000)]})
    segment = dv.open("a.dv")
    scan = segment.scan()
    columns = pa.table(scan)
    frame = pl.DataFrame(segment.take(np.arange(99_999, -1, -1)))
    stream = pa.RecordBatchReader.from_stream(segment.scan())
    first = stream.read_next_batch()
    segment.close()
    del segment, scan
    gc.collect()
    assert pa.Table.from_batches([first, *stream]).equals(columns)
    # Whoever maps a file that was made shorter ends by SIGBUS.
    del stream
    os.truncate("a.dv", 0)
    assert columns["n"].to_pylist() == list(range(100_000))
    assert columns["text"][77_777].as_py() == "text 77777"
    assert frame["n"].to_list() == list(range(99_999, -1, -1))
