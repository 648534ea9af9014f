"""What the tests of several rooms share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import trustme
from hypothesis import settings

from loadgen.driver.system.signals import ENDING
from loadgen.driver.workers.launcher import usable_cpus
from tests.forking import CHILDREN, fork_children, start_children_afresh
from tests.object_stores import BUCKET, MODULES, object_store
from tests.preloaded import GIVE_UP_S, LEAKS, Preloaded, Process
from tests.program_file import ProgramFile
from tests.remembered_logs import forget_logs, remembered_log, remembered_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# A test is not a measurement: on a busy machine an example may take as long as it takes. Half of Hypothesis'
# usual number of examples keeps the suite below five minutes; `make fuzz` tries millions.
settings.register_profile("untimed", deadline=None, max_examples=50)
settings.load_profile("untimed")

EXAMPLES = int(os.environ.get("TIMES_AS_MANY_EXAMPLES", "1"))
"""How many times as many examples properties are tried with that compute whole reports (`make fuzz`)."""

ROOT = Path(__file__).parents[1]
FONTS = ROOT / ".pytest_cache" / "matplotlib"

BROKEN_PIPES = signal.getsignal(signal.SIGPIPE)
"""How this process takes them before any command has run in it."""

# Hundreds of processes are started, each of which would compile the whole program again; and without a cache
# each worker of the suite would rewrite the assertions of all tests, which takes 20 s.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# Stand-ins for servers: with five places in the queue, a connection that is dropped comes again after one
# second, and the body of an answer waits 40 ms for an acknowledgement of its head.
socketserver.TCPServer.request_queue_size = 128
socketserver.StreamRequestHandler.disable_nagle_algorithm = True


def pytest_configure() -> None:
    """Let programs that tests start hear interrupts: a shell ignores them for what it starts with `&`.

    A program inherits signals that are ignored, as `loadgen` respects, but not a handler.

    The garbage collector waits for the end of the collection, which only adds objects: a tenth of its time.
    """
    gc.disable()
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run six tests at once on two CPUs (`-n auto`), since tests wait for two fifths of the time."""
    return usable_cpus() * 3


LONGEST = (
    "deploy/test_image",
    "system/test_ray",
    "cli/test_selftest",
    "cli/test_view_in_a_browser",
    "cli/test_search_agents",
)
"""The files of the longest tests, 30 s and more."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests: one worker runs those, and the others take over the rest."""
    items.sort(key=lambda item: not item.nodeid.startswith(tuple(f"tests/{file}" for file in LONGEST)))


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays: 10,000 tests and all modules."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Let the interpreter free everything at its end: libraries complain of what stays."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _broken_pipes() -> Iterator[None]:
    """A command that prints lets its process end by SIGPIPE; called by a test it must not end the others.

    Nor called by a fixture of a module, which is made before this one.
    """
    signal.signal(signal.SIGPIPE, BROKEN_PIPES)
    yield
    signal.signal(signal.SIGPIPE, BROKEN_PIPES)


@pytest.fixture(scope="session")
def _authorities(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of one authority that has issued nothing."""
    file = tmp_path_factory.mktemp("trust") / "ca.pem"
    trustme.CA().cert_pem.write_to_path(file)
    return file


@pytest.fixture(scope="module", autouse=True)
def _trust(_authorities: Path) -> Iterator[None]:
    """Trust one authority: a TLS context takes 30 ms to read those of the system."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(_authorities))
        yield


@pytest.fixture(scope="session", autouse=True)
def _forked_children() -> Iterator[None]:
    """Child processes of the program that tests start are forked from this process."""
    fork_children(*CHILDREN)
    yield
    start_children_afresh()


@pytest.fixture
def fresh_children() -> Iterator[None]:
    """Child processes of the program start in separate interpreters."""
    start_children_afresh()
    yield
    fork_children(*CHILDREN)


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Preloaded]:
    """The process that has imported the program and forks for each start of it."""
    with Preloaded() as server:
        yield server


@pytest.fixture(scope="session")
def program_folder(preloaded: Preloaded) -> Iterator[Path]:
    """The folder of a program `loadgen` for shells, to be put into PATH."""
    with ProgramFile(preloaded) as program:
        yield program.folder


