"""Files and stores from Python: errors, threads, forks, commands, pickles, notebooks."""

import datetime as dt
import errno
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import docvalues as dv
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

HITS = {"id": ["a", "b", "c"], "host": ["x.example", None, "<y>"], "size": [512, 9_000, 70]}
TYPES = {"id": "string", "host": "string", "size": "i64"}
WRONG = [{"types": {"none": "ip"}}, {"id_field": "none"}, {"sort_by": ["id", "-none"]}, {"version_field": "none"}]


@pytest.fixture
def hits():
    dv.write("hits.dv", HITS, id_field="id")
    with dv.open("hits.dv") as segment:
        yield segment


def test_a_segment_describes_itself(hits):
    assert (hits.columns, len(hits), hits.parts, hits.sort_by) == (["host", "id", "size"], 3, 1, [])
    assert hits.schema.types == TYPES
    assert hits.schema.names == list(hits.schema) == hits.columns and len(hits.schema) == 3
    assert "size" in hits.schema and "hots" not in hits.schema
    assert list(pl.Schema(hits.schema)) == hits.columns
    assert pa.schema(hits.schema).field("size").type == pa.int64()
    described = hits.describe().to_pydict()
    assert described["name"] == hits.columns and described["docs"] == [2, 3, 3]
    hits.check()
    for page in (hits._repr_html_(), hits.facet("host")._repr_html_()):
        assert "<table" in page and "<y>" not in page
    assert "&lt;y&gt;" in hits.facet("host")._repr_html_()


def test_errors_are_those_that_python_has(hits, in_a_folder_of_its_own):
    for base, error, call in [
        (FileNotFoundError, dv.NotFoundError, lambda: dv.open("none.dv")),
        (KeyError, dv.ColumnError, lambda: hits.facet("hots")),
        (KeyError, dv.ColumnError, lambda: hits.take([0], ["hots"])),
        (ValueError, dv.QueryError, lambda: hits.count("size > ")),
        (ValueError, dv.QueryError, lambda: hits.scan(where="size > 'much'")),
        (IndexError, IndexError, lambda: hits.take([3])),
        (IndexError, IndexError, lambda: hits.take([-1])),
        (IndexError, IndexError, lambda: hits.take([2**63])),
        (TypeError, TypeError, lambda: hits.count(1)),
        *((KeyError, dv.ColumnError, lambda wrong=wrong: dv.write("a.dv", HITS, **wrong)) for wrong in WRONG[:3]),
        *((KeyError, dv.ColumnError, lambda wrong=wrong: dv.Store.create("s", TYPES, **wrong)) for wrong in WRONG[1:]),
        (ValueError, dv.QueryError, lambda: dv.Store.create("s", TYPES, types={"host": "bytes"})),
        (ValueError, dv.QueryError, lambda: dv.write("a.dv", HITS, id_field="size")),
        (ValueError, dv.QueryError, lambda: dv.write("a.dv", HITS, sort_by=["size", "size"])),
        (dv.Error, dv.Error, lambda: dv.write("a.dv", HITS, memory=0)),
    ]:
        with pytest.raises(base) as raised:
            call()
        assert isinstance(raised.value, error)
        assert error is not dv.ColumnError or raised.value.column in ("hots", "none")
    assert type(raised.value) is dv.Error and "`memory`" in str(raised.value), "no column refused it"
    with pytest.raises(OSError) as raised:
        dv.open("none.dv")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, raised.value.file)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.errno, again.filename) == (str(raised.value), errno.ENOENT, "none.dv")
    for file, call in [
        ("hits.dv/a", lambda: dv.open("hits.dv/a")),
        ("hits.dv/a.dv", lambda: dv.write("hits.dv/a.dv", HITS)),
        ("hits.dv/s", lambda: dv.Store.create("hits.dv/s", TYPES)),
    ]:
        with pytest.raises(OSError) as raised:
            call()
        for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
            assert type(error) is dv.StorageError and not isinstance(error, FileNotFoundError)
            assert (error.errno, error.filename) == (errno.ENOTDIR, file)
    # The message points at the place in the query.
    with pytest.raises(dv.QueryError) as raised:
        hits.count("size > 7 and hots = 1")
    assert str(raised.value).splitlines()[:2] == ["size > 7 and hots = 1", '             ^ there is no column "hots"']
    file = in_a_folder_of_its_own / "hits.dv"
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 3 : len(damaged) // 2] = os.urandom(len(damaged) // 2 - len(damaged) // 3)
    (in_a_folder_of_its_own / "damaged.dv").write_bytes(damaged)
    with pytest.raises(dv.CorruptError) as raised:
        dv.open("damaged.dv").check()
    assert raised.value.file.endswith("damaged.dv")
    assert isinstance(raised.value, dv.Error) and isinstance(pickle.loads(pickle.dumps(raised.value)), dv.CorruptError)


