"""The recipes of docs/mlperf.md by a shell, against the mock: 20 prompts, not 13,368, and fewer points.

The tokenizer has the name of the model's, and is made here. What is smaller than the round asks for is
invalid for that, and for nothing else.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import yaml
from tokenizers import Tokenizer, models, pre_tokenizers

from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.mlperf.checked_fields import ACCURACY, CONFIG, SUMMARY
from tests.conftest import ROOT, clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Shell = Callable[[str], subprocess.CompletedProcess[str]]

PAGE = (ROOT / "docs" / "mlperf.md").read_text(encoding="utf-8")
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
COMMANDS = [
    re.sub(r"\\\n\s*", "", command)
    for command in re.findall(r"^    (loadgen (?:.*\\\n)*.*)$", PAGE, flags=re.MULTILINE)
]
ROWS = 20
FEWER_LOADS = r"\[\[loads\]\]\nconcurrency = (16|512|1024)\n"
"""Points of the curve that no file of scores names."""

TOO_SMALL = {
    *("validity.min_duration_s", "validity.min_samples", "validity.dataset_multiple"),
    *("dataset.perf_samples", "ttft", "tpot", "ttft-p99", "tpot-p99"),
}
"""The rules that a run of 40 requests from 20 prompts, on a machine with other work, need not meet."""
WRITTEN = {0, 4}
"""How an export ends; 4 where the run was invalid, as one may be that other work has slowed."""


def command(*words: str) -> str:
    """The one command of the page that has all of these words."""
    (single,) = [command_ for command_ in COMMANDS if all(word in command_ for word in words)]
    return single


def block(language: str, word: str) -> str:
    """The one example of the page in a language that has a word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    (single,) = [block_ for block_ in blocks if word in block_]
    return str(single)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a submitter: prompts, the model's tokenizer, and the files that the page shows."""
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("recipe")
    rows = [orjson.dumps({"prompt": f"Sum up article {n}: it is about {n * 7}."}) for n in range(ROWS)]
    (folder / "cnn.jsonl").write_bytes(b"\n".join(rows))
    words = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 (no password)
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?")  # noqa: S106 (no password)
    tokenizer.save_pretrained(folder / MODEL)
    (folder / "scores.json").write_text(block("json", "ROUGELSUM"))
    (folder / "points.json").write_text(block("json", '"points"'))
    (folder / "about.yaml").write_text(block("yaml", "target_cohort"))
    (folder / "curve.toml").write_text(re.sub(FEWER_LOADS, "", block("toml", "[[loads]]")))
    return folder


