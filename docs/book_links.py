"""A preprocessor of mdBook: links of pages that leave docs lead to the repository, and those to the guide to its documentation."""

import json
import posixpath
import re
import sys

REPOSITORY = "https://github.com/docvalues/docvalues/blob/main/"
GUIDE = "https://docs.rs/docvalues/latest/docvalues/_guide/"


def target(page, link):
    """A link of a page, as the book has it."""
    path, place = re.fullmatch(r"([^#]*)(.*)", link).groups()
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    if re.match(r"[a-z]+:", link) or link.startswith("#") or path.startswith("docs/"):
        return link
    guide = re.fullmatch(r"crates/docvalues/src/_guide(?:\.rs|/(\w+)\.md)", path)
    if guide:
        return GUIDE + (f"{guide[1]}/" if guide[1] else "") + "index.html" + place
    return REPOSITORY + path + place


def rewrite(items):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if not chapter:
            continue
        page, parts = chapter["path"] or "", re.split(r"(^```.*?^```)", chapter["content"], flags=re.M | re.S)
        for at in range(0, len(parts), 2):  # not in code
            parts[at] = re.sub(r"\]\(([^()\s]+)\)", lambda found: f"]({target(page, found[1])})", parts[at])
        chapter["content"] = "".join(parts)
        rewrite(chapter["sub_items"])


if sys.argv[1:2] != ["supports"]:
    _, book = json.load(sys.stdin)
    rewrite(book["items"])
    json.dump(book, sys.stdout)
