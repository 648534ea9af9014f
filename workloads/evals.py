"""Eval functions: scorers that a user has written, as `module:function`, found from the current folder.

There are two kinds, distinguished by the name of the first parameter, each with or without `async`:

    def score(solution_str, ground_truth, extra_info=None, **kw) -> float
    def score(messages, ground_truth, metadata, **kw) -> float

`solution_str` is the answer without its reasoning; `messages` are the question's and, last, the answer with
its calls of tools. `ground_truth` is that of the row; of a benchmark that has none, its `answer`, else all of
its reference. `extra_info` and `metadata` are the row: its prompts, its `ground_truth`, its other columns; a
function that does not take them is not given them. Everything is given by name.

A number is a score, and true and false are 1 and 0. What else a function returns or raises says nothing of
the answer: the answer then has no score, and the reason is kept.
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from copy import deepcopy
from functools import partial
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import EvalError, did_you_mean
from workloads.sample import last_text
from workloads.score import Score, failed, graded
from workloads.scorer import Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import ModuleType

    from workloads.answer import Answer

_TRUTH: Final = "ground_truth"
_CONTEXT: Final[Mapping[str, str]] = {"solution_str": "extra_info", "messages": "metadata"}
"""The kinds by their first parameter, with the name of the last."""

_SIGNATURES: Final = (
    "(solution_str, ground_truth, extra_info=None, **kw) or (messages, ground_truth, metadata, **kw)"
)
_LONGEST: Final = 300


def eval_scorer(text: str, folder: Path | None = None) -> Scorer:
    """Make a scorer of an eval function.

    Returns:
        A scorer whose definition has the checksum of the module's file: it is another one when the file
        is.

    Raises:
        EvalError: The module cannot be imported, has no such function, or one with other parameters.
    """
    folder = (folder or Path.cwd()).resolve()
    function = eval_function(text, folder)
    judge = partial(_judge, function, _taken(text, function))
    module = sys.modules[text.rpartition(":")[0]]
    return Scorer(text, 1, partial(_grade, text, folder, judge), f"{text}, {_checksum(module)}")


def eval_function(text: str, folder: Path | None = None) -> Callable[..., Any]:
    """Import an eval function, `module:function`, or raise `EvalError`."""
    name, colon, attribute = text.rpartition(":")
    if not colon or not attribute.isidentifier() or not all(part.isidentifier() for part in name.split(".")):
        raise EvalError(f"--eval {text}: no eval function; write MODULE:FUNCTION, as in graders:exact")
    return _function(text, _module(text, name, (folder or Path.cwd()).resolve()), attribute)


def _module(text: str, name: str, folder: Path) -> ModuleType:
    """Import a module, mostly from a folder."""
    if str(folder) not in sys.path:
        # Not before the others: a file called random.py would be everybody's `random`, also in the processes
        # that are started from here.
        sys.path.append(str(folder))
        importlib.invalidate_caches()
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise EvalError(
            f"--eval {text}: the module {name} cannot be imported: {_described(error, folder)}"
        ) from error
    first = folder / name.partition(".")[0]
    theirs = Path(getattr(module, "__file__", None) or "").resolve()
    if (first.is_dir() or first.with_suffix(".py").is_file()) and not theirs.is_relative_to(folder):
        raise EvalError(
            f"--eval {text}: another module is called {name} too ({theirs}); rename the one in {folder}"
        )
    return module


def _function(text: str, module: ModuleType, attribute: str) -> Callable[..., Any]:
    function = getattr(module, attribute, None)
    if callable(function):
        checked: Callable[..., Any] = function
        return checked
    if function is not None:
        raise EvalError(
            f"--eval {text}: {attribute} is {type(function).__name__}, where a function should be"
        )
    there = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    raise EvalError(
        f"--eval {text}: {module.__file__} has no function {attribute!r}{did_you_mean(attribute, there)}"
    )


def _taken(text: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameter names of a function, among the supported arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise EvalError(
            f"--eval {text}: its parameters cannot be read ({error}); write {_SIGNATURES}"
        ) from error
    first = next(iter(signature.parameters), "")
    if first not in _CONTEXT:
        raise EvalError(f"--eval {text}: its first parameter is {first or 'missing'}; write {_SIGNATURES}")
    for names in ((first, _TRUTH, _CONTEXT[first]), (first, _TRUTH)):
        try:
            signature.bind(**dict.fromkeys(names))
        except TypeError:
            continue
        return names
    raise EvalError(f"--eval {text}: its parameters are {signature}; write {_SIGNATURES}")


def _checksum(module: ModuleType) -> str:
    """The checksum of a module's file, in words."""
    path = Path(module.__file__ or "")
    return f"SHA-256 {sha256(path.read_bytes()).hexdigest()}" if path.is_file() else "a module without a file"


# Grading…


def _grade(
    text: str,
    folder: Path,
    judge: Callable[[Reference, Answer], object],
    reference: Reference,
    answer: Answer,
) -> Score:
    """Have a function judge an answer."""
    row = f"row {reference['id']}: " if "id" in reference else ""
    try:
        value = judge(reference, answer)
        if isinstance(value, Real) and math.isfinite(value):
            return graded(float(value))
        problem = f"returned {_cut(repr(value))}, where a number should be"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 (it is the user's: it may raise anything, and ends its row only)
        problem = f"raised {_described(error, folder)}"
    return failed(f"{row}{text} {problem}")


def _judge(
    function: Callable[..., Any], names: Sequence[str], reference: Reference, answer: Answer
) -> object:
    """Call a function with copies, which the function may modify."""
    arguments = _arguments(reference, answer)
    value: object = function(**deepcopy({name: arguments[name] for name in names}))
    if not inspect.isawaitable(value):
        return value
    import asyncio

    return asyncio.run(_awaited(value))


async def _awaited(value: Awaitable[object]) -> object:
    return await value


def _arguments(reference: Reference, answer: Answer) -> Mapping[str, Any]:
    """Everything that a function may be given, by name."""
    truth = reference.get(_TRUTH, reference.get("answer", reference))
    row = {
        "user_prompt": last_text([message for message in answer.messages if message.get("role") == "user"]),
        "system_prompt": last_text(
            [message for message in answer.messages if message.get("role") == "system"]
        ),
        _TRUTH: truth,
        **reference.get("more", reference),
    }
    return {
        "solution_str": answer.text,
        "messages": _messages(answer),
        _TRUTH: truth,
        "extra_info": row,
        "metadata": row,
    }


def _messages(answer: Answer) -> list[Any]:
    """The whole conversation; of an episode as returned by the episode's code."""
    if answer.episode is not None and answer.episode.messages:
        return list(answer.episode.messages)
    return [*answer.messages, _message(answer)]


def _message(answer: Answer) -> dict[str, Any]:
    """An answer as a chat message."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    return {**message, "tool_calls": list(answer.tool_calls)} if answer.tool_calls else message


def _described(error: BaseException, folder: Path) -> str:
    """An error, with the line in the user's code."""
    place, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(folder):
            place = f" ({path.relative_to(folder)}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {_cut(str(error))}{place}"


def _cut(text: str) -> str:
    """A text on one line, and no longer than a message may be."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
