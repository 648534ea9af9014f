"""The Docker daemon: the connection, and the images of sandboxes."""

from __future__ import annotations

import hashlib
import socket
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import ExtraError, SourceError
from workloads.sandbox_contract import DEFAULT_IMAGE, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TIMEOUT_S: Final = 120
"""The most that the daemon may take for an answer; builds and pulls send theirs bit by bit."""
_ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.xz")
_REPOSITORY: Final = "llm-loadgen-sandbox"
_PIECE: Final = 2**20
_NO_DAEMON: Final = (
    "start the daemon (`systemctl start docker`), add the user to the group `docker`, or name "
    "another daemon with DOCKER_HOST"
)

_BUILDING: Final[defaultdict[str, Lock]] = defaultdict(Lock)
"""Of each image that this process builds."""


class NoClientError(ExtraError, SandboxError):
    """The package with the client is not installed: no container can be opened."""


def connect() -> Any:
    """A client of the daemon that DOCKER_HOST names, else of this machine's.

    Raises:
        NoClientError: The extra `docker` is not installed.
        SandboxError: No daemon answers.
    """
    try:
        import docker
    except ImportError as error:
        raise NoClientError(
            "containers take a package that is not installed: pip install 'llm-loadgen[docker]'"
        ) from error
    with docker_errors("no Docker daemon answers"):
        _require_listener(docker.from_env(version=docker.constants.DEFAULT_DOCKER_API_VERSION).api)
        return docker.from_env(timeout=_TIMEOUT_S).api


def _require_listener(client: Any) -> None:
    """Connect once to the socket of an unused client, which would otherwise stay open."""
    path = getattr(client.get_adapter(client.base_url), "socket_path", None)
    client.close()
    if path is not None:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)


@contextmanager
def docker_errors(what: str) -> Iterator[None]:
    """Convert errors of the client or the daemon to `SandboxError`."""
    import requests
    from docker.errors import APIError, DockerException

    try:
        yield
    except APIError as error:
        raise SandboxError(f"{what}: {error.explanation or error}") from error
    except (DockerException, requests.RequestException, OSError) as error:
        raise SandboxError(f"{what} ({_reason(error)}): {_NO_DAEMON}") from error


def _reason(error: BaseException) -> str:
    """The innermost cause, in a line."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return " ".join(str(error).split()) or type(error).__name__


def socket_of(stream: Any) -> socket.socket:
    """The socket of a connection that the client has given as a stream."""
    connection: socket.socket = getattr(stream, "_sock", stream)
    return connection


def close_stream(stream: Any) -> None:
    """Close a stream with the response and the socket, which garbage collection would close late."""
    connection = socket_of(stream)
    if (response := getattr(stream, "_response", None)) is not None:
        response.close()  # before the stream: from Python 3.13 on the reverse order prints an error
    stream.close()
    connection.close()


def ensure_image(client: Any, image: str) -> str:
    """Pull, build or import an image if absent; return the name or id, or raise `SandboxError`."""
    name = image or DEFAULT_IMAGE
    path = Path(name)
    if name.endswith(_ARCHIVES):
        return _imported(client, path)
    if path.is_dir() or path.name == "Dockerfile" or path.suffix == ".dockerfile":
        return _built(client, path)
    if not _is_here(client, name):
        _pull(client, name)
    return name


def image_facts(image: str) -> Mapping[str, str]:
    """An image for the log: the given name, and the id, which identifies the version."""
    client = connect()
    try:
        name = ensure_image(client, image)
        with docker_errors(f"{name}: the image cannot be looked up"):
            return {"image": image or DEFAULT_IMAGE, "id": client.inspect_image(name)["Id"]}
    finally:
        client.close()


def _is_here(client: Any, name: str) -> bool:
    from docker.errors import ImageNotFound

    with docker_errors(f"{name}: the image cannot be looked up"):
        try:
            client.inspect_image(name)
        except ImageNotFound:
            return False
    return True


def _pull(client: Any, name: str) -> None:
    tag = None if "@" in name or ":" in name.rpartition("/")[2] else "latest"
    with docker_errors(
        f"{name}: the image is not here and cannot be pulled; name another with --sandbox-image "
        "(an image, a folder with a Dockerfile, or a root file system as .tar)"
    ):
        client.pull(name, tag=tag)


def _imported(client: Any, path: Path) -> str:
    """The image of a root file system, by content: imported once."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
            name = f"{_REPOSITORY}:{digest}"
            if not _is_here(client, name):
                file.seek(0)
                with docker_errors(f"{path}: cannot be imported as an image"):
                    client.import_image_from_data(
                        iter(lambda: file.read(_PIECE), b""), repository=_REPOSITORY, tag=digest
                    )
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    return name


def built_name(dockerfile: Path) -> str:
    """The name of the image that is built from a Dockerfile."""
    return f"{_REPOSITORY}:{hashlib.sha256(str(dockerfile.resolve()).encode()).hexdigest()[:16]}"


def _built(client: Any, path: Path) -> str:
    """The image of a Dockerfile; the daemon keeps the layers of earlier builds."""
    folder, file = (path, "Dockerfile") if path.is_dir() else (path.parent, path.name)
    if not (folder / file).is_file():
        raise SourceError(f"{folder / file}: no such file")
    tag = built_name(folder / file)
    # Two builds at once would make two images, of which one loses its name and stays.
    with _BUILDING[tag], docker_errors(f"{path}: the image cannot be built"):
        for step in client.build(path=str(folder), dockerfile=file, tag=tag, rm=True, decode=True):
            if "error" in step:
                raise SandboxError(f"{path}: the image cannot be built: {step['error'].strip()}")
    return tag