def test_numbers_that_do_not_fit_are_refused(hits):
    for wrong in (-1, 2**64, 2**70):
        for call in (
            lambda: hits.facet("host", top=wrong),
            lambda: hits.facet("host", min_count=wrong),
            lambda: hits.top("size", wrong),
            lambda: hits.group("host", top=wrong),
            lambda: hits.scan(limit=wrong),
            lambda: hits.scan(part=wrong),
            lambda: hits.scan(batch_rows=wrong),
            lambda: dv.open("hits.dv", commit=wrong),
            lambda: dv.write("a.dv", HITS, threads=wrong),
            lambda: dv.write("a.dv", HITS, memory=wrong),
            lambda: dv.Store.create("store", TYPES, keep_commits=wrong),
            lambda: dv.Store.create("store", TYPES, buffer=wrong),
        ):
            with pytest.raises(dv.QueryError, match=f"from 0 to .*, found {wrong}"):
                call()
    assert len(hits.facet("host", top=2**64 - 1)) == len(hits.top("size", 2**63)) - 1 == 2
    for wrong in (1.5, "3", None):
        with pytest.raises(TypeError):
            hits.top("size", wrong)
    with pytest.raises(dv.QueryError):
        hits.histogram("size", [0, 2**200])


def test_names_and_types_are_taken_in_every_form(hits):
    assert hits.take([0], "size").to_pydict() == {"size": [512]}
    assert hits.scan({"size": 1, "id": 2}.keys()).schema.names == ["size", "id"]
    assert hits.group(name for name in ["host"]).columns == ["host", "count"]
    assert hits.group("host", metrics="sum(size)").columns == ["host", "count", "sum(size)"]
    for at in (50, [50], np.array([50.0]), (percent for percent in [50])):
        assert hits.percentiles("size", at).to_pydict() == {"percent": [50.0], "value": [512]}
    dv.write("a.dv", {"ip": ["::1"]}, types=MappingProxyType({"ip": "ip"}))
    assert dv.open("a.dv").schema.types == {"ip": "ip"}
    with dv.Store.create("store", MappingProxyType(TYPES), id_field="id") as store:
        store.upsert(HITS)
        assert store.update({"id": ["a"]}, unset="host")["updated"] == 1
    for call, message in [
        (lambda: hits.top(None), "a name or a list of names, found NoneType"),
        (lambda: hits.take([0], ["size", 1]), "a name or a list of names, found list"),
        (lambda: hits.percentiles("size", "50"), "a percentile or a list of percentiles, found str"),
        (lambda: hits.facet("host", prefix=1), "a prefix as str or bytes, found int"),
        (lambda: dv.open(None), "a path or a list of paths, found NoneType"),
        (lambda: dv.open(b"hits.dv"), "a path or a list of paths, found bytes"),
        (lambda: dv.Store.create("new", TYPES, durability=None), "a number of seconds, found NoneType"),
    ]:
        with pytest.raises(TypeError, match=f"expected .*{message}"):
            call()


def test_sums_of_64_bits_are_exact():
    for numbers, total, type_ in [
        ([2**63 + 1, None], 2**63 + 1, pa.uint64()),
        ([2**64 - 1], 2**64 - 1, pa.uint64()),
        ([2**63 - 1], 2**63 - 1, pa.int64()),
        ([-1], -1, pa.int64()),
        ([2**64 - 1, 2**64 - 1], float(2**65 - 2), pa.float64()),
    ]:
        dv.write("a.dv", {"n": numbers, "g": ["a"] * len(numbers)})
        segment = dv.open("a.dv")
        sums = pa.table(segment.stats("n"))["sum"]
        assert (sums.to_pylist(), sums.type) == ([total], type_)
        assert segment.group("g", metrics=["sum(n)"]).to_pydict()["sum(n)"] == [total]


def test_strings_have_statistics(hits):
    counts = {"docs": [3], "missing": [1], "values": [2], "nans": [0]}
    none = {"sum": [None], "mean": [None], "std": [None]}
    expected = {**counts, "min": ["<y>"], "max": ["x.example"], **none, "distinct": [2]}
    assert hits.stats("host", distinct=True).to_pydict() == expected
    dv.write("a.dv", {"ip": ["10.0.0.2", "::1", None]}, types={"ip": "ip"})
    assert dv.open("a.dv").stats("ip").to_pydict() == {**counts, "min": ["::1"], "max": ["10.0.0.2"], **none}
    with pytest.raises(dv.ColumnError):
        hits.stats("hots")


def test_columns_of_one_name_are_refused_in_a_mapping(hits):
    dv.write("a.dv", {"count": [7, 7, 8]})
    counts = dv.open("a.dv").facet("count")
    assert pa.table(counts).columns[0].to_pylist() == [7, 8] and pa.table(counts).columns[1].to_pylist() == [2, 1]
    with pytest.raises(dv.QueryError, match="different names"):
        counts.to_pydict()
    for call in (lambda: hits.scan(docs="size"), lambda: hits.top("size", columns=["size"], docs="size")):
        with pytest.raises(dv.QueryError, match="another name"):
            call()
    assert hits.scan(["id"], docs="size", limit=1).read_all().to_pydict() == {"size": [0], "id": ["a"]}


