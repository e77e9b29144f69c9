#!/usr/bin/env python3
"""Prints the documents of a segment, one JSON object each. Implements docs/format.md.

Columns are in the order of their names; columns without a value are left out. Dates and timestamps are integers, as
stored. Kinds with several values are lists. Values without a JSON form are objects: {"hex": ...} for bytes that are not
UTF-8, {"bits": ...} for a double that is not finite.

--ids prints the index of ids instead, {"id": ..., "doc": number} for each id in order; --find looks up ids.

Numbers in parentheses are chapters of format.md. Only Python's standard library is required.
"""

import argparse
import bisect
import ipaddress
import json
import os
import struct
import sys
import uuid
import zlib

from read_dv_ids import Ids

VERSION = 1
FEATURES = 0b11  # the required features that this reader knows
MASK = (1 << 64) - 1

# Names by tag.
KINDS = ("numeric", "binary", "sorted", "sorted-numeric", "sorted-set")
NUMBERS = ("i64", "u64", "f64", "bool", "date", "timestamp[ms]", "timestamp[us]", "timestamp[ns]")
LOGICAL = NUMBERS + ("ip", "uuid", "string", "bytes")
STATISTICS = ("sum", "distinct", "ascending", "descending")
TRANSFORMS = ("constant", "affine", "table", "decimal")
ENCODINGS = ("constant", "packed", "linear")
SHAPES = ("none", "all", "blocks", "blocks and jump table")
PRESENCE = ("empty", "full", "list", "sparse", "dense", "runs")
CODINGS = ("raw", "fsst", None, "onpair")  # tag 2 is reserved (10.1)


def need(condition, message):
    """Refuses the file: it is not a segment, has a later version, is damaged, or breaks a rule of the format."""
    if not condition:
        raise ValueError(message)


