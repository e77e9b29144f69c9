#!/usr/bin/env python3
"""Does ten jobs with dv, DuckDB and Miller, compares their answers, and prints the table of docs/compared.md without its second
column.

Usage: ten_jobs.py [DV]

DuckDB is the Python package, one statement a command; Miller is `mlr`. A program that is not there is left out. Each program
of a pipeline is a command. The commands of qsv are from its documentation, and are only counted.
"""

import csv
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
DATA = {
    "packages.ndjson.gz": "examples/data/packages.ndjson.gz",
    "orders.ndjson": "crates/lucene/fixtures/engines/data/solr-9.10.ndjson",
    "runs.ndjson": "docs/benchmarks/updates/reindex.jsonl",
}
QSV_READ = "from read_ndjson('packages.ndjson')"


def rows(file, key=lambda row: tuple(row.values())):
    """The rows of CSV that `file` has, in any order."""
    opened = gzip.open(file, "rt") if file.suffix == ".gz" else open(file)
    with opened as lines:
        return sorted(key(row) for row in csv.DictReader(lines))


def numbers(row):
    return tuple(float(cell) if cell.replace(".", "").isdigit() else cell for cell in row.values())


def days(row):
    begin, count = list(row.values())[-2:]
    return (begin[:10], count)


def priorities(file):
    return sorted((row["id"], row["priority"]) for row in map(json.loads, open(file)))


