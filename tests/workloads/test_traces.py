"""Traces are recognized by what is in them, and are read as their publishers mean them."""

from __future__ import annotations

import gzip
import json
import pickle
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.errors import WorkloadError
from workloads.synthetic.synthetic_text import MadeSamples
from workloads.traces.form import TraceForm, read_form
from workloads.traces.replayed import questions
from workloads.traces.replayed_part import Trace, TracePart, read_trace
from workloads.traces.table_trace import PLAIN as TABLE
from workloads.traces.trace_lines import TextLine

if TYPE_CHECKING:
    from collections.abc import Callable

PUBLISHED = Path(__file__).parents[2] / "examples" / "traces"
TIMES = {
    "mooncake.jsonl": ("mooncake", [0, 0, 250_000_000, 400_000_000, 900_000_000, 1_000_000_000]),
    "azure-2023.csv": (
        "azure",
        [0, 52_000_000, 98_189_000, 1_016_041_000, 1_299_312_000],
    ),
    "azure-2024.csv": ("azure", [0, 7_405_000, 990_070_000]),
    "burstgpt.csv": ("burstgpt", [0, 40_000_000_000, 113_000_000_000]),
    "plain.csv": ("plain", [0, 250_000_000, 1_500_000_000]),
}
LENGTHS = {
    "mooncake.jsonl": [(1300, 6), (700, 4), (1536, 5), (90, 8), (1600, 3), (512, 2)],
    "azure-2023.csv": [(480, 6), (318, 4), (11, 7), (34, 3), (114, 7)],
    "azure-2024.csv": [(120, 5), (61, 3), (247, 8)],
    "burstgpt.csv": [(472, 18), (108, 23), (417, 27)],
    "plain.csv": [(128, 16), (64, 8), (256, 4)],
}


def json_lines(*rows: dict[str, object]) -> str:
    """JSON Lines of requests with these members, and lengths where they have none."""
    return "".join(f"{json.dumps({'input_length': 20, 'output_length': 2, **row})}\n" for row in rows)


def timed(*times: float) -> str:
    """JSON Lines of requests at these times."""
    return json_lines(*({"timestamp": time} for time in times))


def read(path: Path, **part: int) -> Trace:
    """Read a trace, or a part of it."""
    return read_trace(path, TracePart(**part))


def written(folder: Path, content: str) -> Path:
    """A file with this content."""
    path = folder / "trace"
    path.write_text(content)
    return path


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("stored_as", [bytes, gzip.compress])
def test_published_formats_are_read(tmp_path: Path, name: str, stored_as: Callable[[bytes], bytes]) -> None:
    """Whatever the file is called, gzipped or not: the format, the times from the first on, the lengths."""
    path = tmp_path / "trace.txt"
    path.write_bytes(stored_as((PUBLISHED / name).read_bytes()))
    trace = read(path)
    kind, offsets_ns = TIMES[name]
    assert (trace.format, list(trace.offsets_ns)) == (kind, offsets_ns)
    assert list(zip(trace.inputs, trace.outputs, strict=True)) == LENGTHS[name]
    assert trace.sha256 == sha256(path.read_bytes()).hexdigest()
    assert trace.is_whole
    assert trace.left_out.total == (1 if name == "burstgpt.csv" else 0)


def test_blocks_are_those_of_the_trace() -> None:
    """Each request has its ids, and no format but Mooncake's has any."""
    trace = read(PUBLISHED / "mooncake.jsonl")
    each = [list(trace.blocks[first:end]) for first, end in pairwise(trace.first_blocks)]
    assert each == [[0, 1, 2], [0, 3], [0, 1, 4], [5], [0, 1, 4, 6], [7]]
    assert not read(PUBLISHED / "plain.csv").blocks


@pytest.mark.parametrize("name", TIMES)
def test_questions_have_the_lengths_of_the_trace(name: str) -> None:
    """Prompts have as many tokens as the trace's, by who counts; answers may have as many."""
    trace = read(PUBLISHED / name)
    dataset = questions(trace, 7, lambda text: len(text.split()))
    assert [(len(sample.prompt.split()), sample.max_tokens) for sample in dataset.samples] == LENGTHS[name]
    assert list(dataset.offsets_ns or ()) == TIMES[name][1]
    assert (dataset.name, dataset.sha256, dataset.synthetic) == (name, trace.sha256, False)
    assert dataset.facts["lengths"]["off_by_at_most"] == 0


