"""Runs as MLPerf's checkers read them: what is written where, what is never overwritten, what is printed."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from loadgen.plugins.exports.command import export
from loadgen.plugins.mlperf.bundle import Bundle, write_bundle
from loadgen.plugins.mlperf.checked_fields import ACCURACY, CONFIG, SUMMARY
from loadgen.plugins.mlperf.submission_names import RoundModels, canonical
from loadgen.plugins.mlperf.submitter_file import SubmitterFile, read_submitter_file
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import model_folder
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, folder_of, write
from loadgen.sessions.series.audit.output_caching import RECORD, VERIFIED
from loadgen.sessions.settings.export import ExportSettings
from recorder import EventType
from recorder.errors import BeingWrittenError
from recorder.lock import Hold
from rulesets.errors import RulesetError
from rulesets.loading import read

FIGURES = {CONFIG, SUMMARY}
AUDITED = {"test": "output_caching_test", "passed": True, "ref_qps": 10.0, "audit_qps": 10.1}


def exported(run: Path, out: Path, **options: Any) -> set[str]:
    """Export a run; return the files that exist afterwards, except the manifest."""
    export(ExportSettings(run=run, mlperf_endpoints=out, **options))
    return {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} - {"export.json"}


def content(path: Path) -> Any:
    """The values of a JSON file."""
    return orjson.loads(path.read_bytes())


def a_series(folder: Path, *runs: Path, kind: SeriesKind = SeriesKind.SWEEP) -> Path:
    """A series of runs that were made."""
    points = tuple(SeriesPoint(f"point-{number}", {}, {}) for number in range(len(runs)))
    series = Series(kind, {"plot": False}, points)
    write(folder, series)
    for number, run in enumerate(runs):
        shutil.copytree(run, folder_of(folder, series, number))
    return folder


def test_a_run_alone_has_figures_and_nothing_else(
    made_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No accuracy and no audit where the run has none; the missing parts of a submission are listed."""
    out = tmp_path / "Server"
    assert exported(made_run, out) == FIGURES
    config, summary = yaml.safe_load((out / CONFIG).read_bytes()), content(out / SUMMARY)
    assert config["settings"]["load_pattern"] == {"type": "concurrency", "target_concurrency": 2}
    assert (summary["n_samples_completed"], summary["output_sequence_lengths"]["avg"]) == (10, 4)
    assert summary["definitions"]["latency_origin"] == "scheduled"
    output = capsys.readouterr().out
    for lack in ("--accuracy", "systems/SYSTEM.json", "fewer than 662"):
        assert lack in output
    assert "--audit" not in output
    assert "_power" not in output
    manifest = content(out / "export.json")
    assert (manifest["ruleset"], manifest["model"]) == ("mlperf-inference@v6.1", "small-model")
    assert manifest["missing"]


def test_scores_and_an_audit_have_their_files(made_run: Path, tmp_path: Path) -> None:
    """Those that checkers look for."""
    scores, audits, out = tmp_path / "scores.json", tmp_path / "audits", tmp_path / "out"
    scores.write_bytes(orjson.dumps({"accuracy": {"ROUGE1": {"value": 38.9, "n": 13368}}}))
    (audits / "audit").mkdir(parents=True)
    (audits / RECORD).write_bytes(orjson.dumps(AUDITED))
    whole = {*FIGURES, ACCURACY, RECORD, VERIFIED}
    assert whole >= {"audit/audit_output_caching_test.json", "audit/verify_OUTPUT_CACHING_TEST.txt"}
    assert exported(made_run, out, accuracy=scores, audit=audits) == whole
    assert content(out / RECORD) == AUDITED
    assert content(out / ACCURACY)["accuracy_scores"][0]["score"] == 38.9
    assert (out / VERIFIED).read_text() == "Performance check pass: True\n"


