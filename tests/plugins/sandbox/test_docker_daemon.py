"""The daemon and its images: what a user reads where there is none, and images of files."""

from __future__ import annotations

import builtins
import gc
import io
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from loadgen.plugins.sandbox.docker_daemon import connect, ensure_image
from loadgen.plugins.sandbox.opening import open_sandbox
from loadgen.sessions.error_exit_codes import exit_code
from tests.containers.daemon import docker_client
from workloads.errors import ExtraError, SourceError
from workloads.sandbox_contract import SandboxError, SandboxSpec


def test_no_daemon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What to do is said, and no socket stays open."""
    pytest.importorskip("docker", reason="needs the extra `docker`")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(SandboxError, match=r"no Docker daemon answers \(.*No such file.*start the daemon"):
        connect()
    gc.collect()  # An open socket would warn now.


def test_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named."""
    load = builtins.__import__

    def without_docker(name: str, *rest: Any) -> Any:
        if name == "docker":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_docker)
    with pytest.raises(ExtraError, match=r"pip install 'llm-loadgen\[docker\]'") as error:
        connect()
    assert exit_code(error.value) == 3


@pytest.fixture(scope="module")
def small_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root file system of a few programs of this machine, with the libraries that they need."""
    path = tmp_path_factory.mktemp("image") / "root.tar"
    programs = [Path("/bin") / name for name in ("sh", "cat", "ls", "kill")]
    with tarfile.open(path, "w") as tar:
        for folder in ("tmp", "proc", "sys", "dev", "work", "etc"):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(member)
        added = set()
        for program in programs:
            listed = subprocess.run(
                ["/usr/bin/ldd", program.resolve()], capture_output=True, text=True, check=True
            )
            libraries = [word for word in listed.stdout.split() if word.startswith("/")]
            for needed in [str(program), *libraries]:
                if needed not in added:
                    added.add(needed)
                    data = Path(needed).read_bytes()
                    member = tarfile.TarInfo(needed.lstrip("/"))
                    member.size, member.mode = len(data), 0o755
                    tar.addfile(member, io.BytesIO(data))
    return path


@pytest.mark.docker
def test_an_image_of_a_tarball_and_one_of_a_dockerfile(small_root: Path) -> None:
    """Both run; a second use makes no second image."""
    client = docker_client()
    names = []
    try:
        imported = ensure_image(client, str(small_root))
        names.append(imported)
        assert ensure_image(client, str(small_root)) == imported
        (small_root.parent / "Dockerfile").write_text("FROM scratch\nADD root.tar /\nENV MADE=here\n")
        folder = small_root.parent
        names += [ensure_image(client, str(place)) for place in (folder, folder / "Dockerfile")]
        assert names[1] == names[2]
        with open_sandbox(SandboxSpec("docker", image=names[1])) as sandbox:
            assert sandbox.exec("echo $MADE; ls /bin").stdout.split() == ["here", "cat", "kill", "ls", "sh"]
    finally:
        for name in set(names):
            client.remove_image(name, force=True)
        client.close()


@pytest.mark.docker
@pytest.mark.parametrize(
    ("image", "message"),
    [
        ("nonesuch.tar", "nonesuch.tar: No such file"),
        ("nonesuch/Dockerfile", "no such file"),
        ("localhost:1/nonesuch:1", "the image is not here and cannot be pulled; name another"),
    ],
)
def test_an_image_that_is_not_there(image: str, message: str) -> None:
    """The message says which, and what an image can be."""
    client = docker_client()
    try:
        with pytest.raises((SandboxError, SourceError), match=message):
            ensure_image(client, image)
    finally:
        client.close()


@pytest.mark.docker
def test_a_dockerfile_that_does_not_build(tmp_path: Path) -> None:
    """What the daemon says is passed on."""
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY nonesuch /\n")
    client = docker_client()
    try:
        with pytest.raises(SandboxError, match=r"the image cannot be built: .*nonesuch"):
            ensure_image(client, str(tmp_path))
    finally:
        client.close()