def test_lengths_are_near_without_a_tokenizer() -> None:
    """By words of 1.3 tokens, to half a word a block."""
    trace = read(PUBLISHED / "mooncake.jsonl")
    for sample, tokens in zip(questions(trace, 7).samples, trace.inputs, strict=True):
        assert len(sample.prompt.split()) * 1.3 == pytest.approx(tokens, abs=0.65 * (1 + tokens // 512) + 1)


def test_equal_blocks_are_equal_texts() -> None:
    """Prompts share the text of the blocks that they share, and not a block more."""
    dataset = questions(read(PUBLISHED / "mooncake.jsonl"), 7, lambda text: len(text.split()))
    prompts = [sample.prompt.split() for sample in dataset.samples]

    def shared(first: int, other: int) -> int:
        pairs = zip(prompts[first], prompts[other], strict=False)
        return next(place for place, (a, b) in enumerate(pairs) if a != b)

    # The figures of the ids may begin alike.
    assert 512 <= shared(0, 1) < 512 + 8
    assert 1024 <= shared(0, 2) < 1024 + 8
    assert prompts[4][:1536] == prompts[2]
    assert shared(0, 3) < 8


def test_another_salt_shares_blocks_in_the_same_way() -> None:
    """Within the run, and with no other run."""
    trace = read(PUBLISHED / "mooncake.jsonl")
    first, second = (questions(trace, 0, salt=salt).samples for salt in (1, 2**31))
    assert not {sample.prompt[:60] for sample in first} & {sample.prompt[:60] for sample in second}

    starts = [[sample.prompt[:200] for sample in samples] for samples in (first, second)]
    same = [[text == other for text in begun for other in begun] for begun in starts]
    assert same[0] == same[1]
    assert sum(same[0]) > len(first)


def test_the_seed_decides_the_texts() -> None:
    """The same trace with another seed asks something else, so that nothing is cached from the run before."""
    for name in ("mooncake.jsonl", "plain.csv"):
        trace = read(PUBLISHED / name)
        item, same, other = (list(questions(trace, seed).samples) for seed in (1, 1, 2))
        assert item == same
        assert not {sample.prompt for sample in item} & {sample.prompt for sample in other}


@pytest.mark.parametrize(
    ("part", "count"),
    [
        ({}, 5),
        ({"requests": 5}, 5),
        ({"requests": 2}, 2),
        ({"span_ns": 1_000_000_000}, 3),
        ({"span_ns": 1_000_000_000, "ahead": 2}, 4),
        ({"span_ns": 5_000_000_000, "ahead": 4, "requests": 4}, 4),
    ],
)
def test_only_what_is_wanted_is_read(part: dict[str, int], count: int) -> None:
    """How many requests, or those of so long a time from the first measured one on."""
    trace = read(PUBLISHED / "azure-2023.csv", **part)
    assert len(trace.inputs) == count
    assert trace.is_whole == (count == 5)


def test_what_is_not_wanted_is_not_looked_at(tmp_path: Path) -> None:
    """A part of a trace of any size is read in no time: behind it there may be anything."""
    path = written(tmp_path, "timestamp,input_tokens,output_tokens\n0,5,5\n1,5,5\nnonsense\n")
    assert len(read(path, requests=1).inputs) == 1
    with pytest.raises(WorkloadError, match="line 4: 1 cells"):
        read(path)


ROWS = st.lists(
    st.tuples(st.integers(0, 10**9), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30
)


@settings(max_examples=50)
@given(rows=ROWS)
def test_a_trace_begins_at_nought_and_never_goes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]
) -> None:
    """Of any trace that is in order, what is asked keeps its distances; what has no tokens is counted."""
    rows = sorted(rows)
    lines = "".join(
        f"{index // 1000}.{index % 1000:03},{inputs},{outputs}\n" for index, inputs, outputs in rows
    )
    path = tmp_path_factory.mktemp("trace") / "t.csv"
    path.write_text(f"timestamp,input_tokens,output_tokens\n{lines}")
    stored = [index * 1_000_000 for index, inputs, outputs in rows if inputs and outputs]
    if not stored:
        with pytest.raises(WorkloadError, match="there is no request in this trace"):
            read(path)
        return
    trace = read(path)
    assert list(trace.offsets_ns) == [index - stored[0] for index in stored]
    assert trace.left_out.total == len(rows) - len(stored)


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("118", 118.0),
        ("118.25", 118.25),
        ("0.000000001", 1e-9),
        ("1970-01-01 00:00:01", 1.0),
        ("1970-01-01T00:00:01.5000000Z", 1.5),
        ("1970-01-01 02:00:00.25+02:00", 0.25),
        ("1970-01-02 00:00:00+00:00", 86_400.0),
    ],
)
def test_moments_are_read(message: str, seconds: float) -> None:
    """Seconds, and dates with and without an offset from UTC."""
    first = TextLine("t, line 1", "timestamp,input_tokens,output_tokens")
    (row,) = TABLE.rows(first, iter([TextLine("t, line 2", f"{message},1,1")]))
    assert row.at_ns == round(seconds * 1e9)


