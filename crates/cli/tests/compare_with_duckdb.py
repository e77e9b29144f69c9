#!/usr/bin/env python3
"""Compares the answers of `dv` and DuckDB to random queries.

    python3 -m venv venv && venv/bin/pip install duckdb
    venv/bin/python crates/cli/tests/compare_with_duckdb.py [--queries 1000] [--seed 1] DV [FILE.csv|FILE.ndjson.gz ...]

Without files, asks about the packages in examples/data, and about two generated data sets: numbers and times around the ends
of their types, and text. Asks each data set for counts, facets, groups, statistics and sorted documents. Prints the first
question whose answers differ with both answers, and exits with 1.
"""

import argparse
import csv
import datetime
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import duckdb

TYPES = {"i64": "BIGINT", "u64": "UBIGINT", "f64": "DOUBLE", "bool": "BOOLEAN", "date": "DATE", "string": "VARCHAR"}
NUMBERS = ("i64", "u64", "f64")


class Data:
    """A data set in both engines, and some values of each column."""

    def __init__(self, dv, source, folder):
        self.dv, self.name = dv, pathlib.Path(source).name
        self.segment = str(folder / f"{self.name}.dv")
        subprocess.run([dv, "build", source, "-o", self.segment, "-q"], check=True)
        info = json.loads(self.run("info", self.segment, "--json"))
        self.columns = {column["name"]: column for column in info["columns"]}
        self.db = duckdb.connect()
        self.db.execute("set threads to 1")
        self.load(source)
        self.samples = {name: self.sample(name) for name in self.columns}

    def run(self, *arguments):
        done = subprocess.run([self.dv, *arguments], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"dv {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def load(self, source):
        types = {}
        for name, column in self.columns.items():
            kind = TYPES.get(column["type"], "TIMESTAMP" if column["type"].startswith("timestamp") else None)
            if kind is None:
                sys.exit(f"{source}: no type for {column}")
            types[name] = kind + ("[]" if self.is_list(name) else "")
        fields = ", ".join(f"{text(name)}: {text(kind)}" for name, kind in types.items())
        if ".csv" in self.name:
            # The import takes quoted empty fields for missing, too, and NA among numbers.
            options = f"header=true, allow_quoted_nulls=true, columns={{{fields}}}"
            readers = [f"read_csv({text(source)}, {options}, nullstr={null})" for null in ("''", "['', 'NA']")]
        else:
            readers = [f"read_json({text(source)}, format='newline_delimited', columns={{{fields}}})"]
        for reader in readers:
            try:
                return self.db.execute(f"create table t as select row_number() over () - 1 as _doc, * from {reader}")
            except duckdb.ConversionException as error:
                if reader == readers[-1]:
                    raise error

    def is_list(self, name):
        return self.columns[name]["kind"] in ("sorted-numeric", "sorted-set")

    def sample(self, name):
        values = f"unnest({column(name)})" if self.is_list(name) else column(name)
        rows = self.db.execute(f"select distinct v from (select {values} as v from t) where v is not null order by v")
        found = [row[0] for row in rows.fetchall()]
        return found if len(found) < 500 else random.sample(found, 500)


def column(name):
    return '"' + name.replace('"', '""') + '"'


def text(value):
    return "'" + str(value).replace("'", "''") + "'"


def dv_name(name):
    is_word = name.replace("_", "a").replace(".", "a").isalnum() and not name[0].isdigit() and "." != name[0]
    reserved = name.lower() in ("and", "or", "not", "true", "false", "inf", "nan")
    return name if is_word and not reserved else "`" + name.replace("`", "``") + "`"


def dv_text(value):
    return '"' + value.replace('"', '""') + '"'


def literal(value):
    """A value in both languages."""
    if isinstance(value, bool):
        return str(value).lower(), str(value)
    if isinstance(value, float):
        if math.isinf(value) or math.isnan(value):
            return str(value), f"'{value}'::DOUBLE"
        return repr(value), f"{value!r}::DOUBLE"
    if isinstance(value, int):
        return str(value), f"{value}::HUGEINT"
    if isinstance(value, datetime.datetime):
        return f'"{value.isoformat()}Z"', f"'{value.isoformat()}'::TIMESTAMP"
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"', f"'{value.isoformat()}'::DATE"
    return dv_text(value), text(value)


class Asker:
    def __init__(self, data, rng):
        self.data, self.rng = data, rng

    def names(self, pick):
        return [name for name, column in self.data.columns.items() if pick(name, column)]

    def any_value(self, name):
        value = self.rng.choice(self.data.samples[name])
        if isinstance(value, int) and not isinstance(value, bool) and self.rng.random() < 0.3:
            # DuckDB rounds large integers to compare them with doubles.
            return self.rng.choice([value + 1, value - 1, value + (0.5 if abs(value) < 2**50 else 0)])
        return value

    def condition(self, depth=2):
        """A condition in both languages."""
        rng = self.rng
        if depth and rng.random() < 0.45:
            parts = [self.condition(depth - 1) for _ in range(rng.randint(1, 3))]
            word = rng.choice([" and ", " or "])
            joined = [word.join(f"({part[language]})" for part in parts) for language in (0, 1)]
            return (f"not ({joined[0]})", f"not ({joined[1]})") if rng.random() < 0.25 else tuple(joined)
        if rng.random() < 0.06:
            low = rng.randint(0, 3000)
            return f"_doc in {low}..={low + 900}", f"_doc between {low} and {low + 900}"
        if rng.random() < 0.08 and (pair := self.pair()):
            return pair
        name = rng.choice(list(self.data.columns))
        if not self.data.samples[name]:
            return f"{dv_name(name)} missing", "true"
        asked, test = self.test(name)
        if not self.data.is_list(name):
            return f"{dv_name(name)} {asked}", f"coalesce({test(column(name))}, false)"
        if asked in ("missing", "exists"):
            found = f"coalesce(len({column(name)}), 0) {'=' if asked == 'missing' else '>'} 0"
            return f"{dv_name(name)} {asked}", found
        is_negative = asked.startswith(("!=", "not in", "!~"))
        # A document matches if one of its values does; or if it has values, and none is equal.
        inner = test("x")
        some = f"coalesce(list_bool_or(list_transform({column(name)}, lambda x: {inner})), false)"
        every = f"coalesce(list_bool_and(list_transform({column(name)}, lambda x: {inner})), false)"
        return f"{dv_name(name)} {asked}", every if is_negative else some

    def pair(self):
        singles = self.names(lambda name, _: not self.data.is_list(name))
        left = self.rng.choice(singles)
        kind = self.data.columns[left]["type"]
        family = NUMBERS if kind in NUMBERS else (kind,)
        same = [name for name in singles if self.data.columns[name]["type"] in family and name != left]
        if not same:
            return None
        right, operator = self.rng.choice(same), self.rng.choice(["=", "!=", "<", "<=", ">", ">="])
        return (
            f"{dv_name(left)} {operator} {dv_name(right)}",
            f"coalesce({column(left)} {operator} {column(right)}, false)",
        )

    def test(self, name):
        """A test after a column's name, and the test in SQL as a function of the value."""
        rng, kind = self.rng, self.data.columns[name]["type"]
        values = [self.any_value(name) for _ in range(rng.randint(2, 4))]
        (first, first_sql), (second, second_sql) = literal(values[0]), literal(values[1])
        choices = ["=", "!=", "exists", "missing", "in", "not in"]
        if kind != "bool":
            choices += ["<", "<=", ">", ">=", "range", "range"]
        if kind == "string":
            choices += ["part", "part", "regex", "regex", "any case"]
        choice = rng.choice(choices)
        if choice in ("exists", "missing"):
            is_null = "is not null" if choice == "exists" else "is null"
            return choice, lambda value: f"{value} {is_null}"
        if choice in ("in", "not in"):
            both = [literal(value) for value in values]
            asked, listed = (", ".join(one[language] for one in both) for language in (0, 1))
            return f"{choice} ({asked})", lambda value: f"{value} {choice} ({listed})"
        if choice == "range":
            operators = rng.choice([("", "", ">=", "<"), ("", "=", ">=", "<="), ("<", "", ">", "<"), ("<", "=", ">", "<=")])
            low, high, above, below = operators
            return (
                f"in {first}{low}..{high}{second}",
                lambda value: f"({value} {above} {first_sql} and {value} {below} {second_sql})",
            )
        if choice in ("part", "any case", "regex"):
            return self.text_test(values[0], choice)
        return f"{choice} {first}", lambda value: f"{value} {choice} {first_sql}"

    def text_test(self, whole, choice):
        rng = self.rng
        start = rng.randint(0, len(whole))
        part = whole[start : start + rng.randint(1, 4)]
        part = rng.choice([part, whole[:3], whole[-3:]])
        if choice == "regex":
            words = [word for word in "".join(c if c.isalnum() else " " for c in whole).split()] or ["a"]
            word = rng.choice(words)
            pattern = rng.choice([f"^{word}", f"{word}$", f"{word[:2]}.*{word[-1:]}", f"[{word[:3]}]{{2}}", r"[0-9]+\.[0-9]", f"{word}|^a"])
            negated = rng.random() < 0.2
            operator, negation = ("!~", "not ") if negated else ("~", "")
            return f"{operator} {dv_text(pattern)}", lambda value: f"{negation}regexp_matches({value}, {text(pattern)})"
        if choice == "any case" and part.isascii():
            asked = rng.choice([part.upper(), part.lower(), part.swapcase()])
            operator, sql = rng.choice([("*=", "contains"), ("^=", "starts_with"), ("$=", "ends_with")])
            # ASCII folds alike in both; the Kelvin sign and long s are not in the data.
            return f"{operator} {dv_text(asked)} i", lambda value: f"{sql}(lower({value}), {text(asked.lower())})"
        operator, sql = rng.choice([("*=", "contains"), ("^=", "starts_with"), ("$=", "ends_with")])
        return f"{operator} {dv_text(part)}", lambda value: f"{sql}({value}, {text(part)})"

    def question(self):
        where, sql = self.condition()
        kind = self.rng.choice(["count", "facet", "group", "group", "stats", "sort"])
        return getattr(self, kind)(["--where", where], f"where ({sql})")

    # Each returns the arguments of dv, the SQL, and a function from dv's answer to rows.

    def count(self, where, sql):
        return ["count", self.data.segment, *where, "--json"], f"select count(*) from t {sql}", lambda found: [[found["matching"]]]

    def facet(self, where, sql):
        name = self.rng.choice(list(self.data.columns))
        source = f"(select _doc, {column(name)} as v from t {sql})"
        if self.data.is_list(name):
            source = f"(select distinct _doc, unnest(v) as v from {source})"
        query = f"select v, count(*) as __count from {source} where v is not null group by v order by __count desc, v limit 10"
        asked = ["facet", self.data.segment, name, *where, "--json"]
        return asked, query, lambda found: [[one["value"], one["count"]] for one in found["facets"][0]["values"]]

    def group(self, where, sql):
        rng = self.rng
        singles = self.names(lambda name, _: not self.data.is_list(name))
        times = [name for name in singles if self.data.columns[name]["type"].startswith("timestamp")]
        zone, steps = [], {}
        if times and rng.random() < 0.4:
            # Other times would be printed in the zone.
            singles = [name for name in singles if name not in times]
            zone = ["--tz", rng.choice(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])]
            name, (step, function) = rng.choice(times), rng.choice([("weekday", "isodow"), ("hour-of-day", "hour"), ("day", "date")])
            steps[f"{name}:{step}"] = f"{function}(timezone({text(zone[1])}, timezone('UTC', {column(name)})))"
        by = rng.sample(singles, min(rng.choice([1, 1, 2, 2, 3]) - len(steps), len(singles))) + list(steps)
        rng.shuffle(by)
        missing = rng.random() < 0.3
        numbers = [name for name in singles if self.data.columns[name]["type"] in NUMBERS]
        metrics, selected = [], []
        for function, sql_name in [("sum", "sum"), ("min", "min"), ("max", "max"), ("mean", "avg")]:
            if numbers and rng.random() < 0.4:
                name = rng.choice(numbers)
                # HUGEINT sums do not overflow.
                selected.append(f"{sql_name}({column(name)})")
                metrics.append((function, name))
        if rng.random() < 0.5:
            name = rng.choice(list(self.data.columns))
            metrics.append(("distinct", name))
            values = f"flatten(list({column(name)}))" if self.data.is_list(name) else f"list({column(name)})"
            selected.append(f"len(list_distinct({values}))")
        named = []
        if numbers and rng.random() < 0.4:
            name = rng.choice(numbers)
            # Doubles have these exactly.
            percent = rng.choice([25, 50, 75, 100])
            selected.append(f"quantile_disc({column(name)}, {percent / 100})")
            metrics.append((f"p{percent}", name))
            named.append(f"p{percent}({dv_name(name)})")
        if numbers and rng.random() < 0.4:
            name, key = rng.choice(singles), rng.choice(numbers)
            function = rng.choice(["first", "last"])
            there = f"{column(name)} is not null and {column(key)} is not null"
            selected.append(f"{function}({column(name)} order by {column(key)}, _doc) filter (where {there})")
            metrics.append((function, f"{name} by {key}"))
            named.append(f"{function}({dv_name(name)} by {dv_name(key)})")
        having, having_sql = [], ""
        if rng.random() < 0.4:
            least = rng.randint(1, 20)
            having, having_sql = ["--having", f"count >= {least}"], f"having count(*) >= {least}"
            last = next((at for at, metric in enumerate(metrics) if metric[0] == "distinct"), None)
            if last is not None:
                having[1] += f" and distinct({dv_name(metrics[last][1])}) in 1..5"
                having_sql += f" and coalesce({selected[last]}, 0) in (1, 2, 3, 4)"
            last = next((at for at, metric in enumerate(metrics) if metric[0].startswith("p")), None)
            if last is not None:
                having[1] += f" and {metrics[last][0]}({dv_name(metrics[last][1])}) exists"
                having_sql += f" and {selected[last]} is not null"
        order = rng.choice(["count", "value"])
        keys = [steps.get(name) or column(name) for name in by]
        there = "true" if missing else " and ".join(f"{key} is not null" for key in keys)
        in_order = ", ".join(f"{key} nulls last" for key in keys)
        keys = ", ".join(keys)
        query = (
            f"select {keys}, count(*) as __count{''.join(', ' + one for one in selected)} from t {sql} and {there} "
            f"group by {keys} {having_sql} order by {'__count desc, ' if order == 'count' else ''}{in_order} limit 10"
        )
        def rows(found):
            for group in found["groups"]:
                values = list(group["values"].values()) if len(by) > 1 else [group["value"]]
                # A day is its first moment.
                values = [value and value[:10] if name.endswith(":day") else value for name, value in zip(by, values)]
                yield [*values, group["count"], *(group["metrics"][function][name] for function, name in metrics)]

        if rng.random() < 0.3 or any("," in name for name in by):
            request = {"column": by, "by": order, "missing": missing} | ({"having": having[1]} if having else {})
            for function, name in metrics:
                if function in ("sum", "min", "max", "mean", "distinct"):
                    request.setdefault(function, []).append(name)
            request |= {"metric": named} if named else {}
            asked = ["query", self.data.segment, json.dumps({"groups": [request]}), *where, *zone]
            return asked, query, lambda found: list(rows(found["groups"][0]))
        asked = ["group", self.data.segment, ",".join(by), "--by", order, *having, *where, *zone, "--json"]
        asked += ["--missing"] if missing else []
        for function, name in metrics:
            if function in ("sum", "min", "max", "mean", "distinct"):
                asked += [f"--{function}", name]
        for metric in named:
            asked += ["--metric", metric]
        return asked, query, lambda found: list(rows(found))

    def stats(self, where, sql):
        name = self.rng.choice(self.names(lambda name, _: not self.data.is_list(name)))
        quoted = column(name)
        is_number = self.data.columns[name]["type"] in NUMBERS
        query = (
            f"select count({quoted}), count(*) - count({quoted}), count(distinct {quoted}), min({quoted}), max({quoted})"
            f"{f', sum({quoted})' if is_number else ''} from t {sql}"
        )
        asked = ["stats", self.data.segment, name, "--distinct", *where, "--json"]
        keys = ["documents", "missing", "distinct", "min", "max"] + (["sum"] if is_number else [])

        def rows(found):
            stats = found["columns"][0]
            # An estimate is no answer; nor is a sum of nothing null here.
            values = [stats.get(key) for key in keys]
            if stats.get("distinct_is_estimate"):
                values[2] = Ellipsis
            if is_number and not stats["documents"]:
                values[5] = None
            return [values]

        return asked, query, rows

    def sort(self, where, sql):
        rng = self.rng
        keys = rng.sample(self.names(lambda name, _: not self.data.is_list(name)), rng.randint(1, 2))
        descending = [rng.random() < 0.5 for _ in keys]
        by = ["--by=" + ("-" if down else "") + key for key, down in zip(keys, descending)]
        order = ", ".join(f"{column(key)} {'desc' if down else 'asc'} nulls last" for key, down in zip(keys, descending))
        query = f"select _doc from t {sql} order by {order}, _doc limit 20"
        asked = ["sort", self.data.segment, *by, "-n", "20", "--columns", keys[0], "--doc-ids", *where, "--json"]
        return asked, query, None


