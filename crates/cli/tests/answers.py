#!/usr/bin/env python3
"""Answers of `dv` about the packages, beside those that a look at each row gives.

    answers.py DV SEGMENT PACKAGES.ndjson[.gz]

Prints a line for each question, and exits with 1 at the first answer that differs. Nothing but Python's own library.
"""

import collections
import gzip
import io
import csv
import json
import math
import subprocess
import sys

dv, segment, source = sys.argv[1:]
with (gzip.open if source.endswith(".gz") else open)(source, "rt", encoding="utf-8") as lines:
    rows = [json.loads(line) for line in lines]


def run(command, *arguments):
    return subprocess.run([dv, command, segment, *arguments], check=True, capture_output=True, text=True).stdout


def ask(command, *arguments):
    return json.loads(run(command, *arguments, "--json"))


def by_number(documents):
    """Documents without the file that a store names beside their numbers."""
    return [{key: value for key, value in document.items() if key != "_file"} for document in documents]


def same(question, found, expected):
    if found != expected:
        sys.exit(f"{question}: {str(found)[:2000]}\nexpected: {str(expected)[:2000]}")
    print("same:", question)


def values(row, column):
    value = row.get(column)
    return [] if value is None else value if isinstance(value, list) else [value]


def facet(rows, column, top):
    counts = collections.Counter(value for row in rows for value in set(values(row, column)))
    # By count, and among equals by the bytes of the value.
    first = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))[:top]
    return [{"value": value, "count": count} for value, count in first], len(counts)


def percentile(numbers, percent):
    return sorted(numbers)[max(math.ceil(percent / 100 * len(numbers)), 1) - 1]


large = [row for row in rows if row["size"] > 1_000_000]
for where, some in [([], rows), (["--where", "size > 1MB"], large)]:
    for column in ["section", "tags"]:
        found = ask("facet", column, "-n", "15", *where)["facets"][0]
        expected, distinct = facet(some, column, 15)
        same(f"facet of {column} {where}", found["values"], expected)
        same(f"values of {column} {where}", found["distinct"], distinct)
        same(f"documents without {column} {where}", found["missing"], sum(not values(row, column) for row in some))

    numbers = [row["size"] for row in some]
    stats = ask("stats", "size", "--percentiles", "1,50,90,99.9", "--distinct", *where)["columns"][0]
    same(f"sum {where}", stats["sum"], sum(numbers))
    same(f"range {where}", [stats["min"], stats["max"]], [min(numbers), max(numbers)])
    expected = {str(p): percentile(numbers, p) for p in [1, 50, 90, 99.9]}
    same(f"percentiles {where}", stats["percentiles"], expected)
    sources = len({value for row in some for value in values(row, "source")})
    same(f"distinct sources {where}", ask("stats", "source", "--distinct", *where)["columns"][0]["distinct"], sources)

largest = sorted(range(len(rows)), key=lambda doc: (-rows[doc]["size"], doc))[:20]
printed = run("sort", "--by=-size", "-n", "20", "--columns", "package,size", "--doc-ids", "--json")
expected = [{"_doc": doc, "package": rows[doc]["package"], "size": rows[doc]["size"]} for doc in largest]
same("the largest packages", by_number(json.loads(line) for line in printed.splitlines()), expected)

chosen = [row for row in rows if row["section"] == "libs" and any(tag.startswith("role::") for tag in values(row, "tags"))]
where = 'section = "libs" and tags ^= "role::"'
same("count", ask("count", "--where", where)["matching"], len(chosen))
printed = run("export", "--where", where, "--sort=section,-size", "--columns", "package,size", "--format", "csv")
expected = [[row["package"], str(row["size"])] for row in sorted(chosen, key=lambda row: -row["size"])]
same("a filtered export, sorted", list(csv.reader(io.StringIO(printed)))[1:], expected)

sums = collections.Counter()
for row in rows:
    sums[row["section"]] += row["size"]
first = sorted(sums.items(), key=lambda item: (-item[1], item[0].encode()))[:10]
found = ask("group", "section", "--sum", "size", "--by", "metric")["groups"]
same("sums of sections", [(group["value"], group["metrics"]["sum"]["size"]) for group in found], first)

ranges = collections.Counter(row["size"] // 1_000_000 * 1_000_000 for row in rows)
found = ask("histogram", "size", "--step", "1_000_000")["ranges"]
same("sizes by range", {r["from"]: r["count"] for r in found if r["count"]}, dict(ranges))
same("no range is left out", [r["from"] for r in found], list(range(min(ranges), max(ranges) + 1, 1_000_000)))

members = collections.defaultdict(list)
for doc in sorted(range(len(rows)), key=lambda doc: (-rows[doc]["size"], doc)):
    for source in values(rows[doc], "source"):
        members[source].append(doc)
found = ask("group", "source", "-n", "0", "--by", "value", "--docs", "2", "--sort=-size", "--columns", "size")
expected = [
    (source, len(docs), [{"_doc": doc, "size": rows[doc]["size"]} for doc in docs[:2]])
    for source, docs in sorted(members.items(), key=lambda item: item[0].encode())
]
found = [(group["value"], group["count"], by_number(group["documents"])) for group in found["groups"]]
same("sources and their largest packages", found, expected)