def test_steps_of_the_calendar_and_metrics_that_are_values():
    times = [dt.datetime(2024, 2, 29, hour, tzinfo=dt.timezone.utc) for hour in (1, 1, 13)]
    dv.write("a.dv", {"g": ["a", "a", "b"], "t": times, "n": [3, 1, 2], "s": ["x", "y", "z"]})
    segment = dv.open("a.dv")
    days = [dt.datetime(2024, 2, 29, hour, tzinfo=dt.timezone.utc) for hour in (0, 12)]
    assert segment.histogram("t", "12h").to_pydict() == {"from": days, "count": [2, 1]}
    assert segment.histogram("t", "hour of day").to_pydict() == {"from": list(range(1, 14)), "count": [2, *[0] * 11, 1]}
    groups = segment.group("g", metrics=["p50(n)", "first(s by n)", "max(t)"], order="value").to_pydict()
    assert groups == {"g": ["a", "b"], "count": [2, 1], "p50(n)": [1, 2], "first(s by n)": ["y", "z"], "max(t)": times[1:]}
    edges = segment.histogram("n", np.array([0, 2])).to_pydict()
    assert edges == segment.histogram("n", [0, 2]).to_pydict() and edges["from"][0] == 0
    for step in ("fortnight", 0):
        with pytest.raises(dv.QueryError):
            segment.histogram("t", step)
    for step in (dt.timedelta(days=1), None, np.array(["2024-01-01", "2024-01-02"], "M8[s]")):
        with pytest.raises(TypeError, match="expected"):
            segment.histogram("t", step)


def test_closed_segments_refuse_and_older_scans_go_on(hits):
    scan = hits.scan(["size"])
    hits.close()
    with pytest.raises(ValueError, match="closed"):
        hits.count()
    # A debugger shows it all the same.
    assert repr(hits) == "<Segment, closed>" and hits._repr_html_() is None
    hits.close()
    assert scan.read_all().to_pydict() == scan.read_all().to_pydict() == {"size": HITS["size"]}
    scan.close()
    with pytest.raises(ValueError, match="closed"):
        scan.read_all()


def test_numbers_of_documents_in_every_form(hits):
    for docs in (
        [2, 0, 2],
        (2, 0, 2),
        range(2, -1, -1),
        *(np.array([2, 0, 2], dtype) for dtype in ("u1", "i4", "u4", "i8", "u8")),
        np.array([2, 7, 0, 7, 2])[::2],
        pa.array([2, 0, 2], pa.uint16()),
        pa.chunked_array([[2], [0, 2]]),
        pl.Series([2, 0, 2]),
        pa.array([9, 2, 0, 2])[1:],
    ):
        numbers = [int(str(doc)) for doc in docs]
        assert hits.take(docs, ["size"]).to_pydict() == {"size": [HITS["size"][number] for number in numbers]}
    assert len(hits.take([])) == 0
    for ids in (["c", "z", None], pa.array(["c", "z", None]), pl.Series(["c", "z", None]), [b"c", b"z", None]):
        assert hits.lookup(ids, ["size"]).to_pydict() == {"size": [70, None, None]}
    with pytest.raises(dv.QueryError):
        hits.take(pa.nulls(1))
    for docs in (
        np.array([2, 0], ">i4"),
        np.array([2.0, 0.0]),
        np.array([True, False, True]),
        np.array([[2, 0]]),
        pl.Series(["2"]),
    ):
        with pytest.raises(dv.QueryError, match="expected numbers of documents"):
            hits.take(docs)
    # A series of pandas 2, the last one for Python 3.10, is a list of floats.
    with pytest.raises((dv.QueryError, TypeError), match="expected numbers of documents"):
        hits.take(pd.Series([2, None]))
    masked, times = np.ma.masked_array([2, 0], [False, True]), np.array([2, 0], "M8[s]")
    for docs in (masked, times, [2, None], [True, False], [2.0], "20", 2, None):
        with pytest.raises(TypeError):
            hits.take(docs)
    assert len(hits.take(np.ma.masked_array([2, 0]))) == 2
    for docs in ([2**64], [2**200], [-(2**63) - 1], np.array([2, -1], "i1")[::-1], pa.array([2**64 - 1], pa.uint64())):
        with pytest.raises(IndexError, match="no document"):
            hits.take(docs)
    for wrong in (1, 1.5, bytearray(b"a")):
        with pytest.raises(TypeError, match="expected ids as str or bytes"):
            hits.lookup(["a", wrong])
    # Of several files that have an id, the last one counts.
    dv.write("more.dv", {"id": ["c", "d"], "size": [7, 8]}, id_field="id")
    both = dv.open(["hits.dv", "more.dv"])
    assert both.lookup(["d", "c", "z", "a"], ["size"]).to_pydict() == {"size": [8, 7, None, 512]}