@pytest.fixture
def loadgen(preloaded: Preloaded, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the program in a separate process, in an empty folder: `loadgen("perf", "--url", …)`.

    The process is forked from one that has imported the program, which saves 0.6 s. Tests of the start itself
    take `fresh_loadgen`. `stdout=` may be a file; other keywords are environment variables.
    """

    def run(
        *arguments: object, stdout: Any = subprocess.PIPE, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        environment = clean_environment(**environment)
        return preloaded.run(*arguments, cwd=tmp_path, stdout=stdout, env=environment)

    return run


@pytest.fixture
def fresh_loadgen(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same in a fresh interpreter, for what only that shows: imports, and the command line in `ps`."""

    def run(
        *arguments: object, stdout: Any = subprocess.PIPE, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "loadgen", *map(str, arguments)],
            cwd=tmp_path,
            env=clean_environment(**environment),
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=GIVE_UP_S,
            check=False,
        )

    return run


@pytest.fixture
def start_loadgen(preloaded: Preloaded, tmp_path: Path) -> Callable[..., Process]:
    """The same as `loadgen`, without waiting for its end; it leads a separate process group.

    Its child processes start in separate interpreters, as a user finds them in `ps`.
    """

    def start(*arguments: object, temporary: Path | None = None, **options: Any) -> Process:
        folder = {} if temporary is None else {"TMPDIR": str(temporary)}
        environment = clean_environment(**folder)
        return preloaded.start(
            *arguments, cwd=tmp_path, env=environment, leads_session=True, fresh_children=True, **options
        )

    return start


@pytest.fixture
def start_fresh_loadgen(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """The same in a fresh interpreter."""

    def start(*arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "loadgen", *map(str, arguments)],
            cwd=tmp_path,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start


@pytest.fixture(scope="session")
def _logs() -> Iterator[None]:
    """At the end no log is open."""
    yield
    forget_logs()


@pytest.fixture
def remembered_logs(_logs: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs in this process loads a log once, and computes its figures once."""
    monkeypatch.setattr("reporter.reporter.open_for_report", remembered_log)
    monkeypatch.setattr("reporter.validation.compute", remembered_report)


@pytest.fixture
def refusing() -> Iterator[str]:
    """A URL where no process listens; the port stays taken, so that none can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window; LOADGEN_NEEDS_CHROMIUM makes its absence a failure."""
    program = shutil.which("chromium")
    if program is None and not os.environ.get("LOADGEN_NEEDS_CHROMIUM"):
        pytest.skip(
            "PAGES ARE NOT TESTED IN A BROWSER: Chromium is not installed (Debian: "
            "`apt-get install chromium`); continuous integration requires it"
        )
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the extra `dev`")
    assert program is not None, "LOADGEN_NEEDS_CHROMIUM is set, and there is no chromium"
    with sync_api.sync_playwright() as playwright:
        # The sandbox needs privileges that a container lacks; the pages are this program's own.
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def clean_environment(**more: str) -> dict[str, str]:
    """This environment without what the program reads, and so that it can be imported from any folder.

    A stored calibration of this machine is out of sight too. Plots keep their list of fonts
    all the same, for it takes a second to make. What is left open is named on standard error. A run does not
    look for the metrics of a mock, which takes 0.2 s.
    """
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("LOADGEN_", "OPENAI_"))
    }
    ours = {
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "LOADGEN_SERVER_METRICS": "none",
        "XDG_CACHE_HOME": os.devnull,
        "MPLCONFIGDIR": str(FONTS),
        "PYTHONWARNINGS": LEAKS,
    }
    return environment | ours | more


@pytest.fixture(scope="session", params=["gs", pytest.param("s3", marks=pytest.mark.slow)])
def object_store_variables(request: pytest.FixtureRequest) -> Iterator[tuple[str, Mapping[str, str]]]:
    """A stand-in for each kind of object store: its scheme, and the variables by which it is used.

    That of S3 takes twice the time, and the program uses both through one interface.
    """
    pytest.importorskip(MODULES[request.param])
    with object_store(request.param) as variables:
        yield request.param, variables


@pytest.fixture
def bucket(
    object_store_variables: tuple[str, Mapping[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> str:
    """A prefix in an object store, which this process can use."""
    scheme, variables = object_store_variables
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return f"{scheme}://{BUCKET}/{tmp_path.name}"
