"""A file `loadgen` for shells, whose processes are forked from one that has imported the program."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from tests.preloaded import Preloaded

PROGRAM = '''\
#!{python} -IS
"""Have the program started with these arguments, folder, environment and outputs; end as it ends."""
import json, os, signal, socket, struct, sys

NUMBER = struct.Struct("i")
request = {{
    "arguments": sys.argv[1:],
    "cwd": os.getcwd(),
    "env": dict(os.environ),
    "leads_session": False,
    "limits": [],
    "fresh_children": False,
    "constants": {{}},
}}
body = json.dumps(request).encode()
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
report, theirs = socket.socketpair()
socket.send_fds(line, [NUMBER.pack(len(body))], [1, 2, theirs.fileno()])
theirs.close()
line.sendall(body)
pid, code = (NUMBER.unpack(report.recv(NUMBER.size, socket.MSG_WAITALL))[0] for _ in range(2))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
'''


class ProgramFile:
    """The file, while the context lasts.

    Args:
        preloaded: What starts the processes.

    Attributes:
        folder: The folder that it is alone in, for PATH.
    """

    def __init__(self, preloaded: Preloaded) -> None:
        self._preloaded = preloaded
        self._temporary = tempfile.TemporaryDirectory(prefix="loadgen-program-")
        self.folder = Path(self._temporary.name) / "bin"
        self._listening = socket.socket(socket.AF_UNIX)
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        address = f"{self._temporary.name}/line"
        self._listening.bind(address)
        self._listening.listen()
        self.folder.mkdir()
        program = self.folder / "loadgen"
        program.write_text(PROGRAM.format(python=sys.executable, address=address))
        program.chmod(0o755)
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listening.close()
        self._temporary.cleanup()

    def _accept(self) -> None:
        """Pass requests on, one after the other."""
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                header, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
                body = connection.recv(int.from_bytes(header, sys.byteorder), socket.MSG_WAITALL)
                self._preloaded.pass_on(header, body, descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