@pytest.mark.parametrize("mark", ["\u202e", "\u200f", "\ufeff", "\u200b"])
def test_invisible_marks_in_a_header_are_skipped(tmp_path: Path, mark: str) -> None:
    """As editors and spreadsheets leave them."""
    path = tmp_path / "trace.csv"
    path.write_text(f"{mark}timestamp,input_tokens{mark},output_tokens\n0,5,6\n1,7,8\n", encoding="utf-8")
    trace = read_trace(path, TracePart())
    assert (list(trace.inputs), list(trace.outputs)) == ([5, 7], [6, 8])


AZURE, PLAIN = "TIMESTAMP,ContextTokens,GeneratedTokens\n", "timestamp,input_tokens,output_tokens\n"
MOONCAKE = '{"timestamp": 5, "input_length": 600, "output_length": 1, "hash_ids": [1, 2]}\n'


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "trace: the file is empty"),
        ("a,b\n1,2\n", "trace, line 1: the beginning of no trace that is known"),
        (PLAIN, "trace: there is no request in this trace"),
        (
            f"{PLAIN}1.0,5,5\n0.25,5,5\n",
            "trace, line 3: 0.75 s before the request ahead of it; sort the trace",
        ),
        (f"{PLAIN}0,-5,5\n", "trace, line 2, input_tokens: '-5'"),
        (f"{PLAIN}0,5,5.5\n", "trace, line 2, output_tokens: '5.5'"),
        (f"{PLAIN}0,5,2000000\n", "trace, line 2, output_tokens: '2000000'"),
        (f"{PLAIN}0,5,{'9' * 5000}\n", "trace, line 2, output_tokens: '999"),
        (f"{PLAIN}-1,5,5\n", "trace, line 2, timestamp: '-1'"),
        (f"{PLAIN}0,5\n", "trace, line 2: 2 cells, where the first line has 3"),
        (f"timestamp,{PLAIN}0,0,5,5\n", "trace, line 1: 2 columns are called 'timestamp'"),
        (f'{PLAIN}0,"5"x,5\n', "trace, line 2: not CSV"),
        (f"{AZURE}2023-13-01 00:00:00,5,5\n", "trace, line 2, TIMESTAMP: '2023-13-01 00:00:00'"),
        (f"{MOONCAKE}[]\n", "trace, line 2: not a JSON object"),
        (f"{MOONCAKE}{{\n", "trace, line 2, column"),
        (MOONCAKE + MOONCAKE.replace("5,", "4,", 1), "trace, line 2: 0.001 s before"),
        (MOONCAKE + MOONCAKE.replace("600", "-6"), "trace, line 2, input_length: -6"),
        (MOONCAKE + MOONCAKE.replace("5,", "-5,", 1), "trace, line 2, timestamp: -5"),
        (
            MOONCAKE + MOONCAKE.replace("600", "1025"),
            "hash_ids: 2 ids, where input_length 1025 makes 3 blocks",
        ),
        (MOONCAKE + MOONCAKE.replace("[1, 2]", "[1, -2]"), "hash_ids: not a list of whole numbers"),
        (
            MOONCAKE + MOONCAKE.replace(', "hash_ids": [1, 2]', ""),
            "hash_ids must be in every line, or in none",
        ),
    ],
)
def test_a_bad_trace_names_file_and_line(tmp_path: Path, content: str, complaint: str) -> None:
    """So that it can be mended."""
    with pytest.raises(WorkloadError) as raised:
        read(written(tmp_path, content))
    assert complaint in str(raised.value)


