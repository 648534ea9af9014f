"""What is fuzzed: each target takes any bytes, and fails when a law is broken that hostile input could break.

`make fuzz` feeds them by coverage, the suite with what Hypothesis draws and with the corpus. The first byte
says where the rest is cut into pieces, so that one file is one whole case.
"""

from __future__ import annotations

import random
import re
import sqlite3
import tempfile
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from socket import socketpair
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client import sse
from loadgen.driver.client.arrival_bounds import Late
from loadgen.driver.client.body_format import error_text
from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.connection import Connection
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES, PIECE_BYTES, Allowance
from loadgen.driver.client.plain_shapes import PlainShapes
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.client.redaction import hide, without_a_part
from loadgen.driver.client.sse import SSEDecoder
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.client.wire_connection import WireConnection
from loadgen.driver.errors import RequestFailedError
from loadgen.driver.workers.framing import FrameReader, framed
from loadgen.mock_endpoint.ask import RefusedRequest, read_chat, read_completion
from recorder import EventType, schema
from recorder.continued_log import reopen
from recorder.event import Event
from recorder.session import Session
from recorder.store import Store
from rulesets.errors import RulesetError
from rulesets.expression import parse, unparse
from rulesets.loading import read as read_ruleset
from tests.driver.two_ways import SENT_NS, rows_in_c, rows_in_python
from workloads.errors import WorkloadError
from workloads.sources import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from loadgen.driver.client._wire import Body
    from loadgen.driver.client.codec import Codec
    from loadgen.driver.client.frame_cache import Shapes
    from loadgen.driver.client.head import Head

SMALL: Final = 8 * 1024
"""The bounds of the fuzzed decoders: a few bytes of input reach beyond them."""

NAMES: Final = frozenset(Failure)


def pieces_of(data: bytes) -> list[bytes]:
    """The rest of the bytes, cut as the first one says; each seed cuts another way."""
    seed, rest = data[:1] or b"\0", data[1:]
    if seed == b"\0":
        return [rest]
    rng = random.Random(seed[0])  # noqa: S311 (a split, not a secret)
    places = sorted(rng.randint(0, len(rest)) for _ in range(seed[0] % 32)) if rest else []
    return [rest[a:b] for a, b in zip([0, *places], [*places, len(rest)], strict=True)]


def named(error: RequestFailedError) -> str:
    """The failure, which has a name, and is not a bug."""
    assert error.failure in NAMES, error.failure
    assert error.failure != Failure.CLIENT_BUG, str(error)
    return error.failure


# Streams…


def decode_sse(data: bytes) -> None:
    """Any split gives the same frames; what is kept is bounded."""
    pieces = pieces_of(data)
    assert _frames(pieces) == _frames([b"".join(pieces)])


def _frames(pieces: Iterable[bytes]) -> Any:
    decoder, frames = SSEDecoder(), []
    try:
        for piece in pieces:
            frames += decoder.feed(piece)
            assert len(decoder._line) + sum(map(len, decoder._data)) <= sse.MAX_FRAME_BYTES  # type: ignore[attr-defined]  # a bound of it
        frames += decoder.close()
    except RequestFailedError as error:
        return named(error)
    return frames


def read_response(codec: Codec, data: bytes) -> None:
    """An answer that fits into the log, or a failure with a name, whatever the split."""
    event_stream, pieces = not data.startswith(b"\xff"), pieces_of(data)
    result = _answer(codec, pieces, event_stream=event_stream)
    whole = _answer(codec, [b"".join(pieces)], event_stream=event_stream)
    # Many pieces take more to keep than one.
    assert result == whole or Failure.TOO_LARGE in (result, whole)


