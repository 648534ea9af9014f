"""The requirements of a benchmark for asking and scoring, and their presence on this machine."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from lazy_dataclasses import dataclass
from workloads.errors import WorkloadError
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from workloads.workload import Source, Workload

INPUT_TOKENS_PER_S: Final = 20_000
OUTPUT_TOKENS_PER_S: Final = 1_000
"""What an endpoint reads and writes in a second, of all requests together, where a runtime is estimated."""

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "bfcl": ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript"),
    "bfcl-eval": ("bfcl_eval", "mpmath"),
    "hf": ("datasets",),
    "ifbench": ("emoji", "nltk", "syllapy"),
    "ifeval": ("langdetect",),
    "multi-if": ("emoji", "langdetect", "pycrfsuite", "pythainlp"),
    "math": ("math_verify", "pylatexenc", "sympy"),
}
"""Modules by the extra of this package that installs them; `bfcl-eval` is a separate package."""

SERVICES_INSTALL: Final = "pip install 'llm-loadgen[bfcl]', then pip install --no-deps bfcl-eval==2026.3.23"

MODELS: Final[Mapping[str, Mapping[str, str]]] = {
    "ifbench": {
        "punkt_tab": "tokenizers/punkt_tab/english",
        "stopwords": "corpora/stopwords/english",
        "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng",
    },
    "ifeval": {"punkt_tab": "tokenizers/punkt_tab/english"},
    "multi-if": {"punkt_tab": "tokenizers/punkt_tab/english"},
}
"""Data of NLTK's by the extra whose benchmarks need it: its place by its name."""

JUDGE_KEY: Final = "LOADGEN_JUDGE_API_KEY"
USER_KEY: Final = "LOADGEN_USER_API_KEY"


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a benchmark needs."""

    #: What kind of thing: `data`, a `model` of a grader, an `extra` of this package, a `judge`, a `user` at a
    #: second endpoint, `docker`, or permission to run the `code` that a model wrote.
    kind: Literal["data", "model", "extra", "judge", "user", "docker", "code"]
    met: bool | None  #: whether it is here; None where each run says so by its options
    about: str


def needs(workload: Workload, data: Path | None = None) -> list[Need]:
    """The requirements of a benchmark with default options."""
    scorer = workload.scorers[0]
    missing = [*_data(workload, data)]
    if workload.extra:
        missing.append(_extra(workload.extra, "to score its answers"))
    if workload.extra in MODELS:
        missing.append(_nltk_data(MODELS[workload.extra]))
    if scorer.ask is not None:
        key = f"{JUDGE_KEY} is {'set' if os.environ.get(JUDGE_KEY) else 'not set'}"
        missing.append(Need("judge", None, f"a judge: --judge-url and --judge-model of the run; {key}"))
    if workload.user:
        key = f"{USER_KEY} is {'set' if os.environ.get(USER_KEY) else 'not set'}"
        missing.append(Need("user", None, f"a simulated user: --user-url and --user-model of the run; {key}"))
    if workload.sandbox == "docker":
        missing.append(_docker())
    if workload.sandbox:
        missing.append(Need("code", None, "to run commands of the model: --allow-code-execution"))
    elif scorer.runs_code:
        missing.append(Need("code", None, "to run the code of its answers: --allow-code-execution"))
    return missing


def estimated_s(workload: Workload, questions: int | None = None) -> float | None:
    """The estimated duration of the whole benchmark, in seconds; None for an unknown size.

    Its questions at `INPUT_TOKENS_PER_S` and then its answers at `OUTPUT_TOKENS_PER_S`: an endpoint of other
    rates takes another time, and a model that reasons writes many times as much.
    """
    typical = workload.typical
    if typical is None:
        return None
    count = questions or workload.source.rows or typical.questions
    if count is None:
        return None
    return count * (typical.input_tokens / INPUT_TOKENS_PER_S + typical.output_tokens / OUTPUT_TOKENS_PER_S)


def _data(workload: Workload, data: Path | None) -> Iterator[Need]:
    from workloads.fetching import is_kept
    from workloads.question_loading import is_in

    sources = [
        workload.source,
        *(source for source in workload.further.values() if source.hub or source.urls),
    ]
    if workload.source.packaged is not None:
        yield Need("data", met=True, about="its data comes with the package")
        return
    if data is not None and all(is_in(workload.name, source, data) for source in sources):
        yield Need("data", met=True, about=f"its data is in {data}")
        return
    if all(map(is_kept, sources)):
        yield Need("data", met=True, about="its data is in the cache")
        return
    yield Need("data", met=False, about=_how_to_fetch(workload.source))
    by_hub_client = find_spec("huggingface_hub") is not None
    if any(source.hub and not (source.repository and by_hub_client) for source in sources):
        yield _extra("hf", "to fetch its data")


def _how_to_fetch(source: Source) -> str:
    files = " or ".join(source.files)
    folder = f"or put {files} into the folder of --data"
    if source.hub:
        gated = ", after its terms were accepted there" if "gated" in source.licence else ""
        return f"its data: fetched from Hugging Face ({source.hub}){gated} when asked; {folder}"
    if source.urls:
        return f"its data: fetched from {urlsplit(source.urls[0]).netloc} when asked; {folder}"
    return f"its data: put {files} into the folder of --data"


def _extra(name: str, purpose: str) -> Need:
    met = all(find_spec(module) is not None for module in EXTRAS[name])
    install = SERVICES_INSTALL if name == "bfcl-eval" else f"pip install 'llm-loadgen[{name}]'"
    how = "installed" if met else install
    return Need("extra", met, f"the extra {name} {purpose}: {how}")


def _docker() -> Need:
    try:
        service("connect_docker")().close()
    except WorkloadError as error:
        return Need("docker", met=False, about=f"containers: {error}")
    return Need("docker", met=True, about="containers: a Docker daemon answers")


def _nltk_data(place_of: Mapping[str, str]) -> Need:
    from workloads.nltk_data import find

    missing = [name for name, place in place_of.items() if find(place) is None]
    how = f"python -m nltk.downloader {' '.join(missing)}" if missing else "installed"
    return Need("model", not missing, f"NLTK's {', '.join(place_of)}, to read sentences: {how}")
