"""`loadgen list tasks`: tier, category, runtime, needs; and names of tasks however they are written."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.sessions.scoring.choice import choose
from loadgen.sessions.settings.kinds import canonical_rule
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from loadgen.sessions.task_listing import details, duration, facts, table
from tests import golden
from tests.for_each import for_each
from workloads.catalog import aliases, canonical, is_task, names, task_name, workload
from workloads.errors import TaskError
from workloads.fetching import folder_of, is_kept, keep
from workloads.needs import estimated_s, needs
from workloads.own_data import is_own
from workloads.sandbox_contract import SandboxError
from workloads.task import parse

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

GOLDEN = Path(__file__).with_name("golden")
PUNKT = "tokenizers/punkt_tab/english"


@pytest.fixture(autouse=True)
def _bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is in the cache, no extra is installed, no judge's key is set, no daemon runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    monkeypatch.delenv("LOADGEN_JUDGE_API_KEY", raising=False)
    monkeypatch.setattr("workloads.needs.find_spec", lambda _: None)
    monkeypatch.setattr("workloads.nltk_data.places", lambda: iter([tmp_path / "nltk"]))
    monkeypatch.setattr("loadgen.plugins.sandbox.docker_daemon.connect", _no_daemon)


def _with_modules(*there: str) -> Any:
    return lambda module: ModuleSpec(module, None) if module in there else None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("list_tasks.txt", table),
        ("list_tasks_gpqa.txt", lambda: details(workload("gpqa"))),
        ("list_tasks_ifeval.txt", lambda: details(workload("ifeval"))),
    ],
)
def test_what_is_shown(name: str, shown: Any) -> None:
    """As a table by tier, and of one benchmark; `make golden` writes the files again."""
    golden.check(GOLDEN / name, shown() + "\n")


@for_each("name", names())
def test_details_fit_80_columns(name: str) -> None:
    """Of every benchmark: tier, category, runtime and needs are there, and no line is too long."""
    lines = details(workload(name)).splitlines()
    assert max(map(len, lines)) <= 80
    labels = [line[2:13].strip() for line in lines[1:]]
    assert {"tier", "category", "questions", "runtime", "needs", "scorers"} <= set(labels)


def test_every_benchmark_says_how_it_is_scored() -> None:
    """With its scorers, the official one first; all of it is JSON."""
    listed = orjson.loads(orjson.dumps({name: facts(workload(name)) for name in names()}))
    assert all(item["scorers"] and item["title"] for item in listed.values())
    assert listed["mmlu_pro"]["options"]["shots"] == 5
    shown = details(workload("gaia"))
    assert "official: gaia-benchmark/leaderboard" in shown
    assert "judge_fallback (asks a judge): " in shown
    assert "official (runs code): " in details(workload("humaneval"))


def test_the_table_has_every_benchmark_in_80_columns() -> None:
    """Once each, below the heading of its tier."""
    lines = table().splitlines()
    assert max(map(len, lines)) <= 80
    named = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("  task ")]
    assert sorted(named) == sorted(names())


def test_json_has_what_the_table_has(loadgen: Loadgen) -> None:
    """All of them, or the one that is named, also by another name."""
    every = orjson.loads(loadgen("list", "tasks", "--json").stdout)
    assert list(every) == list(names())
    assert {item["tier"] for item in every.values()} == {1, 2, 3, 4}
    assert {"reasoning", "agentic", "coding", "rag", "chat", "use-case"} <= {
        item["category"] for item in every.values()
    }
    item = orjson.loads(loadgen("list", "tasks", "Doc-QA", "--json").stdout)
    assert list(item) == ["document_qa"]
    assert item["document_qa"]["aliases"] == ["doc_qa"]
    assert item["document_qa"]["needs"] == [
        {"kind": "data", "met": True, "about": "its data comes with the package"}
    ]
    wrong = loadgen("list", "tasks", "mmlu_por")
    assert wrong.returncode == 2
    assert "Unknown task 'mmlu_por'. Did you mean 'mmlu_pro'?" in wrong.stderr


def test_one_entry_of_another_list(loadgen: Loadgen) -> None:
    """A name chooses it, and a wrong one gets the nearest as a hint."""
    (line,) = loadgen("list", "metrics", "ttft").stdout.splitlines()
    assert line.startswith("ttft  ")
    wrong = loadgen("list", "views", "sample")
    assert wrong.returncode == 2
    assert "sample: not one of the views; did you mean 'samples'?" in wrong.stderr


def test_data_is_here_or_has_to_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the hub, which takes an extra, or from elsewhere; in the cache, or in a folder."""
    gsm8k = workload("gsm8k")
    missing, extra = needs(gsm8k)
    assert (missing.kind, missing.met) == ("data", False)
    assert "fetched from Hugging Face (openai/gsm8k) when asked" in missing.about
    assert (extra.kind, extra.met) == ("extra", False)
    assert "pip install 'llm-loadgen[hf]'" in extra.about
    monkeypatch.setattr("workloads.needs.find_spec", _with_modules("datasets"))
    assert [item.met for item in needs(gsm8k)] == [False, True]
    (tmp_path / "test.jsonl").write_text("{}")
    assert [(item.kind, item.met) for item in needs(gsm8k, tmp_path)] == [("data", True)]
    assert "terms were accepted" in needs(workload("hle"))[0].about
    assert "openaipublic.blob.core.windows.net" in needs(workload("gpqa"))[0].about

    def fetch(folder: Path) -> str:
        (folder / "rows.parquet").write_bytes(b"")
        return "commit"

    assert not is_kept(gsm8k.source)
    source = gsm8k.source
    cached = folder_of(f"openai--gsm8k/{source.revision}/{source.config}--{source.split}")
    keep(cached, fetch)
    assert is_kept(source)
    assert [item.about for item in needs(gsm8k)] == ["its data is in the cache"]