def _answer(
    codec: Codec,
    pieces: list[bytes],
    *,
    event_stream: bool,
    lessons: int | None = None,
    shapes: Shapes | None = None,
) -> Any:
    allowance = Allowance(each=SMALL)
    response = ResponseStream(codec, allowance, shapes)
    if lessons is not None:
        response._lessons = lessons
    response.start(event_stream=event_stream)
    failure = None
    try:
        for at_ns, piece in enumerate(pieces, 1):
            if piece:
                response.receive([piece], [at_ns])
            assert response._held <= SMALL
        for _ in response.decode():
            pass
    except RequestFailedError as error:
        failure = named(error)
    assert (
        sum(len(piece) + PIECE_BYTES for piece in response._pieces)
        <= SMALL + max(map(len, pieces)) + PIECE_BYTES
    )
    response.release()
    assert allowance.held == 0
    assert isinstance(error_text(response.body()), str)
    return failure or _observed(response)


def _observed(response: ResponseStream) -> Any:
    """What the log would keep, times aside."""
    answer = response.answer
    texts = ("".join(answer.content), "".join(answer.reasoning), answer.tool_calls)
    fields = (
        *texts,
        answer.finish_reason,
        answer.error,
        tuple(answer.usage),
        answer.done,
        len(answer.token_ns),
    )
    orjson.dumps(fields, option=orjson.OPT_NON_STR_KEYS)
    assert isinstance(answer.finish_reason, str | None)
    assert isinstance(answer.error, str | None)
    assert list(answer.arrivals) == sorted(answer.arrivals)
    return fields


def template(codec: Codec, data: bytes) -> None:
    """The quick ways give what the slow way gives, and compiled code the rows of Python.

    Every line that begins a frame is a separate read.
    """
    reads, shapes = _frames_of(data), PlainShapes(codec, ())
    for _ in range(3):
        _answer(codec, _USUAL, event_stream=True, shapes=shapes)
    slow = _answer(codec, reads, event_stream=True, lessons=0)
    assert _answer(codec, reads, event_stream=True) == slow
    for _ in range(3):
        assert _answer(codec, reads, event_stream=True, shapes=shapes) == slow
    moments = [SENT_NS + 1000 * place for place in range(1, len(reads))]
    if moments and (rows := rows_in_c(shapes, reads[1:], moments)) is not None:
        assert rows == rows_in_python(shapes, reads[1:], moments)


def _frames_of(data: bytes) -> list[bytes]:
    first, *others = data.split(b"data: ")
    return [first, *(b"data: " + part for part in others)]


_USUAL: Final = _frames_of((Path(__file__).parent / "corpus" / "template" / "ids").read_bytes())
"""A response whose shapes are known."""


# HTTP…


class Socket:
    """Hands out pieces, which arrive after the request was sent; then the connection is at its end."""

    arrival_ns = 2**62

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self.open = True

    def fileno(self) -> int:
        """A descriptor while it is open."""
        return 7 if self.open else -1

    def receive(self, buffers: Any) -> int:
        """The next piece."""
        if not self._pieces:
            return 0
        piece = self._pieces.pop(0)
        taken, rest = piece[: len(buffers[0])], piece[len(buffers[0]) :]
        if rest:
            self._pieces.insert(0, rest)
        buffers[0][: len(taken)] = taken
        return len(taken)

    def send(self, data: bytes) -> int:
        """Everything."""
        return len(data)

    def acknowledged(self) -> int | None:
        """Unknown."""
        return None

    segments = acknowledged

    def close(self) -> None:
        """No more."""
        self.open = False


class Ready:
    """No loop waits: what is put off is done at once."""

    quiet_ns = 0

    def watch(self, *_: Any) -> None:
        """Nothing to watch."""

    watch_writing = forget = left_unread = watch

    def put_off(self, work: Callable[[], None]) -> None:
        """Do it."""
        work()


