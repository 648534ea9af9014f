"""The agent with tools of this program: what its tools do, and what is refused."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from io import BytesIO
from zipfile import ZipFile

import pytest

from loadgen.plugins.agents.presets import agent_tools
from loadgen.plugins.agents.tool_agent import TOOLS, answer_with_tools
from loadgen.plugins.sandbox.opening import SandboxPool
from loadgen.sessions.errors import UsageError
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, saying
from workloads.sample import Sample
from workloads.sandbox_contract import SandboxSpec


def results(*calls: tuple[str, dict[str, str]]) -> list[str | None]:
    """The results of calls of tools, one turn each; the answer after them ends the episode."""
    ask = ScriptedAsk([*(calling(call) for call in calls), saying("done")])

    async def play() -> None:
        async with SandboxPool().on_demand(SandboxSpec()) as sandbox:
            result = await answer_with_tools(Sample(0, "go"), ask, sandbox, tuple(TOOLS))
            assert result.messages[-1]["content"] == "done"

    asyncio.run(play())
    assert [tool["function"]["name"] for tool in ask.requests[0].tools] == sorted(TOOLS)
    return [record.result for record in ask.tools]


def test_its_tools_work_in_one_sandbox() -> None:
    """What one writes, another reads; a call that fails says so, and the model goes on."""
    assert results(
        ("file_write", {"path": "notes/a.txt", "content": "one\ntwo\n"}),
        ("bash", {"command": "wc -l < notes/a.txt && echo three >> notes/a.txt"}),
        ("file_read", {"path": "notes/a.txt"}),
        ("calculator", {"expression": "(2 + 3) * 4.5"}),
    ) == ["notes/a.txt: 8 characters written", "2\n[exit code 0]", "one\ntwo\nthree\n", "22.5"]


NAMESPACE = 'xmlns="urn:x"'
DOCUMENTS = {
    "note.docx": {"word/document.xml": f"<d {NAMESPACE}><p><r><t>One</t></r><r><t> line</t></r></p><p/></d>"},
    "talk.pptx": {
        f"ppt/slides/slide{number}.xml": f"<s {NAMESPACE}><p><t>Slide {number}</t></p></s>"
        for number in (10, 9)
    },
    "table.xlsx": {
        "xl/workbook.xml": f'<w {NAMESPACE}><sheet name="Prices"/></w>',
        "xl/sharedStrings.xml": f"<s {NAMESPACE}><si/><si><r><t>la</t></r><r><t>mp</t></r></si></s>",
        "xl/worksheets/sheet1.xml": (
            f'<s {NAMESPACE}><row><c r="A1" t="s"><v>1</v></c><c r="C1"><f>1+1</f><v>2</v></c></row>'
            '<row><c r="A2" t="inlineStr"><is><t>desk</t></is></c><c r="AA2"><v>3.5</v></c></row></s>'
        ),
    },
    "broken.xlsx": None,
}
TEXTS = {
    "note.docx": "One line\n[exit code 0]",
    "talk.pptx": "# slide 1\nSlide 9\n# slide 2\nSlide 10\n[exit code 0]",
    "table.xlsx": "# Prices\nlamp\t\t2\ndesk" + 26 * "\t" + "3.5\n[exit code 0]",
    "broken.xlsx": "[exit code 1]",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_read_as_text(name: str) -> None:
    """By a program in the sandbox; one that is damaged is the model's to deal with."""
    stored = BytesIO()
    with ZipFile(stored, "w") as archive:
        for path, text in (DOCUMENTS[name] or {}).items():
            archive.writestr(path, text)
    data = stored.getvalue() if DOCUMENTS[name] else b"PK"
    write = f"echo {b64encode(data).decode()} | base64 -d > {name}"
    _, text = results(("bash", {"command": write}), ("file_read", {"path": name}))
    assert text is not None
    assert text.splitlines()[-1 if DOCUMENTS[name] is None else 0 :] == TEXTS[name].splitlines()


def test_a_tool_that_fails_is_a_result() -> None:
    """Neither ends the episode, nor leaves this program's process."""
    failed = results(
        ("calculator", {"expression": "__import__('os')"}),
        ("calculator", {"expression": "9**9**9**9"}),
        ("calculator", {"text": "1"}),
    )
    assert all(result is not None and result.startswith("Error: ") for result in failed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@tools calculator,bash", ("calculator", "bash")),
        ("@tools  calculator, bash calculator", ("calculator", "bash")),
        ("@toolset calculator", ()),
        ("my-agent @tools", ()),
    ],
)
def test_how_tools_are_named(text: str, expected: tuple[str, ...]) -> None:
    """By commas or spaces, each once."""
    assert agent_tools(text, may_run_commands=True) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@tools", "no tool is named; the tools are bash, calculator, file_read, file_write"),
        ("@tools bahs", "unknown tool 'bahs'; did you mean 'bash'"),
        ("@tools calculator,bash", "bash needs a sandbox: add --allow-code-execution"),
    ],
)
def test_tools_that_cannot_be_used(text: str, message: str) -> None:
    """Known before the first request."""
    with pytest.raises(UsageError, match=message):
        agent_tools(text, may_run_commands=False)
    assert agent_tools("@tools calculator", may_run_commands=False) == ("calculator",)
