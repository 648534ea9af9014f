"""Compiled code and Python leave equal rows of a request."""

from __future__ import annotations

import asyncio
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.plain_shapes import PlainShapes
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.session_headers import SessionHeaders
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
from recorder.schema import row
from tests.driver.conftest import ScriptedServer, Step
from tests.driver.test_received_body import learnt
from tests.driver.test_shapes import DONE, delta, frame, response
from tests.driver.two_ways import HEAD, SENT_NS, rows_in_c, rows_in_python, rows_of
from workloads.sample import Sample

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine, Sequence

    from recorder.event import Event

    Run = Callable[[Coroutine[Any, Any, Any]], Any]

Body: Any = compiled_function("Body")
pytestmark = pytest.mark.skipif(Body is None, reason="needs the compiled code: a C compiler at installation")

CODEC: Any = chat_completions
SHAPES = PlainShapes(CODEC, ["Bearer sk-secret9"])
learnt(SHAPES)
TEXTS = st.sampled_from(["a", " b", "é\n", '"\\\t\x01/', "\x7f\u2028", "\U0001f600"])
FRAMES = st.one_of(
    TEXTS.map(lambda text: frame(7, delta(content=text))),
    TEXTS.map(lambda text: frame(7, delta(reasoning=text))),
    st.just(frame(7, delta(content="later"), created=1_700_000_009)),
    st.sampled_from([rb"\u00e9\/\b\f\u001F", rb"\ufffd\n", b"\xc3\xa9"]).map(
        lambda text: frame(7, delta(content="?")).replace(b"?", text)
    ),
)
ODD = st.sampled_from(
    [
        *(frame(7, delta(content=text)) for text in ("<think>", "</think>", "the secret9", "")),
        *(frame(7, delta(content="?")).replace(b"?", text) for text in (rb"\ud83d\ude00", b"\xff", rb"\x")),
        *(response(7, ["a"])[0], frame(7, delta("length")), frame(8, delta(content="other"))),
        frame(7, None, usage={"completion_tokens": 9}),
        *(b": ping\n\n", frame(7, delta(content="b")) * 2, DONE),
    ]
)
COUNTS = st.tuples(*[st.sampled_from([0, 1, 2, 3, 9, 10**14, 10**15])] * 4).map(
    lambda counts: frame(
        7,
        None,
        usage={
            **dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), counts, strict=False)),
            "completion_tokens_details": {"reasoning_tokens": counts[3]},
            "other": 0,
        },
    )
)
STOP, _, _ = response(7, ["a"])[-3:]
ENDS = st.one_of(
    COUNTS.map(lambda counts: [STOP, counts, DONE]),
    st.sampled_from([response(7, ["a"])[-3:], response(7, ["a"])[-3:-1], [DONE], []]),
)


def pieces_of(frames: Sequence[bytes], cuts: Sequence[int]) -> list[bytes]:
    """Frames as pieces: whole, cut at a length that is given for the place, or at -1 with the one before."""
    pieces: list[bytes] = []
    for place, whole in enumerate(frames):
        cut = cuts[place] if place < len(cuts) else 0
        if cut < 0 and pieces:
            pieces[-1] += whole
        else:
            pieces += [whole[:cut], whole[cut:]] if 0 < cut < len(whole) else [whole]
    return pieces


@given(
    frames=st.lists(FRAMES, max_size=8),
    odd=st.none() | st.tuples(st.integers(0, 8), ODD),
    end=ENDS,
    cuts=st.lists(st.sampled_from([0, 0, -1, -1, 9, 200]), max_size=12),
    steps=st.lists(st.sampled_from([0, 0, 400, 1_700]), min_size=20, max_size=20),
    late=st.dictionaries(
        st.integers(0, 12), st.tuples(st.integers(-2_000, 6_000), st.booleans()), max_size=4
    ),
)
def test_the_rows_are_the_same(
    frames: list[bytes],
    odd: tuple[int, bytes] | None,
    end: list[bytes],
    cuts: list[int],
    steps: list[int],
    late: dict[int, Any],
) -> None:
    """The rows are equal whatever arrives, whole or cut, late or not, if compiled code ends the request."""
    if odd is not None:
        frames.insert(*odd)
    pieces = pieces_of([*frames, *end], cuts)
    if not pieces:
        return
    steps = (steps * 2)[: len(pieces)]
    if len(steps) > sum(steps):
        steps[-1] = -3
    moments = list(accumulate(steps, initial=SENT_NS + 1000))[1:]
    bounds = {
        place: (min(SENT_NS + low, moments[place]), whole)
        for place, (low, whole) in late.items()
        if place < len(pieces)
    }
    at_ns = moments[-1] + 50
    if (made := rows_in_c(SHAPES, pieces, moments, bounds, at_ns)) is not None:
        rows = rows_in_python(SHAPES, pieces, moments, bounds, at_ns)
        assert "secret9" not in str(rows)
        assert made == rows