# The name of a job; the ending of its answers, which are {dv,duckdb,mlr}ENDING, and what reads one; the commands of each.
JOBS = [
    ("first rows of a file, and its types", None, None, {
        "dv": ["dv head packages.ndjson.gz"],
        "duckdb": ["from 'packages.ndjson.gz' limit 10", "describe from 'packages.ndjson.gz'"],
        "qsv": ["gzip -dk packages.ndjson.gz", f"qsv sqlp SKIP_INPUT \"select * {QSV_READ} limit 10\" --format jsonl",
                "qsv jsonl packages.ndjson -o packages.csv", "qsv stats --typesonly packages.csv"],
        "mlr": ["mlr --jsonl head packages.ndjson.gz", "mlr --ijsonl --opprint summary packages.ndjson.gz"],
    }),
    ("all columns described, for a colleague", None, None, {
        "dv": ["dv build packages.ndjson.gz -o packages.dv", "dv report packages.dv -o packages.html"],
        "duckdb": ["create table packages as from 'packages.ndjson.gz'", "summarize packages"],
        "qsv": ["qsv viz smart packages.csv -o packages.html"],
        "mlr": ["mlr --ijsonl --oxtab summary packages.ndjson.gz"],
    }),
    ("the five largest programs; a package has several tags", ".csv", rows, {
        "dv": ["dv sort packages.dv --by=-size -n 5 --where 'tags = \"role::program\"' --columns package,size -o dv.csv"],
        "duckdb": ["copy (select package, size from packages where list_contains(tags, 'role::program')"
                   " order by size desc limit 5) to 'duckdb.csv'"],
        "qsv": [f"qsv sqlp SKIP_INPUT \"select package, size {QSV_READ} where array_contains(tags, 'role::program')"
                " order by size desc limit 5\""],
        "mlr": ["mlr --ijsonl --ocsv filter 'any($tags, func(tag) {return tag == \"role::program\"})'"
                " then sort -nr size then head -n 5 then cut -o -f package,size packages.ndjson.gz > mlr.csv"],
    }),
    ("sum and 99th percentile by section, from 50 packages on", ".csv", lambda file: rows(file, numbers), {
        "dv": ["dv group packages.dv section --sum size --metric 'p99(size)' --having 'count >= 50' -n 0 -o dv.csv"],
        "duckdb": ["copy (select section, count(*), sum(size), quantile_disc(size, 0.99) from packages"
                   " group by section having count(*) >= 50) to 'duckdb.csv'"],
        "qsv": [f"qsv sqlp SKIP_INPUT \"select section, count(*) as n, sum(size), quantile_disc(size, 0.99) {QSV_READ}"
                " group by section having n >= 50\""],
        "mlr": ["mlr --ijsonl --ocsv stats1 -a count,sum,p99 -f size -g section then filter '$size_count >= 50'"
                " packages.ndjson.gz > mlr.csv"],
    }),
    ("packages with each tag", ".csv", lambda file: rows(file, lambda row: tuple(row.values())[-2:]), {
        "dv": ["dv facet packages.dv tags -n 0 -o dv.csv"],
        "duckdb": ["copy (select unnest(tags) as tag, count(*) from packages group by tag) to 'duckdb.csv'"],
        "qsv": ["qsv explode tags , packages.csv | qsv frequency -s tags -l 0"],
        "mlr": ["mlr --ijsonl --ocsv put -q 'if (is_array($tags)) {for (tag in $tags) {emit1 {\"tag\": tag}}}'"
                " then count-distinct -f tag packages.ndjson.gz > mlr.csv"],
    }),
    ("orders a day in Berlin, from milliseconds since 1970", ".csv",
     lambda file: [day for day in rows(file, days) if day[1] != "0"], {
        "dv": ["dv build orders.ndjson -o orders.dv --type 'sold=timestamp[ms]:epoch'",
               "dv histogram orders.dv sold --step day --tz Europe/Berlin -o dv.csv"],
        "duckdb": ["copy (select date_trunc('day', timezone('Europe/Berlin', to_timestamp(sold / 1000))) as day, count(*)"
                   " from 'orders.ndjson' where sold is not null group by day) to 'duckdb.csv'"],
        "qsv": ["qsv sqlp SKIP_INPUT \"select sold from read_ndjson('orders.ndjson') where sold is not null\""
                " | qsv datefmt sold -R milli --output-tz Europe/Berlin --formatstr %F | qsv frequency -s sold -l 0"],
        "mlr": ["mlr --ijsonl --ocsv filter 'is_present($sold)' then put"
                " '$day = strftime_local($sold / 1000, \"%Y-%m-%d\", \"Europe/Berlin\")' then count -g day"
                " orders.ndjson > mlr.csv"],
    }),
    ("a log's response times by powers of ten", ".csv",
     lambda file: rows(file, lambda row: tuple(float(cell) for cell in list(row.values())[-2:])), {
        "dv": ["dv build runs.ndjson -o runs.dv", "dv histogram runs.dv query_ms --edges 0.1,1,10,100 -o dv.csv"],
        "duckdb": ["copy (select 10 ** floor(log10(query_ms)) as begin, count(*) from 'runs.ndjson'"
                   " where query_ms is not null group by begin) to 'duckdb.csv'"],
        "qsv": ["qsv sqlp SKIP_INPUT \"select pow(10, floor(log10(query_ms))) as begin, count(*)"
                " from read_ndjson('runs.ndjson') group by begin\""],
        "mlr": ["mlr --ijsonl --ocsv filter 'is_present($query_ms)' then put '$begin = 10.0 ** floor(log10($query_ms))'"
                " then count -g begin runs.ndjson > mlr.csv"],
    }),
    ("two exports that overlap: the newer row of each id", ".ndjson", priorities, {
        "dv": ["dv store create all --id-field id", "dv put all monday.ndjson tuesday.ndjson", "dv export all -o dv.ndjson"],
        "duckdb": ["copy (select * exclude file from (select *, 1 as file from 'monday.ndjson' union all by name"
                   " select *, 2 as file from 'tuesday.ndjson') qualify row_number() over"
                   " (partition by id order by file desc) = 1) to 'duckdb.ndjson' (format json)"],
        "qsv": ["qsv sqlp SKIP_INPUT \"select distinct on (id) * from (select *, 1 as file from read_ndjson('monday.ndjson')"
                " union all by name select *, 2 as file from read_ndjson('tuesday.ndjson')) order by file desc\" --format jsonl"],
        "mlr": ["mlr --jsonl tail -n 1 -g id monday.ndjson tuesday.ndjson > mlr.ndjson"],
    }),
    ("100 changes from a CSV file, and what they changed", ".csv",
     lambda file: rows(file, lambda row: (row.get("value") or row["id"], *list(row.values())[-2:])), {
        "dv": ["dv store create catalogue --id-field id", "dv put catalogue packages.ndjson.gz",
               "dv put catalogue changes.csv --partial", "dv diff packages.dv catalogue --by id --columns size -n 0 -o dv.csv"],
        "duckdb": ["create table old as from packages",
                   "merge into packages using 'changes.csv' as new on packages.id = new.id when matched then update"
                   " set size = new.size",
                   "copy (select id, old.size, packages.size from old join packages using (id)"
                   " where old.size is distinct from packages.size) to 'duckdb.csv'"],
        "qsv": ["qsv sqlp packages.csv changes.csv 'select p.* replace (coalesce(c.size, p.size) as size)"
                " from packages p left join changes c using (id)' -o new.csv", "qsv diff packages.csv new.csv"],
        "mlr": ["mlr --icsv --ojsonl cat changes.csv > changes.ndjson",
                "mlr --jsonl put -q '@all[$id] = mapsum(@all[$id] ?? {}, $*); end {emit @all, \"id\"}'"
                " packages.ndjson.gz changes.ndjson > new.ndjson",
                "mlr --ijsonl --ocsv join --lp new_ -j id -f new.ndjson then filter '$size != $new_size'"
                " then cut -o -f id,size,new_size packages.ndjson.gz > mlr.csv"],
    }),
    ("one section as `.csv.gz`, to hand over", ".csv.gz", rows, {
        "dv": ["dv export packages.dv --where 'section = \"games\"' --columns package,version,source -o dv.csv.gz"],
        "duckdb": ["copy (select package, version, source from packages where section = 'games') to 'duckdb.csv.gz'"],
        "qsv": [f"qsv sqlp SKIP_INPUT \"select package, version, source {QSV_READ} where section = 'games'\" | gzip"],
        "mlr": ["mlr --ijsonl --ocsv filter '$section == \"games\"' then template -f package,version,source"
                " packages.ndjson.gz | gzip > mlr.csv.gz"],
    }),
]


