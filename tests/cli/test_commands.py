"""The commands on a run of ten requests: what they print and how they end."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import orjson
import pytest

from loadgen.cli.listing import listing
from tests.for_each import for_each

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("a_run")

KEYS = {
    *("schema_version", "run", "validity", "counts", "window", "throughput", "ttft_ms", "ttfb_ms", "tpot_ms"),
    *("itl_ms", "latency_ms", "latency_from_schedule_ms", "issue_lag_ms", "tokens", "verdict", "findings"),
}


def test_the_report_can_be_made_again(loadgen: Loadgen, a_run: Path) -> None:
    """report.json deleted and computed again is the same, and so is the third."""
    first = (a_run / "report.json").read_bytes()
    (a_run / "report.json").unlink()
    assert loadgen("report", "run").returncode == 0
    assert (a_run / "report.json").read_bytes() == first


def test_the_report_keeps_its_published_schema(loadgen: Loadgen) -> None:
    """Every key is there, and docs/report.schema.json describes them."""
    report = orjson.loads(loadgen("report", "run", "--json").stdout)
    assert set(report) >= KEYS
    schema = Path(__file__).parents[2] / "docs" / "report.schema.json"
    jsonschema.validate(report, orjson.loads(schema.read_bytes()))
    assert report["counts"]["completed"] == 10


def test_plain_when_piped(loadgen: Loadgen) -> None:
    """No control character, and no line over 100 columns; a run may be named by its log."""
    out = loadgen("report", "run").stdout
    assert loadgen("report", "run/events.db").stdout == out
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out) is None
    assert max(map(len, out.splitlines())) <= 100


def test_sql_answers_as_table_csv_and_json(loadgen: Loadgen) -> None:
    """The same answer in three forms."""
    query = "select status, count(*) as n from samples group by status"
    assert loadgen("sql", "run", query).stdout.split() == ["status", "n", "completed", "10"]
    assert list(csv.reader(io.StringIO(loadgen("sql", "run", query, "-f", "csv").stdout))) == [
        ["status", "n"],
        ["completed", "10"],
    ]
    assert orjson.loads(loadgen("sql", "run", query, "--json").stdout) == {"status": "completed", "n": 10}


def test_sql_has_words_for_every_value(loadgen: Loadgen) -> None:
    """Integers of 128 bits, infinity, moments and intervals; lines end as lines do here."""
    query = "select 2::hugeint << 70 as big, 'inf'::double as inf, date '2026-01-02' as day, 'é' as text"
    assert orjson.loads(loadgen("sql", "run", query, "--json").stdout.replace(str(2**71), "1")) == {
        "big": 1,
        "inf": None,
        "day": "2026-01-02",
        "text": "é",
    }
    assert loadgen("sql", "run", "select 1 as a", "-f", "csv").stdout == "a\n1\n"


@pytest.mark.skipif(
    not Path("/dev/full").exists(),
    reason="only Linux has /dev/full, a device on which each write fails because it is full",
)
def test_output_that_cannot_be_written(loadgen: Loadgen) -> None:
    """A full disk under the output is a set-up error, and never looks like a verdict."""
    with Path("/dev/full").open("w") as full:
        run = loadgen("gate", "run", "--require", "error<1%", stdout=full)
    assert run.returncode == 3
    assert "No space left" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_reader_that_goes_away(loadgen: Loadgen) -> None:
    """`| head` ends the program as it ends others: by SIGPIPE, silently."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        run = loadgen("sql", "run", "select * from samples", "-f", "csv", stdout=nobody)
    assert run.returncode == -signal.SIGPIPE
    assert run.stderr == ""


def test_outputs_and_prompts_are_in_the_log(loadgen: Loadgen) -> None:
    """What was asked and what was answered can be had by SQL."""
    lines = loadgen("sql", "run", "select output from outputs", "--json").stdout.splitlines()
    assert len(lines) == 10
    assert all(orjson.loads(line)["output"] for line in lines)
    assert orjson.loads(loadgen("sql", "run", "select count(*) as n from prompts", "--json").stdout) == {
        "n": 10
    }