def test_a_replaced_file_is_read_as_it_was(hits):
    # As documented: a new file under the name is another file. One that is made shorter in place would end the process.
    dv.write("hits.dv", {"id": ["z"], "host": ["z"], "size": [1]})
    assert hits.scan(["size"]).read_all().to_pydict() == {"size": HITS["size"]}
    assert len(dv.open("hits.dv")) == 1


def test_progress_and_its_errors(in_a_folder_of_its_own):
    table = pa.table({"n": range(200_000)})
    seen = []
    assert dv.write("a.dv", table, progress=seen.append) == seen[-1] == 200_000 and len(seen) > 1

    def fail(rows):
        raise RuntimeError(rows)

    with pytest.raises(RuntimeError):
        dv.write("b.dv", table, progress=fail)
    with pytest.raises(TypeError, match="as progress, found int"):
        dv.write("b.dv", table, progress=7)
    assert sorted(path.name for path in in_a_folder_of_its_own.iterdir()) == ["a.dv"]


def test_check_tells_its_progress(hits):
    dv.write("more.dv", HITS)
    both, seen = dv.open(["hits.dv", "more.dv"]), []
    both.check(progress=lambda files: seen.append((files, threading.current_thread())))
    assert seen == [(1, threading.main_thread()), (2, threading.main_thread())]
    with pytest.raises(ZeroDivisionError):
        both.check(progress=lambda files: 1 // (files - 1))
    with pytest.raises(TypeError, match="as progress, found int"):
        both.check(progress=7)


def test_progress_may_search():
    """As many documents as a thread of its own searches."""
    dv.write("a.dv", pa.table({"n": np.arange(1_100_000)}))
    segment, counts = dv.open("a.dv"), []
    ask = lambda number: counts.append(segment.count("n < 7"))
    dv.write("b.dv", pa.table({"n": [1]}), progress=ask)
    segment.check(progress=ask)
    with dv.Store.create("store", TYPES, id_field="id") as store:
        store.upsert(HITS, progress=ask)
    assert counts == [7, 7, 7]


def test_progress_may_call_the_store_again():
    with dv.Store.create("store", TYPES, id_field="id") as store:
        with pytest.raises(TypeError, match="as progress, found int"):
            store.upsert(HITS, progress=7)
        assert not store.refresh(), "nothing was applied"
        calls = [store.refresh, store.commit, lambda: store.upsert({"id": ["z"]}), lambda: store.merge(1), store.close]
        for call in calls:
            seen = []
            assert sum(store.upsert(HITS, progress=lambda rows: seen.append((rows, call()))).values()) == 3
            assert seen[0][0] == 3
        with pytest.raises(ValueError, match="closed"):
            store.commit()


def test_threads_share_a_segment():
    dv.write("a.dv", {"n": range(100_000), "s": [str(n % 97) for n in range(100_000)]})
    segment = dv.open("a.dv")
    expected = segment.group("s", metrics=["sum(n)"], order="value").to_pydict()

    def ask(seed):
        docs = np.random.default_rng(seed).integers(0, 100_000, 1_000)
        assert segment.take(docs, ["n"]).to_pydict()["n"] == docs.tolist()
        assert segment.group("s", metrics=["sum(n)"], order="value").to_pydict() == expected
        return sum(map(len, segment.scan(["n"], where=f"n < {seed * 1_000}")))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(16))) == [seed * 1_000 for seed in range(16)]


def test_other_threads_run_during_a_search():
    """A search has no GIL: a thread that counts goes on meanwhile."""
    dv.write("a.dv", pa.table({"s": [f"{n * 7919 % 100_003:06}" for n in range(100_000)]}))
    segment, counts, done = dv.open("a.dv"), [], threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: [counts.append(1) for _ in iter(done.is_set, True)])
        before = len(counts)
        segment.count('s ~ "([0-9]*1){4}[0-9]*7$"')
        during = len(counts) - before
        done.set()
    assert during > 0


def test_other_threads_run_during_calls():
    dv.write("a.dv", pa.table({"n": np.arange(2_000_000)}))
    segment, files = dv.open("a.dv"), ["a.dv"] * 40
    table = segment.scan().read_all()
    assert others_run(lambda _: table.__arrow_c_array__())
    assert others_run(lambda _: segment.take(range(60)))
    assert others_run(lambda opened: opened.schema, lambda: dv.open(files))
    # Files are unmapped.
    assert others_run(lambda scan: scan.close(), lambda: dv.open(files).scan())
    assert others_run(lambda opened: opened.clear(), lambda: [dv.open(files)])


