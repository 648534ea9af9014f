"""What counts the tokens of prompts: a tokenizer's own count, without the marks around a text."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import orjson
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.run.synthetic import synthetic_dataset
from loadgen.sessions.settings.perf import perf_settings
from loadgen.sessions.settings.tokenizer_options import counter

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

ENDPOINT = ("--url", "http://127.0.0.1:9", "--model", "m")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tokenizer: a token a word, marks around each text, and a bound on its length."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({"?": 0, "<s>": 1}, unk_token="?"))  # noqa: S106 (no password)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.enable_truncation(8)
    folder = tmp_path_factory.mktemp("words")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained(folder)  # noqa: S106 (no password)
    return folder


def test_only_the_text_is_counted(words: Path) -> None:
    """Neither marks at its beginning nor a bound that the tokenizer has for models change the count."""
    count = counter(str(words))
    assert count is not None
    assert count("one two three") == 3
    assert count("word " * 50) == 50
    assert counter(None) is None


def test_prompts_have_exactly_the_tokens_asked_for(words: Path) -> None:
    """From the options to the prompts."""
    settings = perf_settings(
        url=["http://127.0.0.1:9"],
        model="m",
        input_tokens="uniform:20..90",
        output_tokens="fixed:7",
        tokenizer=str(words),
    )
    dataset = synthetic_dataset(settings.prompts, 30, settings.load.seed)
    lengths = [len(sample.prompt.split()) for sample in dataset.samples]
    assert min(lengths) >= 20
    assert max(lengths) <= 90
    assert len(set(lengths)) > 5
    assert {sample.max_tokens for sample in dataset.samples} == {7}
    assert dataset.facts["lengths"] == {"by": "tokenizer", "messages_counted": 30, "off_by_at_most": 0}


def test_a_missing_tokenizer_is_reported() -> None:
    """The option and the name are in the message."""
    with pytest.raises(
        UsageError, match=r"--tokenizer \./nowhere: cannot be loaded \(no folder has this name\)"
    ):
        counter("./nowhere")


@pytest.mark.slow
def test_prompts_of_a_file_and_a_tokenizer(loadgen: Loadgen, words: Path, tmp_path: Path) -> None:
    """Both can be given: the tokenizer counts the tokens of a server that sends no usage."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "one two three"}\n')
    with start_mock(scenario="no_usage") as server:
        done = loadgen(
            *("perf", "--url", server.url, "--model", "demo", "-n", 3, "-q"),
            *("--prompts", prompts, "--tokenizer", words, "--out", "run"),
        )
    assert "counted by a local tokenizer" in done.stdout
    tokens = orjson.loads((tmp_path / "run" / "report.json").read_bytes())["tokens"]
    assert (tokens["source"], tokens["input"]) == ("client_tokenizer", 9)


def test_a_tokenizer_is_tried_before_anything_is_sent(tmp_path: Path) -> None:
    """Also where it is only to count."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "one two three"}\n')
    settings = perf_settings(
        url=["http://127.0.0.1:9"], model="m", prompts=str(prompts), tokenizer="./nowhere", requests=1
    )
    with pytest.raises(UsageError, match=r"--tokenizer \./nowhere: cannot be loaded"):
        prepare(settings)


@pytest.mark.slow
def test_a_tokenizer_of_a_hub_that_cannot_be_reached(loadgen: Loadgen, tmp_path: Path) -> None:
    """One connection is tried, no request is repeated, and nothing else is said."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        hub = f"http://127.0.0.1:{closed.getsockname()[1]}"
        home = {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "", "no_proxy": "*"}
        run = loadgen("perf", *ENDPOINT, "--input-tokens", 9, "--tokenizer", "org/name", **home)
    assert run.returncode == 2
    assert run.stderr == (
        f"error: --tokenizer org/name: not in the local cache, and {hub} cannot be reached; load the "
        "tokenizer once on a machine with a network, or name a folder\n"
    )


@pytest.mark.slow
def test_a_tokenizer_that_is_not_cached_offline(loadgen: Loadgen, tmp_path: Path) -> None:
    """The setting of the hub's own library is heeded."""
    home = {"HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    run = loadgen("perf", *ENDPOINT, "--input-tokens", 9, "--tokenizer", "org/name", **home)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "HF_HUB_OFFLINE is set" in run.stderr


@pytest.mark.slow
def test_a_folder_is_loaded_without_a_word(loadgen: Loadgen, words: Path) -> None:
    """No advice about PyTorch: the port is closed, and that is all that is said."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        run = loadgen("perf", "--url", url, "--model", "m", "--input-tokens", 9, "--tokenizer", words)
    assert run.stderr.startswith(f"error: {url}/v1 cannot be reached")
    assert run.stderr.count("\n") == 1
