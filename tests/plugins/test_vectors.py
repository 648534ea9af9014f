"""Requests for vectors and scores: each dialect against the mock's truth, faults, files, and whole runs."""

from __future__ import annotations

from array import array
from base64 import b64encode
from math import inf, nan
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.errors import MalformedResponseError, RequestFailedError
from loadgen.mock_endpoint.options import MockOptions
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.vectors.mock_results import mock_results, probabilities, relevance, vector
from loadgen.plugins.vectors.vector_sample import VectorSample
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import perf_settings
from workloads.registry import manifests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.driver.client.codec import Delta

PLUGIN = next(plugin for plugin in manifests() if plugin.name == "vectors")
PROTOCOLS = [entry.name for entry in PLUGIN.entries if entry.kind == "protocols"]
TEXTS = ("a first text", "a second", "the third of them")
QUERY = "which?"


def asked(name: str, fault: Any = None, **options: Any) -> Delta:
    """What the codec of a protocol reads in the mock's response to three texts."""
    codec: Any = codec_of(name, options)
    query = QUERY if codec.inputs == "query" else None
    sample = VectorSample(index=0, inputs=TEXTS, query=query, keeps=True)
    path = codec.path if codec.rooted else f"/v1{codec.path}"
    body = orjson.dumps(codec.request(sample, Generation("m")))
    read: Delta = codec.reader(sample).decode(
        mock_results(path, body, MockOptions(result_fault=fault))[1], set()
    )
    return read


def truth(name: str, dimensions: int = 32) -> list[Any]:
    """The mock's results for the three texts."""
    if name == "classify":
        return [probabilities(text) for text in TEXTS]
    if protocol_entry(name).inputs == "query":
        return [relevance(QUERY, text) for text in TEXTS]
    return [list(vector(text, dimensions)) for text in TEXTS]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_dialect_has_the_truth_and_refuses_each_fault(name: str) -> None:
    """One result for each input, in the order of the inputs; any fault is `wrong_results` with its place."""
    delta = asked(name)
    assert delta.facts is not None
    assert delta.facts["texts"]["results"] == truth(name)
    facts = delta.facts["results"]
    assert facts["count"] == 3
    assert facts["parse_ms"] >= 0
    makes_vectors = protocol_entry(name).inputs == "batch"
    assert facts.get("dimensions") == (None if not makes_vectors else 3 if name == "classify" else 32)
    words = sum(len(text.split()) for text in TEXTS) + (0 if makes_vectors else len(TEXTS))
    assert delta.usage is not None
    assert delta.usage.input_tokens == (None if name == "tei-rerank" else words)
    assert delta.usage.output_tokens is None
    faults = {
        "nan": r"input 2: number 0 is nan" if makes_vectors else "score 2 is nan",
        "missing": r"2 results for 3 inputs: none for input 2",
        **({"dimension": r"vectors of \d+ and \d+ dimensions, of inputs 0 and 2"} if makes_vectors else {}),
    }
    for fault, message in faults.items():
        with pytest.raises(RequestFailedError, match=message) as failure:
            asked(name, fault)
        assert failure.value.failure == "wrong_results"


@pytest.mark.parametrize("name", ["embeddings", "infinity", "cohere-embed", "pooling"])
def test_an_encoding_and_a_dimension_are_asked_for(name: str) -> None:
    """Vectors in base64 are those in JSON; NaN is found in both."""
    delta = asked(name, encoding="base64", dimensions=5)
    assert delta.facts is not None
    assert delta.facts["texts"]["results"] == truth(name, 5)
    with pytest.raises(RequestFailedError, match="input 2: number 0 is nan"):
        asked(name, "nan", encoding="base64")


def read(data: Sequence[Any], expected: int = 2) -> Delta:
    """A response of OpenAI's embeddings."""
    codec: Any = codec_of("embeddings", {})
    sample = VectorSample(index=0, inputs=("x",) * expected, keeps=True)
    delta: Delta = codec.reader(sample).whole({"data": data})
    return delta