def others_run(call, make=lambda: None):
    """Whether another thread runs while `call` has what `make` returns."""
    counts, done = [], threading.Event()
    # The other thread runs when this one lets go of the GIL.
    interval = sys.getswitchinterval()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: [(counts.append(1), time.sleep(0)) for _ in iter(done.is_set, True)])
        try:
            sys.setswitchinterval(1_000)
            # The other thread of a busy machine may miss some turns.
            end = time.monotonic() + 5
            while time.monotonic() < end:
                made = make()
                before = len(counts)
                call(made)
                if len(counts) > before:
                    return True
            return False
        finally:
            sys.setswitchinterval(interval)
            done.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_is_refused(hits):
    assert hits.count() == 3
    iterator, stream = iter(hits.scan()), pa.RecordBatchReader.from_stream(hits.scan())
    child = os.fork()
    if child == 0:
        # It would wait for ever.
        signal.alarm(20)
        for call in (hits.count, lambda: next(iterator), stream.read_next_batch):
            try:
                call()
            except Exception as error:
                if "fork" in str(error):
                    continue
            os._exit(1)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_store_that_was_opened_before_a_fork_is_refused():
    """A program, in which nothing else of docvalues was used before."""
    program = """
import docvalues as dv, gc, os, sys
store = dv.Store.create("store", {"id": "string"}, id_field="id")
child = os.fork()
if child == 0:
    calls = [
        lambda: store.upsert({"id": ["a"]}),
        lambda: dv.Store.open("store"),
        lambda: dv.Store.create("new", {"id": "string"}),
    ]
    for call in calls:
        try:
            call()
            os._exit(1)
        except RuntimeError:
            pass
    os._exit(7)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert not os.path.exists("new")
sys.exit(code)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("end", ["del store", "store.close()"])
def test_a_forked_process_leaves_the_store_to_its_parent(end):
    program = f"""
import docvalues as dv, gc, os, sys
store = dv.Store.create("store", {{"id": "string"}}, id_field="id")
child = os.fork()
if child == 0:
    {end}
    gc.collect()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
try:
    dv.Store.open("store")
except dv.Error:
    store.upsert({{"id": ["a"]}})
    store.commit()
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 7


def test_segments_are_pickled_by_name_and_snapshots_are_not(hits):
    again = pickle.loads(pickle.dumps(hits))
    assert again.scan().read_all().to_pydict() == HITS
    with dv.Store.create("store", {"id": "string"}, id_field="id", keep_commits=2) as store:
        store.upsert({"id": ["a"]})
        first = store.commit()
        committed = dv.open("store")
        store.upsert({"id": ["b"]})
        store.commit()
        # The commit that was opened, not the newest one.
        assert len(pickle.loads(pickle.dumps(committed))) == 1 == len(dv.open("store", commit=first))
        with pytest.raises(TypeError):
            pickle.dumps(store.snapshot())


def test_ctrl_c_interrupts_a_search():
    program = """
import docvalues as dv, numpy as np, os, pyarrow as pa, shutil, signal, sys, threading, time
dv.write("a.dv", pa.table({"n": np.arange(1_100_000) * 7919 % 100_003}))
shutil.copy("a.dv", "b.dv")
segment = dv.open("a.dv")
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        segment.percentiles("n", where="n != 7 and n != 8")
except KeyboardInterrupt:
    # The search has stopped: it reads the file no more, which would end the process by SIGBUS.
    other = dv.open("b.dv")
    segment.close()
    os.truncate("a.dv", 0)
    time.sleep(0.3)
    assert other.count("n >= 0") == 1_100_000
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 7


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_a_handler_of_a_signal_may_search():
    program = """
import docvalues as dv, numpy as np, pyarrow as pa, signal
dv.write("a.dv", pa.table({"n": np.arange(1_100_000) * 7919 % 100_003}))
segment, counts = dv.open("a.dv"), []
signal.signal(signal.SIGALRM, lambda *_: counts.append(segment.count("n = 7")))
expected = segment.percentiles("n", where="n != 7").to_pydict()
while len(counts) < 5:
    signal.setitimer(signal.ITIMER_REAL, 0.0003)
    assert segment.percentiles("n", where="n != 7").to_pydict() == expected
assert set(counts) == {segment.count("n = 7")}
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 0


def test_a_search_at_the_exit_of_the_interpreter():
    program = """
import atexit, docvalues as dv, numpy as np, pyarrow as pa
dv.write("a.dv", pa.table({"n": np.arange(1_100_000)}))
segment = dv.open("a.dv")
scan = segment.scan()
atexit.register(lambda: print(segment.count("n < 7")))
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="only Linux numbers threads there")
def test_searches_of_the_main_thread_share_a_thread():
    dv.write("a.dv", pa.table({"n": np.arange(1_100_000) * 7919 % 100_003}))
    segment = dv.open("a.dv")

    def started():
        """The threads that were started meanwhile, by other programs, too."""
        before = last_thread()
        segment.count("n = 7")
        return last_thread() - before

    def last_thread():
        with open("/proc/loadavg") as file:
            return int(file.read().split()[-1])

    assert any(started() == 0 for _ in range(50))


def test_streams_whose_threads_need_python_do_not_wait_for_ever():
    """Threads of pyarrow read the file, which is an object of Python."""
    program = """