def test_every_file_of_a_benchmark_is_looked_for(tmp_path: Path) -> None:
    """The examples of MMLU-Pro's prompts are data as well."""
    (tmp_path / "test.jsonl").write_text("{}")
    assert needs(workload("mmlu_pro"), tmp_path)[0].met is False
    (tmp_path / "validation.jsonl").write_text("{}")
    assert needs(workload("mmlu_pro"), tmp_path)[0].met is True


def test_extras_models_judges_and_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed is looked at; what a run has to say is neither here nor missing."""
    by_kind = {item.kind: item for item in needs(workload("math500"), None)}
    assert by_kind["extra"].met is False
    assert [item.met for item in needs(workload("ifeval")) if item.kind == "model"] == [False]
    (tmp_path / "nltk" / PUNKT).mkdir(parents=True)
    monkeypatch.setattr(
        "workloads.needs.find_spec", _with_modules("math_verify", "pylatexenc", "sympy", "langdetect")
    )
    assert [item.met for item in needs(workload("ifeval")) if item.kind != "data"] == [False, True, True]
    assert [item.met for item in needs(workload("math500")) if "math" in item.about] == [False, True]
    (judge,) = (item for item in needs(workload("simpleqa")) if item.kind == "judge")
    assert judge.met is None
    assert "LOADGEN_JUDGE_API_KEY is not set" in judge.about
    monkeypatch.setenv("LOADGEN_JUDGE_API_KEY", "sk-secret-0123456789")
    (judge,) = (item for item in needs(workload("simpleqa")) if item.kind == "judge")
    assert judge.about.endswith("LOADGEN_JUDGE_API_KEY is set")
    assert [item.met for item in needs(workload("coding_assistant"))] == [True, None]


def test_the_estimate_is_what_its_parts_say() -> None:
    """Questions x (input / 20,000 + output / 1,000); none where the number of questions is not known."""
    mmlu = facts(workload("mmlu"))
    assert mmlu["typical"] == {"input_tokens": 150, "output_tokens": 150, "questions": None}
    assert mmlu["estimated_s"] == pytest.approx(14042 * (150 / 20_000 + 150 / 1_000))
    assert estimated_s(workload("mmlu"), 10) == pytest.approx(1.575)
    assert estimated_s(workload("wildchat")) is None
    shown = [duration(item) for item in (None, 0.2, 45, 150, 5400, 72_000)]
    assert shown == ["-", "1 s", "45 s", "2 min", "1.5 h", "20 h"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("mmlu-pro", "mmlu_pro"),
        ("MMLU_Pro", "mmlu_pro"),
        ("doc_qa", "document_qa"),
        ("doc-qa", "document_qa"),
        ("math-500", "math500"),
        ("mt-bench", "mt_bench"),
        ("human_eval", "humaneval"),
        ("SuperGPQA", "supergpqa"),
        ("gpqa-diamond", "gpqa"),
        ("mmlu", "mmlu"),
    ],
)
def test_a_name_however_it_is_written(written: str, name: str) -> None:
    """Case, hyphens and underscores do not matter, and other names in use lead to the same benchmark."""
    assert task_name(written) == name
    assert is_task(written)
    assert not is_own(written)
    assert workload(written).name == name
    assert canonical(f"{written}:subset=main") == f"{name}:subset=main"


def test_an_unknown_name_stays() -> None:
    """Files keep their names, and an alias never hides a benchmark."""
    for text in ("data/mmlu-pro.jsonl", "questions.jsonl", "MMLUX", ""):
        assert canonical(text) == text
        assert not is_task(text)
    assert not set(aliases()) & set(names())


def test_a_task_and_its_scorer_by_other_names(loadgen: Loadgen, tmp_path: Path) -> None:
    """On the command line, in `--scorer`, and in a suite; the log has the benchmark's own name."""
    (tmp_path / "test.jsonl").write_text(json.dumps({"question": "1+1?", "answer": "#### 2"}))
    run = loadgen("accuracy", "GSM-8k", "--data", tmp_path, "--url", "http://127.0.0.1:9", "--model", "m")
    assert "Unknown task" not in run.stderr
    (chosen,) = choose(["gsm8k"], ScoringChoices(scorers=("GSM-8k=mlperf",)))
    assert (chosen.task, chosen.scorer.name) == ("gsm8k", "mlperf")
    suite = tmp_path / "suite.toml"
    suite.write_text(
        '[[models]]\nname = "m"\nurl = "http://127.0.0.1:9"\n[[benchmarks]]\nname = "quiz"\ntask = "GSM-8k"\n'
        f'data = "{tmp_path}"\n[[benchmarks]]\nname = "doc-qa"\n'
    )
    shown = loadgen("run", suite, "--dry-run", "--json")
    assert shown.returncode == 0, shown.stderr
    asked = [cell["options"]["task"] for cell in orjson.loads(shown.stdout)["runs"]]
    assert asked == [["gsm8k"], ["document_qa"]]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("accuracy.MMLU-Pro:value>=0.5", "accuracy.mmlu_pro:value>=0.5"),
        ("accuracy.doc_qa.easy>=90", "accuracy.document_qa.easy>=90"),
        ("accuracy.exact_match>=80", "accuracy.exact_match>=80"),
        ("ttft:p(99)<2s", "ttft:p(99)<2s"),
    ],
)
def test_a_task_in_a_rule(written: str, read: str) -> None:
    """The log has the benchmark's own name; scores of other things keep theirs."""
    assert canonical_rule(written) == read


