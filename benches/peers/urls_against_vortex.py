#!/usr/bin/env python3
"""Measures a column of URLs in docvalues beside Vortex: bytes, a scan, and random rows.

    python3 -m venv venv && venv/bin/pip install vortex-data pyarrow numpy
    cargo build --release -p docvalues-benches --bin strings
    venv/bin/python benches/peers/urls_against_vortex.py --strings target/release/strings

Both have the writer's defaults, which compress the URLs with OnPair, and one thread. The engines take turns; figures are
medians of CPU time. Vortex is called from Python, with one call for a scan or a batch of rows, and returns Arrow arrays.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

for name in ("TOKIO_WORKER_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.csv
import vortex

BATCH = 1024
"""Random rows of a call."""

CALLS = 128


def write(csv, path):
    """Writes the URLs as Vortex does by default."""
    types = pyarrow.csv.ConvertOptions(column_types={"url": pyarrow.string()})
    vortex.io.write(pyarrow.csv.read_csv(csv, convert_options=types), str(path))


def lengths(array):
    """The sum of the lengths of strings."""
    return pyarrow.compute.sum(pyarrow.compute.binary_length(array.cast(pyarrow.large_string()))).as_py() or 0


def timed(work):
    """The result of `work`, and its CPU time in nanoseconds."""
    start = time.process_time_ns()
    result = work()
    return result, time.process_time_ns() - start


def measure(path, rows):
    """The figures of Vortex, as the example `strings` has those of docvalues."""
    batches = lambda: vortex.open(str(path)).scan(["url"]).to_arrow()
    scanned = sum(lengths(batch["url"]) for batch in batches())
    scan = statistics.median(timed(lambda: sum(batch.num_rows for batch in batches()))[1] for _ in range(5))
    file = vortex.open(str(path))
    random = numpy.random.default_rng(7)
    gather = 0
    for _ in range(CALLS):
        # It takes ascending rows, each once.
        taken = pyarrow.array(numpy.unique(random.integers(0, rows, BATCH, dtype="u8")))
        found, took = timed(lambda: file.scan(["url"], indices=vortex.array(taken)).to_arrow().read_all())
        assert found.num_rows == len(taken), "each row is there"
        gather += took
    return {"rows": rows, "bytes": path.stat().st_size, "scanned": scanned, "scan": scan / rows, "gather": gather / (CALLS * BATCH)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strings", type=Path, default=Path("target/release/strings"))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "target" / "urls")
    options = parser.parse_args()
    folder = options.folder / str(options.rows)
    folder.mkdir(parents=True, exist_ok=True)
    ours = [options.strings, folder]
    env = os.environ | {"DOCVALUES_BENCH_DOCS": str(options.rows)}
    read = lambda: json.loads(subprocess.run(ours, env=env, check=True, stdout=subprocess.PIPE).stdout)
    path = folder / "urls.vortex"
    read()
    if not path.exists():
        write(folder / "urls.csv", path)
    # Threads that cannot be left out share a core.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rounds = [(read(), measure(path, options.rows)) for _ in range(options.rounds)]
    for found, peer in rounds:
        if (found["rows"], found["scanned"]) != (peer["rows"], peer["scanned"]):
            sys.exit(f"other URLs: docvalues has {found}, Vortex {peer}")
    median = lambda engine, figure: statistics.median(both[engine][figure] for both in rounds if figure in both[engine])
    print(f"{options.rows} URLs, {options.rounds} rounds, Vortex {vortex.__version__}")
    print(f"{'':44} {'docvalues':>9} {'Vortex':>9}")
    rows = [("bytes of the file, for each URL", "bytes", options.rows), ("scan, CPU ns for each URL", "scan", 1)]
    rows += [(f"random rows, {BATCH:,} in a call, CPU ns for each", "gather", 1)]
    for name, figure, units in rows:
        print(f"{name:44} {median(0, figure) / units:9.2f} {median(1, figure) / units:9.2f}")
    print(f"{'random rows one by one, CPU ns for each':44} {median(0, 'get'):9.2f}")


main()