def test_a_run_that_is_not_over_has_no_figures(made_run: Path, tmp_path: Path) -> None:
    """Whatever it has so far: they would be those of a part of it."""
    run = Path(shutil.copytree(made_run, tmp_path / "run"))
    with closing(sqlite3.connect(run / "events.db")) as log, log:
        log.execute("DELETE FROM events WHERE code = ?", [EventType.TEST_ENDED])
    hold = Hold(run)
    with pytest.raises(BeingWrittenError, match="is still running"):
        exported(run, tmp_path / "out")
    hold.release()
    assert not (tmp_path / "out").exists()


def files_of(**contents: str) -> Bundle:
    """A bundle of files with these contents."""
    return Bundle({name: text.encode() for name, text in contents.items()}, {})


def test_nothing_of_others_is_overwritten(tmp_path: Path) -> None:
    """What no export wrote, or was changed since, stays, unless it is said that it may go."""
    write_bundle(tmp_path / "a", files_of(x="1", y="2"), force=False)
    write_bundle(tmp_path / "a", files_of(x="3"), force=False)
    assert [path.name for path in (tmp_path / "a").iterdir() if path.name != "export.json"] == ["x"]
    (tmp_path / "a" / "x").write_text("mine")
    (tmp_path / "a" / "z").write_text("mine, too")
    for bundle in (files_of(x="4"), files_of(z="5"), files_of(w="6")):
        with pytest.raises(UsageError, match="nothing is overwritten"):
            write_bundle(tmp_path / "a", bundle, force=False)
    assert [(tmp_path / "a" / name).read_text() for name in "xz"] == ["mine", "mine, too"]
    write_bundle(tmp_path / "a", files_of(z="5"), force=True)
    assert [(tmp_path / "a" / name).read_text() for name in "xz"] == ["mine", "5"]


def test_a_foreign_manifest_is_ignored(tmp_path: Path) -> None:
    """It does not permit overwriting, and no path in it removes a file outside of the folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "export.json").write_text("[]")
    with pytest.raises(UsageError, match="was not written by an export"):
        write_bundle(folder, files_of(x="1"), force=False)
    theirs = tmp_path / "theirs"
    theirs.write_text("")
    (folder / "way").symlink_to(tmp_path)
    for name in ("../theirs", str(theirs), "way/theirs"):
        files = {name: hashlib.sha256(b"").hexdigest()}
        (folder / "export.json").write_bytes(orjson.dumps({"files": files}))
        write_bundle(folder, files_of(x="1"), force=True)
        assert theirs.exists()
    with pytest.raises(UsageError, match="is a file"):
        write_bundle(tmp_path / "theirs", files_of(x="1"), force=True)


def test_a_sweep_is_a_curve(made_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder per point, by its concurrency, with the submitter's facts about it."""
    about = tmp_path / "about.yaml"
    about.write_text(
        "system: box\nsystem_desc: {system_name: box}\nsystem_power: {kw: 1}\n"
        "point: {division: Standardized, model_name: Small, warmup: {logs_retained: true}}\n"
    )
    out = tmp_path / "submission"
    files = exported(a_series(tmp_path / "sweep", made_run), out, about=about)
    place = "results/box/Small/r2"
    names = ("point.yaml", "config.yaml", "result_summary.json", "system_desc.json")
    assert files == {*(f"{place}/{name}" for name in names), "results/box/system_power.json"}
    point = yaml.safe_load((out / place / "point.yaml").read_bytes())
    assert (point["concurrency"], point["division"], point["model_name"]) == (2, "Standardized", "Small")
    assert (point["warmup"]["requests_issued"], point["warmup"]["logs_retained"]) == (0, True)
    assert content(out / place / "result_summary.json")["definitions"]["percentile_method"] == "lower"
    output = capsys.readouterr().out
    assert "mlperf-endpoints@v1.0 wants tokens counted by the model's tokenizer" in output
    assert "target_cohort: only the submitter knows" in output
    assert "r2: point.yaml: runtime_settings.runtime.model_seed: requests had no seed" in output
    assert "model_name: 'Small' is not a model of the round, which has llama3_1-8b, gpt-oss-120b" in output
    assert "0 of 5 are there" in output