@pytest.fixture(scope="module")
def shell(folder: Path, program_folder: Path) -> Iterator[Shell]:
    """Runs a command of the page in that folder, against an endpoint that knows the model."""
    with start_mock(models=(MODEL,), ttft="5ms", itl="1ms", tokens="4") as mock:
        environment = clean_environment(
            URL=mock.url,
            PATH=f"{program_folder}{os.pathsep}{os.environ['PATH']}",
            PYTHONPATH=str(ROOT),
            HF_HUB_OFFLINE="1",
        )

        def run(line: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                ["/bin/bash", "-c", line],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        yield run


def missed(verdict: dict[str, Any]) -> set[str]:
    """The rules of a verdict that were not met."""
    return {
        row["id"]
        for row in verdict["rows"]
        if row["severity"] == "fail" and row["status"] not in {"PASS", "SKIP"}
    }


def read_json(path: Path) -> Any:
    """The values of a JSON file."""
    return orjson.loads(path.read_bytes())


@pytest.mark.slow
def test_the_recipe_of_a_server_run(shell: Shell, folder: Path) -> None:
    """It is run, judged, and exported to what the checker of the round reads."""
    ran = shell(command("perf", "--rate 24"))
    assert ran.returncode == 4, ran.stderr
    gate = command("gate server", "--tokenizer")
    assert shell(gate).returncode == 4
    verdict = read_json(folder / "server" / "report.json")["verdict"]
    assert (verdict["model"], verdict["scenario"]) == ("llama3.1-8b", "server")
    assert missed(verdict) <= TOO_SMALL
    assert {"accuracy.ROUGE1", "generation.min_new_tokens", "audit.token_count", "seeds.schedule"} <= {
        row["id"] for row in verdict["rows"] if row["status"] == "PASS"
    }
    exported = shell(command("export server"))
    assert exported.returncode in WRITTEN, exported.stderr
    out = folder / "closed/ORG/results/SYSTEM/llama3.1-8b/Server"
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert files == {CONFIG, SUMMARY, ACCURACY, "export.json"}
    config, summary = yaml.safe_load((out / CONFIG).read_bytes()), read_json(out / SUMMARY)
    assert (config["type"], config["settings"]["load_pattern"]["target_qps"]) == ("online", 24.0)
    assert config["settings"]["runtime"]["dataloader_random_seed"] == 2747215439041700203
    assert config["model_params"]["min_new_tokens"] == 1
    assert (summary["n_samples_issued"], summary["n_samples_failed"]) == (2 * ROWS, 0)
    (entry,) = read_json(out / ACCURACY)["accuracy_scores"]
    assert (entry["total_samples"], entry["score"]["ROUGELSUM"]) == (13368, 35.9)
    assert not any("audit" in line or "_power" in line for line in read_json(out / "export.json")["missing"])


def test_the_recipe_of_an_offline_run(shell: Shell, folder: Path) -> None:
    """Its scenario is named, and its timeout is longer than it has to last."""
    ran = shell(command("perf", "--offline"))
    assert ran.returncode == 4, ran.stderr
    assert "--timeout" not in ran.stderr
    verdict = read_json(folder / "offline" / "report.json")["verdict"]
    assert (verdict["model"], verdict["scenario"]) == ("llama3.1-8b", "offline")
    others = {name for name in missed(verdict) if name.startswith("accuracy.")} | {"audit.token_count"}
    assert missed(verdict) <= TOO_SMALL | others


@pytest.mark.slow
def test_the_recipe_of_a_curve(shell: Shell, folder: Path) -> None:
    """Each point in its folder with all its files, under the official name of the model."""
    ran = shell(command("run curve.toml"))
    assert ran.returncode in WRITTEN, ran.stderr
    assert shell(command("gate curve")).returncode == 4
    exported = shell(command("export curve"))
    assert exported.returncode in WRITTEN, exported.stderr
    root = folder / "submission"
    curve = root / "results" / "8xH200" / "llama3_1-8b"
    places = {place.name for place in curve.iterdir()}
    assert places == {f"r{n}" for n in (1, 8, 64, 256, ROWS)}
    for name in places:
        there = {path.name for path in (curve / name).iterdir()}
        files = {"point.yaml", "config.yaml", "result_summary.json", "system_desc.json"}
        assert there == files | {"accuracy_results.json"}
        point = yaml.safe_load((curve / name / "point.yaml").read_bytes())
        assert (point["model_name"], point["concurrency"]) == ("llama3_1-8b", int(name[1:]))
        assert point["offline"] == ("dedicated" if name == f"r{ROWS}" else "none")
        assert point["runtime_settings"]["runtime"] == {
            "scheduler_rng_seed": 10487924139932647040,
            "sample_index_rng_seed": 586478644936801402,
            "model_seed": 9315206023656308754,
        }
        assert point["runtime_settings"]["warmup"] == {"salt": False}
        summary = read_json(curve / name / "result_summary.json")
        assert (summary["n_samples_issued"], summary["output_sequence_lengths"]["avg"]) == (ROWS, 4)
    (entry,) = read_json(curve / "r64" / "accuracy_results.json")["accuracy_scores"]
    assert (entry["unit_samples"], entry["score"]["GEN_LEN"]) == (13368, 8167644)
    missing = read_json(root / "export.json")["missing"]
    assert not any(".json: " in line or "point.yaml: " in line for line in missing)
    assert read_json(root / "results" / "8xH200" / "system_power.json")["cooling"] == "air"
