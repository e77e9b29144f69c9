"""Compares the answers of a folder's `answers.tsv` with those of DuckDB over its `t.parquet`."""

import datetime
import json
import math
import re
import sys

try:
    import duckdb
except ImportError:
    sys.exit(77)

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def differs(sql):
    """Whether DuckDB has another answer: it orders zeros of both signs as equal."""
    return re.search(r"odd (<=|>=|<>|=|<|>) -?0\.0|order by odd", sql)


def translated(sql):
    sql = re.sub(r"x'(..)(..)'", r"'\\x\1\\x\2'::blob", sql)
    sql = re.sub(r"(like '[^']*')", r"\1 escape '\\'", sql)
    sql = sql.replace("timestamp '", "timestamptz '")
    sql = re.sub(r"to_ip\('10\.0\.0\.(\d+)'\)", lambda ip: f"unhex('{'0' * 20}ffff0a0000{int(ip[1]):02x}')", sql)
    sql = re.sub(r"to_uuid\('([^']*)'\)", lambda uuid: f"unhex('{uuid[1].replace('-', '')}')", sql)
    # A keyword.
    return re.sub(r"\bat\b", '"at"', sql)


def plain(value):
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return round((value - EPOCH) / datetime.timedelta(milliseconds=1))
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(value)
    return value


def main(folder):
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")
    connection.execute(f"create table t as select * from '{folder}/t.parquet'")
    compared = 0
    for line in open(f"{folder}/answers.tsv", encoding="utf-8"):
        sql, expected = line.rstrip("\n").split("\t")
        if differs(sql):
            continue
        rows = connection.execute(translated(sql)).fetchall()
        found = [[plain(value) for value in row] for row in rows]
        if found != json.loads(expected):
            sys.exit(f"{sql}\ndocvalues: {expected}\nDuckDB:    {found}")
        compared += 1
    if compared < 200:
        sys.exit(f"only {compared} queries compared")
    print(f"{compared} answers as in DuckDB {duckdb.__version__}")


main(sys.argv[1])