def test_an_unreadable_trace_is_reported(tmp_path: Path) -> None:
    """Missing, a folder, damaged, not text: one sentence each."""
    (tmp_path / "cut.gz").write_bytes(gzip.compress((PLAIN + "0,5,5\n" * 9).encode())[:-9])
    (tmp_path / "latin").write_bytes(PLAIN.encode() + "0,5,é\n".encode("latin-1"))
    for name, complaint in {
        "none": "the file does not exist",
        ".": "not a file",
        "cut.gz": "the gzip data is damaged",
        "latin": "latin, line 2: not UTF-8",
    }.items():
        with pytest.raises(WorkloadError, match=complaint):
            read(tmp_path / name)


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace of more requests than are replayed in one run asks for a part of it."""
    monkeypatch.setattr("workloads.traces.replayed_part.MOST_ROWS", 2)
    path = written(tmp_path, f"{PLAIN}0,5,5\n1,5,5\n2,5,5\n")
    with pytest.raises(WorkloadError, match=r"line 4: more than 2 requests.*give --requests or --duration"):
        read(path)
    assert len(read(path, requests=2).inputs) == 2


@pytest.mark.parametrize("name", ["mooncake.jsonl", "plain.csv"])
def test_questions_travel_to_workers(name: str) -> None:
    """They are made when they are asked for: lengths are pickled, and what counted them stays behind."""
    samples = questions(read(PUBLISHED / name), 0, lambda text: len(text.split())).samples
    assert isinstance(samples, MadeSamples)
    assert list(pickle.loads(pickle.dumps(samples))) == list(samples)  # noqa: S301 (made here)


def ids(count: int, tokens: int) -> dict[str, object]:
    """The members of a prompt with ids."""
    return {"timestamp": 0, "input_length": tokens, "hash_ids": list(range(count))}


CHAT = {"chat_id": 1, "parent_chat_id": -1}


@pytest.mark.parametrize(
    ("content", "form", "kind", "unit", "span_s"),
    [
        (timed(0, 0.5, 1.0), None, "timed", "s", 1.0),
        (timed(0, 1, 2), None, "timed", "s", 2.0),
        (timed(1_690_000_000.25, 1_690_000_003.75), None, "timed", "s", 3.5),
        (timed(0, 250, 900), None, "mooncake", "ms", 0.9),
        (timed(0, 10.5, 900), None, "mooncake", "ms", 0.9),
        (timed(1_690_000_000_000, 1_690_000_000_750), None, "mooncake", "ms", 0.75),
        (timed(1_690_000_000_000_000, 1_690_000_000_750_000), None, "mooncake", "us", 0.75),
        (timed(0, 0.5, 1.0), "mooncake", "mooncake", "s", 1.0),
        (timed(0, 0.5, 1.0), "mooncake,unit=ms", "mooncake", "ms", 0.001),
        (timed(0, 250, 900), "timed", "timed", "s", 900.0),
        (timed(0, 250, 900), "unit=us", "mooncake", "us", 0.0009),
        (json_lines({"timestamp": 61.0, **CHAT}, {"timestamp": 62.5, **CHAT}), None, "bailian", "s", 1.5),
        ("timestamp,input_tokens,output_tokens\n0,5,5\n1500,5,5\n", "unit=ms", "plain", "ms", 1.5),
        (
            "timestamp,input_tokens,output_tokens\n1690000000000,5,5\n1690000001500,5,5\n",
            None,
            "plain",
            "ms",
            1.5,
        ),
        (
            "timestamp,input_tokens,output_tokens\n0.0,20,2\n1e-05,20,2\n5E-1,20.0,2\n",
            None,
            "plain",
            "s",
            0.5,
        ),
    ],
)
def test_the_unit_is_found_out_or_given(
    tmp_path: Path, content: str, form: str | None, kind: str, unit: str, span_s: float
) -> None:
    """Seconds are not taken for milliseconds, and what was found out is in the dataset's facts."""
    asked_form = TraceForm() if form is None else read_form(form)
    trace = read_trace(written(tmp_path, content), TracePart(), asked_form)
    assert (trace.format, trace.unit, trace.offsets_ns[-1]) == (kind, unit, round(span_s * 1e9))
    facts = questions(trace, 0).facts["trace"]
    assert (facts["format"], facts["unit"], facts["span_s"]) == (kind, unit, span_s)


