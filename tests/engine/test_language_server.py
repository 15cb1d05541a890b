"""The language server, asked over its standard input and output by the client of pygls, as an editor asks it."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from tests.cli.test_mending import RIGHT as MENDED
from tests.code_rules import REPOSITORY

URI = "file:///work/model.py"
SCRIPT = """\
# Ω is no letter of ASCII.
import numpy as np
from tvm.script import ir as I, relax as R

LIMIT = np.float32(3)

@I.ir_module
class Module:
    @R.function
    def twice(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        return R.add(x, x)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        y = Module.twice(x)  # y is twice x, "y"
        z = R.nn.softmax(y, axis=-1)
        return R.multiply(z, y)
"""
RELAY = """\
#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  // %y is no use of %y
  let %y = nn.relu(%x);
  add(%y, %x)
}
"""


class Editor:
    """An editor with one text, and what the server said of it."""

    def __init__(self, client: LanguageClient, uri: str, text: str) -> None:
        self.client = client
        self.uri = uri
        self.text = text
        self.version = 1
        self.document = lsp.TextDocumentIdentifier(uri)
        self.published: asyncio.Queue[list[lsp.Diagnostic]] = asyncio.Queue()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # pyright: ignore[reportUntypedFunctionDecorator]  # so typed there
        def _publish(params: lsp.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(list(params.diagnostics))

    async def open(self) -> None:
        await self.client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
        self.client.initialized(lsp.InitializedParams())
        item = lsp.TextDocumentItem(self.uri, "relay" if self.uri.endswith(".relay") else "python", 1, self.text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, text: str) -> None:
        self.version, self.text = self.version + 1, text
        named = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [whole]))

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        return await asyncio.wait_for(self.published.get(), 60)

    def place(self, words: str, behind: str = "") -> lsp.Position:
        """Return where `words` stand, after `behind`; it is in characters, as these texts are read by the server."""
        at = self.text.index(words, self.text.index(behind) if behind else 0)
        line = self.text.count("\n", 0, at)
        return lsp.Position(line, at - (self.text.rfind("\n", 0, at) + 1))

    def words(self, places: list[lsp.Location] | None) -> list[tuple[int, str]]:
        """Return the lines of places and what stands there."""
        lines = self.text.split("\n")
        found = [item.range for item in places or []]
        return [(item.start.line, lines[item.start.line][item.start.character : item.end.character]) for item in found]

    def edited(self, edit: lsp.WorkspaceEdit | None) -> str:
        assert edit is not None
        assert edit.changes is not None
        lines = self.text.split("\n")
        for item in sorted(edit.changes[self.uri], key=lambda item: item.range.start, reverse=True):
            line = lines[item.range.start.line]
            start, end = item.range.start.character, item.range.end.character
            lines[item.range.start.line] = line[:start] + item.new_text + line[end:]
        return "\n".join(lines)


def edit(text: str, session: Callable[[Editor], Awaitable[Any]], uri: str = URI) -> None:
    """Hold a session with a server that has a text open."""

    async def held() -> None:
        client = LanguageClient("tests", "1")
        await client.start_io(sys.executable, "-m", "relax_core", "lsp", cwd=REPOSITORY)  # pyright: ignore[reportUnknownMemberType]  # so typed there
        try:
            editor = Editor(client, uri, text)
            await editor.open()
            await session(editor)
        finally:
            # The client waits for the process of the server, which has to end where an assertion fails as well.
            await asyncio.wait_for(client.shutdown_async(None), 30)
            client.exit(None)
            await client.stop()

    # Playwright keeps a loop in the thread of the tests.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(asyncio.wait_for(held(), 120))).result()


def test_a_text_is_checked_while_it_is_typed() -> None:
    async def session(editor: Editor) -> None:
        first = await editor.diagnostics()
        assert [item.code for item in first if item.severity == lsp.DiagnosticSeverity.Error] == []
        editor.change(SCRIPT.replace("softmax", "softmaxx"))
        editor.change(SCRIPT.replace("softmax", "softmox"))
        (error,) = [item for item in await editor.diagnostics() if item.severity == lsp.DiagnosticSeverity.Error]
        assert (error.code, error.source) == ("RS002", "relaxscope")
        assert "did you mean R.nn.softmax?" in error.message
        assert error.range.start == editor.place("R.nn.softmox")
        asked = lsp.CodeActionParams(editor.document, error.range, lsp.CodeActionContext([error]))
        every, fix = await editor.client.text_document_code_action_async(asked) or []
        assert isinstance(fix, lsp.CodeAction)
        assert editor.edited(fix.edit) == SCRIPT
        assert isinstance(every, lsp.CodeAction)
        assert (every.title, every.kind) == ("Fix all that are safe", lsp.CodeActionKind.SourceFixAll)
        assert every.edit is not None
        assert every.edit.changes is not None
        assert [item.new_text for item in every.edit.changes[editor.uri]] == [SCRIPT]
        for kind, count in ((lsp.CodeActionKind.SourceFixAll, 1), (lsp.CodeActionKind.QuickFix, 1), ("refactor", 0)):
            only = lsp.CodeActionParams(editor.document, error.range, lsp.CodeActionContext([error], [kind]))
            assert len(await editor.client.text_document_code_action_async(only) or []) == count
        editor.change(SCRIPT)
        assert all(item.severity == lsp.DiagnosticSeverity.Hint for item in await editor.diagnostics())
        editor.client.text_document_did_close(lsp.DidCloseTextDocumentParams(editor.document))
        assert await editor.diagnostics() == []

    edit(SCRIPT, session)


ELSEWHERE = {
    "Declare k": ("            k = T.int64()\n", ""),
    "Add c to R.output": ("R.output(a, d, c)", "R.output(a, d)"),
    "Write @R.function": ("    @R.function\n", ""),
    "Write @I.ir_module": ("@I.ir_module\n", ""),
    "Write R.output(e)": ("            R.output(e)\n", ""),
}


def test_a_mend_may_stand_elsewhere_than_its_diagnostic() -> None:
    async def session(editor: Editor) -> None:
        await editor.diagnostics()
        for title, (right, mistake) in ELSEWHERE.items():
            editor.change(MENDED.replace(right, mistake))
            error, *_ = [item for item in await editor.diagnostics() if item.severity == lsp.DiagnosticSeverity.Error]
            quick = lsp.CodeActionContext([error], [lsp.CodeActionKind.QuickFix])
            asked = lsp.CodeActionParams(editor.document, error.range, quick)
            (fix,) = await editor.client.text_document_code_action_async(asked) or []
            assert isinstance(fix, lsp.CodeAction)
            assert (fix.title, editor.edited(fix.edit)) == (title, MENDED)
            assert list(fix.diagnostics or ()) == [error]

    edit(MENDED, session)


def test_python_without_a_module_is_left_alone() -> None:
    async def session(editor: Editor) -> None:
        assert await editor.diagnostics() == []
        editor.change("from tvm.script import relax as R\nx = (")
        assert [item.severity for item in await editor.diagnostics()] == [lsp.DiagnosticSeverity.Error]

    edit("import os\nx = (", session)


def test_names_are_explained_found_and_renamed() -> None:
    async def session(editor: Editor) -> None:
        client = editor.client
        hover = await client.text_document_hover_async(lsp.HoverParams(editor.document, editor.place("y, axis")))
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert hover.contents.value == "```\ny: (n, 4) f32\n```\nvariable"
        operator = lsp.HoverParams(editor.document, editor.place("softmax"))
        hover = await client.text_document_hover_async(operator)
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert "axis" in hover.contents.value

        use = editor.place("twice(x)", "def main")
        found = await client.text_document_definition_async(lsp.DefinitionParams(editor.document, use))
        assert isinstance(found, lsp.Location)
        assert editor.words([found]) == [(9, "twice")]

        context = lsp.ReferenceContext(include_declaration=False)
        asked = lsp.ReferenceParams(context, editor.document, editor.place("y = Module"))
        places = await client.text_document_references_async(asked)
        assert editor.words(list(places or [])) == [(15, "y"), (16, "y")]

        for words, name, old, new in (
            ("twice(x)  #", "double", "twice(x", "double(x"),
            ('"n", 4), "float32")) -> R.Tensor', "rows", '"n"', '"rows"'),
        ):
            at = editor.place(words, "def main" if name == "double" else "def twice")
            at = lsp.Position(at.line, at.character + 1)
            made = editor.edited(await client.text_document_rename_async(lsp.RenameParams(editor.document, at, name)))
            if name == "double":
                assert made == SCRIPT.replace(old, new)
            else:
                # The dimension of one function is not that of the other.
                head, tail = SCRIPT.split("    @R.function\n    def main")
                assert made == head.replace(old, new) + "    @R.function\n    def main" + tail

    edit(SCRIPT, session)


@pytest.mark.parametrize(
    ("name", "why"),
    [("z", "z is there already"), ("1y", "'1y' is no name"), ("lambda", "the text would have errors")],
    ids=["taken", "no name", "a keyword"],
)
def test_a_name_that_does_not_do_is_refused(name: str, why: str) -> None:
    async def session(editor: Editor) -> None:
        asked = lsp.RenameParams(editor.document, editor.place("y = Module"), name)
        with pytest.raises(JsonRpcException, match=why):
            await editor.client.text_document_rename_async(asked)

    edit(SCRIPT, session)


def test_what_may_be_written_is_offered() -> None:
    async def session(editor: Editor) -> None:
        await editor.diagnostics()
        lines = SCRIPT.split("\n")
        lines[16] = "        return R.nn.soft"
        editor.change("\n".join(lines))

        async def offers(line: int, column: int) -> dict[str, lsp.CompletionItem]:
            asked = lsp.CompletionParams(editor.document, lsp.Position(line, column))
            found = await editor.client.text_document_completion_async(asked)
            items = found.items if isinstance(found, lsp.CompletionList) else found or []
            return {item.label: item for item in items}

        operators = await offers(16, len(lines[16]))
        assert {"nn.softmax", "nn.softplus"} <= operators.keys()
        assert all(item.startswith("nn.soft") for item in operators)
        written = operators["nn.softmax"].text_edit
        assert isinstance(written, lsp.TextEdit)
        assert (written.range.start.character, written.new_text) == (17, "nn.softmax")
        lines[16] = "        return "
        editor.change("\n".join(lines))
        assert {"x", "y", "z", "main", "twice"} <= (await offers(16, len(lines[16]))).keys()
        assert {"float32", "int8"} <= (await offers(13, editor.place('float32")) ->', "def main").character)).keys()

    edit(SCRIPT, session)


def test_types_folds_and_symbols_are_shown() -> None:
    async def session(editor: Editor) -> None:
        client, whole = editor.client, lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(editor.document, whole)) or []
        assert [(item.position.line, item.position.character, item.label) for item in hints] == [
            (14, 9, ": (n, 4) f32"),
            (15, 9, ": (n, 4) f32"),
        ]
        folds = await client.text_document_folding_range_async(lsp.FoldingRangeParams(editor.document)) or []
        assert [(item.start_line, item.end_line) for item in folds] == [(7, 16), (9, 10), (13, 16)]
        symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(editor.document)) or []
        assert [item.name for item in symbols] == ["twice", "x", "main", "x", "y", "z"]

    edit(SCRIPT, session)


def test_places_in_lines_with_tabs_are_those_of_the_editor() -> None:
    text = re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), SCRIPT, flags=re.MULTILINE)

    async def session(editor: Editor) -> None:
        client, whole = editor.client, lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        await editor.diagnostics()
        editor.change(text.replace("softmax", "softmox"))
        (error,) = [item for item in await editor.diagnostics() if item.severity == lsp.DiagnosticSeverity.Error]
        assert error.range.start == editor.place("R.nn.softmox")
        asked = lsp.CodeActionParams(editor.document, error.range, lsp.CodeActionContext([error]))
        _, fix = await client.text_document_code_action_async(asked) or []
        assert isinstance(fix, lsp.CodeAction)
        assert editor.edited(fix.edit) == text
        editor.change(text)
        await editor.diagnostics()
        use = lsp.DefinitionParams(editor.document, editor.place("y, axis"))
        found = await client.text_document_definition_async(use)
        assert isinstance(found, lsp.Location)
        assert found.range.start == editor.place("y = Module")
        hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(editor.document, whole)) or []
        assert [(item.position.line, item.position.character) for item in hints] == [(14, 3), (15, 3)]
        folds = await client.text_document_folding_range_async(lsp.FoldingRangeParams(editor.document)) or []
        assert [(item.start_line, item.end_line) for item in folds] == [(7, 16), (9, 10), (13, 16)]

    edit(text, session)


def test_relay_is_read_as_well() -> None:
    async def session(editor: Editor) -> None:
        assert await editor.diagnostics() == []
        hover = await editor.client.text_document_hover_async(lsp.HoverParams(editor.document, editor.place("nn.relu")))
        assert hover is not None
        asked = lsp.RenameParams(editor.document, editor.place("%y = nn"), "%kept")
        made = editor.edited(await editor.client.text_document_rename_async(asked))
        assert made == RELAY.replace("let %y", "let %kept").replace("add(%y", "add(%kept")
        with pytest.raises(JsonRpcException, match="begins with %"):
            await editor.client.text_document_rename_async(lsp.RenameParams(editor.document, asked.position, "kept"))

    edit(RELAY, session, "file:///work/model.relay")


@pytest.mark.parametrize(
    ("typed", "label", "active"),
    [
        ("R.nn.softmax(", "data", "data: tensor"),
        ("R.nn.softmax(y, ", "axis", "axis: int64 = -1"),
        ("R.nn.conv2d(y, R.add(x, y), groups=", "groups", "groups: int64 = 1"),
        ("R.nn.conv2d(y, y, [1, 2], (3, ", "padding", "padding: int64[] = [0, 0]"),
        ('R.nn.conv2d(y, y, data_layout="N, (C', "data_layout", 'data_layout: string = "NCHW"'),
        ("R.add(\n            # of x, y, z (\n            x, ", "x2", "x2: tensor"),
        ("Module.twice(", "twice", "(n, 4) f32"),
        ("R.add(x, x, ", "add", ""),
    ],
)
def test_the_parameter_that_is_written_is_told(typed: str, label: str, active: str) -> None:
    text = SCRIPT.replace("R.nn.softmax(y, axis=-1)", typed)
    before = text[: text.index(typed) + len(typed)]
    caret = lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)

    async def session(editor: Editor) -> None:
        await editor.diagnostics()
        editor.change(text)
        found = await editor.client.text_document_signature_help_async(lsp.SignatureHelpParams(editor.document, caret))
        assert found is not None
        (shown,) = found.signatures
        assert label in shown.label
        assert found.active_parameter is not None
        places = [item.label for item in shown.parameters or []]
        written = [shown.label[place[0] : place[1]] for place in places if not isinstance(place, str)]
        assert (written[found.active_parameter] if found.active_parameter < len(written) else "") == active

    edit(SCRIPT, session)


def test_no_signature_is_told_outside_of_a_call() -> None:
    async def session(editor: Editor) -> None:
        for words in ("import numpy", "y = Module", "# y is twice"):
            asked = lsp.SignatureHelpParams(editor.document, editor.place(words))
            assert await editor.client.text_document_signature_help_async(asked) is None

    edit(SCRIPT, session)


SHAPES = SCRIPT.replace('  # y is twice x, "y"', "")
TWO_MODULES = SHAPES + SHAPES[SHAPES.index("@I.ir_module") :].replace("Module", "Other")
OPTIONS = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
UNTIDY = """\
from tvm.script import ir as I, relax as R