def plain(value):
    """A value in the form of dv's JSON."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value)
    return value


def same(found, expected):
    if found is Ellipsis:
        return True
    if isinstance(found, str) and isinstance(expected, str) and found != expected:
        # Timestamps: an offset, and zeros at the end of the fraction, mean nothing.
        return found.rstrip("Z").rstrip("0").rstrip(".") == expected.rstrip("0").rstrip(".")
    if isinstance(found, (int, float)) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return found == expected


def ask(data, rng):
    asked, query, rows = Asker(data, rng).question()
    expected = [[plain(value) for value in row] for row in data.db.execute(query).fetchall()]
    output = data.run(*asked)
    if rows is None:
        found = [[json.loads(line)["_doc"]] for line in output.splitlines()]
    else:
        found = rows(json.loads(output))
    is_same = len(found) == len(expected) and all(
        len(a) == len(b) and all(map(same, a, b)) for a, b in zip(found, expected)
    )
    if not is_same:
        sys.exit(f"dv {json.dumps(asked)}\n{query}\ndv:     {found}\nDuckDB: {expected}")
    return asked[0]


def made_numbers(path, rng):
    """Numbers and times around the ends of their types, with missing values."""
    day = datetime.date(1970, 1, 1)
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["int", "big", "double", "flag", "day", "at", "other day", "a,b"])
        for _ in range(4_000):
            at = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=rng.randint(0, 10**7))
            row = [
                rng.randint(-20, 20),
                rng.choice([-(2**63), 2**63 - 1, 2**53, 2**53 + 1, rng.randint(-(2**62), 2**62)]),
                rng.choice([0.5, -1.25, 1e300, -1e-300, float(rng.randint(-20, 20)), 0.1]),
                rng.choice(["true", "false"]),
                day + datetime.timedelta(days=rng.randint(-1000, 30000)),
                at.isoformat() + "Z",
                day + datetime.timedelta(days=rng.randint(19000, 19400)),
                rng.randint(0, 3),
            ]
            rows.writerow(["" if rng.random() < 0.1 else value for value in row])


def made_text(path, rng):
    """Text with quotes, accents and both cases, and lists."""
    words = ["Straße", "straße", "ÉTÉ", "été", "a'b", 'say "x"', "tab\there", "z" * 40, "A", "a", "Ab", "日本", "x.1.2", "back\\slash", "%_"]
    with open(path, "w") as file:
        for _ in range(4_000):
            row = {
                "word": rng.choice(words),
                "text": " ".join(rng.choice(words) for _ in range(rng.randint(1, 3))),
                "unique": f"{rng.randint(0, 10**9):x}",
                "tags": [rng.choice(words) for _ in range(rng.randint(0, 4))],
                "ints": [rng.randint(0, 30) for _ in range(rng.randint(0, 4))],
                "n": rng.randint(0, 9),
            }
            print(json.dumps({key: value for key, value in row.items() if rng.random() > 0.1}), file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000, help="in each data set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("dv")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = options.files
        if not files:
            made_numbers(folder / "numbers.csv", random.Random(options.seed))
            made_text(folder / "text.ndjson", random.Random(options.seed))
            packages = pathlib.Path(__file__).parents[3] / "examples/data/packages.ndjson.gz"
            files = [packages, folder / "numbers.csv", folder / "text.ndjson"]
        for file in files:
            data = Data(options.dv, str(file), folder)
            rng, asked = random.Random(options.seed), {}
            for _ in range(options.queries):
                kind = ask(data, rng)
                asked[kind] = asked.get(kind, 0) + 1
            print(f"{data.name}: {options.queries} answers are equal: {asked}")


main()