class Moments:
    """Checks what a connection tells, and in which order."""

    def __init__(self) -> None:
        self.head_: Head | None = None
        self.body_ = b""
        self.end: str | None = None

    def sent(self, at_ns: int, by_ns: int) -> None:
        """The first."""
        assert by_ns >= at_ns > 0

    def head(self, head: Head, at_ns: int) -> None:
        """Once, and before the body."""
        assert self.head_ is None
        assert at_ns
        self.head_ = head

    def body(self, pieces: Sequence[bytes], moments: Sequence[int], late: Mapping[int, Late]) -> bool:
        """After the head, before the end."""
        assert all(0 <= place < len(pieces) for place in late)
        assert self.head_ is not None
        assert self.end is None
        assert len(pieces) == len(moments)
        self.body_ += b"".join(pieces)
        return bool(len(self.body_) % 2)

    def received(self, body: Body) -> bool:
        """The same, from compiled code."""
        pieces, moments, late = body.lists(0)
        return self.body(pieces, moments, {place: Late(*bound) for place, bound in late.items()})

    def ended(self, at_ns: int, *, framed: bool) -> None:
        """Once."""
        assert self.end is None
        assert self.head_ is not None
        assert at_ns
        self.end = f"ended {framed}"

    def failed(self, failure: str, message: str, at_ns: int) -> None:
        """Once, by a name."""
        assert self.end is None
        assert at_ns
        self.end = named(RequestFailedError(failure, message))


def parse_http(data: bytes) -> None:
    """Any bytes are a response or a failure; a head is bounded; the split makes no difference."""
    pieces = pieces_of(data)
    joined, other = _response(pieces), _response([b"".join(pieces)])
    if Failure.TOO_LARGE not in (joined[-1], other[-1]):
        assert joined == other
    if COMPILED:
        _parse_http_compiled(pieces)


