"""Small calls in Vortex and Lance: PEER TAKEN COLUMN DOCS FOLDER MILLISECONDS take

Reads the column and the documents that the driver wrote, writes them in the peer's format if that is not there, and
prints a line of JSON as the other programs do. The sum of every call is compared with that of the raw values.
"""

import json
import os
import sys
import time

# Threads that cannot be left out share a core.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy
import pyarrow

SAMPLE = 10
"""Calls of a sample."""


def lance_column(table, path):
    """The peer's version, and a function from row numbers to values, nulls left out."""
    import lance

    if not os.path.exists(path):
        rows = max(1, table.num_rows)
        lance.write_dataset(table, path, max_rows_per_file=rows, data_storage_version="2.1")
    dataset = lance.dataset(path)
    return lance.__version__, lambda rows: dataset.take(rows)["field"].drop_null().to_numpy()


def vortex_column(table, path):
    """The same."""
    import vortex

    if not os.path.exists(path):
        vortex.io.write(table, path)
    file = vortex.open(path)

    def take(rows):
        # It takes ascending rows, each once.
        rows, places = numpy.unique(rows, return_inverse=True)
        found = file.scan(["field"], indices=vortex.array(pyarrow.array(rows))).to_arrow().read_all()
        return found["field"].take(pyarrow.array(places)).drop_null().to_numpy()

    return vortex.__version__, take


def main():
    peer, taken, column, docs, folder, milliseconds, _ = sys.argv[1:]
    taken, docs, budget = int(taken), int(docs), int(milliseconds) * 1e6
    raw = os.path.join(folder, f"{column}.raw")
    values = numpy.fromfile(raw, "<i8", docs)
    present = numpy.fromfile(raw, "u1", docs, offset=8 * docs).astype(bool)
    asked = numpy.fromfile(os.path.join(folder, "take.raw"), "<u4").astype("u8")
    calls = asked[: len(asked) // taken * taken].reshape(-1, taken)
    sums = numpy.where(present, values + 1, 0)[calls].sum(axis=1)

    table = pyarrow.table({"field": pyarrow.array(values, mask=~present)})
    open_column = {"lance": lance_column, "vortex": vortex_column}[peer]
    version, take = open_column(table, os.path.join(folder, f"{column}.{peer}"))
    del table, values, present

    def sample(first):
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        found = []
        for rows in calls[first : first + SAMPLE]:
            got = take(rows)
            found.append(int(got.sum()) + len(got))
        took = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        if found != sums[first : first + SAMPLE].tolist():
            raise SystemExit(f"{peer}: {column}: other values than in {raw}")
        return took

    starts = range(0, len(calls) - SAMPLE + 1, SAMPLE)
    warm, samples, spent = starts[:5], [], 0
    for first in warm:
        sample(first)
    for first in starts[5:]:
        if spent >= budget and len(samples) >= 5:
            break
        samples.append(sample(first))
        spent += samples[-1][0]
    cpu, wall = (float(numpy.median(clock)) for clock in zip(*samples))
    line = {
        "peer": peer,
        "version": version,
        "work": "take",
        "column": column,
        "api": {"lance": "LanceDataset.take", "vortex": "VortexFile.scan of indices"}[peer],
        "docs": docs,
        "units": SAMPLE,
        "ns_cpu": cpu,
        "ns_wall": wall,
        "checksum": int(sums.sum()),
        "of": "values",
    }
    print(json.dumps(line))


main()
