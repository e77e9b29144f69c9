#!/usr/bin/env python3
"""Measures `dv` on an index of Lucene: a facet in a cold process beside one of Lucene in a JVM, and an import.

    benches/peers/run workloads --in-place --quick --docs 2000000 --only lucene-10.5.0 --only facet-100
    python3 benches/peers/dv_beside_lucene.py --docs 2000000

The first command writes the index. Processes take turns; figures are medians.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def run(command):
    """The output of a process, its wall time in milliseconds, and its CPU time in seconds."""
    begin = time.monotonic()
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = (time.monotonic() - begin) * 1e3
    if process.returncode != 0:
        sys.exit(f"{command[0]}: exit code {process.returncode}")
    return output.decode(), wall, usage.ru_utime + usage.ru_stime


def newest_java():
    """The JVM that benches/peers/run takes: the newest of $JAVA_HOME and /usr/lib/jvm."""
    homes = [Path(os.environ.get("JAVA_HOME", "/nowhere")), *Path("/usr/lib/jvm").glob("*")]
    versions = {}
    for home in homes:
        if (home / "bin/java").exists() and (home / "release").exists():
            version = re.search(r'JAVA_VERSION="(\d+)', (home / "release").read_text())
            versions[home / "bin/java"] = int(version[1]) if version else 0
    return max(versions, key=versions.get, default="java")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dv", type=Path, default=Path("target/release/dv"), help="the program to measure")
    parser.add_argument("--java", default=newest_java(), help="a JVM for this version of Lucene")
    parser.add_argument("--lucene", default="10.5.0", help="the version of Lucene that wrote the index")
    parser.add_argument("--docs", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=21, help="of the facet; an import has three")
    options = parser.parse_args()
    index = HERE / f"target/data/workloads-{options.docs}/workloads.lucene-{options.lucene}"
    lucene = HERE / f"target/lucene-{options.lucene}"
    dv = [options.dv, "facet", index, "host", "-n", 10, "--json"]
    java = [options.java, "-XX:+UseSerialGC", "-cp", f"{lucene}/classes:{lucene}/lib/*", "Main", options.lucene, "facet"]
    java += [index, "host"]
    walls = {"dv": [], "Lucene": []}
    for _ in range(options.rounds):
        out, wall, _ = run(dv)
        found = [[value["value"], value["count"]] for value in json.loads(out)["facets"][0]["values"]]
        walls["dv"].append(wall)
        out, wall, _ = run(java)
        expected = [[term, int(count)] for term, count in (line.split("\t") for line in out.splitlines())]
        walls["Lucene"].append(wall)
        if found != expected:
            sys.exit(f"dv has {found}, Lucene {expected}")
    for name, all_of_them in walls.items():
        print(f"facet of {options.docs} documents, {name}: {statistics.median(all_of_them):.1f} ms")
    made = index.with_name("imported.dv")
    times = [run([options.dv, "import", index, "-o", made, "--quiet"])[1:] for _ in range(3)]
    wall, cpu = (statistics.median(of) for of in zip(*times))
    print(f"import: {options.docs / cpu / 1e6:.2f} million documents a second of CPU, {wall / 1e3:.2f} s")
    run([options.dv, "diff", index, made, "--quiet"])
    made.unlink()


main()