@pytest.mark.parametrize(
    ("rows", "form", "tokens"),
    [
        ([(2, 600)], None, 512),
        ([(3, 40), (1, 10)], None, 16),
        ([(2, 70), (1, 64)], None, 64),
        ([(2, 40), (0, 10), (2, 32)], None, 16),
        ([(1, 14)], "block=64", 64),
        ([(4, 64)], "mooncake,block=16", 16),
    ],
)
def test_the_size_of_blocks_is_found_out_or_given(
    tmp_path: Path, rows: list[tuple[int, int]], form: str | None, tokens: int
) -> None:
    """Also where the end of a prompt has no id: its text is its own, and the length stays exact."""
    path = written(tmp_path, json_lines(*(ids(*row) for row in rows)))
    trace = read_trace(path, TracePart(), TraceForm() if form is None else read_form(form))
    assert trace.block_tokens == tokens
    samples = questions(trace, 0, lambda text: len(text.split())).samples
    assert [len(sample.prompt.split()) for sample in samples] == [inputs for _, inputs in rows]


@pytest.mark.parametrize(
    ("content", "form", "line"),
    [
        (timed(0, 0.001, 0.002), "mooncake,unit=ms", "--trace-format mooncake,unit=s"),
        (
            timed(*(number / 500 for number in range(300))),
            "mooncake,unit=ms",
            "--trace-format mooncake,unit=s",
        ),
        ("timestamp,input_tokens,output_tokens\n0,5,5\n1e-6,5,5\n2e-6,5,5\n", None, "check its times"),
        (timed(0, 10), "azure", "not of a trace in the format azure"),
    ],
)
def test_a_rate_that_cannot_be_is_refused(tmp_path: Path, content: str, form: str | None, line: str) -> None:
    """With the line to type."""
    with pytest.raises(WorkloadError, match=line):
        read_trace(written(tmp_path, content), TracePart(), TraceForm() if form is None else read_form(form))


@pytest.mark.parametrize("text", ["moncake", "mooncake,unit=h", "mooncake,block=0", "mooncake,16", ""])
def test_a_form_that_there_is_not_is_refused(text: str) -> None:
    """The message shows what can be given."""
    with pytest.raises(WorkloadError, match="--trace-format"):
        read_form(text)


def test_rows_that_say_no_length_or_time_are_left_out(tmp_path: Path) -> None:
    """Later turns with a delay, missing values of pandas: each reason is counted, the others are replayed."""
    rows = json_lines(
        {"timestamp": 0, "session_id": "a"},
        {"session_id": "a", "delay": 500},
        {"timestamp": 900, "input_length": None},
        {"timestamp": 950, "input_length": float("nan")},
        {"timestamp": 1000, "session_id": "b", "input_length": 30.0},
    )
    trace = read(written(tmp_path, rows))
    assert (list(trace.offsets_ns), list(trace.inputs)) == ([0, 10**9], [20, 30])
    assert trace.left_out.rows == {
        "with a delay in place of a timestamp": 1,
        "without input or output tokens": 2,
    }


def test_a_long_cell_of_a_table_is_read(tmp_path: Path) -> None:
    """A prompt in a column that is not replayed may be longer than what Python's reader takes by default."""
    cell = "word " * 40_000
    text = f'timestamp,input_tokens,output_tokens,prompt\n0,5,5,"{cell}, so"\n'
    assert list(read(written(tmp_path, text)).inputs) == [5]