def files(folder):
    """Writes the files of the jobs."""
    for name, path in DATA.items():
        shutil.copy(REPOSITORY / path, folder / name)
    packages = gzip.open(folder / "packages.ndjson.gz", "rt").readlines()
    (folder / "monday.ndjson").write_text("".join(packages[:2000]))
    newer = (line.replace('"priority": "optional"', '"priority": "extra"') for line in packages[1900:])
    (folder / "tuesday.ndjson").write_text("".join(newer))
    changed = [json.loads(line) for line in packages[::36]]
    (folder / "changes.csv").write_text("id,size\n" + "".join(f"{row['id']},{row['size'] + 1}\n" for row in changed))


def shell(folder, path):
    def run(line):
        done = subprocess.run(line, shell=True, cwd=folder, env={"PATH": path}, stdout=subprocess.PIPE)
        # `dv diff` says by 1 that there are differences.
        if done.returncode not in (0, int(line.startswith("dv diff"))):
            sys.exit(f"{line}: exit code {done.returncode}")
    return run


def programs(folder, dv):
    """The programs that are there, each with what runs a command."""
    found = {"dv": shell(folder, f"{dv.parent}:/usr/bin:/bin")}
    try:
        import duckdb

        connection = duckdb.connect(config={"file_search_path": str(folder)})
        found["duckdb"] = lambda line: connection.execute(line.replace("to '", f"to '{folder}/"))
    except ImportError:
        print("no duckdb", file=sys.stderr)
    if shutil.which("mlr"):
        found["mlr"] = shell(folder, "/usr/bin:/bin:/usr/local/bin")
    return found


def main():
    dv = Path(sys.argv[1] if len(sys.argv) > 1 else REPOSITORY / "target/release/dv").resolve()
    names, totals = ["dv", "duckdb", "qsv", "mlr"], [0] * 4
    print("| job | `dv` | DuckDB | qsv | Miller |\n| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files(folder)
        found = programs(folder, dv)
        for job, ending, read, commands in JOBS:
            for program, run in found.items():
                for line in commands[program]:
                    run(line)
            if ending:
                answers = {program: read(folder / (program + ending)) for program in found}
                for program, answer in answers.items():
                    if answer != answers["dv"] or not answer:
                        sys.exit(f"{job}: {program} answers {answer[:3]}, dv {answers['dv'][:3]}")
            counts = [sum(line.count(" | ") + 1 for line in commands[name]) for name in names]
            totals = [total + count for total, count in zip(totals, counts)]
            print(f"| {job} | {' | '.join(map(str, counts))} |")
        print(f"| all | {' | '.join(map(str, totals))} |")


main()
