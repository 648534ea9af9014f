"""The compiled reader of requests under sanitizers: random payloads, damaged pages, batches of archives."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.sanitized import built, run

ROUNDS: Final = os.environ.get("REQUESTS_ROUNDS", "300")
READER: Final = """
import ctypes, random, sqlite3, sys
from array import array
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

loader = ExtensionFileLoader("_requests", sys.argv[1])
requests = module_from_spec(spec_from_loader("_requests", loader))
loader.exec_module(requests)
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
Next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

def read(sources):
    '''How many requests there are; None where the reader has given up.'''
    capsule = requests.stream(requests.read(sources, 31, len(sources) == 1))
    stream = pointer(capsule, b"arrow_array_stream")
    get_schema, get_next = (ctypes.c_void_p * 2).from_address(stream)
    # An ArrowSchema has its `release` behind seven fields of eight bytes, an ArrowArray behind eight.
    for get, place in ((get_schema, 7), (get_next, 8)):
        count = 0
        while True:
            got = (ctypes.c_int64 * 10)()
            if Next(get)(stream, ctypes.addressof(got)):
                return None
            if not got[place]:
                return count
            count += got[0]
            Release(got[place])(ctypes.addressof(got))
            if place == 7:
                break

SPANS = [(0, 0, 5, True)]
"""
LOGS: Final = """
issue = '{"scheduled_ns":12,"phase":"performance","tags":{"a":[1,"b"]},"trace_id":"\\\\n\\\\u001bé"}'
sent = '{"reused":true,"connect_ms":0.25,"tls_ms":null,"span_id":"x"}'
over = '{"status":200,"stream":true,"first_token_ns":9000000000000000000,"chunks":2,"late_chunks":[0,1,2]}'
parts = [*'",:{}[]1-.eé ', "\\\\", "\\\\u", "null", "tru", "\\0", "9" * 20]
gaps = [None, b"", b"abcd" * 3, b"abc", 7, "text"]
counts = set()
for number in range(int(sys.argv[3])):
    log = f"{sys.argv[2]}/{number}.db"
    with sqlite3.connect(log) as events:
        events.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, code, at_ns, uuid, data, texts, gaps)")
        for request in range(random.randrange(12)):
            for code, data in ((20, issue), (21, sent), (22, None), (23, over)):
                if random.random() < 0.02:
                    text = data or ""
                    place = random.randrange(len(text) + 1)
                    data = text[:place] + random.choice(parts) + text[place + random.randrange(3) :]
                text = random.choice([None, "{}", "x" * random.randrange(9000)])
                values = (code, 2**62, f"request {request}", data, text, random.choice(gaps[:3]))
                if random.random() < 0.97:
                    events.execute("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?)", values)
            if random.random() < 0.02:
                odd = random.choice([None, 2**63 - 1, 0.5, "x", b"\\xff"])
                values = [*values[:5], random.choice(gaps)]
                values[random.randrange(6)] = odd
                events.execute("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?)", values)
        (root,) = events.execute("SELECT rootpage FROM sqlite_master").fetchone()
    events.close()
    counts.add(read([(log, root, SPANS, None)] * 2))
    with open(log, "r+b") as file:
        pages = bytearray(file.read())
        for _ in range(random.randrange(1, 9)):
            # Headers of the file, of pages, and of their cells decide about where the reader goes.
            place = random.choice([random.randrange(len(pages)), random.randrange(0, len(pages), 4096)])
            pages[min(place + random.randrange(40), len(pages) - 1)] = random.randrange(256)
        file.seek(0)
        file.write(pages[: random.choice([len(pages), random.randrange(len(pages))])])
        file.truncate()
    read([(log, random.choice([root, 1, 3, 2**40]), SPANS, None)])
assert None in counts and len(counts) > 5, counts
"""


ARCHIVES: Final = """
from itertools import count
from ctypes import CFUNCTYPE, Structure, addressof, c_char_p, c_int, c_int64, c_void_p, cast

class Schema(Structure):
    _fields_ = [
        *((name, c_char_p) for name in ("format", "name", "metadata")), ("flags", c_int64),
        ("n_children", c_int64), *((name, c_void_p) for name in ("children", "dictionary", "release", "own")),
    ]

