#!/usr/bin/env python3
"""Measures the Python module beside pyarrow, polars, DuckDB, Lance and Vortex; prints a table in Markdown.

    python3 -m venv venv && venv/bin/pip install -r benches/python/requirements.txt
    venv/bin/pip install ./crates/python        # or a wheel that maturin built with --release
    venv/bin/python benches/python/compare.py

The data are columns of the benchmarks (benches/src/data.rs). The packages take turns in each round, with all threads that they
start by themselves; figures are medians of wall time. The answers of all are compared. Packages that are not installed are
left out.
"""

import argparse
import importlib.metadata
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docvalues as dv
import numpy as np
import polars as pl
import pyarrow as pa

STREAMS = ["ts", "size", "status", "price60", "rare1", "host", "url", "tags", "uni24"]
FOUR = ["size", "status", "uni24", "host"]
FEW, MANY = 20, 100_000
# 1 % of `uni24`.
BELOW = (1 << 24) // 100


def random_numbers(column, count):
    """The first numbers of SplitMix64 for a column, as benches/src/data.rs has them."""
    golden = np.uint64(0x9E37_79B9_7F4A_7C15)
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype="u8") + np.uint64(STREAMS.index(column) + 1)) * golden
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return z ^ (z >> np.uint64(31))


def low(random, bits):
    return (random & ((np.uint64(1) << bits) - np.uint64(1))).astype("i8")


def data(docs):
    """Six columns of the benchmarks."""
    high = lambda random: (random >> np.uint64(33)).astype("i8")
    steps = high(random_numbers("ts", 2 * docs)).reshape(-1, 2)
    ts = 1_500_000_000_000 + np.cumsum(steps[:, 0] % 2000) + steps[:, 1] % 10_001 - 5000
    random, run = random_numbers("size", docs), np.arange(docs) >> 14
    bits = (high(random) % np.where(run % 10 == 4, 10, 20)).astype("u8")
    size = np.where(run % 10 == 9, 4096 + run, (1 << bits.astype("i8")) | low(random, bits))
    percent = high(random_numbers("status", docs)) % 100
    status = np.select([percent < 85, percent < 95, percent < 99], [200, 404, 301], 500)
    random = random_numbers("price60", docs)
    price = pl.Series(low(random, np.uint64(20))).set(pl.Series(high(random) % 100 >= 60), None)
    random = random_numbers("host", docs)
    bits = (high(random) % 17).astype("u8")
    ids = (((1 << bits.astype("i8")) - 1 + low(random, bits)) % 100_000 * 61_681 + 17) % 100_000
    hosts = pl.Series([f"host{number:06}.example.org" for number in range(100_000)])
    uni24 = low(random_numbers("uni24", docs), np.uint64(24))
    return pl.DataFrame({"ts": ts, "size": size, "status": status, "price60": price, "uni24": uni24, "host": hosts.gather(ids)})


class Files:
    """The frame as each package keeps it."""

    def __init__(self, folder, frame):
        self.folder, self.frame, self.table = folder, frame, frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        folder.mkdir(parents=True, exist_ok=True)
        dv.write(self.path("dv"), frame)
        self.hits = dv.open(self.path("dv"))
        frame.write_parquet(self.path("parquet"))
        with pa.ipc.new_file(self.path("arrow"), self.table.schema) as file:
            file.write_batch(self.table.combine_chunks().to_batches()[0])
        self.mapped = pa.ipc.open_file(pa.memory_map(self.path("arrow"))).read_all()
        self.peers = {}
        for peer in ("duckdb", "lance", "vortex"):
            try:
                self.peers[peer] = getattr(self, f"open_{peer}")(self.path(peer))
            except ImportError:
                print(f"without {peer}: it is not installed", file=sys.stderr)

    def path(self, end):
        return str(self.folder / f"bench.{end}")

    def open_duckdb(self, path):
        import duckdb

        Path(path).unlink(missing_ok=True)
        connection = duckdb.connect(path)
        columns = self.table  # noqa: F841, DuckDB finds it by name
        connection.execute("create table t as from columns")
        connection.execute("checkpoint")
        return connection

    def open_lance(self, path):
        import lance

        return lance.write_dataset(self.table, path, mode="overwrite", max_rows_per_file=len(self.frame))

    def open_vortex(self, path):
        import vortex

        Path(path).unlink(missing_ok=True)
        vortex.io.write(self.table, path)
        return vortex.open(path)