import docvalues as dv, io, pyarrow as pa
from pyarrow import csv

def stream(value):
    text = b"n\\n" + value * 200_000
    return csv.open_csv(io.BytesIO(text), read_options=csv.ReadOptions(block_size=4096))

dv.write("a.dv", {"id": ["a", "b"], "size": [7, 8]}, id_field="id")
hits = dv.open("a.dv")
assert len(hits.take(stream(b"1\\n"), ["size"])) == 200_000
assert len(hits.lookup(stream(b"b\\n"), ["size"])) == 200_000
assert dv.write("b.dv", stream(b"1\\n")) == 200_000
with dv.Store.create("store", stream(b"a\\n"), id_field="n") as store:
    assert store.delete(ids=stream(b"a\\n")) == 0
# Those that are not read to their end.
for call in (
    lambda: hits.take(stream(b"text\\n")),
    lambda: hits.lookup(stream(b"7\\n")),
    lambda: dv.write("c.dv", stream(b"1\\n"), sort_by="none"),
    lambda: dv.write("c.dv", {"n": stream(b"1\\n"), "m": [1]}),
):
    try:
        call()
    except (ValueError, KeyError):
        continue
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("call", ['segment.scan(["n"], where="n = m").read_all', "functools.partial(segment.take, docs)"])
def test_ctrl_c_interrupts(call):
    """It comes while the first windows of a scan are filtered, none of whose documents matches, or the first rows are read."""
    program = f"""
import collections, docvalues as dv, functools, numpy as np, operator, os, pyarrow as pa, signal, sys, threading
even = np.arange(12 << 19) * 7919 % 100_003 * 2
dv.write("a.dv", pa.table({{"n": even, "m": even + 1}}))
segment, docs = dv.open("a.dv"), np.random.default_rng(7).permutation(len(even))
call = {call}
# The other thread runs when this one lets go of the GIL.
sys.setswitchinterval(1_000)
for _ in range(50):
    finished, begin = [], threading.Event()

    def interrupt():
        begin.wait()
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    # Calls in C, between which Python does not look for signals.
    calls = map(operator.methodcaller("__call__"), [call, functools.partial(finished.append, True)])
    try:
        begin.set()
        collections.deque(calls, maxlen=0)
        other.join()
    except KeyboardInterrupt:
        if not finished:
            sys.exit(7)
    other.join()
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 7


def test_a_scan_with_a_condition_has_a_few_batches_in_memory():
    """Nearly all documents match, of 512 bytes each, and a thread filters 524,288 of them at once."""
    pytest.importorskip("resource")
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(530_000, "i1")), pa.array(["x" * 512]))
    dv.write("a.dv", pa.table({"text": texts, "n": np.arange(530_000)}))
    program = """