@pytest.mark.parametrize(
    ("rules", "code", "status"),
    [
        (("ttft:p(50)<10s", "error<1%"), 0, "PASS"),
        (("ttft:p(50)<10s", "output_tokens:p(50)>1000"), 1, "FAIL"),
        (("qps>=1000000!warn",), 0, "PASS"),
    ],
)
def test_the_gate(loadgen: Loadgen, a_run: Path, rules: tuple[str, ...], code: int, status: str) -> None:
    """Its exit code is the verdict's, and report.json has the verdict."""
    options = [part for rule in rules for part in ("--require", rule)]
    run = loadgen("gate", "run", *options)
    assert run.returncode == code
    assert status in run.stdout
    assert orjson.loads((a_run / "report.json").read_bytes())["verdict"]["status"] == status


def test_a_ruleset_and_further_rules(loadgen: Loadgen, tmp_path: Path) -> None:
    """Both count; the same target twice is an error."""
    (tmp_path / "rules.yaml").write_text(
        "schema: rulesets/1\nruleset: {name: mine, version: '1'}\ntargets: ['ttft:p(99)<10s']\n",
    )
    judged = loadgen("gate", "run", "--ruleset", "rules.yaml", "--require", "error<1%", "--json")
    verdict = orjson.loads(judged.stdout)
    assert verdict["status"] == "PASS"
    assert [row["id"] for row in verdict["rows"]] == ["ttft:p(99)<10s", "error:rate<1%"]
    twice = loadgen("gate", "run", "--ruleset", "rules.yaml", "--require", "ttft:p(99)<10s")
    assert twice.returncode == 2
    assert "both set" in twice.stderr


@pytest.mark.slow
def test_a_run_that_misses_its_own_target(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """`perf --require` ends with 1, and the report says which; so does junit.xml."""
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", 4),
        *("--require", "output_tokens:p(50)>1000", "--out", "other", "--on-invalid", "warn"),
        *("--require", "qps>9e9", "--skip", "qps:value>9000000000req/s"),
    )
    assert run.returncode == 1
    assert "FAIL" in run.stdout
    # The rules are in the log: each later report has the verdict.
    assert orjson.loads(loadgen("report", "other", "--json").stdout)["verdict"]["status"] == "FAIL"
    assert (tmp_path / "other" / "junit.xml").read_text().count("<failure ") == 1
    # What was left out is in it too.
    again = loadgen("gate", "other", "--json")
    assert again.returncode == 1
    assert [row["status"] for row in orjson.loads(again.stdout)["rows"]] == ["FAIL", "SKIP"]


def test_no_secret_is_anywhere_in_the_folder(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """Neither the key nor the value of a header, in any file or in what is printed."""
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "-n", 3, "--out", "secret"),
        *("--header", "X-Token: very-secret-value", "--on-invalid", "warn"),
        LOADGEN_API_KEY="sk-right-key",
    )
    assert run.returncode == 0, run.stderr
    written = b"".join(path.read_bytes() for path in (tmp_path / "secret").iterdir()) + run.stdout.encode()
    assert b"X-Token" in written
    assert b"very-secret-value" not in written
    assert b"sk-right-key" not in written


@pytest.mark.slow
def test_a_header_value_that_the_log_uses_too_removes_no_output(loadgen: Loadgen, mock: MockProcess) -> None:
    """Values of headers are removed from what a server said, and never from the log's own words."""
    words = ("output", "finish_reason", "reasoning", "tool_calls")
    headers = [part for word in words for part in ("--header", f"X-Mode-{word.replace('_', '-')}: {word}")]
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", 2),
        *(*headers, "--out", "words", "-q", "--on-invalid", "warn"),
    )
    assert run.returncode == 0, run.stderr
    shown = loadgen(
        "sql", "words", "select output, finish_reason from outputs join samples using (sample_uuid)", "--json"
    )
    assert len(shown.stdout.splitlines()) == 2
    assert all(None not in orjson.loads(line).values() for line in shown.stdout.splitlines())


