#!/usr/bin/env python3
"""Measures `dv` beside DuckDB: building tables from CSV and from NDJSON, and five searches; then work of `dv` alone.

    python3 -m venv venv && venv/bin/pip install duckdb
    venv/bin/python benches/peers/dv_against_duckdb.py --dv target/release/dv

Each measurement is a process of its own, and the two engines take turns. DuckDB runs in a Python process; the time of
one that only imports DuckDB is measured, too, and subtracted from its rows.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import duckdb

# Rows that depend only on their number, in integer arithmetic that every version of DuckDB does alike.
MIXED = """
COPY (
  WITH mixed AS (
    SELECT i, (i * 2654435761 + 12345) % 4294967291 AS a,
      (i * 40503 + i * 2246822519 % 4294967291) % 4294967279 AS b
    FROM range({rows}) rows(i)
  )
"""

CSV = MIXED + """  SELECT
    strftime(TIMESTAMP '2026-01-01' + to_milliseconds(i * 137 + a % 2000), '%Y-%m-%dT%H:%M:%S.%g') || 'Z' AS ts,
    [200, 200, 200, 200, 200, 304, 404, 500][a % 8 + 1] AS status,
    (b % 1000) * (b // 1000 % 1000) AS size,
    'host-' || (a // 8 % 10000) || '.example.net' AS host,
    (b % 100000) / 100.0 AS price,
    'https://www.example.com/shop/' || ['books', 'music', 'garden', 'tools'][b % 4 + 1] || '/item-' || i
      || '?session=' || printf('%08x', b) AS url
  FROM mixed
) TO '{path}' (FORMAT csv, HEADER true)
"""

# Dates and short strings, most of them repeated.
ORDERS = MIXED + """  SELECT
    'o-' || printf('%07d', i) AS id,
    DATE '2020-01-01' + (a % 2000)::INTEGER AS ordered,
    DATE '2020-01-08' + (a % 2000 + b % 9)::INTEGER AS shipped,
    strftime(TIMESTAMP '2020-01-01' + to_seconds(b % 172800000), '%Y-%m-%dT%H:%M:%S') AS paid,
    'customer-' || (b % 200000) AS customer,
    ['DE', 'FR', 'IT', 'ES', 'PL', 'NL', 'SE'][a // 7 % 7 + 1] AS country,
    ['open', 'paid', 'sent', 'returned'][b // 11 % 4 + 1] AS state,
    'sku-' || (a // 3 % 50000) AS sku,
    'city of ' || (b // 5 % 3000) AS city,
    ['card', 'invoice', 'transfer'][a // 13 % 3 + 1] AS payment
  FROM mixed
) TO '{path}' (FORMAT csv, HEADER true)
"""

DUCKDB = """
import duckdb, json, sys
connection = duckdb.connect(sys.argv[1], config={"threads": int(sys.argv[2])})
connection.execute("SET enable_progress_bar = false")
if len(sys.argv) > 3:
    print(json.dumps(connection.execute(sys.argv[3]).fetchall(), default=str))
"""


def run(command):
    """The output of a process, its CPU and wall time in seconds, and its peak memory in MB."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"{command[0]}: exit code {process.returncode}")
    return output.decode(), usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


class Row:
    """A piece of work that both engines do, and the function that reads the answer from the output of each."""

    def __init__(self, name, dv, sql, answer_of_dv, answer_of_sql):
        self.name, self.dv, self.sql = name, dv, sql
        self.answer_of_dv, self.answer_of_sql = answer_of_dv, answer_of_sql


def build_row(options, files):
    """`dv build`, and `CREATE TABLE` from CSV."""
    files.table.unlink(missing_ok=True)
    dv = [options.dv, "build", files.csv, "-o", files.segment, "--threads", options.threads, "--quiet"]
    # Timestamps with an offset are a type of their own in DuckDB, which needs an extension to be printed.
    sql = f"CREATE OR REPLACE TABLE t AS SELECT * FROM read_csv('{files.csv}', types={{'ts': 'TIMESTAMP'}})"
    return Row("build from CSV", dv, sql, lambda _: None, lambda _: None)


def orders_row(options, files):
    """`dv build`, and `CREATE TABLE` from CSV with dates and short strings."""
    dv = [options.dv, "build", files.orders, "-o", files.orders_segment, "--threads", options.threads, "--quiet"]
    sql = f"CREATE OR REPLACE TABLE orders AS SELECT * FROM read_csv('{files.orders}')"
    return Row("build from CSV, dates and strings", dv, sql, lambda _: None, lambda _: None)


def json_row(options, files):
    """`dv build`, and Parquet from NDJSON."""
    dv = [options.dv, "build", files.ndjson, "-o", files.from_ndjson, "--threads", options.threads, "--quiet"]
    rows = f"SELECT * FROM read_json('{files.ndjson}', format = 'newline_delimited')"
    sql = f"COPY ({rows}) TO '{files.parquet}' (FORMAT parquet)"
    return Row("build from NDJSON", dv, sql, lambda _: None, lambda _: None)


def search_rows(options, files):
    """The searches over what was built."""
    dv, segment, sorted_segment = options.dv, files.segment, files.sorted
    low, high = 10_000, 20_000
    return [
        Row(
            "percentiles of a number",
            [dv, "stats", segment, "size", "--percentiles", "50,90,99", "--json"],
            "SELECT quantile_disc(size, [0.5, 0.9, 0.99]) FROM t",
            lambda out: list(json.loads(out)["columns"][0]["percentiles"].values()),
            lambda rows: rows[0][0],
        ),
        Row(
            "percentiles of 10,000 groups",
            [dv, "group", segment, "host", "--metric", "p50(size), p99(size)", "-n", "0", "--by", "value", "--json"],
            "SELECT host, count(*), quantile_disc(size, [0.5, 0.99]) FROM t GROUP BY host ORDER BY host",
            lambda out: [group_of_dv(group) for group in json.loads(out)["groups"]],
            lambda rows: rows,
        ),
        Row(
            "distinct strings, all different",
            [dv, "stats", segment, "url", "--distinct", "--json"],
            # Both estimate; DuckDB's error is larger. `dv stats` also finds the minimum and maximum.
            "SELECT approx_count_distinct(url), min(url), max(url) FROM t",
            lambda out: distinct_of_dv(json.loads(out)["columns"][0], options.rows),
            lambda rows: [abs(rows[0][0] / options.rows - 1) < 0.2, *rows[0][1:]],
        ),
        Row(
            "top 10 by a string",
            [dv, "sort", segment, "--by=-url", "-n", "10", "--columns", "url", "--json"],
            "SELECT url FROM t ORDER BY url DESC LIMIT 10",
            lambda out: [json.loads(line)["url"] for line in out.splitlines()],
            lambda rows: [row[0] for row in rows],
        ),
        Row(
            "count by a range of the sort key",
            [dv, "count", sorted_segment, "--where", f"size >= {low} and size < {high}", "--json"],
            f"SELECT count(*) FROM s WHERE size >= {low} AND size < {high}",
            lambda out: json.loads(out)["matching"],
            lambda rows: rows[0][0],
        ),
    ]


def group_of_dv(group):
    """The value, the count and the percentiles of a group."""
    return [group["value"], group["count"], [group["metrics"][name]["size"] for name in ("p50", "p99")]]


def distinct_of_dv(column, rows):
    """Whether the number of distinct values is right, and the minimum and maximum."""
    return [abs(column["distinct"] / rows - 1) < 0.03, column["min"], column["max"]]


class Files:
    """The files of a run."""

    def __init__(self, folder, rows):
        self.csv = folder / f"rows-{rows}.csv"
        self.ndjson = folder / f"rows-{rows}.ndjson"
        self.from_ndjson = folder / "ndjson.dv"
        self.parquet = folder / "ndjson.parquet"
        self.orders = folder / f"orders-{rows}.csv"
        self.orders_segment = folder / "orders.dv"
        self.report = folder / "report.html"
        self.segment = folder / "rows.dv"
        self.sorted = folder / "sorted.dv"
        self.table = folder / "rows.duckdb"


def check_tables(options, files):
    """Compares what both engines have stored: counts, sums, distinct values and groups."""
    dv = lambda *command: run([options.dv, *command])[0]
    sql = lambda query: json.loads(duckdb_process(options, files, query)[0])
    stats = json.loads(dv("stats", files.segment, "size", "--json"))["columns"][0]
    assert [stats["documents"], int(stats["sum"])] == [int(n) for n in sql("SELECT count(*), sum(size) FROM t")[0]]
    for column, cut in [("status", 5), ("host", 100)]:
        groups = dv("group", files.segment, column, "--sum", "size", "-n", str(cut), "--json")
        groups = {str(g["value"]): [g["count"], g["metrics"]["sum"]["size"]] for g in json.loads(groups)["groups"]}
        all_groups = sql(f"SELECT {column}, count(*), sum(size) FROM t GROUP BY 1")
        expected = {str(value): [count, int(total)] for value, count, total in all_groups}
        assert groups and all(expected[value] == found for value, found in groups.items()), column
    url = sql("SELECT url, ts::VARCHAR, price FROM t WHERE size = 500 ORDER BY url LIMIT 5")
    found = dv("sort", files.segment, "--by=url", "-n", "5", "--where", "size = 500", "--columns", "url,price", "--json")
    found = [json.loads(line) for line in found.splitlines()]
    assert [[f["url"], f["price"]] for f in found] == [[row[0], row[2]] for row in url]


def duckdb_process(options, files, *query):
    """Runs DuckDB as a process; without a query, only its start."""
    return run([sys.executable, "-c", DUCKDB, str(files.table), options.threads, *query])


def measure(row, options, files, start):
    """Runs both engines in turns, and prints the medians."""
    figures = {"dv": [], "duckdb": []}
    for _ in range(options.rounds):
        out, *dv = run([str(part) for part in row.dv])
        answer = row.answer_of_dv(out)
        out, *peer = duckdb_process(options, files, row.sql)
        expected = row.answer_of_sql(json.loads(out))
        if answer != expected:
            sys.exit(f"{row.name}: dv has {answer}, DuckDB {expected}")
        figures["dv"].append(dv)
        figures["duckdb"].append([peer[0] - start[0], peer[1] - start[1], peer[2]])
    medians = {name: [statistics.median(values) for values in zip(*all)] for name, all in figures.items()}
    (cpu, wall, memory), (peer_cpu, peer_wall, peer_memory) = medians["dv"], medians["duckdb"]
    print(
        f"{row.name:34} {cpu:8.2f} {peer_cpu:8.2f} {cpu / peer_cpu:6.2f}x {wall:8.2f} {peer_wall:8.2f}"
        f" {wall / peer_wall:6.2f}x {memory:7.0f} {peer_memory:7.0f}",
        flush=True,
    )


def measure_alone(options, files):
    """Prints medians of work that has no counterpart: zones beside UTC, the first rows of large files, a report."""
    histogram = [options.dv, "histogram", files.segment, "ts", "--step", "day", "--threads", options.threads, "--json"]
    commands = {
        "days in UTC": histogram,
        "days in Berlin": [*histogram, "--tz", "Europe/Berlin"],
        "days in Kolkata": [*histogram, "--tz", "Asia/Kolkata"],
        "head of CSV": [options.dv, "head", files.csv],
        "head of NDJSON": [options.dv, "head", files.ndjson],
        "report": [options.dv, "report", files.segment, "-o", files.report],
    }
    figures = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            out, *times = run([str(part) for part in command])
            figures[name].append(times)
            if name.startswith("days"):
                counted = sum(days["count"] for days in json.loads(out)["ranges"])
                assert counted == options.rows, (name, counted)
    print(f"{'':34} {'CPU ms':>8} {'wall ms':>8} {'MB':>7}")
    for name, of in figures.items():
        cpu, wall, memory = (statistics.median(values) for values in zip(*of))
        print(f"{name:34} {cpu * 1000:8.1f} {wall * 1000:8.1f} {memory:7.0f}")
    print(f"{'bytes of the report':34} {files.report.stat().st_size:8,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dv", type=Path, default=Path("target/release/dv"), help="the program to measure")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2", help="threads of both engines")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "target" / "duckdb")
    parser.add_argument("--only", choices=["build", "search"])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    files = Files(options.folder, options.rows)
    if not files.csv.exists():
        duckdb.execute(CSV.format(rows=options.rows, path=files.csv))
    if options.only != "search" and not files.orders.exists():
        duckdb.execute(ORDERS.format(rows=options.rows * 12 // 100, path=files.orders))
    if options.only != "search" and not files.ndjson.exists():
        rows = f"SELECT * FROM read_csv('{files.csv}', types = {{'ts': 'VARCHAR'}})"
        duckdb.execute(f"COPY ({rows}) TO '{files.ndjson}' (FORMAT json)")
    build = build_row(options, files)
    start = [statistics.median(values) for values in zip(*(duckdb_process(options, files)[1:] for _ in range(9)))]
    print(f"DuckDB {duckdb.__version__}; its start of {start[0]:.2f} s CPU, {start[1]:.2f} s is subtracted")
    print(f"{'':34} {'dv CPU':>8} {'DuckDB':>8} {'':7} {'dv wall':>8} {'DuckDB':>8} {'':7} {'dv MB':>7} {'DuckDB':>7}")
    if options.only != "search":
        measure(build, options, files, start)
        measure(orders_row(options, files), options, files, start)
        measure(json_row(options, files), options, files, start)
        # The same values, whatever they were read from.
        built = [files.segment, files.from_ndjson]
        stats = [json.loads(run([str(options.dv), "stats", str(file), "size", "--json"])[0]) for file in built]
        assert stats[0]["columns"] == stats[1]["columns"], stats
    else:
        run([str(part) for part in build.dv])
        duckdb_process(options, files, build.sql)
    check_tables(options, files)
    if options.only != "build":
        sort = ["build", files.csv, "-o", files.sorted, "--sort-by", "size", "--threads", options.threads, "--quiet"]
        run([str(part) for part in [options.dv, *sort]])
        duckdb_process(options, files, "CREATE TABLE s AS SELECT * FROM t ORDER BY size")
        for row in search_rows(options, files):
            measure(row, options, files, start)
    if options.only is None:
        measure_alone(options, files)


main()