import docvalues as dv, resource
scan = dv.open("a.dv").scan(["text"], where="n > 0", batch_rows=1_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
batches = iter(scan)
assert len(next(batches)) == 1_000
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
assert sum(map(len, batches)) == 528_999
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 0


def test_limits_and_small_batches_of_scans_with_conditions():
    dv.write("a.dv", pa.table({"n": np.arange(1_100_000)}))
    segment = dv.open("a.dv")
    for limit in (0, 1, 7, 100_000, 600_000, None):
        scan = segment.scan(["n"], where="n != 5", limit=limit, batch_rows=40_000)
        batches = [pa.table(batch)["n"].to_numpy() for batch in scan]
        assert all(0 < len(batch) <= 40_000 for batch in batches)
        expected = np.delete(np.arange(1_100_000), 5)[:limit]
        assert np.array_equal(np.concatenate([expected[:0], *batches]), expected)


DV = [sys.executable, "-m", "docvalues"]


def dv_(*arguments, code=0, command=DV):
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_the_command_reads_what_python_writes_and_the_reverse(hits):
    assert dv_("count", "hits.dv", "--where", "size > 1kB") == "1\n"
    assert dv_("cat", "hits.dv", "--format", "csv") == "host,id,size\nx.example,a,512\n,b,9000\n<y>,c,70\n"
    dv_("export", "hits.dv", "--format", "csv", "-o", "hits.csv")
    dv_("build", "hits.csv", "-o", "again.dv", "--id-field", "id", "-q")
    assert dv.open("again.dv").scan().read_all().to_pydict() == HITS
    dv_("count", "none.dv", code=3)
    assert dv_("--version", command=[f"{os.path.dirname(sys.executable)}/dv"]) == dv_("--version")

    with dv.Store.create("store", {"id": "string", "n": "i64"}, id_field="id") as store:
        store.upsert({"id": ["a", "b"], "n": [1, 2]})
        store.commit()
    with open("more.csv", "w") as more:
        more.write("id,n\nb,20\nc,30\n")
    dv_("put", "store", "more.csv", "-q")
    assert dv.open("store").top("id", 9).to_pydict() == {"id": ["a", "b", "c"], "n": [1, 20, 30]}
    with dv.Store.open("store") as store:
        assert store.delete(where="n = 1") == 1
        store.commit()
    assert dv_("count", "store") == "2\n"


def test_a_store_changes():
    schema = {"id": "string", "v": "i64", "tags": "list<string>", "price": "f64"}
    options = {"id_field": "id", "version_field": "v", "durability": "batch", "keep_commits": 2}
    with dv.Store.create("store", schema, **options) as store:
        assert (store.id_field, store.version_field, len(store)) == ("id", "v", 0)
        table = {"id": ["a", "b", "c"], "v": [1, 1, 1], "tags": [["x"], [], ["y", "x"]], "price": [1.0, None, 3.0]}
        assert store.upsert(table)["added"] == 3
        assert len(store) == 0 and store.refresh() and len(store) == 3 and not store.refresh()
        counts = store.upsert({"id": ["a", "b"], "v": [0, 2], "price": [9.0, 9.0]})
        assert {name: count for name, count in counts.items() if count} == {"replaced": 1, "stale": 1}
        assert store.update({"id": ["c", "z"], "price": [4.0, 4.0]})["not_found"] == 1
        store.refresh()
        before = store.snapshot()
        assert store.delete(ids=["a", "z"]) == 1
        first = store.commit()
        assert store.update({"id": ["c"]}, unset=["tags"])["updated"] == 1
        assert store.commit() == first + 1
        now = store.snapshot().top("id", 9).to_pydict()
        assert now == {"id": ["b", "c"], "v": [2, 1], "tags": [None, None], "price": [9.0, 4.0]}
        assert before.facet("tags").to_pydict() == {"tags": ["x", "y"], "count": [2, 1]}
        assert dv.open("store", commit=first).lookup(["c"], ["tags"]).to_pydict() == {"tags": [["x", "y"]]}
        assert store.merge(to=1) == store.stats()["segments"] == 1
        assert dv.open("store").top("id", 9).to_pydict() == now
        with pytest.raises(dv.Error, match="store"):
            dv.Store.open("store")
        store.check()
        assert "<table" in store._repr_html_()
    with pytest.raises(ValueError, match="closed"):
        store.commit()
    assert repr(store) == "<Store store, closed>" and store._repr_html_() is None
    del store
    gc.collect()
    with pytest.raises(dv.NotFoundError):
        dv.Store.open("none")
    with pytest.raises(FileExistsError) as raised:
        dv.Store.create("store", schema)
    assert isinstance(raised.value, dv.ExistsError) and raised.value.errno == errno.EEXIST


def test_what_was_not_committed_is_lost_without_a_log():
    for durability, docs in (("commit", 1), ("batch", 2), (0.01, 2)):
        path = f"store-{durability}"
        with dv.Store.create(path, TYPES, id_field="id", durability=durability) as store:
            store.upsert({"id": ["a"], "size": [1]})
            store.commit()
            store.upsert({"id": ["b"]})
            # A null leaves the value as it is.
            assert store.update({"id": ["a"], "host": ["x"], "size": [None]})["updated"] == 1
        with dv.Store.open(path) as store:
            assert len(store) == docs
            assert store.snapshot().lookup(["a"], ["size"]).to_pydict() == {"size": [1]}


def test_text_that_is_no_address_has_its_row():
    table = pa.table({"ip": ["10.0.0.1"] * 70_000 + ["10.0.0"] + ["10.0.0.1"] * 9})
    with pytest.raises(dv.DataError) as raised:
        dv.write("a.dv", table, types={"ip": "ip"})
    assert (raised.value.column, raised.value.row) == ("ip", 70_000)


def test_lists_without_items_are_missing_values():
    with dv.Store.create("store", {"id": "string", "tags": "list<string>"}, id_field="id") as store:
        store.upsert({"id": ["a", "b"], "tags": [[], None]})
        store.upsert({"id": ["c"], "tags": [["x"]]})
        store.refresh()
        tags = store.snapshot().lookup(["a", "b", "c"], ["tags"]).to_pydict()["tags"]
        assert tags == [None, None, ["x"]]


def test_whole_numbers_of_lists_are_doubles_in_a_column_of_doubles():
    types = {"id": "string", "price": "f64", "prices": "list<f64>"}
    with dv.Store.create("store", types, id_field="id") as store:
        store.upsert({"id": ["a", "b"], "price": [9, None], "prices": [[2, 1], []]})
        store.update({"id": ["b"], "price": np.array([3])})
        store.refresh()
        found = store.snapshot().lookup(["a", "b"], ["price", "prices"]).to_pydict()
        assert found == {"price": [9.0, 3.0], "prices": [[1.0, 2.0], None]}
        for price in (2**53 + 1, True, "9"):
            with pytest.raises((TypeError, ValueError)):
                store.upsert({"id": ["c"], "price": [price]})
    dv.write("a.dv", {"n": [1, 2]}, types={"n": "f64"})
    assert dv.open("a.dv").schema.types == {"n": "f64"}


def test_a_table_shows_years_that_python_does_not_have():
    days, times = [10_000_000, -719_528, -(2**31), 0], [10**15, 2**63 - 1, 0, 0]
    days, lists = pa.array(days, pa.date32()), pa.array([days, [0], None, None], pa.list_(pa.date32()))
    dv.write("a.dv", pa.table({"day": days, "days": lists, "time": pa.array(times, pa.timestamp("ms"))}))
    segment = dv.open("a.dv")
    texts = ["29349-01-26", "0000-01-01", "-5877641-06-23", "1970-01-01", "33658-09-27 01:46:40+00:00"]
    texts += ["292278994-08-17 07:12:55.807000+00:00", "datetime.date(1970, 1, 1)"]
    for answer in (segment.scan().read_all(), segment.take(range(4)), segment.top("day")):
        for shown in (repr(answer), answer._repr_html_()):
            assert [text for text in texts if text not in shown] == []
        with pytest.raises(ValueError, match="use Arrow"):
            answer.to_pydict()
    assert "29349-01-26" in repr(segment.stats("day")) and "-5877641-06-23" in repr(segment.facet("day"))


def test_a_table_shows_the_beginning_of_long_values():
    dv.write("a.dv", {"s": ["ä" * 100_000, "<b>"], "n": [[*range(10_000)], [1]]})
    table = dv.open("a.dv").top("s")
    for shown in (repr(table), table._repr_html_()):
        assert "ä" * 1_000 + "…" in shown and "[0, 1, 2" in shown and len(shown) < 3_000
    assert table.to_pydict()["s"][1] == "ä" * 100_000


def test_deletes_publish_and_those_of_a_condition_commit():
    for durability, is_committed in (("batch", True), ("commit", False)):
        with dv.Store.create(durability, {"id": "string"}, id_field="id", durability=durability) as store:
            store.upsert({"id": ["a", "b", "c"]})
            assert store.delete(ids=["a"]) == 1 and len(store.snapshot()) == len(store) == 2
            assert store.delete(where="id = 'b'") == 1 and len(store.snapshot()) == 1
            assert (store.stats()["uncommitted"] == 0) == is_committed


def test_a_refused_value_of_a_later_batch_has_its_row():
    tags = [["x"]] * 66_000 + [[None]]
    table = pa.table({"id": [str(n) for n in range(len(tags))], "tags": tags})
    with dv.Store.create("store", table, id_field="id") as store:
        with pytest.raises(dv.DataError) as raised:
            store.upsert(table)
        assert (raised.value.column, raised.value.row) == ("tags", 66_000)
        store.refresh()
        assert 0 < len(store) <= 66_000
        for call in (lambda: store.upsert({"id": ["a"], "tag": ["x"]}), lambda: store.update({"id": ["0"]}, unset=["tag"])):
            with pytest.raises(dv.ColumnError):
                call()
        for change in (store.upsert, store.update):
            with pytest.raises(dv.ColumnError, match='"id"'):
                change({"tags": [["x"]]})
            with pytest.raises(dv.DataError, match="expected an id") as raised:
                change(pa.table({"id": pa.chunked_array([["0", "1"], ["2", None]]), "tags": [["y"]] * 4}))
            assert (raised.value.column, raised.value.row) == ("id", 3)


def test_a_stream_goes_through_in_batches():
    """A reader that makes its batches as they are asked for, and one that fails."""
    made = []

    def batches():
        for start in range(0, 100_000, 1_000):
            made.append(start)
            yield pa.record_batch({"n": pa.array(range(start, start + 1_000))})

    schema = pa.schema([("n", pa.int64())])
    reached = []
    stream = pa.RecordBatchReader.from_batches(schema, batches())
    dv.write("a.dv", stream, progress=lambda rows: reached.append(len(made)))
    assert reached[0] < 10, "it does not wait for the whole stream"
    assert dv.open("a.dv").stats("n").to_pydict()["sum"] == [99_999 * 50_000]

    def failing():
        yield pa.record_batch({"n": pa.array([1])})
        raise RuntimeError("no more")

    with pytest.raises(dv.Error, match="no more") as raised:
        dv.write("b.dv", pa.RecordBatchReader.from_batches(schema, failing()))
    assert type(raised.value) is dv.Error, "no column refused it"

    def interrupted():
        yield pa.record_batch({"n": pa.array([1])})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dv.write("b.dv", pa.RecordBatchReader.from_batches(schema, interrupted()))
