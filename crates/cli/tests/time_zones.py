#!/usr/bin/env python3
"""Groups of `dv` by day, week, month, weekday and hour in time zones, beside those of Python's `zoneinfo`.

    time_zones.py DV FOLDER NTH

Every NTH zone, with times from 1900 to 2100; both read the database of the system. Prints a line for each zone, and exits
with 1 at the first answer that differs.
"""

import collections
import datetime
import json
import pathlib
import random
import subprocess
import sys
import zoneinfo

dv, folder, nth = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
utc = datetime.timezone.utc
numbers = random.Random(1)


def second(year, month, day):
    return int(datetime.datetime(year, month, day, tzinfo=utc).timestamp())


times = [numbers.randrange(second(1900, 1, 1), second(2100, 1, 1)) for _ in range(1500)]
# Days around changes of clocks: of summer time, at midnight, over midnight, and by a day.
for year, month, day in [
    (2024, 3, 28), (2024, 10, 25), (2018, 11, 2), (1987, 10, 24), (1919, 3, 29), (2011, 12, 28), (1969, 9, 29)
]:
    first = second(year, month, day)
    times.extend(range(first - 1, first + 5 * 86400, 1801))
texts = [datetime.datetime.fromtimestamp(time, utc).strftime("%Y-%m-%dT%H:%M:%SZ") for time in times]
(folder / "times.csv").write_text("at\n" + "\n".join(texts) + "\n")
segment = str(folder / "times.dv")
subprocess.run([dv, "build", str(folder / "times.csv"), "-o", segment, "-q"], check=True)

STEPS = ["day", "week", "month", "weekday", "hour-of-day"]
request = json.dumps({"groups": [{"column": f"at:{step}", "top": 0, "by": "value"} for step in STEPS]})


def monday(date):
    return date - datetime.timedelta(days=date.weekday())


def first_moment(zone, date):
    """The first second that has this date, as text with its offset."""
    local = datetime.datetime(date.year, date.month, date.day, tzinfo=zone)
    moment = int(local.timestamp())
    shown = datetime.datetime.fromtimestamp(moment, zone)
    if shown.replace(tzinfo=None) != local.replace(tzinfo=None):
        # Clocks skip midnight: the change is between two moments that they show.
        before, after = moment - 3 * 86400, moment + 3 * 86400
        while after - before > 1:
            middle = (before + after) // 2
            if datetime.datetime.fromtimestamp(middle, zone).date() >= date:
                after = middle
            else:
                before = middle
        shown = datetime.datetime.fromtimestamp(after, zone)
    return shown.isoformat()


for name in sorted(zoneinfo.available_timezones())[::nth]:
    zone = zoneinfo.ZoneInfo(name)
    answer = subprocess.run([dv, "query", segment, request, "--tz", name], check=True, capture_output=True, text=True)
    found = [
        {group["value"]: group["count"] for group in groups["groups"]} for groups in json.loads(answer.stdout)["groups"]
    ]
    local = [datetime.datetime.fromtimestamp(time, zone) for time in times]
    dates = [time.date() for time in local]
    expected = [
        collections.Counter(dates),
        collections.Counter(monday(date) for date in dates),
        collections.Counter(date.replace(day=1) for date in dates),
    ]
    expected = [{first_moment(zone, date): count for date, count in days.items()} for days in expected]
    expected.append(dict(collections.Counter(time.isoweekday() for time in local)))
    expected.append(dict(collections.Counter(time.hour for time in local)))
    for step, found, expected in zip(STEPS, found, expected):
        differ = sorted(str(item) for item in found.items() ^ expected.items())
        if differ:
            sys.exit(f"{name} by {step}: {differ[:10]}")
    print("same:", name)