def vortex_take(file, rows):
    """It takes ascending rows, each once; polars puts them in order."""
    import vortex

    rows, places = np.unique(rows, return_inverse=True)
    found = file.scan(FOUR, indices=vortex.array(pa.array(rows))).to_arrow().read_all()
    return pl.DataFrame(found)[places]


def works(files):
    """Name, goals (peer: the least factor), calls in a sample, and how each package does it."""
    hits, frame, mapped, sql = files.hits, files.frame, files.mapped, files.peers.get("duckdb")
    lance, vortex = files.peers.get("lance"), files.peers.get("vortex")
    random = np.random.default_rng(7)
    lazy = lambda: pl.scan_parquet(files.path("parquet"))
    for count, calls, goals in ((FEW, 20, {"Lance": 20, "Vortex": 20}), (MANY, 1, {"Lance": 20, "Vortex": 20, "pyarrow": 1})):
        rows = random.integers(0, len(frame), count, dtype="u8")
        listed, index = rows.tolist(), pa.array(rows)
        yield f"`take` of {count:,} random rows, 4 columns", goals, calls, {
            "docvalues": lambda: pa.record_batch(hits.take(rows, FOUR)),
            "pyarrow": lambda: mapped.select(FOUR).take(index),
            "Lance": lance and (lambda: lance.take(listed, columns=FOUR)),
            "Vortex": vortex and (lambda: vortex_take(vortex, rows)),
        }
    yield "`scan` of 4 columns into polars", {"polars": 1.5}, 1, {
        "docvalues": lambda: pl.DataFrame(hits.scan(FOUR, strings="views")),
        "polars": lambda: pl.read_parquet(files.path("parquet"), columns=FOUR),
    }
    facet = "select host, count(*) from t group by host order by 2 desc, 1 limit 20"
    yield "facet: the 20 most frequent hosts", {"DuckDB": 2, "polars": 5}, 1, {
        "docvalues": lambda: pl.DataFrame(hits.facet("host", top=20)),
        "DuckDB": sql and (lambda: pl.DataFrame(sql.sql(facet))),
        "polars": lambda: (
            lazy().group_by("host").len().sort("len", "host", descending=[True, False]).head(20).collect()
        ),
    }
    yield "the 20 largest sizes, with hosts", {"DuckDB": 2, "polars": 5}, 1, {
        "docvalues": lambda: pl.DataFrame(hits.top(["-size", "ts"], 20, columns=["size", "host"])),
        "DuckDB": sql and (lambda: pl.DataFrame(sql.sql("select size, host from t order by size desc, ts limit 20"))),
        "polars": lambda: (
            lazy().select("size", "ts", "host").sort("size", "ts", descending=[True, False]).head(20)
            .select("size", "host").collect()
        ),
    }  # fmt: skip
    yield "count of a range of 1 %", {"DuckDB": 2, "polars": 5}, 1, {
        "docvalues": lambda: hits.count(f"uni24 < {BELOW}"),
        "DuckDB": sql and (lambda: sql.execute(f"select count(*) from t where uni24 < {BELOW}").fetchone()[0]),
        "polars": lambda: lazy().filter(pl.col("uni24") < BELOW).select(pl.len()).collect().item(),
    }
    written = files.path("written.dv"), files.path("written.parquet")
    yield "`write` of the frame, 6 columns", {"polars": 1 / 1.5}, 1, {
        "docvalues": lambda: dv.write(written[0], frame) and None,
        "polars": lambda: frame.write_parquet(written[1]),
    }