def changed(run: Path, **settings: Any) -> Path:
    """A run whose log says something else of how it was made."""
    with closing(sqlite3.connect(run / "events.db")) as log, log:
        for path, value in settings.items():
            log.execute(
                "UPDATE session SET settings = json_set(settings, ?, json(?))",
                ["$." + path.replace("__", "."), orjson.dumps(value).decode()],
            )
    return run


def a_curve(folder: Path, run: Path, *concurrencies: int, offline: bool, **settings: Any) -> Path:
    """A series of points in flight, with an Offline run if asked for, whose settings are these."""
    names = [*(f"c-{n}" for n in concurrencies), *(["offline"] if offline else [])]
    series = Series(SeriesKind.SWEEP, {"plot": False}, tuple(SeriesPoint(name, {}, {}) for name in names))
    write(folder, series)
    for number, name in enumerate(names):
        place = Path(shutil.copytree(run, folder_of(folder, series, number)))
        if name == "offline":
            changed(place, load={"kind": "offline"}, **settings)
        else:
            changed(place, load__concurrency=concurrencies[number], **settings)
    return folder


@pytest.fixture(scope="module")
def two_points(made_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A curve of 2 and 64 in flight with a model of the round; not to be changed."""
    folder = tmp_path_factory.mktemp("curve") / "a"
    return a_curve(folder, made_run, 2, 64, offline=False, model="gpt-oss-120b")


def points_of(out: Path) -> dict[str, Any]:
    """The point.yaml of each point, by the path of its folder."""
    return {
        str(path.parent.relative_to(out)): yaml.safe_load(path.read_bytes())
        for path in out.rglob("point.yaml")
    }


@pytest.mark.slow
def test_a_curve_has_the_official_name_and_one_offline_result(made_run: Path, tmp_path: Path) -> None:
    """Whatever the endpoint calls its model; Offline is the run with --offline, or the point at C_max."""
    served = "meta-llama/Llama-3.1-8B-Instruct"
    dedicated, elected = tmp_path / "dedicated", tmp_path / "elected"
    exported(a_curve(tmp_path / "a", made_run, 2, 64, offline=True, model=served), dedicated)
    exported(a_curve(tmp_path / "b", made_run, 2, 64, offline=False, model=served), elected)
    points = points_of(dedicated)
    assert {place: point["offline"] for place, point in points.items()} == {
        "results/system/llama3_1-8b/r2": "none",
        "results/system/llama3_1-8b/r64": "none",
        "results/system/llama3_1-8b/r10": "dedicated",
    }
    assert {point["model_name"] for point in points.values()} == {"llama3_1-8b"}
    assert {
        place.name: points_of(elected)[str(place)]["offline"] for place in map(Path, points_of(elected))
    } == {
        "r2": "none",
        "r64": "elected",
    }


@pytest.mark.slow
def test_c_max_is_declared_and_an_agentic_curve_has_no_offline(
    two_points: Path, made_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A C_max without a point has no Offline result; agentic points have their own load pattern."""
    about = tmp_path / "about.yaml"
    about.write_text("system_desc: {max_supported_concurrency: 128, c_min_override: 4}\n")
    exported(two_points, tmp_path / "none", about=about)
    assert {point["offline"] for point in points_of(tmp_path / "none").values()} == {"none"}
    output = capsys.readouterr().out
    assert "an Offline result: no run with --offline, and no point at C_max (128)" in output
    assert "c_min_override: no point lies at 4" in output
    agentic = a_curve(tmp_path / "b", made_run, 2, 64, offline=False, model="Qwen/Qwen3.6-35B-A3B")
    exported(agentic, tmp_path / "agentic")
    assert {
        (point["offline"], point["runtime_settings"]["load_pattern"], point["model_name"])
        for point in points_of(tmp_path / "agentic").values()
    } == {("none", "agentic_inference", "qwen3_6-35b-a3b")}
    output = capsys.readouterr().out
    assert "0 of 4 are there" in output
    assert "Offline" not in output


def test_seeds_and_salt_of_requests(
    made_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model's seed is that of requests; a salt of all prompts is not one of the warm-up."""
    series = a_curve(tmp_path / "a", made_run, 2, offline=False, salt=True, extra_body={"seed": 7})
    exported(series, tmp_path / "out")
    (point,) = points_of(tmp_path / "out").values()
    assert point["runtime_settings"]["runtime"]["model_seed"] == 7
    assert (point["runtime_settings"]["warmup"], point["runtime_settings"]["salt"]) == ({"salt": False}, True)
    assert "model_seed" not in capsys.readouterr().out


@pytest.mark.slow
def test_points_have_their_accuracy_results(
    two_points: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each its own, with an entry for each benchmark; what has no place is a mistake."""
    scores = {
        name: {"value": value, "n": n, "repeats": repeats, "dataset": name}
        for name, value, n, repeats in (
            ("aime25", 0.9, 240, 8),
            ("gpqa", 0.8, 990, 5),
            ("livecodebench", 0.7, 3165, 3),
        )
    }
    (tmp_path / "scores.json").write_bytes(orjson.dumps({"accuracy": scores}))
    points = tmp_path / "points.json"
    points.write_bytes(orjson.dumps({"points": {"c-64": "scores.json"}}))
    whole = {"accuracy": {**scores, "exact_match": {"value": 78.3, "n": 4395}}}
    (tmp_path / "scores.json").write_bytes(orjson.dumps(whole))
    out = tmp_path / "out"
    files = exported(two_points, out, accuracy=points)
    place = "results/system/gpt-oss-120b/r64/accuracy_results.json"
    assert {name for name in files if name.endswith("accuracy_results.json")} == {place}
    entries = content(out / place)["accuracy_scores"]
    assert [(entry["dataset_name"], entry["score"], entry["num_repeats"]) for entry in entries] == [
        ("aime25", 0.9, 8),
        ("gpqa", 0.8, 5),
        ("livecodebench", 0.7, 3),
    ]
    assert sum(entry["unit_samples"] * entry["num_repeats"] for entry in entries) == 4395
    # The point at C_max is elected, and its result counts for High and for Offline.
    assert "2 of 5 are there" in capsys.readouterr().out
    with pytest.raises(UsageError, match="a submission has scores by point"):
        exported(two_points, out, accuracy=tmp_path / "scores.json")
    scores["gpqa"]["repeats"] = 7
    (tmp_path / "scores.json").write_bytes(orjson.dumps({"accuracy": scores}))
    with pytest.raises(UsageError, match="a divisor of `n`"):
        exported(two_points, out, accuracy=points)


def test_members_that_differ_between_points_are_given_per_point(two_points: Path, tmp_path: Path) -> None:
    """Offline belongs to one point; other members can be given for one."""
    about = tmp_path / "about.yaml"
    about.write_text("point: {offline: elected}\n")
    with pytest.raises(UsageError, match=r"point.offline: differs from point to point"):
        read_submitter_file(about)
    about.write_text("points: {r2: {model_notes: ours}, r8: {model_notes: theirs}}\n")
    with pytest.raises(UsageError, match=r"points.r8: the point does not exist; the curve has r2, r64"):
        exported(two_points, tmp_path / "out", about=about)
    about.write_text("points: {r2: {model_notes: ours}}\n")
    exported(two_points, tmp_path / "out", about=about)
    notes = {place[-2:]: point.get("model_notes") for place, point in points_of(tmp_path / "out").items()}
    assert notes == {"r2": "ours", "64": None}


def test_an_invalid_curve_is_refused(made_run: Path, tmp_path: Path) -> None:
    """Two points of one concurrency, a point that was not run, an audit, what contradicts the log."""
    twice = a_series(tmp_path / "twice", made_run, made_run)
    with pytest.raises(UsageError, match="two points of 2"):
        exported(twice, tmp_path / "out")
    shutil.rmtree(twice / "02-point-1")
    with pytest.raises(UsageError, match="point-1 has not been run"):
        exported(twice, tmp_path / "out")
    with pytest.raises(UsageError, match="is an audit"):
        exported(a_series(tmp_path / "audit", made_run, kind=SeriesKind.AUDIT), tmp_path / "out")
    with pytest.raises(UsageError, match=r"point.concurrency: the log says 2, not 3"):
        SubmitterFile(point={"concurrency": 3}).with_common({"concurrency": 2})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("org/a-model", "a-model"),
        ("org/..", "model"),
        ("../../a", "a"),
        ("/", "model"),
        ("a\x00b\nc", "a-b-c"),
        ("x" * 400, "x" * 60),
    ],
)
def test_a_model_is_never_a_way_out(model: str, folder: str) -> None:
    """Whatever a server calls its model, it is one folder."""
    assert model_folder(model) == folder
    assert Path(canonical(model)).name == canonical(model) not in {"", ".", ".."}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3_1-8b"),
        ("llama3.1-8b", "llama3_1-8b"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-r1"),
        ("moonshotai/Kimi-K3", "kimi-k3"),
        ("qwen3.6-35b-a3b", "qwen3_6-35b-a3b"),
        ("deepseek-ai/DeepSeek-V4.1-Flash", "deepseek-v4_1-flash"),
        ("org/My.Model", "My_Model"),
    ],
)
def test_a_model_has_its_official_name(model: str, name: str) -> None:
    """As the submission tool takes it; of another one, as it would spell it."""
    assert RoundModels.of(read("mlperf-endpoints@v1.0")).name(model) == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("systm: box", "did you mean 'system'"),
        ("system: a/b", "the name of a folder"),
        ("system: ..", "the name of a folder"),
        ("system: 8", "the name of a folder"),
        ('system: "a\\0b"', "the name of a folder"),
        ("points: {r2: 1}", "points.r2 must have members"),
        ("point: [1]", "point must have members"),
        ("system_desc: {1: a}", "JSON has no place for"),
        ("[1]", "must have members"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_file_of_the_submitter_that_says_nothing(tmp_path: Path, text: str, why: str) -> None:
    """It is named, with what is wrong in it."""
    path = tmp_path / "about.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_submitter_file(path)


def test_options_that_mean_nothing(made_run: Path, tmp_path: Path) -> None:
    """Of the other kind of export, or of no ruleset."""
    with pytest.raises(UsageError, match="--about is of the points of a sweep"):
        exported(made_run, tmp_path / "out", about=tmp_path / "about.yaml")
    with pytest.raises(UsageError, match="--audit is of one run"):
        exported(a_series(tmp_path / "sweep", made_run), tmp_path / "out", audit=tmp_path)
    with pytest.raises(RulesetError, match="did you mean"):
        exported(made_run, tmp_path / "out", ruleset="mlperf-inferenc")


def test_an_invalid_run_is_written_and_ends_with_4(
    made_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who reads only the exit code is not misled."""
    unsound = Bundle({"x": b"1"}, {}, [], ["the client limited it"])
    monkeypatch.setattr("loadgen.plugins.mlperf.scenario_folder.bundle_of", lambda *_: unsound)
    with pytest.raises(SystemExit) as end:
        exported(made_run, tmp_path / "out", json=True)
    assert end.value.code == 4
    assert orjson.loads(capsys.readouterr().out)["invalid"] == ["the client limited it"]
    assert (tmp_path / "out" / "x").exists()