@given(
    st.lists(
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.randoms(),
)
def test_results_are_those_sent_in_any_order_and_encoding(vectors: list[list[float]], random: Any) -> None:
    """The order of a response and the encoding change nothing."""
    plain = [{"index": index, "embedding": numbers} for index, numbers in enumerate(vectors)]
    packed = [
        {"index": index, "embedding": b64encode(array("f", numbers).tobytes()).decode()}
        for index, numbers in enumerate(vectors)
    ]
    for data in (plain, packed):
        random.shuffle(data)
        delta = read(data, len(vectors))
        assert delta.facts is not None
        assert delta.facts["texts"]["results"] == vectors


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}], "two results for input 0"),
        ([{"index": 2, "embedding": [1.0]}], "input 2, and the request has 2, from 0 on"),
        ([{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": None}], "none for input 1"),
        ([{"embedding": [1.0]}, {"embedding": [inf]}], "input 1: number 0 is inf"),
        ([{"embedding": [1e308, 1e308]}, {"embedding": [nan, 1.0]}], "input 1: number 0 is nan"),
        ([{"embedding": [1.0]}, {"embedding": ["a"]}], "input 1: number 0 is 'a'"),
        ([{"embedding": [1.0]}, {"embedding": []}], "input 1: list, where a vector belongs"),
        ([{"embedding": [[1.0], [1.0, 2.0]]}, {"embedding": [[1.0]]}], "vectors of 1 and 2 dimensions"),
        ([{"embedding": "?"}, {"embedding": "AAAA"}], "input 0: not base64"),
        ([{"embedding": "AAAA"}, {"embedding": "AAAA"}], "input 0: 3 bytes"),
    ],
)
def test_a_wrong_result_is_named(data: list[Any], message: str) -> None:
    """The message has the input and what is wrong with its result."""
    with pytest.raises(RequestFailedError, match=message):
        read(data)
    with pytest.raises(MalformedResponseError):
        read("none")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "chat", "batch": "4"}, "--batch: --protocol chat asks for text"),
        ({"protocol": "chat", "dimensions": 4}, "--dimensions: --protocol chat has no vectors"),
        ({"turns": "2"}, "--turns: has no place in requests of --protocol embeddings"),
        ({"query_tokens": "9"}, "--query-tokens: --protocol embeddings has no query"),
        ({"expect": "run", "input_tokens": "9"}, "--input-tokens: --expect sends the inputs of a run again"),
        ({"prompts": "hf:a/b"}, "the inputs must be in a file"),
        ({"batch": "9000"}, "--batch '9000': cannot give its mean"),
    ],
)
def test_options_that_contradict_the_protocol(options: dict[str, Any], message: str) -> None:
    """The message names the option, and the protocol or what to leave out."""
    usual = {"url": ["http://127.0.0.1:9"], "model": "m", "protocol": "embeddings"}
    with pytest.raises(Exception, match=message):
        prepare(perf_settings(**usual | options))


def samples(path: Path | None = None, **options: Any) -> list[VectorSample]:
    """The requests that settings name."""
    common = {"url": ["http://127.0.0.1:9"], "model": "m", "requests": 20, "protocol": "embeddings"}
    given_path = {} if path is None else {"prompts": str(path)}
    return list(prepare(perf_settings(**{**common, **given_path, **options})).dataset.samples)  # type: ignore[arg-type]


def test_batches_and_lengths_are_drawn() -> None:
    """Batches by their distribution, equal under equal seeds; queries are as long as asked."""
    drawn = {"batch": "uniform:2..5", "input_tokens": "uniform:4..40", "text_seed": 1}
    made = samples(**drawn)
    assert {len(sample.inputs) for sample in made} == {2, 3, 4, 5}
    assert len({text for sample in made for text in sample.inputs}) == sum(len(s.inputs) for s in made)
    assert made == samples(**drawn)
    ranked = samples(protocol="rerank", query_tokens="13", text_seed=1)
    assert {len(sample.inputs) for sample in ranked} == {8}
    assert {len(sample.query.split()) for sample in ranked if sample.query} == {10}


def test_a_file_has_texts_lists_or_queries(tmp_path: Path) -> None:
    """Rows with a text share a request, a row with a list is one; queries have their documents."""
    path = tmp_path / "inputs.jsonl"
    path.write_text("".join(f'{{"text": "text {number}", "kind": "{number}"}}\n' for number in range(5)))
    made = samples(path, batch="2", tag=["kind"])
    assert [sample.inputs for sample in made] == [("text 0", "text 1"), ("text 2", "text 3"), ("text 4",)]
    assert [sample.tags["kind"] for sample in made] == ["0", "2", "4"]
    path.write_text('{"query": "why?", "documents": ["a", "b"]}\n{"query": "who?", "documents": ["c"]}\n')
    made = samples(path, protocol="score")
    assert [(sample.query, sample.inputs) for sample in made] == [("why?", ("a", "b")), ("who?", ("c",))]
    path.write_text('{"ask": "why?", "documents": ["a", "b"]}\n')
    with pytest.raises(Exception, match="no column of a usual name"):
        samples(path, protocol="score")
    path.write_text('{"text": 4}\n')
    with pytest.raises(Exception, match="a number, where a text or a list of texts"):
        samples(path)