def test_counts_are_read_in_compiled_code() -> None:
    """Two frames show which numbers are counts: all others are read without Python."""
    usage = {"prompt_tokens": 77, "completion_tokens": 4, "total_tokens": 81}
    usage |= {"completion_tokens_details": {"reasoning_tokens": 2}, "other": 0}  # type: ignore[dict-item]
    pieces = [*response(7, ["a"])[:3], frame(7, None, usage=usage), DONE]
    body = Body(pieces, [SENT_NS + 1000] * len(pieces), {})
    made = body.plain(SHAPES.source(), HEAD, SENT_NS, SENT_NS + 1000, SENT_NS + 1000)
    payload = orjson.loads(rows_of(made[0])[-1][3])
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "total_tokens")
    assert [payload[name] for name in names] == [77, 4, 2, 81]
    other = frame(7, None, usage={**usage, "other": 1})
    body = Body([*pieces[:3], other, DONE], [SENT_NS + 1000] * len(pieces), {})
    assert body.plain(SHAPES.source(), HEAD, SENT_NS, SENT_NS + 1000, SENT_NS + 1000) is None


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace(b"200", b"201"),
        HEAD.replace(b"event-stream", b"plain"),
        HEAD.replace(b"\r\n\r\n", b"\r\nServer-Timing: a;dur=1\r\n\r\n"),
        HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"),
        HEAD.replace(b": chunked", b": gzip, chunked"),
    ],
)
def test_unusual_heads_are_for_python(head: bytes) -> None:
    """A head that says something for the log, or that ends the request, is for Python."""
    pieces = response(7, ["a"])
    body = Body(pieces, [SENT_NS + 1000] * len(pieces), {})
    arguments = SENT_NS, SENT_NS + 1000, SENT_NS + 1000
    assert body.plain(SHAPES.source(), HEAD, *arguments) is not None
    assert body.plain(SHAPES.source(), head, *arguments) is None


def chunked(pieces: Sequence[bytes], *, last: bytes = b"0\r\n\r\n") -> list[Any]:
    """A script of the pieces of a body, with a chunk per piece."""
    return [HEAD, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces), last]


class Asked:
    """A client that issues requests one after another, and keeps all rows.

    Attributes:
        rows: The rows, in the order in which a worker would ship them.
        plain: How many of them compiled code has made.
    """

    def __init__(
        self, server: ScriptedServer, timeout_s: float = 600, *, plain: bool = True, **options: Any
    ) -> None:
        self.rows: list[Any] = []
        self.plain = 0
        self.transport = HttpTransport(endpoint(server.url, {}, verify=False), Timeouts(timeout_s))
        self._runner = RequestRunner(
            self.transport, CODEC, Generation("m"), self._take, follows_plain=plain, **options
        )

    async def ask(self) -> TurnOutcome:
        """Ask once, for the answer."""
        outcome = await self._runner.run(Sample(0, "q"), b"{}", 0, "performance", use=AnswerUse.FOLLOWED)
        self._take()
        return outcome

    async def ask_each(self, times: int) -> list[TurnOutcome]:
        """Ask so often, and close the transport."""
        outcomes = [await self.ask() for _ in range(times)]
        await self.transport.close()
        return outcomes

    def _take(self, event: Event | None = None) -> None:
        if (message := self.transport.plain_rows(0)) is not None:
            self.rows += rows_of(message[0])
            self.plain += message[1]
        self.rows += [] if event is None else [row(event)]

    @property
    def timeless(self) -> list[list[Any]]:
        """The code, the members that no clock decides and the texts of each row that has some."""
        return [
            [
                code,
                {name: value for name, value in orjson.loads(data).items() if not OF_TIME.search(name)},
                texts,
            ]
            for code, _, _, data, texts, _ in self.rows
            if data and code > SENT
        ]

    @property
    def codes(self) -> list[list[int]]:
        """The codes of the events of each request."""
        codes: dict[str, list[int]] = {}
        for code, _, request, *_ in self.rows:
            codes.setdefault(request, []).append(code)
        return list(codes.values())


ISSUED, SENT, FIRST, COMPLETE, ERROR, CANCELLED = range(20, 26)
WHOLE = [ISSUED, SENT, FIRST, COMPLETE]
USUAL = chunked(response(7, ["a", "b"]))
TOGETHER = chunked(
    [*response(7, ["a"])[:2], b"".join([frame(7, delta(content="b")), *response(7, ["a", "b"])[-3:]])]
)
OF_TIME = re.compile("_ns$|reads|coalesced|late_chunks|message")


@pytest.fixture(params=["http", "https"])
def tls(request: pytest.FixtureRequest, certified: Callable[[str], ssl.SSLContext]) -> ssl.SSLContext | None:
    """The TLS of a server; None without."""
    return certified("127.0.0.1") if request.param == "https" else None