def ceil(number, by):
    return -(-number // by)


def uint(data, at, size):
    need(0 <= at and at + size <= len(data), f"bytes {at} to {at + size} of a part with {len(data)}")
    return int.from_bytes(data[at : at + size], "little")


def u16s(data, at, count):
    need(at + 2 * count <= len(data), "a list that leaves its section")
    return struct.unpack_from(f"<{count}H", data, at)


class Fields:
    """Reads one field after the other."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, size):
        need(self.at + size <= len(self.data), "fields that end too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def u(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def tag(self, names, what):
        tag = self.u(1)
        need(tag < len(names), f"unknown {what} {tag}")
        return names[tag]


class Segment:
    """Header, footer and directory (3, 4, 5). `walk` ignores the jump tables."""

    def __init__(self, data, walk):
        self.data, self.walk = data, walk
        need(len(data) >= 128 and data[:8] == b"\x89DV\r\n\x1a\n\0" and data[-8:] == b"docvalue", "not a whole segment")
        header, footer = Fields(data[8:64]), Fields(data[-64:])
        self.version, zero, required, _ = (header.u(size) for size in (2, 2, 4, 4))
        self.release = ".".join(str(header.u(2)) for _ in range(3))
        root_at, root_len, root_crc, self.docs, columns, self.id = (footer.u(size) for size in (8, 4, 4, 4, 4, 16))
        again, footer_zero, also_required = (footer.u(size) for size in (2, 2, 4))
        for version in self.version, again:
            need(version == VERSION, f"expected format version {VERSION}, found {version}")
        bits = [bit for bit in range(32) if ((required | also_required) & ~FEATURES) >> bit & 1]
        need(not bits, f"unknown required features: bits {bits}")
        need(zlib.crc32(data[:60]) == uint(data, 60, 4), "header: wrong checksum")
        need(zlib.crc32(data[-64:-16]) == footer.u(4), "footer: wrong checksum")
        need(not (zero or any(data[26:60]) or footer_zero or footer.u(4)), "reserved bytes that are not zero")

        self.parts = [(0, 64), (len(data) - 64, len(data))]
        self.columns, self.end = [], 64
        root = Fields(self.part(root_at, root_len, root_crc, "root"))
        while len(self.columns) < columns:
            at, size, crc, sections_end, columns_end, zero = (root.u(size) for size in (8, 4, 4, 8, 4, 4))
            self.page(self.part(at, size, crc, "page"))
            need((sections_end, columns_end, zero) == (self.end, len(self.columns), 0), "root: not its page")
        need(len(self.columns) == columns, "footer: a number of columns that is not that of the pages")
        self.extensions, self.ids = [], None  # (5.2): their tags; reading documents needs none of them
        while root.at < root_len:
            end, tag, size = (root.u(size) for size in (8, 4, 4))
            need(end >= self.end and tag > max(self.extensions, default=-1), "root: extensions out of order")
            body = root.take(ceil(size, 8) * 8)
            need(not any(body[size:]), "root: padding that is not zero")
            if tag == 2:
                self.ids = Ids(self, Fields(body[:size]), Numbers)
                need(self.end <= end, "ids: sections outside their part of the file")
            elif tag == 3:
                self.fine_zones(Fields(body[:size]), end)
            else:
                self.parts.append((self.end, end))
            self.extensions, self.end = self.extensions + [tag], end
        names = [column.name.encode() for column in self.columns]
        need(all(a < b for a, b in zip(names, names[1:])), "names that do not ascend")
        self.parts.sort()
        for (_, end), (start, _) in zip(self.parts, self.parts[1:]):
            need(end <= start and not any(data[end:start]), f"bytes {end} to {start}: parts overlap, or are not zero")

    def fine_zones(self, fields, end):
        """Reads the extension of fine zones (17)."""
        columns = {}
        while not columns or fields.at < len(fields.data):
            number, payload = fields.u(4), self.section(fields, "fine zones")
            need(max(columns, default=-1) < number < len(self.columns), "fine zones: columns out of order, or unknown")
            numbers = self.columns[number].values
            need(isinstance(numbers, Numbers), "fine zones: a column without numbers")
            columns[number] = numbers.check_fine_zones(payload)
        need(self.end <= end, "fine zones: sections outside their part of the file")
        has_zones = [n for n, column in enumerate(self.columns) if getattr(column.values, "zones", None)]
        need(has_zones == list(columns), "fine zones: other columns than those with a zone map")

    def part(self, at, size, crc, what):
        need(64 <= at and at % 64 == 0 and at + size <= len(self.data) - 64, f"{what}: outside the file")
        need(zlib.crc32(self.data[at : at + size]) == crc, f"{what} at {at}: wrong checksum")
        self.parts.append((at, at + size))
        return self.data[at : at + size]

    def page(self, page):
        starts = struct.unpack_from(f"<{uint(page, 0, 4) + 1}I", page, 4)
        need(list(starts) == sorted(starts) and starts[-1] == len(page), "page: entries that are not in order")
        self.columns += [Column(self, page[start:end]) for start, end in zip(starts, starts[1:])]

    def section(self, fields, what):
        """The payload of a section, after comparing all checksums (6)."""
        at, size, crc = fields.u(8), fields.u(8), fields.u(4)
        need(at % 64 == 0 and at >= self.end and size > 0, f"{what}: out of order, or empty")
        payload, content, level_len = None, None, ceil(size + 64, 64) * 64
        while content is None or len(content) > 4:
            need(at + level_len <= len(self.data) - 64, f"{what}: outside the file")
            level = self.data[at : at + level_len]
            payload = level[:size] if payload is None else payload
            need(level == (content or payload).ljust(level_len, b"\0"), f"{what}: wrong checksum, or padding")
            self.parts.append((at, at + level_len))
            content = b"".join(struct.pack("<I", zlib.crc32(level[g : g + 4096])) for g in range(0, level_len, 4096))
            at, level_len = at + level_len, ceil(len(content), 64) * 64
        need(uint(content, 0, 4) == crc, f"{what}: wrong checksum")
        self.end = at
        return payload


class Column:
    """A directory entry (5.4), which reads the values of documents."""

    def __init__(self, segment, entry):
        fields = Fields(entry)
        sections_end, self.name = fields.u(8), fields.take(fields.u(4)).decode()
        self.kind, self.logical = fields.tag(KINDS, "kind"), fields.tag(LOGICAL, "logical type")
        self.format = fields.take(fields.u(1)).decode()
        need(("numeric" in self.kind) == (self.logical in NUMBERS), "a type that does not fit the kind")
        self.presence = Presence(segment, fields)
        lists = self.kind in ("sorted-numeric", "sorted-set")
        self.offsets = Numbers(segment, fields, "offsets") if lists else None
        self.values = Bytes(segment, fields) if self.kind == "binary" else Numbers(segment, fields, "values")
        self.terms = Dictionary(segment, fields) if self.kind in ("sorted", "sorted-set") else None
        flags, zero, self.sum, self.distinct = fields.u(1), fields.u(7), fields.u(16, True), fields.u(8)
        need(flags < 16 and not zero, "statistics: unknown bits")
        self.statistics = [name for bit, name in enumerate(STATISTICS) if flags >> bit & 1]
        need(fields.at == len(entry), "bytes after the last field")
        need(segment.end <= sections_end, "sections outside the column's part of the file")
        segment.end = sections_end

        count = self.presence.count
        if lists:
            need(self.offsets.count == (count + 1 if count else 0), "offsets: wrong count")
            count = self.offsets.max
        need(self.values.count == count, "values: wrong count")
        ords = (self.values.min, self.values.max) if self.terms else None
        need(not ords or ords == (0, max(self.terms.count - 1, 0)), "ords that do not fit the terms")

    def value(self, doc):
        """The JSON value of the document, or None."""
        index = self.presence.rank(doc)
        if index is None or not self.offsets:
            return None if index is None else self.shown(index)
        start, end = self.offsets.get(index), self.offsets.get(index + 1)
        need(start < end, "a document with an empty list")
        return [self.shown(position) for position in range(start, end)]

    def shown(self, position):
        """The value at `position`, as its logical type (5.6)."""
        value = self.values.get(position)
        value = self.terms.get(value) if self.terms else value
        if self.logical == "u64":
            return (value & MASK) ^ 1 << 63
        if self.logical == "f64":
            bits = sortable(value) & MASK
            return to_f64(value) if bits >> 52 & 0x7FF != 0x7FF else {"bits": f"{bits:016x}"}
        if self.logical in NUMBERS:
            return bool(value) if self.logical == "bool" else value
        if self.logical == "uuid":
            return str(uuid.UUID(bytes=value))
        if self.logical == "ip":
            return str((ip := ipaddress.IPv6Address(value)).ipv4_mapped or ip)
        return text(value)


def text(value):
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"hex": value.hex()}


def sortable(number):
    """Maps the bits of a double to a stored number, or a stored number to the bits (5.6)."""
    return number ^ (MASK >> 1 if number < 0 else 0)


def to_f64(number):
    return struct.unpack("<d", struct.pack("<q", sortable(number)))[0]


class Numbers:
    """A sequence of numbers (8)."""

    def __init__(self, segment, fields, what):
        self.what, self.headers, self.fine_zones = what, [], None
        self.count, self.min, self.max, self.gcd = fields.u(8), fields.u(8, True), fields.u(8, True), fields.u(8)
        self.transform, self.shift = fields.tag(TRANSFORMS, "transform"), fields.u(1)
        self.stride, sections = fields.u(1), fields.u(1)
        need(self.shift in (*range(9, 15), 40) and self.stride in (16, 32) and sections < 4, f"{what}: block size")
        if self.transform == "decimal":
            self.power = 10 ** fields.u(1)
            self.base = round(to_f64(self.min) * float(self.power))
            need(self.power <= 10**22 and abs(self.base) < 1 << 51, f"{what}: invalid decimals")
        self.blocks = segment.section(fields, what) if self.transform != "constant" else b""
        self.jump = segment.section(fields, what + " jump table") if sections & 1 else None
        if self.transform == "table":
            table = segment.section(fields, what + " table")
            self.table = struct.unpack(f"<{len(table) // 8}q", table)
        self.zones = segment.section(fields, what + " zone map") if sections & 2 else None
        self.read_headers(self.jump if not segment.walk else None)

    def read_headers(self, jump):
        """Reads the header of each block (8.3), from the jump table or by walking the blocks."""
        at = 0
        for first in range(0, self.count if self.blocks else 0, 1 << self.shift):
            head = Fields(jump, len(self.headers) * self.stride) if jump else Fields(self.blocks, at)
            base, encoding, width, payload = head.u(8), head.tag(ENCODINGS, "encoding"), head.u(1), head.u(6) * 8
            slope = head.u(8, True) if self.stride == 32 else 0
            widths = {"constant": [0], "packed": [*range(1, 57), 64], "linear": [*range(57), 64]}
            need(width in widths[encoding], f"{self.what}: a block of {width} bits")
            at = payload + 8 * ceil(min(1 << self.shift, self.count - first) * width, 64)
            need(at <= len(self.blocks), f"{self.what}: residuals outside the section")
            self.headers.append((base, encoding, width, payload, slope))
        need(at == len(self.blocks), f"{self.what}: bytes after the last block")

    def get(self, i):
        need(0 <= i < self.count, f"{self.what}: expected an index below {self.count}, found {i}")
        if self.transform == "constant":
            return self.min
        base, encoding, width, payload, slope = self.headers[i >> self.shift]
        k = i & (1 << self.shift) - 1
        at, bit = divmod(8 * payload + width * k, 8)
        x = int.from_bytes(self.blocks[at : at + 8], "little") >> bit & (1 << width) - 1  # (7)
        q = base + x + (slope * k >> 16 if encoding == "linear" else 0) & MASK
        if self.transform == "affine":
            return (self.min + q * self.gcd + (1 << 63) & MASK) - (1 << 63)  # an i64, modulo 2^64
        if self.transform == "decimal":
            return sortable(struct.unpack("<q", struct.pack("<d", (self.base + q * self.gcd) / self.power))[0])
        need(q < len(self.table), f"{self.what}: q outside the values table")
        return self.table[q]

    def check_fine_zones(self, payload):
        """Compares the two codes of every 512 numbers with these numbers (17.2)."""
        expected = []
        for zone in range(0, self.count, 4096):
            numbers = [self.get(i) for i in range(zone, min(zone + 4096, self.count))]
            for start in range(0, len(numbers), 512):
                fine_zone = numbers[start : start + 512]
                for d in min(fine_zone) - min(numbers), max(numbers) - max(fine_zone):
                    p = d.bit_length() - 1
                    expected.append(d if d < 4 else 4 * (p - 1) + (d >> p - 2) % 4)
        need(payload == bytes(expected), f"{self.what}: fine zones that do not fit the numbers")
        self.fine_zones = payload
        return payload

    def __str__(self):
        blocks = f"{len(self.headers)} blocks of 2^{self.shift}, " if len(self.headers) > 1 else ""
        encodings = sorted({f"{encoding} {width}" for _, encoding, width, _, _ in self.headers})
        tables = (("jump table", self.jump), ("zone map", self.zones), ("fine zones", self.fine_zones))
        tables = [name for name, there in tables if there]
        return f"{self.count} {self.what}: {self.transform}; {blocks}{', '.join(encodings + tables)}"


class Presence:
    """The documents with a value, and the rank of each (9)."""

    def __init__(self, segment, fields):
        self.shape, self.blocks = fields.tag(SHAPES, "presence shape"), []
        self.count = segment.docs if self.shape == "all" else 0
        if not self.shape.startswith("blocks"):
            return
        self.count = fields.u(4)
        self.data = segment.section(fields, "presence")
        jump = segment.section(fields, "presence jump table") if self.shape != "blocks" else None
        at = before = 0
        for start in range(0, segment.docs, 65536):
            docs = min(65536, segment.docs - start)
            if jump and not segment.walk:
                entry = Fields(jump, start // 4096)
                before, at, values, kind, zero, runs = (entry.u(size) for size in (4, 4, 4, 1, 1, 2))
                at *= 8
            else:
                header = Fields(self.data, at)
                kind, zero, runs, values = (header.u(size) for size in (1, 1, 2, 4))
                at += 8
            need(kind < len(PRESENCE) and zero == 0 and values <= docs, "presence: an invalid block header")
            self.blocks.append((PRESENCE[kind], before, at, values, runs, docs))
            words, buckets = ceil(docs, 512), ceil(docs, 256)
            sparse, dense = ceil(2 * buckets + 2, 8) * 8 + values, ceil(2 * words, 8) * 8 + 64 * words
            at += ceil((0, 0, 2 * values, sparse, dense, 4 * runs)[kind], 8) * 8
            before += values
        need(before == self.count and at == len(self.data), "presence: counts or lengths that do not fit the blocks")

    def rank(self, doc):
        if not self.blocks:
            return doc if self.shape == "all" else None
        kind, before, at, values, runs, docs = self.blocks[doc // 65536]
        present, r = self.lookup(kind, doc % 65536, at, values, runs, docs)
        need(not present or r < values, "presence: a rank that is not below the block's values")
        return before + r if present else None

    def lookup(self, kind, k, at, values, runs, docs):
        """Whether document `k` of a block has a value, and how many documents before it have one (9.4 to 9.7)."""
        if kind == "list":
            places = u16s(self.data, at, values)
            i = bisect.bisect_left(places, k)
            return i < values and places[i] == k, i
        if kind == "sparse":
            start, end = u16s(self.data, at + 2 * (k // 256), 2)
            need(start <= end <= values, "presence: a bucket outside the block")
            at += ceil(2 * ceil(docs, 256) + 2, 8) * 8
            lows = self.data[at + start : at + end]
            i = bisect.bisect_left(lows, k % 256)
            return i < len(lows) and lows[i] == k % 256, start + i
        if kind == "dense":
            (rank,) = u16s(self.data, at + 2 * (k // 512), 1)
            words = uint(self.data, at + ceil(2 * ceil(docs, 512), 8) * 8 + 64 * (k // 512), 64)
            return words >> k % 512 & 1, rank + bin(words & (1 << k % 512) - 1).count("1")
        if kind == "runs":
            starts, befores = u16s(self.data, at, runs), u16s(self.data, at + 2 * runs, runs) + (values,)
            i = bisect.bisect_right(starts, k) - 1
            j = befores[i] + k - starts[i] if i >= 0 else 0
            return i >= 0 and j < befores[i + 1], min(j, befores[i + 1])
        return kind == "full", k if kind == "full" else 0

    def __str__(self):
        kinds = ", ".join(sorted({block[0] for block in self.blocks}))
        return f"{self.count} documents with a value: {self.shape}" + (f" ({kinds})" if kinds else "")


class Bytes:
    """Byte strings (10)."""

    def __init__(self, segment, fields):
        self.count, variable, self.coding = fields.u(8), fields.u(1), fields.tag(CODINGS, "coding")
        need(self.coding, "byte strings: blocks of DEFLATE, which are no longer read; build the file again")
        self.fixed_len = fields.u(4)
        need(variable < 2 and not (variable and self.fixed_len), "byte strings: lengths")
        self.data = segment.section(fields, "bytes") if variable or self.count * self.fixed_len else b""
        total_len = fields.u(8) if self.coding != "raw" else len(self.data)
        self.about = f"{self.coding}, {total_len} bytes in {len(self.data)}"
        if self.coding == "fsst":
            symbols = Fields(segment.section(fields, "symbols"))
            self.symbols = [symbols.take(size) for size in symbols.take(symbols.u(1))]
            need(self.symbols and symbols.at == len(symbols.data), "symbols: none, or bytes after the last")
            need(all(1 <= len(symbol) <= 15 for symbol in self.symbols), "symbols: length")
        if self.coding == "onpair":
            tokens = Fields(segment.section(fields, "symbols"))
            self.tokens = [tokens.take(size) for size in tokens.take(tokens.u(2))]
            need(self.tokens and tokens.at == len(tokens.data), "tokens: none, or bytes after the last")
            need(all(2 <= len(token) <= 16 for token in self.tokens) and len(self.tokens) <= 3840, "tokens: length")
        self.offsets = Numbers(segment, fields, "offsets") if variable else None
        offsets = (self.offsets.count, self.offsets.max) if variable else (self.count + 1, self.fixed_len * self.count)
        size = (offsets[1] * 3 + 1) // 2 if self.coding == "onpair" else offsets[1]
        need((offsets[0], size) == (self.count + 1, len(self.data)), "byte strings: counts or lengths that do not fit the bytes")

    def get(self, i):
        start, end = self.fixed_len * i, self.fixed_len * (i + 1)
        if self.offsets:
            start, end = self.offsets.get(i), self.offsets.get(i + 1)
        last = len(self.data) * 2 // 3 if self.coding == "onpair" else len(self.data)
        need(0 <= start <= end <= last, "byte strings: offsets that descend, or leave the section")
        if self.coding == "onpair":
            return b"".join(self.token(code) for code in range(start, end))
        value = self.data[start:end]
        return b"".join(self.decode(Fields(value))) if self.coding == "fsst" else value

    def token(self, i):
        """The bytes of code i (10.5)."""
        code = int.from_bytes(self.data[i * 3 // 2 :][:2], "little") >> i % 2 * 4 & 0xFFF
        need(code < 256 + len(self.tokens), "byte strings: a code without a token")
        return bytes([code]) if code < 256 else self.tokens[code - 256]

    def decode(self, codes):
        """Decodes the codes (10.3)."""
        while codes.at < len(codes.data):
            code = codes.u(1)
            need(code == 255 or code < len(self.symbols), "byte strings: a code without a symbol")
            yield codes.take(1) if code == 255 else self.symbols[code]

    def __str__(self):
        return f"{self.count} byte strings: {self.about}; {self.offsets or f'{self.fixed_len} each'}"


class Dictionary:
    """The terms of a column (11)."""

    def __init__(self, segment, fields):
        self.count, self.max_len, self.total_len = fields.u(4), fields.u(4), fields.u(8)
        self.data = segment.section(fields, "terms") if self.count else b""
        self.offsets = None
        if self.count > 32:
            self.offsets = Numbers(segment, fields, "term offsets")
            self.keys, self.prefix = segment.section(fields, "term keys"), fields.take(fields.u(1))

    def get(self, ord):
        need(0 <= ord < self.count, "an ord without a term")
        i, n = ord % 32, min(32, self.count - ord // 32 * 32)
        block = Fields(self.data, self.offsets.get(ord // 32) if self.offsets else 0)
        c = block.u(1)
        need(c in (1, 2, 4), f"terms: unknown class {c}")
        shared, own = ([block.u(c) for _ in range(n)] for _ in range(2))
        head = block.take(own[0])
        block.take(sum(own[1:i]))
        return head[: shared[i]] + block.take(own[i]) if i else head

    def __str__(self):
        return f"{self.count} terms of {self.total_len} bytes, at most {self.max_len}"


def documents(segment):
    for doc in range(segment.docs):
        values = {column.name: column.value(doc) for column in segment.columns}
        yield json.dumps({name: value for name, value in values.items() if value is not None}, ensure_ascii=False)


def ids(segment, wanted):
    need(segment.ids, "the segment has no index of ids")
    found = ((id, segment.ids.find(id)) for id in wanted) if wanted else segment.ids.each()
    for id, doc in found:
        yield json.dumps({"id": text(id), "doc": doc}, ensure_ascii=False)


def summary(segment):
    yield f"format version {segment.version}, written by release {segment.release}, id {segment.id:032x}"
    yield f"{segment.docs} documents, {len(segment.columns)} columns, extensions: {segment.extensions or 'none'}"
    if segment.ids:
        yield str(segment.ids)
    for column in segment.columns:
        yield f"{column.name}: {column.kind} {column.logical}" + (f" ({column.format})" if column.format else "")
        yield from (f"    {part}" for part in (column.presence, column.offsets, column.values, column.terms) if part)
        yield f"    known: {', '.join(column.statistics) or 'nothing'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--info", action="store_true", help="print a summary instead of the documents")
    parser.add_argument("--walk", action="store_true", help="ignore jump tables: walk from block to block")
    parser.add_argument("--ids", action="store_true", help="print the index of ids instead of the documents")
    parser.add_argument("--find", metavar="ID", action="append", help="look up an id; may be repeated")
    args = parser.parse_args()
    try:
        with open(args.file, "rb") as file:
            segment = Segment(file.read(), args.walk)
        lines = ids(segment, [os.fsencode(id) for id in args.find or []]) if args.ids or args.find else documents(segment)
        for line in summary(segment) if args.info else lines:
            sys.stdout.buffer.write(line.encode() + b"\n")
    except (OSError, ValueError, struct.error) as error:
        sys.exit(f"{args.file}: {error}")


if __name__ == "__main__":
    main()