def test_a_rule_by_another_name_finds_its_score(loadgen: Loadgen) -> None:
    """No warning that the run will have no such score."""
    rule = ("--require", "accuracy.DOC-qa.hard:value>=0.5")
    run = loadgen("accuracy", "doc-qa", "--url", "http://127.0.0.1:9", "--model", "m", *rule)
    assert "will have no score" not in run.stderr
    assert "cannot be reached" in run.stderr


def test_a_file_called_like_a_benchmark_has_another_name(tmp_path: Path) -> None:
    """Its scores are not taken for those of the benchmark."""
    path = tmp_path / "doc_qa.jsonl"
    path.write_text('{"user_prompt": "1+1?", "ground_truth": "2"}')
    assert parse(str(path)).workload.name == "own_doc_qa"


def test_a_task_twice_by_two_names(loadgen: Loadgen) -> None:
    """It is one benchmark."""
    run = loadgen("accuracy", "mmlu-pro", "MMLU_pro", "--url", "http://127.0.0.1:9", "--model", "m")
    assert run.returncode == 2
    assert "mmlu_pro: named 2 times" in run.stderr


def test_a_scorer_of_a_task_that_is_not_asked() -> None:
    """The message has the benchmark's own name."""
    with pytest.raises(TaskError, match="no such task in the run: 'mmlu_pro'"):
        choose(["gsm8k"], ScoringChoices(scorers=("MMLU-Pro=official",)))
    assert parse("GPQA:subset=main").source.rows == 448


def test_users_and_containers_are_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second endpoint is said by each run; a daemon is there or not."""
    monkeypatch.setenv("LOADGEN_USER_API_KEY", "sk-user")
    task = replace(workload("gsm8k"), user=True, sandbox="docker")
    listed = {need.kind: need for need in needs(task)}
    assert (listed["user"].met, listed["docker"].met, listed["code"].met) == (None, False, None)
    assert "LOADGEN_USER_API_KEY is set" in listed["user"].about
    assert "dockerd" in listed["docker"].about


def _no_daemon() -> None:
    raise SandboxError("no Docker daemon answers: start `dockerd`")