@pytest.mark.parametrize("script", [USUAL, TOGETHER])
def test_usual_responses_are_followed_without_python(
    script: list[Any], tls: ssl.SSLContext | None, run: Run
) -> None:
    """Compiled code follows responses of known shapes on a kept connection; the rows equal those before."""

    async def scenario() -> tuple[Asked, list[TurnOutcome]]:
        async with ScriptedServer(script, tls=tls) as server:
            asked = Asked(server, trace_context=True, session_headers=SessionHeaders(["X-Session"]))
            return asked, await asked.ask_each(5)

    asked, outcomes = run(scenario())
    assert asked.codes == [WHOLE] * 5
    assert asked.plain >= 2 * len(WHOLE)
    ends = [line for line in asked.rows if line[0] == COMPLETE]
    payloads = [orjson.loads(line[3]) for line in ends]
    timeless = [{name: payload[name] for name in payload if not OF_TIME.search(name)} for payload in payloads]
    assert timeless[0]["finish_reason"] == "stop"
    assert timeless == timeless[:1] * 5
    assert len({line[4] for line in ends}) == 1
    timeless_outcomes = [outcome._replace(ttft_ms=None, ended_ns=0) for outcome in outcomes]
    answer = {"role": "assistant", "content": "ab"}
    assert timeless_outcomes == [TurnOutcome(None, None, 2, answer, "stop", input_tokens=3)] * 5
    assert [line[1] for line in ends] == [outcome.ended_ns for outcome in outcomes]
    sent = [orjson.loads(line[3]) for line in asked.rows if line[0] == SENT]
    assert len({payload["span_id"] for payload in sent}) == 5
    for line, payload in zip(ends, payloads, strict=True):
        assert payload["first_byte_ns"] <= payload["first_token_ns"] <= payload["last_token_ns"] <= line[1]


LATER = [
    *response(7, ["a", "b\u00e9", '"', " c"])[:-3],
    *(frame(7, delta(content=text), created=1_700_000_009) for text in "def"),
    *(frame(7, delta(reasoning=text), created=1_700_000_010) for text in "gh"),
    frame(7, delta(content="ij")).replace(b"ij", rb"\/\u00e9"),
    *response(7, ["k", "l"])[1:],
]
CUT = chunked(response(7, ["a", "b"])[:3], last=b"")
UNUSUAL: dict[str, tuple[list[Any], list[int]]] = {
    "another frame": (chunked([*response(7, ["a"])[:2], b"data: null\n\n", *response(7, ["a"])[2:]]), WHOLE),
    "no end": (chunked(response(7, ["a"])[:2]), [ISSUED, SENT, FIRST, ERROR]),
    "cut off": ([*CUT, Step.CLOSE], [ISSUED, SENT, FIRST, ERROR]),
    "reset": ([*CUT, Step.RESET], [ISSUED, SENT, FIRST, ERROR]),
    "an error of HTTP": ([b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"], [ISSUED, SENT, ERROR]),
    "not HTTP": ([HEAD, b"xyz\r\n"], [ISSUED, SENT, ERROR]),
    "another frame at the end": (chunked([*LATER[:-1], b"data: null\n\n", LATER[-1]]), WHOLE),
    "another time": (chunked(LATER), WHOLE),
    "long": (chunked(response(7, ["word"] * 900)), WHOLE),
    "reset before the answer": ([Step.RESET], [ISSUED, SENT, SENT, FIRST, COMPLETE]),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_responses_are_left_to_python(name: str, tls: ssl.SSLContext | None, run: Run) -> None:
    """A request has one row per event, in order, as without compiled code, which follows the next request."""
    script, codes = UNUSUAL[name]

    async def scenario(*, plain: bool = True) -> Asked:
        async with ScriptedServer(USUAL, USUAL, USUAL, script, USUAL, tls=tls) as server:
            asked = Asked(server, plain=plain)
            await asked.ask_each(6)
            return asked

    asked = run(scenario())
    assert asked.timeless == run(scenario(plain=False)).timeless
    assert asked.codes == [WHOLE, WHOLE, WHOLE, codes, WHOLE, WHOLE]
    assert asked.plain >= 2 * len(WHOLE)


def test_what_arrived_in_time_is_logged(run: Run) -> None:
    """A late request is given up."""

    async def scenario() -> tuple[Asked, list[TurnOutcome]]:
        async with ScriptedServer(USUAL, USUAL, USUAL, [*CUT, Step.HANG]) as server:
            asked = Asked(server, timeout_s=1)
            return asked, await asked.ask_each(4)

    asked, outcomes = run(scenario())
    assert outcomes[-1].failure == Failure.TOTAL_TIMEOUT
    assert asked.codes[-1] == [ISSUED, SENT, FIRST, ERROR]
    assert orjson.loads(asked.rows[-1][3])["chunks"] == 2


def test_what_arrived_of_a_cancelled_request_is_logged(run: Run) -> None:
    """The connection is closed, and carries no other request."""

    async def scenario() -> tuple[Asked, int]:
        async with ScriptedServer(USUAL, USUAL, USUAL, [*CUT, Step.HANG], USUAL) as server:
            asked = Asked(server)
            for _ in range(3):
                await asked.ask()
            task = asyncio.create_task(asked.ask())
            await server.hanging.wait()
            await asked.transport.caught_up()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asked.ask_each(1)
            return asked, server.connections

    asked, connections = run(scenario())
    assert connections == 2
    assert asked.codes[-2:] == [[ISSUED, SENT, FIRST, CANCELLED], WHOLE]
    cancelled = next(line for line in asked.rows if line[0] == CANCELLED)
    assert orjson.loads(cancelled[3])["chunks"] == 2
