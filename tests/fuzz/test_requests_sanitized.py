"""The compiled reader of requests under sanitizers, with payloads that were changed at random."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.sanitized import built, run

ROUNDS: Final = os.environ.get("REQUESTS_ROUNDS", "300")
PROGRAM: Final = """
import _sqlite3, ctypes, random, sqlite3, sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

loader = ExtensionFileLoader("_requests", sys.argv[1])
requests = module_from_spec(spec_from_loader("_requests", loader))
loader.exec_module(requests)
assert requests.use_sqlite(_sqlite3.__file__)
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
Next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

def read(log):
    '''How many requests there are; None where the reader has given up.'''
    source = (f"file:{log}?immutable=1", "SELECT * FROM events ORDER BY seq", [(0, 5)])
    capsule = requests.requests([source] * 2)
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

issue = '{"scheduled_ns":12,"phase":"performance","tags":{"a":[1,"b"]},"trace_id":"\\\\n\\\\u001bé"}'
sent = '{"reused":true,"connect_ms":0.25,"tls_ms":null,"span_id":"x"}'
over = '{"status":200,"stream":true,"first_token_ns":9000000000000000000,"chunks":2,"late_chunks":[0,1,2]}'
parts = [*'",:{}[]1-.eé ', "\\\\", "\\\\u", "null", "tru", "\\0", "9" * 20]
gaps = [None, b"", b"abcd" * 3, b"abc", 7, "text"]
counts = set()
for number in range(int(sys.argv[3])):
    log = f"{sys.argv[2]}/{number}.db"
    with sqlite3.connect(log) as events:
        events.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, code, at_ns, uuid, data, gaps)")
        for request in range(random.randrange(12)):
            for code, data in ((20, issue), (21, sent), (22, None), (23, over)):
                if random.random() < 0.02:
                    text = data or ""
                    place = random.randrange(len(text) + 1)
                    data = text[:place] + random.choice(parts) + text[place + random.randrange(3) :]
                values = (code, 2**62, f"request {request}", data, random.choice(gaps[:3]))
                if random.random() < 0.97:
                    events.execute("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?)", values)
            if random.random() < 0.02:
                odd = random.choice([None, 2**63 - 1, 0.5, "x", b"\\xff"])
                values = [*values[:4], random.choice(gaps)]
                values[random.randrange(5)] = odd
                events.execute("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?)", values)
    events.close()
    counts.add(read(log))
assert None in counts and len(counts) > 5, counts
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module, compiled with sanitizers."""
    return built(Path("reporter/log/_requests.abi3.so"), tmp_path_factory.mktemp("requests"))


def test_any_payloads(module: Path, tmp_path: Path) -> None:
    """No byte is read or written that is not the reader's own, and none is kept."""
    run(PROGRAM, module, tmp_path, ROUNDS)