class Array(Structure):
    _fields_ = [
        *((name, c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
        *((name, c_void_p) for name in ("buffers", "children", "dictionary", "release", "own")),
    ]

class Stream(Structure):
    _fields_ = [(name, c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "own")]

keys = count(1)
held = {}  # what exported structures point to, until they are released

def releaser(kind):
    def release(address):
        one = kind.from_address(address)
        del held[one.own]
        one.release = None
    return CFUNCTYPE(None, c_void_p)(release)

RELEASES = {kind: releaser(kind) for kind in (Schema, Array, Stream)}

def export(kind, to, keep, **fields):
    key = next(keys)
    held[key] = keep
    ctypes.memmove(to, addressof(made := kind(**fields, own=key)), ctypes.sizeof(kind))
    kind.from_address(to).release = cast(RELEASES[kind], c_void_p)

def pointers(of):
    return (c_void_p * len(of))(*(None if one is None else addressof(one) for one in of))

def buffer(content):
    # Not a byte longer than it must be, so that the sanitizers see what is read behind its end.
    return (ctypes.c_char * len(content)).from_buffer_copy(content) if content else None

FORMATS = [b"l", b"s", b"l", b"z", b"u", b"u", b"+l"]

def schema(to):
    formats = list(FORMATS)
    item = b"I"
    if wrong == "type":
        formats[random.randrange(7)] = random.choice([b"i", b"L", b"Z", b"vu", b"+L", b"+w:2"])
    if wrong == "item":
        item = b"i"
    inside = Schema(format=item, name=b"element")
    list_of = pointers([inside])
    kept = [Schema(format=one, name=b"") for one in formats[: 6 if wrong == "columns" else 7]]
    for one in kept:
        if one.format[:1] == b"+":
            one.n_children, one.children = 1, addressof(list_of)
    if wrong == "dictionary":
        kept[random.randrange(7)].dictionary = addressof(inside)
    children = pointers(kept)
    keep = (inside, list_of, kept, children)
    export(Schema, to, keep, format=b"+s", n_children=len(kept), children=addressof(children))

def bits(values, before):
    whole = bytearray(-(-(before + len(values)) // 8))
    for place, value in enumerate(values, before):
        whole[place >> 3] |= (value is not None) << (place & 7)
    return buffer(whole)

def column(values, format, before):
    # The rows `before` are not of the batch.
    own = random.randrange(4)
    rows = [None] * (own + before) + values
    nulls = sum(value is None for value in values)
    buffers = [bits(rows, 0) if any(value is None for value in rows) else None]
    children, keep = None, []
    if format in (b"l", b"s"):
        numbers = array({b"l": "q", b"s": "h"}[format], [value or 0 for value in rows])
        buffers.append(buffer(numbers.tobytes()))
    else:
        begin = random.randrange(3)
        ends = [begin]
        for value in rows:
            ends.append(ends[-1] + len(value or b"") // (4 if format == b"+l" else 1))
        content = b"".join(value or b"" for value in rows)
        buffers.append(buffer(array("i", ends).tobytes()))
        if format == b"+l":
            inside_before = random.randrange(3)
            gaps = buffer(bytes(4 * (begin + inside_before)) + content)
            inside = pointers([None, gaps])
            numbers = Array(length=ends[-1], offset=inside_before, n_buffers=2, buffers=addressof(inside))
            children = pointers([numbers])
            keep = [gaps, inside, numbers, children]
        else:
            buffers.append(buffer(bytes(begin) + content))
    of = pointers(buffers)
    keep += [buffers, of]
    return keep, Array(
        length=len(rows) - own, null_count=nulls, offset=own, n_buffers=len(buffers), buffers=addressof(of),
        n_children=children is not None, children=children and addressof(children),
    )

def export_batch(to, rows):
    before = random.randrange(4)
    columns = [
        column([row[place] for row in rows], format, before) for place, format in enumerate(FORMATS)
    ]
    children, valid = pointers([made for _, made in columns]), pointers([None])
    export(
        Array, to, (columns, children, valid), length=len(rows), offset=before, n_buffers=1,
        buffers=addressof(valid), n_children=7, children=addressof(children),
    )

def capsule_of(batches, fails):
    left = iter(batches)
    def get_schema(_, to):
        schema(to)
        return 0
    def get_next(_, to):
        batch = next(left, None)
        if batch is None:
            if fails:
                return 5
            ctypes.memset(to, 0, ctypes.sizeof(Array))
        else:
            export_batch(to, batch)
        return 0
    calls = {
        one.__name__: CFUNCTYPE(c_int, c_void_p, c_void_p)(one) for one in (get_schema, get_next)
    }
    stream = Stream()
    places = {name: cast(call, c_void_p) for name, call in calls.items()}
    export(Stream, addressof(stream), calls, **places)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
    return new(addressof(stream), b"arrow_array_stream", None), stream

over = b'{"status":200,"first_token_ns":9000,"chunks":2,"late_chunks":[0,1,2],"finish_reason":"stop"}'
counts = set()
for number in range(int(sys.argv[3])):
    rows, wrong, fails = [], None, random.random() < 0.05
    for request in range(random.randrange(12)):
        id = random.Random(request).randbytes(16)
        names = (id, None) if request % 2 else (None, b"request %d" % request)
        for code, data in ((20, b'{"phase":"performance"}'), (21, None), (22, None), (23, over)):
            gaps = random.choice([None, b"", b"abcd" * 3])
            if random.random() < 0.97:
                rows.append([len(rows), code, 2**62, *names, data, gaps])
    expected = len({(row[3], row[4]) for row in rows})
    if random.random() < 0.1:
        wrong = random.choice(["type", "item", "columns", "dictionary", "null", "id", "order"])
    if rows and wrong == "null":
        random.choice(rows)[random.randrange(3)] = None
    if rows and wrong == "id":
        random.choice(rows)[3] = b"another size"
    batches = []
    while rows:
        part = [rows.pop(0) for _ in range(min(len(rows), random.randrange(1, 20)))]
        part.sort(key=lambda row: (row[1] or 0, row[0] or 0))
        if wrong == "order":
            random.shuffle(part)
        while part:
            batches.append([part.pop(0) for _ in range(min(len(part), random.randrange(1, 9)))])
        batches.append([])
    capsules = [capsule_of(list(batches), fails) for _ in range(2)]
    found = read([("", 0, SPANS, capsule) for capsule, _ in capsules])
    assert not held, held
    known = wrong in (None, "order") or (not batches and wrong in ("null", "id"))
    assert found == (2 * expected if known and not fails else None), (found, expected, wrong, fails)
    counts.add(found)
assert None in counts and len(counts) > 5, counts
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module, compiled with sanitizers."""
    return built(Path("reporter/log/_requests.abi3.so"), tmp_path_factory.mktemp("requests"))


@pytest.mark.slow
def test_any_payloads(module: Path, tmp_path: Path) -> None:
    """No byte is read or written that is not the reader's own, and none is kept; damaged files too."""
    run(READER + LOGS, module, tmp_path, ROUNDS)


@pytest.mark.slow
def test_any_batches(module: Path, tmp_path: Path) -> None:
    """Wherever columns begin, and whatever is NULL; other types are refused, and all is released."""
    run(READER + ARCHIVES, module, tmp_path, ROUNDS)