def _response(pieces: list[bytes]) -> tuple[Any, ...]:
    sock, observer = Socket(pieces), Moments()
    connection = Connection(sock, None, Ready())  # type: ignore[arg-type]  # as much of them as it uses
    connection.request(b"GET / HTTP/1.1\r\n\r\n", observer)
    size = sum(map(len, pieces))
    for _ in range(len(pieces) + size // 1000 + 2):
        if observer.end is not None or not sock.open:
            break
        connection._on_readable()
        if connection._head is None:
            assert sum(len(n) + len(v) for n, v in connection._headers) <= 2 * MAX_HEAD_BYTES
    assert observer.end is not None
    status = observer.head_.status if observer.head_ else None
    connection.close()
    return status, observer.body_, observer.end


class Loop:
    """The compiled loop without an event loop: a connection takes what came when it is asked to."""

    def __init__(self) -> None:
        from loadgen.driver.client._wire import Wire

        self.wire = Wire()

    def add(self, _: WireConnection, descriptor: int, tls: None) -> int:
        """Take over a socket without TLS."""
        assert tls is None
        return self.wire.add(descriptor)

    def forget(self, number: int) -> None:
        """Close a connection."""
        self.wire.forget(number)


@cache
def _loop() -> Loop:
    return Loop()


_FRAMING: Final = re.compile(
    rb"\n(transfer-encoding|content-length|connection|proxy-connection|upgrade)\s*:", re.IGNORECASE
)


def _parse_http_compiled(pieces: list[bytes]) -> None:
    """As above, in compiled code, which takes for a whole response only what the other parser does.

    Left out is where the other deviates from RFC 9112: it refuses trailers with a meaning for the framing
    (7.1.2), and takes a tab after a value as part of it (5.1).
    """
    received = b"".join(pieces)
    joined, other = _compiled_response(pieces), _compiled_response([received])
    if Failure.TOO_LARGE not in (joined[-1], other[-1]):
        assert joined == other
    start, _, rest = received.partition(b"\r\n\r\n")
    if str(joined[-1]).startswith("ended") and b"\t" not in start and not _FRAMING.search(rest):
        assert joined == _response(pieces)


def _compiled_response(pieces: list[bytes]) -> tuple[Any, ...]:
    client, server = socketpair()
    observer = Moments()
    connection = WireConnection(client, _loop())  # type: ignore[arg-type]  # as much of them as it uses
    with server:
        connection.request(b"GET / HTTP/1.1\r\n\r\n", observer)
        server.recv(SMALL)
        for piece in pieces:
            with suppress(ConnectionError):
                server.sendall(piece)
            connection.read_on()
    connection.read_on()
    assert observer.end is not None
    status = observer.head_.status if observer.head_ else None
    connection.close()
    return status, observer.body_, observer.end


# What people and programs write…


def frames_of_workers(data: bytes) -> None:
    """What is put together is what was taken apart."""
    pieces = pieces_of(data)
    frames = FrameReader()
    wire = b"".join(map(framed, pieces))
    whole = [frame for piece in pieces_of((data[:1] or b"\0") + wire) for frame in frames.feed(piece)]
    assert whole == pieces
    FrameReader().feed(data)


def ruleset(data: bytes) -> None:
    """A file is a ruleset or an error that names it; an expression is a target or an error."""
    path = _folder() / "rules.yaml"
    path.write_bytes(data)
    try:
        read_ruleset(path)
    except RulesetError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 (it may also be right)
    try:
        target = parse(data.decode(errors="replace"))
    except RulesetError:
        return
    assert parse(unparse(target)) == target


def ask(data: bytes) -> None:
    """The mock reads a request or refuses it."""
    for read in (read_chat, read_completion):
        try:
            asked = read(data, ())
        except RefusedRequest as refusal:
            assert 400 <= refusal.status < 500  # noqa: PT017 (it may also be right)
            orjson.loads(refusal.body())
        else:
            assert asked.input_tokens >= 0


def dataset(data: bytes) -> None:
    """A file has rows, or an error that names it."""
    suffix = (".jsonl", ".json", ".csv", ".parquet")[(data[:1] or b"\0")[0] % 4]
    try:
        for row in read_rows(Path(f"q{suffix}"), data[1:] or b" "):
            assert row.place.startswith(f"q{suffix}")
    except WorkloadError as error:
        assert str(error).startswith(f"q{suffix}")  # noqa: PT017 (it may also be right)


def secret(data: bytes) -> None:
    """What is hidden is not there any more, nor its beginning where the text was cut off."""
    length = 6 + (data[:1] or b"\0")[0] % 30
    key, text = (part.decode("latin-1") for part in (data[1:length], data[length:]))
    if len(key) < 6 or "*" in key:
        return
    hidden = hide(text + key + text, [key])
    assert key not in hidden
    cut = without_a_part(hide(text + key[:-1], [key]), [key])
    assert not cut.endswith(key[:6])


# The log…


def read_log(data: bytes) -> None:
    """A log in which anything stands anywhere is reported, or said to be damaged; nothing else happens."""
    path = _folder() / "events.db"
    path.write_bytes(whole_log())
    spoil(path, data)
    _each_is_read_or_damaged(path)


def _each_is_read_or_damaged(path: Path) -> None:
    """Every way to read a log gives an answer, or an error that explains itself."""
    from loadgen.sessions.run.report_of_log import make_report
    from recorder.errors import LogError
    from reporter.errors import ReporterError
    from reporter.log.query import VIEWS, query
    from reporter.log.settings import settings
    from reporter.log.so_far import so_far
    from reporter.render import console, json
    from reporter.reporter import MetricsReporter
    from rulesets.errors import RulesetError

    def reported() -> None:
        report = make_report(path, None)
        console.render(report)
        json.render(report)

    def dumped() -> None:
        with MetricsReporter(path) as reporter:
            reporter.dump_results(path.with_name("results.jsonl"))

    ways: tuple[Callable[[], object], ...] = (
        reported,
        dumped,
        lambda: query(path, "; ".join(f"FROM {view}" for view in VIEWS)),
        lambda: so_far(path),
        lambda: settings(path),
    )
    for way in ways:
        try:
            way()
        except (LogError, ReporterError, RulesetError) as error:
            assert str(error)  # noqa: PT017 (it may also be right)


_VALUES: Final[tuple[Any, ...]] = (
    *(
        None,
        "",
        "x",
        0,
        -1,
        2**63 - 1,
        -(2**63),
        1.5,
        float("inf"),
        b"",
        b"\xff\xfe",
        "[]",
        "{}",
        "7",
        "null",
        '{"a":',
    ),
    *("\x00", "[1,2]", "completed", 20, 23, 26, 99, "request 1", b"\1\0\0\0"),
    '{"reason":7,"phase":[],"severity":"odd","code":null,"message":{},"status":"x","chunks":-1,"load":7}',
    '{"source":"client","loop_lag_max_ms":"x","cpu_share":[],"first_token_ns":9223372036854775807,"error":{"x":1}}',
    '{"model":[1],"dataset":"d","packages":7,"ruleset":{"a":1},"load":{"kind":{},"concurrency":"x","rate":"y"}}',
    '{"dataset":{"rows":"x","name":5},"max_tokens":"x","seed":{},"workers":[],"ruleset":{"targets":7},"stream":"x"}',
    "[" * 3000 + "]" * 3000,
    f'{{"load": {"9" * 5000}, "ruleset": {"9" * 5000}}}',
    '{"accuracy":{"tasks":[{"task":7,"options":[],"groups":5},null],"repeats":"x","pass_threshold":[]}}',
    '{"chunks":9223372036854775807,"silent_chunks":9223372036854775807,"bytes":9223372036854775807,"attempts":9}',
    '{"input_tokens":9007199254740991,"output_tokens":9223372036854775807,"reasoning_tokens":9007199254740991}',
    '{"input_tokens":9007199254740991,"output_tokens":9007199254740991,"chunks":2,"stream":true,"bytes":1}',
    '{"coalesced":9223372036854775807,"reads":9223372036854775807,"cached_tokens":-9223372036854775808}',
    '{"pass":"x","scorers":[{"task":[],"version":"x"},5],"options":[],"prompt_id":"x","value":"x"}',
)


def spoil(path: Path, data: bytes) -> None:
    """Each four bytes put another value somewhere, or another byte, or drop, copy or move rows.

    A log whose first byte of damage is 255 is torn, with 254 it is cut off.
    """
    if data[:1] == b"\xfe":
        stored = path.read_bytes()
        path.write_bytes(stored[: int.from_bytes(data[1:4], "big") % len(stored)])
        return
    if data[:1] == b"\xff":
        stored = bytearray(path.read_bytes())
        for place in range(1, len(data) - 3, 4):
            stored[int.from_bytes(data[place : place + 3], "big") % (len(stored) - 100) + 100] = data[
                place + 3
            ]
        path.write_bytes(stored)
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table, column, row, value in zip(*[iter(data[:40])] * 4, strict=False):
            name = ("events", "events", "heartbeats", "session", "sittings", "event_types")[table % 6]
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            where = f"WHERE seq = {row}" if name == "events" and row < 200 else ""
            try:
                _change(connection, name, columns[column % len(columns)], where, table // 6, value)
            except sqlite3.Error:
                continue


def _change(connection: sqlite3.Connection, name: str, column: str, where: str, how: int, value: int) -> None:
    """One change of a table; most are another value."""
    match how:
        case 0:
            connection.execute(f"DELETE FROM {name} {where}")  # noqa: S608 (ours)
        case 1 if name == "events":
            columns = ", ".join(schema.COLUMNS)
            again = f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {name} {where}"  # noqa: S608 (ours)
            connection.execute(again)
        case 2:
            connection.execute(f"UPDATE {name} SET rowid = {1000 - value} - rowid {where}")  # noqa: S608 (ours)
        case 3:
            connection.execute(f"ALTER TABLE {name} DROP COLUMN {column}")
        case _:
            change = f"UPDATE {name} SET {column} = ? {where}"  # noqa: S608 (ours)
            connection.execute(change, (_VALUES[value % len(_VALUES)],))


@cache
def whole_log() -> bytes:
    """A log with an event of each kind."""
    path = _folder() / "whole.db"
    settings = {
        "model": "m",
        "url": "u",
        "load": {"kind": "closed", "concurrency": 1},
        "dataset": {"name": "d", "rows": 1},
        "accuracy": {"tasks": [{"task": "gsm8k", "name": "gsm8k", "first": 0, "count": 1}], "repeats": 1},
    }
    store = Store.create(path, Session(settings=settings, environment={"packages": {"a": "1"}, "cpus": 2}))
    gaps = b"\1\0\0\0\2\0\0\0"
    answer = {
        "status": 200,
        "first_byte_ns": 5,
        "first_token_ns": 5,
        "last_token_ns": 7,
        "chunks": 2,
        "chunk_gaps_us": gaps,
    }
    client = {"source": "client", "worker": 0, "loop_lag_p50_ms": 1.0, "cpu_share": 0.1, "in_flight": 1}
    finding = {"code": "c", "severity": "warning", "message": "m", "remedy": "r"}
    events: list[tuple[EventType, str | None, dict[str, Any] | None]] = [
        (EventType.TEST_STARTED, None, {}),
        (EventType.PHASE_STARTED, None, {"phase": "performance", "requests": 2}),
        (EventType.LOADGEN_ISSUE_CALLED, "a", {"scheduled_ns": 1, "phase": "performance", "prompt_id": 0}),
        (EventType.REQUEST_SENT, "a", {"reused": False, "connect_ms": 1.0}),
        (EventType.FIRST_CHUNK, "a", None),
        (EventType.COMPLETE, "a", {**answer, "output_tokens": 2, "texts": {"output": "x"}}),
        (EventType.LOADGEN_ISSUE_CALLED, "b", {"scheduled_ns": 2, "phase": "performance", "prompt_id": 1}),
        (EventType.REQUEST_SENT, "b", {"reused": True}),
        (EventType.ERROR, "b", {"error": "reset", "message": "m"}),
        (EventType.TELEMETRY, None, client),
        (EventType.TELEMETRY, None, {"source": "recorder", "events": 3, "lost": 0, "slowest_commit_ms": 1.0}),
        (EventType.FINDING, None, finding),
        (EventType.QUESTION, None, {"prompt_id": 0, "task": "gsm8k", "id": "q", "tags": {"a": "b"}}),
        (EventType.STOP_PERFORMANCE_TRACKING, None, {"scheduled": 2, "reason": "requests"}),
        (EventType.PHASE_ENDED, None, {"phase": "performance"}),
        (EventType.TEST_ENDED, None, {"reason": "completed"}),
    ]
    store.append(
        [schema.row(Event(kind, at_ns, uuid, data)) for at_ns, (kind, uuid, data) in enumerate(events, 1)]
    )
    store.close()
    scoring = reopen(path, Session(environment={"kind": "scoring"}))
    scorer = {"task": "gsm8k", "scorer": "official", "version": 1, "definition": "d", "judge": ""}
    begun = {"pass": 1, "scorers": [scorer], "options": {}, "versions": {}}
    passed: list[tuple[EventType, str | None, dict[str, Any]]] = [
        (EventType.SCORING_STARTED, None, begun),
        (EventType.SCORED, "a", {"pass": 1, "scorer": "official", "value": 1.0, "status": "scored"}),
        (EventType.SCORING_ENDED, None, {"pass": 1, "reason": "completed"}),
    ]
    scoring.append([schema.row(Event(kind, 100, uuid, data)) for kind, uuid, data in passed])
    scoring.close()
    return path.read_bytes()


@cache
def _folder() -> Path:
    """Where the targets write, until the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="loadgen-fuzz-")
    _folders.append(folder)
    return Path(folder.name)


_folders: Final[list[tempfile.TemporaryDirectory[str]]] = []


_PLACES: Final[Mapping[str, Mapping[str, Any]]] = {
    "sse": {"text_at": "a.0.text", "tokens_at": "n", "finish_at": "end", "cumulative": True},
    "json": {"text_at": "a.0.text", "tokens_at": "n", "finish_at": "end"},
}

TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    "sse": decode_sse,
    **{
        f"stream_{name}": partial(read_response, codec_of(name, _PLACES.get(name, {})))
        for name, entry in PROTOCOLS.items()
        if not entry.preset_of
    },
    "template": partial(template, codec_of("chat", {})),
    "http": parse_http,
    "framing": frames_of_workers,
    "ruleset": ruleset,
    "ask": ask,
    "dataset": dataset,
    "secret": secret,
    "log": read_log,
}
"""Every target by its name: that of its corpus."""