LIMIT =   3  # stays

@I.ir_module
class Model:


    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
    ) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        y = R.add(x,
            x)

        return   y

print( LIMIT )
"""


def test_a_module_is_formatted_as_it_is_printed_and_the_rest_stays() -> None:
    async def session(editor: Editor) -> None:
        await editor.diagnostics()
        asked = lsp.DocumentFormattingParams(editor.document, OPTIONS)
        (change,) = await editor.client.text_document_formatting_async(asked) or []
        made = change.new_text
        assert made.startswith(
            "from tvm.script import ir as I, relax as R\n\nLIMIT =   3  # stays\n\n@I.ir_module\nclass Model:\n    @R"
        )
        assert made.endswith("        y = R.add(x, x)\n        return y\n\nprint( LIMIT )\n")
        assert (change.range.start, change.range.end) == (lsp.Position(0, 0), lsp.Position(UNTIDY.count("\n"), 0))
        editor.change(made)
        assert all(item.severity != lsp.DiagnosticSeverity.Error for item in await editor.diagnostics())
        assert not await editor.client.text_document_formatting_async(asked)

    edit(UNTIDY, session)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SCRIPT, "line 15 has a comment"),
        (SHAPES.replace("R.add(x, x)", "R.add(x, q)"), "line 11 has an error"),
        (TWO_MODULES, "a file is formatted that holds one module"),
        (SHAPES, "printed, it would use T, which the file does not import"),
        ("x = 1\n", "there is no module"),
    ],
    ids=["a comment", "an error", "two modules", "a name that is not imported", "no module"],
)
def test_a_text_is_not_formatted_where_something_would_be_lost(text: str, why: str) -> None:
    async def session(editor: Editor) -> None:
        await editor.diagnostics()
        with pytest.raises(JsonRpcException, match=f"Not formatted: {why}"):
            await editor.client.text_document_formatting_async(lsp.DocumentFormattingParams(editor.document, OPTIONS))

    edit(text, session)


def test_relay_is_formatted_and_keeps_its_comments() -> None:
    async def session(editor: Editor) -> None:
        await editor.diagnostics()
        asked = lsp.DocumentFormattingParams(editor.document, OPTIONS)
        with pytest.raises(JsonRpcException, match="Not formatted: line 3 has a comment"):
            await editor.client.text_document_formatting_async(asked)
        editor.change(RELAY.replace("  // %y is no use of %y\n", "").replace("let %y =", "let   %y="))
        (change,) = await editor.client.text_document_formatting_async(asked) or []
        assert "let %y = nn.relu(%x);" in change.new_text

    edit(RELAY, session, "file:///work/model.relay")
