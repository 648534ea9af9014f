"""The run of a command line, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import sys

from loadgen.cli.plain_command import plain_command
from loadgen.cli.terminal.streams import file_on_standard_output, mend_streams
from loadgen.sessions.arguments import refuse_empty, with_values
from loadgen.sessions.files.run_folder import give_back
from rulesets.exit_codes import ExitCode


def main() -> int:
    """Run the command line and return the exit code; a known error is printed and has an exit code.

    What it has written is flushed: the process may end at once.
    """
    mend_streams()
    try:
        code = _run()
    finally:
        give_back()
    try:
        sys.stdout.flush()
    except OSError as error:
        # Discard what is left in the buffer, or the interpreter would report the same error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return code or ExitCode.BROKEN_PIPE
        sys.stderr.write(f"error: the output cannot be written ({error.strerror})\n")
        code = code or ExitCode.SETUP
    return code


def _run() -> int:
    try:
        sys.argv[1:] = with_values(sys.argv[1:])
        refuse_empty(sys.argv[1:])
        with file_on_standard_output(sys.argv[1:]) as arguments:
            plain = plain_command(arguments)
            if plain is None:
                from loadgen.cli.typer_application import run

                code = run(arguments)
            else:
                code = plain()
    except SystemExit as end:
        # A terminal library ends the program like this when its output is closed.
        if isinstance(end.__context__, BrokenPipeError):
            return ExitCode.BROKEN_PIPE
        return end.code if isinstance(end.code, int) else ExitCode.PASS
    except BrokenPipeError:
        return ExitCode.BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 (whatever it is, it must not end like a gate that failed)
        from loadgen.cli.command_line import explained
        from loadgen.cli.command_table import commands

        return explained(error, commands())
    return code if isinstance(code, int) else ExitCode.PASS