def plain(answer):
    """An answer as a frame whose names and integers are those of all packages."""
    if answer is None or isinstance(answer, int):
        return answer
    frame = pl.DataFrame(answer)
    return frame.rename(dict(zip(frame.columns, "abcd"))).cast({pl.UInt32: pl.Int64, pl.UInt64: pl.Int64})


def measure(name, calls, ways, rounds):
    """The seconds of a call for each package: the median of the rounds."""
    ways = {package: way for package, way in ways.items() if way}
    expected = plain(ways["docvalues"]())
    for package, way in ways.items():
        found = plain(way())
        same = found.equals(expected) if isinstance(found, pl.DataFrame) else found == expected
        if not same:
            sys.exit(f"{name}: {package} has {found}, docvalues {expected}")
    seconds = {package: [] for package in ways}
    for _ in range(rounds):
        for package, way in ways.items():
            begin = time.perf_counter()
            for _ in range(calls):
                answer = way()
            seconds[package].append((time.perf_counter() - begin) / calls)
            del answer
    return {package: statistics.median(all) for package, all in seconds.items()}


def micros(call):
    """The microseconds of a short call."""
    samples = []
    for _ in range(2_000):
        begin = time.perf_counter_ns()
        call()
        samples.append(time.perf_counter_ns() - begin)
    return statistics.median(samples) / 1e3


def shown(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{seconds / size:.3g} {unit}"


def row(name, found, goals):
    """Times, and the factor by which docvalues is faster; one below its goal in bold."""
    cells = [shown(found["docvalues"])]
    for peer in ("pyarrow", "polars", "DuckDB", "Lance", "Vortex"):
        if peer not in found:
            cells.append("–")
            continue
        factor, goal = found[peer] / found["docvalues"], goals.get(peer)
        text = f"{factor:.3g}x" + (f" of {goal:.2g}x" if goal else "")
        cells.append(f"{shown(found[peer])}, **{text}**" if goal and factor < goal else f"{shown(found[peer])}, {text}")
    return f"| {name} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "target")
    parser.add_argument("--wheel", type=Path, help="the wheel that is installed, for its size")
    options = parser.parse_args()
    files = Files(options.folder, data(options.rows))
    versions = {"polars": "polars", "pyarrow": "pyarrow", "DuckDB": "duckdb", "Lance": "pylance", "Vortex": "vortex-data"}
    installed = {found.metadata["Name"]: found.version for found in importlib.metadata.distributions()}
    packages = ", ".join(f"{name} {installed[package]}" for name, package in versions.items() if package in installed)
    print(f"{options.rows:,} rows, medians of {options.rounds} rounds, {os.cpu_count()} cores; {packages}. After each time, the")
    print("factor by which docvalues is faster, and its goal; bold: below the goal.\n")
    print("| work | docvalues | pyarrow | polars | DuckDB | Lance | Vortex |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, goals, calls, ways in works(files):
        print(row(name, measure(name, calls, ways, options.rounds), goals), flush=True)
    count = files.hits.count
    print(f"\nA call of `count()`, which computes nothing: {micros(count):.2f} µs (goal: 3 µs).")
    # On the main thread, Ctrl-C can end it: another thread searches if there are a million documents.
    none = lambda: count("uni24 < 0")
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(micros, none).result()
    print(f"A `count` that finds nothing: {micros(none):.2f} µs on the main thread, {other:.2f} µs on another one.")
    needed = [name for name in importlib.metadata.requires("docvalues") or [] if "extra ==" not in name]
    print(f"Packages that the wheel needs: {', '.join(needed) or 'none'}.")
    if options.wheel:
        print(f"The wheel: {options.wheel.stat().st_size / 1e6:.1f} MB (goal: 12 MB).")


main()
