"""Reads the index of ids: the part of read_dv.py that implements chapter 16 of docs/format.md.

Numbers in parentheses are chapters of format.md. Only Python's standard library is required.
"""

import bisect
import struct
import uuid

MASK = (1 << 64) - 1

FORMS = ("trie", "exact-trie", "fst", "column")
KINDS = ("raw", "UUID", "digits", "hex", "upper-case hex", "base64url")
ALPHABETS = {
    "digits": b"0123456789",
    "hex": b"0123456789abcdef",
    "upper-case hex": b"0123456789ABCDEF",
    "base64url": b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
}
SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


def need(condition, message):
    """Refuses the file."""
    if not condition:
        raise ValueError("ids: " + message)


def ceil(number, by):
    return -(-number // by)


class Ids:
    """The body of the extension (16.1), which finds the documents of ids. `numbers` reads a sequence of numbers (8)."""

    def __init__(self, segment, fields, numbers):
        self.name = fields.take(fields.u(4)).decode()
        self.count, doc_count, self.seed = fields.u(4), fields.u(4), fields.u(8)
        self.form, self.filter_bits, self.max_len = fields.tag(FORMS, "form of ids"), fields.u(1), fields.u(2)
        least_len, greatest_len, zero = fields.u(1), fields.u(1), fields.u(2)
        need(self.filter_bits <= 32 and max(least_len, greatest_len) <= 32 and not zero, "fields above their limits")
        need(self.name and doc_count == segment.docs and self.count <= doc_count, "wrong name or counts")
        self.least, self.greatest = fields.take(least_len), fields.take(greatest_len)
        self.template = Template(fields)
        blocks = fields.u(4) if self.count and self.form == "trie" else 0
        data = segment.section(fields, "ids") if self.count else b""
        if self.form == "trie":
            self.keys = Blocks(segment, fields, blocks, self.count, data)
        elif self.form == "column" and self.count:
            self.keys = InColumn(segment, fields, self, data)
        else:
            self.keys = Nodes(data, self.form, self.count)
        bits = self.filter_bits // 2 if self.form == "column" else self.filter_bits
        self.filter = segment.section(fields, "id filter") if self.count and bits else b""
        need(len(self.filter) == 64 * ceil(self.count * bits, 512), "wrong length of the filter")
        self.docs = numbers(segment, fields, "id documents")
        need(self.docs.count == self.count and 0 <= self.docs.min, "wrong id documents")
        need(not self.count or self.docs.max < doc_count, "documents that do not exist")
        need(fields.at == len(fields.data), "bytes after the last field")

    def __str__(self):
        about = f"{self.template.kind}, {len(self.filter)} bytes of filter, {self.form}: {self.keys}"
        return f"ids of {self.name}: {about}\n    {self.docs}"

    def each(self):
        """All ids with their documents, in order."""
        for rank, key in enumerate(self.keys.each()):
            yield self.template.unpack(key), self.docs.get(rank)

    def find(self, id):
        """The document of the id, or None."""
        key = self.template.pack(id)
        if key is None or not self.count or not self.may_hold(id):
            return None
        if not self.least <= key[:32] <= self.greatest:
            return None
        rank = self.keys.rank(key)
        return None if rank is None else self.docs.get(rank)

    def may_hold(self, id):
        """Whether the filter accepts the id (16.4)."""
        if not self.filter:
            return True
        hash = xxh3(id, self.seed)
        at = 64 * ((hash >> 32) * (len(self.filter) // 64) >> 32)
        words = struct.unpack_from("<8Q", self.filter, at)
        return all(word >> ((hash & 0xFFFFFFFF) * salt % (1 << 32) >> 26) & 1 for word, salt in zip(words, SALTS))


class Template:
    """The form of all ids (16.3)."""

    def __init__(self, fields):
        self.kind, self.len = fields.tag(KINDS, "kind of ids"), fields.u(1)
        prefix_len, suffix_len = fields.u(1), fields.u(1)
        self.prefix, self.suffix = fields.take(prefix_len), fields.take(suffix_len)
        least, most = {"raw": (0, 0), "UUID": (36, 36), "digits": (1, 38)}.get(self.kind, (1, 255))
        need(least <= self.len <= most and (self.kind != "raw" or not prefix_len + suffix_len), "invalid template")
        self.alphabet = ALPHABETS.get(self.kind)
        self.bits = {"hex": 4, "upper-case hex": 4, "base64url": 6}.get(self.kind)

    def pack(self, id):
        """The key of the id, or None if the template does not fit it."""
        if self.kind == "raw":
            return id
        chars = id[len(self.prefix) : len(id) - len(self.suffix)]
        if len(chars) != self.len or self.prefix + chars + self.suffix != id:
            return None
        if self.kind == "UUID":
            try:
                value = uuid.UUID(chars.decode())
            except ValueError:
                return None
            return value.bytes if str(value).encode() == chars else None
        places = [self.alphabet.find(char) for char in chars]
        if -1 in places:
            return None
        number, base = 0, len(self.alphabet)
        for place in places:
            number = number * base + place
        size = self.key_len()
        return (number if self.kind == "digits" else number << 8 * size - self.bits * self.len).to_bytes(size, "big")

    def key_len(self):
        return ceil((10**self.len - 1).bit_length() if self.kind == "digits" else self.bits * self.len, 8)

    def unpack(self, key):
        if self.kind == "raw":
            return key
        if self.kind == "UUID":
            chars = str(uuid.UUID(bytes=key)).encode()
        else:
            need(len(key) == self.key_len(), "wrong length of a key")
            number, base, chars = int.from_bytes(key, "big"), len(self.alphabet), b""
            number = number if self.kind == "digits" else number >> 8 * len(key) - self.bits * self.len
            for _ in range(self.len):
                number, place = divmod(number, base)
                chars = self.alphabet[place : place + 1] + chars
        id = self.prefix + chars + self.suffix
        need(self.pack(id) == key, "a key that the template does not produce")
        return id


class Blocks:
    """Keys in blocks (16.5), with their starts (16.6) and index (16.7)."""

    def __init__(self, segment, fields, blocks, count, data):
        need((blocks > 0) == (count > 0), "blocks without keys, or keys without blocks")
        self.data, self.offsets, self.ranks = data, [0], [0]
        if not count:
            return
        starts = segment.section(fields, "id block starts")
        widths, at = (starts[0], starts[1]), 8
        need(all(width in (*range(57), 64) for width in widths) and not any(starts[2:8]), "widths of the starts")
        self.offsets, at = packed(starts, at, widths[0], blocks + 1)
        self.ranks, at = packed(starts, at, widths[1], blocks + 1)
        need(at == len(starts), "wrong length of the starts")
        for numbers, last in (self.offsets, len(data)), (self.ranks, count):
            need(numbers[0] == 0 and numbers[-1] == last, "wrong first or last start")
            need(all(a < b for a, b in zip(numbers, numbers[1:])), "starts that do not ascend")
        self.index = Index(segment.section(fields, "id index"), blocks - 1) if blocks > 1 else None

    def __str__(self):
        return f"{self.ranks[-1]} keys in {len(self.ranks) - 1} blocks"

    def each(self):
        for block in range(len(self.ranks) - 1):
            yield from self.block(block)

    def rank(self, key):
        block = self.index.at_most(key) if self.index else 0
        keys = self.block(block)
        place = bisect.bisect_left(keys, key)
        return self.ranks[block] + place if keys[place : place + 1] == [key] else None

    def block(self, number):
        """The keys of a block."""
        data, at = self.data[self.offsets[number] : self.offsets[number + 1]], 3

        def take(size):
            nonlocal at
            need(at + size <= len(data), "a block that leaves its bytes")
            at += size
            return data[at - size : at]

        need(len(data) >= 3, "a block without a head")
        n, shape, prefix_len = data[:3]
        need(n == self.ranks[number + 1] - self.ranks[number] and shape < 4, "keys or shape of a block")
        size = int.from_bytes(take(2), "little") if shape > 1 else 0
        columns = int.from_bytes(take(ceil(size, 8)), "little") if shape == 3 else 0
        need(columns < 1 << size, "columns past the end of the keys")
        prefix = take(prefix_len)
        constants = iter(take(bin(columns).count("1")))
        constants = {i: next(constants) for i in range(size) if columns >> i & 1}
        tail = size - len(constants)
        width = {0: 1, 1: 1, 2: 2}.get(tail, 4) if shape > 1 else 4
        heads = [take(width)[::-1] for _ in range(n)]
        lens = [tail if shape > 1 else int.from_bytes(take(shape + 1), "little") for _ in range(n)]
        keys = []
        for head, tail in zip(heads, lens):
            need(not any(head[tail:]), "a head longer than its tail")
            own = iter(head[:tail] + take(max(tail - 4, 0)))
            keys.append(prefix + bytes(constants[i] if i in constants else next(own) for i in range(tail + len(constants))))
        need(at == len(data), "bytes after the last tail of a block")
        return keys


def packed(data, at, width, count):
    """Packed integers (7), and their end."""
    size = 8 * ceil(count * width, 64)
    need(at + size <= len(data), "packed integers that leave their section")
    bits = int.from_bytes(data[at : at + size], "little")
    return [bits >> width * i & (1 << width) - 1 for i in range(count)], at + size


class Index:
    """The separators of blocks (16.7)."""

    def __init__(self, data, separators):
        self.nodes, at, known = [], 0, 1
        while len(self.nodes) < known:
            need(at < len(data), "an index that ends early")
            flags, at, prefix, labels, inner = data[at], at + 1, b"", b"", 0
            need(flags < 16 and flags & 5 and flags & 12 != 8, "invalid flags of a node of the index")
            if flags & 2:
                size = int.from_bytes(data[at : at + 2], "little")
                prefix, at = data[at + 2 : at + 2 + size], at + 2 + size
            if flags & 4:
                need(at < len(data), "an index that ends early")
                count, at = data[at] + 1, at + 1
                size = count if count <= 32 else 32
                labels, at = data[at : at + size], at + size
                if count > 32:
                    bits = int.from_bytes(labels, "little")
                    labels = bytes(label for label in range(256) if bits >> label & 1)
                need(len(labels) == count and all(a < b for a, b in zip(labels, labels[1:])), "labels of the index")
            if flags & 8:
                inner, at = int.from_bytes(data[at : at + ceil(len(labels), 8)], "little"), at + ceil(len(labels), 8)
            children = []
            for i in range(len(labels)):
                children.append(known if inner >> i & 1 else None)
                known += inner >> i & 1
            self.nodes.append((flags & 1, prefix, labels, children))
        need(at == len(data), "bytes after the index")
        self.counts = [0] * known
        for i in reversed(range(known)):
            ends, _, _, children = self.nodes[i]
            self.counts[i] = ends + sum(map(self.size, children))
        need(self.counts[0] == separators, "a number of separators that is not one less than blocks")

    def size(self, child):
        return 1 if child is None else self.counts[child]

    def at_most(self, rest):
        node = below = 0
        while True:
            ends, prefix, labels, children = self.nodes[node]
            if not rest.startswith(prefix):
                return below + (0 if rest < prefix else self.counts[node])
            rest, below = rest[len(prefix) :], below + ends
            if not rest:
                return below
            place = bisect.bisect_left(labels, rest[0])
            below += sum(map(self.size, children[:place]))
            if labels[place : place + 1] != rest[:1]:
                return below
            if children[place] is None:
                return below + 1
            node, rest = children[place], rest[1:]


class InColumn:
    """A byte of each key; the keys are the values of a column (16.10)."""

    def __init__(self, segment, fields, ids, heads):
        self.ids, self.heads = ids, heads
        column = next((column for column in segment.columns if column.name == ids.name), None)
        need(column and column.kind == "binary", "no column of ids")
        need(column.presence.count == segment.docs == ids.count == len(heads), "documents without an id")
        self.values, self.len = column.values, len(ids.least)
        need(self.values.coding == "raw" and not self.values.offsets, "a column of ids that is compressed, or of several lengths")
        need(0 < self.values.fixed_len == self.len == len(ids.greatest) <= 32, "the length of ids in a column")
        need(ids.template.kind == "raw", "ids in a column that are packed")
        self.buckets = ceil(ids.count, 8)
        starts = segment.section(fields, "id block starts")
        need(len(starts) == 16 * ceil(self.buckets, 12), "wrong length of the starts")
        self.ranks = [0]
        for at in range(0, len(starts), 16):
            rank, *ends = struct.unpack_from("<I12B", starts, at)
            need(rank == self.ranks[-1] and ends == sorted(ends), "groups that do not ascend")
            self.ranks += [rank + end for end in ends]
        need(self.ranks[-1] == ids.count, "groups of another number of keys")
        differ = (i for i, (a, b) in enumerate(zip(ids.least, ids.greatest)) if a != b)
        self.shared = next(differ, self.len)
        self.base = self.window(ids.least)
        span = self.window(ids.greatest) - self.base
        need(span >= 0, "the least id is above the greatest")
        self.factor = min(MASK, (self.buckets << 72) // (span + 1))

    def window(self, key):
        return int.from_bytes(key[self.shared : self.shared + 8].ljust(8, b"\0"), "big")

    def place(self, key):
        """The bucket and the head of a key between the least and the greatest one."""
        return divmod((self.window(key) - self.base) * self.factor >> 64, 1 << 8)

    def key(self, rank):
        return self.values.get(self.ids.docs.get(rank))

    def __str__(self):
        return f"{len(self.heads)} keys in {self.buckets} buckets"

    def each(self):
        before = None
        for rank, head in enumerate(self.heads):
            key = self.key(rank)
            need(before is None or before < key, "ids that do not ascend")
            need(self.place(key) == (bisect.bisect_right(self.ranks, rank) - 1, head), "an id in another place")
            yield key
            before = key

    def rank(self, key):
        if len(key) != self.len:
            return None
        bucket, head = self.place(key)
        ranks = range(self.ranks[bucket], self.ranks[bucket + 1])
        return next((rank for rank in ranks if self.heads[rank] == head and self.key(rank) == key), None)


class Nodes:
    """A trie or an automaton (16.8)."""

    def __init__(self, data, form, count):
        self.data, self.form, self.count, self.root, self.met = data, form, count, None, set()
        if count:
            need(len(data) > 4, "keys without a root")
            self.root = len(data) - 4 - self.u(len(data) - 4, 4)
            need(0 <= self.root < len(data) - 4, "a root outside the section")

    def u(self, at, size):
        need(0 <= at and at + size <= len(self.data), "a node that leaves its section")
        return int.from_bytes(self.data[at : at + size], "little")

    def bytes(self, at, size):
        need(at + size <= len(self.data), "a node that leaves its section")
        return self.data[at : at + size]

    def labels(self, at):
        """The bytes of a leaf or a shared node, and their end."""
        size, at = self.u(at, 1) & 63, at + 1
        if size == 63:
            self.met.add("long")
            size, at = self.u(at, 4), at + 4
        return self.bytes(at, size), at + size

    def node(self, at):
        """The node at `at`: whether a key ends before its bytes, its bytes, whether one ends after them, and its arcs.

        An arc is a label, the number of keys before it, the peek, and the node that it leads to, or None. A leaf has no
        arcs; a chain has one without a label.
        """
        first = self.u(at, 1)
        if first >> 7:
            return (False, b"", *self.branch(at, at))
        if first >> 6 == 0:
            self.met.add("leaf")
            return False, self.labels(at)[0], True, []
        if self.form == "exact-trie":
            self.met.add("shared")
            shared, branch = self.labels(at)
            need(shared and self.u(branch, 1) >> 7, "shared bytes without a branch")
            return (False, shared, *self.branch(at, branch))
        size, begin = (self.u(at + 1, 1), at + 2) if first >> 5 & 1 else (1, at + 1)
        width = first & 15
        self.met.add("chain" + " of several" * (first >> 5 & 1) + " after a key" * (first >> 4 & 1))
        need(size and width <= 8, "a chain of no bytes")
        to = self.target(at, self.u(begin, width))
        return bool(first >> 4 & 1), self.bytes(begin + width, size), False, [(None, 0, b"", to)]

    def target(self, at, back):
        need(back <= at, "a back that leaves the section")
        return at - back if back else None

    def branch(self, node, at):
        """Whether a key ends at the branch, and its arcs (16.9)."""
        first, second, at = self.u(at, 1), self.u(at + 1, 1), at + 2
        form, peeks, back_width, before_width, n = first >> 4 & 3, first >> 3 & 1, first & 7, second >> 5, second & 31
        need(form < 3 and before_width <= 4, "a branch of an unknown form")
        if form == 0:
            labels, at = self.bytes(at, n + 1), at + n + 1
        elif form == 1:
            need(1 <= n <= 4, "an invalid number of words in a map")
            base, bits = self.u(at, 1), self.u(at + 1, 8 * n)
            labels, at = [base + i for i in range(64 * n) if bits >> i & 1], at + 9 * n
        else:
            labels, at = range(self.u(at, 1), self.u(at, 1) + self.u(at + 1, 1) + 1), at + 2
        self.met.add(f"branch {('list', 'map', 'run')[form]}" + " with peeks" * peeks)
        labels, arcs = list(labels), []
        need(labels and labels[-1] < 256 and all(a < b for a, b in zip(labels, labels[1:])), "labels of a branch")
        for number, label in enumerate(labels):
            before = self.u(at, before_width) if before_width else number
            back, at = self.u(at + before_width, back_width), at + before_width + back_width
            peek = b""
            if peeks:
                peek, back, at = self.bytes(at, 1) if back & 1 else b"", back >> 1, at + 1
            arcs.append((label, before, peek, self.target(node, back)))
        return bool(first >> 6 & 1), arcs

    def each(self):
        """All keys in order, by a stack of the remaining nodes, the next one on top."""
        stack = [(b"", self.root)] if self.count else []
        count = 0
        while stack:
            key, at = stack.pop()
            if at is None:
                count += 1
                yield key
                continue
            key_first, labels, is_key, arcs = self.node(at)
            after = key + labels
            for label, _, peek, to in reversed(arcs):
                stack.append((after + (b"" if label is None else bytes([label])) + peek, to))
            stack += [(after, None)] * is_key + [(key, None)] * key_first
        need(count == self.count, "a number of keys other than the count")

    def __str__(self):
        return f"{sum(1 for _ in self.each())} keys in nodes: {', '.join(sorted(self.met))}"

    def rank(self, rest):
        at, rank = self.root, 0
        while at is not None:
            key_first, labels, is_key, arcs = self.node(at)
            if key_first and not rest:
                return rank
            rank += key_first
            if not rest.startswith(labels):
                return None
            rest = rest[len(labels) :]
            if not arcs or not rest and arcs[0][0] is not None:
                return rank if is_key and not rest else None
            arc = next((arc for arc in arcs if arc[0] in (None, *rest[:1])), None)
            if arc is None:
                return None
            label, before, peek, at = arc
            rest, rank = rest[label is not None :], rank + is_key + before
            if not rest.startswith(peek):
                return None
            rest = rest[len(peek) :]
        return None if rest else rank


# XXH3 with 64 bits, by its specification: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

PRIMES_32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def word(data, at, size=8):
    return int.from_bytes(data[at : at + size], "little")


def fold(a, b):
    product = (a & MASK) * (b & MASK)
    return product & MASK ^ product >> 64


def swapped(number, size=8):
    return int.from_bytes((number & (1 << 8 * size) - 1).to_bytes(size, "little"), "big")


def avalanche(hash, shifts=(37, 32), factors=(0x165667919E3779F9,)):
    hash &= MASK
    for shift, factor in zip(shifts, factors):
        hash = (hash ^ hash >> shift) * factor & MASK
    return hash ^ hash >> shifts[-1]


def avalanche64(hash):
    return avalanche(hash, (33, 29, 32), (PRIMES[1], PRIMES[2]))


def xxh3(data, seed):
    size, secret = len(data), lambda at: word(SECRET, at)
    if size == 0:
        return avalanche64(seed ^ secret(56) ^ secret(64))
    if size < 4:
        mixed = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche64(mixed ^ (word(SECRET, 0, 4) ^ word(SECRET, 4, 4)) + seed & MASK)
    if size < 9:
        seed ^= swapped(seed, 4) << 32
        mixed = word(data, size - 4, 4) + (word(data, 0, 4) << 32)
        hash = mixed ^ (secret(8) ^ secret(16)) - seed & MASK
        hash ^= (hash << 49 | hash >> 15) & MASK ^ (hash << 24 | hash >> 40) & MASK
        hash = hash * 0x9FB21C651E98DF25 & MASK
        hash = (hash ^ (hash >> 35) + size) * 0x9FB21C651E98DF25 & MASK
        return hash ^ hash >> 28
    if size < 17:
        low = word(data, 0) ^ (secret(24) ^ secret(32)) + seed & MASK
        high = word(data, size - 8) ^ (secret(40) ^ secret(48)) - seed & MASK
        return avalanche(size + swapped(low) + high + fold(low, high))

    def mix(at, key):
        return fold(word(data, at) ^ secret(key) + seed & MASK, word(data, at + 8) ^ secret(key + 8) - seed & MASK)

    hash = size * PRIMES[0]
    if size < 129:
        for i in range((size - 1) // 32 + 1):
            hash += mix(16 * i, 32 * i) + mix(size - 16 * (i + 1), 32 * i + 16)
        return avalanche(hash)
    if size < 241:
        hash = avalanche(hash + sum(mix(16 * i, 16 * i) for i in range(8)))
        hash += sum(mix(16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16))
        return avalanche(hash + mix(size - 16, 119))
    return xxh3_long(data, seed)


def xxh3_long(data, seed):
    """XXH3 of more than 240 bytes."""
    halves = [word(SECRET, at) + (seed if at % 16 == 0 else -seed) & MASK for at in range(0, 192, 8)]
    secret = struct.pack("<24Q", *halves)
    sums = [PRIMES_32[2], *PRIMES[:4], PRIMES_32[1], PRIMES[4], PRIMES_32[0]]

    def add(at, key):
        for i in range(8):
            value = word(data, at + 8 * i)
            keyed = value ^ word(secret, key + 8 * i)
            sums[i ^ 1] = sums[i ^ 1] + value & MASK
            sums[i] = sums[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & MASK

    for stripe in range((len(data) - 1) // 64):
        add(64 * stripe, stripe % 16 * 8)
        if stripe % 16 == 15:
            for i in range(8):
                sums[i] = (sums[i] ^ sums[i] >> 47 ^ word(secret, 128 + 8 * i)) * PRIMES_32[0] & MASK
    add(len(data) - 64, 121)
    hash = len(data) * PRIMES[0]
    for i in range(4):
        key = 11 + 16 * i
        hash += fold(sums[2 * i] ^ word(secret, key), sums[2 * i + 1] ^ word(secret, key + 8))
    return avalanche(hash)