def test_check_describes_an_endpoint(loadgen: Loadgen, mock: MockProcess) -> None:
    """Reachable, model, answers, streams, usage, parameters, metrics, protocols."""
    run = loadgen("check", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "--json")
    assert run.returncode == 0, run.stderr
    assert [(line["check"], line["status"]) for line in orjson.loads(run.stdout)] == [
        ("reachable", "ok"),
        ("model", "ok"),
        ("answers", "ok"),
        ("streams", "ok"),
        ("usage", "ok"),
        ("accepts", "ok"),
        ("metrics", "ok"),
        ("states", "ok"),
        ("protocols", "ok"),
        ("abandoning", "ok"),
        ("media", "ok"),
        ("speech", "ok"),
        ("vectors", "ok"),
    ]


@for_each("kind", ["events", "failures", "loads", "metrics", "protocols", "views"])
def test_list_names_the_words(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """A line a word, and as a JSON object."""
    listing(kind, json=True)
    words = orjson.loads(capsys.readouterr().out)
    listing(kind)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(words)


def test_the_log_opens_with_plain_sqlite(a_run: Path) -> None:
    """No library of ours is needed."""
    connection = sqlite3.connect(a_run / "events.db")
    count = "SELECT count(*) FROM events JOIN event_types USING (code) WHERE name = 'COMPLETE'"
    assert connection.execute(count).fetchone() == (10,)
    connection.close()


def test_without_a_stream_there_is_no_ttft(loadgen: Loadgen, mock: MockProcess) -> None:
    """`--no-stream` measures latency, and shows no first tokens."""
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", 4),
        *("--no-stream", "--out", "whole", "--json", "--on-invalid", "warn"),
    )
    report = orjson.loads(run.stdout)
    assert run.returncode == 0, run.stderr
    assert report["ttft_ms"] is None
    assert report["latency_ms"]["count"] == 4
    assert report["tokens"]["output"] == 16


@pytest.mark.slow
def test_tokens_are_counted_by_a_tokenizer_where_the_server_does_not(
    loadgen: Loadgen,
    mock: MockProcess,
    tmp_path: Path,
) -> None:
    """Without usage chunks are counted, and a finding says so; a tokenizer counts the stored texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))  # noqa: S106 (a token of text)
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(tmp_path / "tokenizer")
    run = loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", 3),
        *("--extra-body", '{"stream_options": null}', "--out", "uncounted", "--json"),
    )
    report = orjson.loads(run.stdout)
    assert report["tokens"] == {
        "input": None,
        "output": 12,
        "chunks": 12,
        "source": "chunks",
        "reasoning": None,
        "cached": None,
        "usage_output": None,
        "recounted_output": None,
    }
    assert "tokens_from_chunks" in {finding["code"] for finding in report["findings"]}
    counted = loadgen(*("report", "uncounted", "--tokenizer", "tokenizer", "--json", "--on-invalid", "warn"))
    assert counted.returncode == 0, counted.stderr
    tokens = orjson.loads(counted.stdout)["tokens"]
    assert tokens["source"] == "client_tokenizer"
    assert tokens["output"] >= 12
    assert tokens["input"] > 0
    assert loadgen("report", "uncounted", "--tokenizer", "nowhere/at-all", HF_HUB_OFFLINE="1").returncode == 2


def test_the_default_folder_is_named_after_time_and_model(
    loadgen: Loadgen, mock: MockProcess, tmp_path: Path
) -> None:
    """`runs/<time>-<model>`."""
    loadgen("perf", "--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key", "-n", 1, "-q")
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}-small-model", folder.name)