def inputs_made(loadgen: Any) -> list[list[str]]:
    """The inputs of each request of the run `made`."""
    lines = loadgen("sql", "made", "SELECT inputs::VARCHAR AS texts FROM prompts", "--json").stdout
    return [orjson.loads(orjson.loads(line)["texts"]) for line in lines.splitlines()]


def padding(texts: list[str]) -> float:
    """The share of padding of a batch."""
    longest = max(map(len, texts))
    return sum(longest - len(text) for text in texts) / (longest * len(texts))


def test_a_run_is_reported_judged_and_compared(loadgen: Any, tmp_path: Path) -> None:
    """Sequences and tokens per second, no figure of tokens out; vectors and ranks compared with a run."""
    with start_mock(ttft="1ms") as server:
        common = ("--url", server.url, "--model", "mock", "-c", 2, "-n", 12, "-q", "--on-invalid", "warn")
        rules = ("--require", "sequences_per_second>=1", "--require", "input_tps>=1")
        made = ("--protocol", "embeddings", "--batch", "uniform:1..4", "--seed", 3, *rules, "--save-vectors")
        assert loadgen("perf", *common, *made, "--out", "made").returncode == 0
        root = ("--url", server.url.removesuffix("/v1"))
        again = ("--protocol", "infinity", "--encoding", "base64", "--expect", "made", "--out", "again")
        assert loadgen("perf", *root, *common[2:], *again).returncode == 0
        assert loadgen("perf", *common, "--protocol", "score", "--out", "scored").returncode == 0
        ranked = ("--protocol", "rerank", "--expect", "scored", "--out", "ranked")
        assert loadgen("perf", *common, *ranked).returncode == 0
        truths = server.truth(48)[:12]
        checked = loadgen("check", "--url", server.url, "--model", "mock", "--protocol", "embeddings").stdout
    report = orjson.loads((tmp_path / "made" / "report.json").read_bytes())
    vectors = report["sections"]["vectors"]["figures"]
    assert report["ttft_ms"] is report["tpot_ms"] is report["throughput"]["output_tps"] is None
    assert report["tokens"]["input"] == sum(each.input_tokens for each in truths)
    assert not [each for each in report["findings"] if each["code"].startswith("tokens_")]
    assert vectors["requests"] == 12
    assert vectors["dimensions"] == 32
    per_request = vectors["sequences"] / 12
    assert vectors["sequences_per_second"] == pytest.approx(report["throughput"]["qps"] * per_request)
    assert vectors["sequences_mean"] == pytest.approx(per_request)
    assert vectors["response_bytes_mean"] > 300
    shares = [padding(texts) for texts in inputs_made(loadgen) if len(texts) > 1]
    assert vectors["padding_mean"] == pytest.approx(sum(shares) / len(shares), abs=1e-4)
    assert vectors["parse_max_ms"] > 0
    assert report["verdict"]["status"] == "PASS"
    again = orjson.loads((tmp_path / "again" / "report.json").read_bytes())["sections"]["vectors"]["figures"]
    assert (again["compared"], again["same_first_share"]) == (12, None)
    assert again["cosine_min"] == pytest.approx(1)
    ranked = orjson.loads((tmp_path / "ranked" / "report.json").read_bytes())["sections"]["vectors"][
        "figures"
    ]
    assert (ranked["cosine_mean"], ranked["same_first_share"]) == (None, 1)
    assert ranked["rank_correlation_min"] == pytest.approx(1)
    assert "vectors of 32 dimensions in 12 responses" in loadgen("report", "again").stdout
    assert "cosine 1.000000 mean" in loadgen("report", "again", "--format", "html").stdout
    assert "vectors,sequences,value," in loadgen("report", "again", "--format", "csv").stdout
    counted = loadgen("sql", "again", "SELECT sum(sequences) AS n FROM vectors", "--json").stdout
    assert orjson.loads(counted) == {"n": vectors["sequences"]}
    assert f"protocols  {', '.join(PROTOCOLS)}\n" in checked
    assert "vectors of the dimension asked for, 16" in checked
