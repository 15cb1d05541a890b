"""The command `lsp`: a language server on standard input and output."""

import argparse
import asyncio
import re
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from msgspec.structs import replace
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.workspace import PositionCodec

from relax_core.cli.integration.language.document import Document, LineRange, holds_program
from relax_core.cli.integration.language.formatting import NotFormattedError, formatted
from relax_core.cli.integration.language.places import name_as_given, problem_as_given
from relax_core.cli.integration.language.signatures import signature_at
from relax_core.cli.integration.mending import mended
from relax_core.cli.terminal import Engine
from relax_core.engine.protocol import RELEASE, Check, Failure, Open, Program, VocabularyOf
from relax_core.present.catalog_of.catalog_models import Term
from relax_core.present.models import Mend, NameFact, Problem

_QUIET_SECONDS: Final = 0.15
"""A text is read once nobody has typed for so long."""
_SEVERITIES: Final = MappingProxyType(
    {
        "error": lsp.DiagnosticSeverity.Error,
        "warning": lsp.DiagnosticSeverity.Warning,
        "note": lsp.DiagnosticSeverity.Hint,
    }
)
_KINDS: Final = MappingProxyType(
    {
        "function": lsp.CompletionItemKind.Function,
        "variable": lsp.CompletionItemKind.Variable,
        "dimension": lsp.CompletionItemKind.TypeParameter,
        "operator": lsp.CompletionItemKind.Method,
        "type": lsp.CompletionItemKind.Class,
        "dtype": lsp.CompletionItemKind.EnumMember,
        "device": lsp.CompletionItemKind.EnumMember,
        "keyword": lsp.CompletionItemKind.Keyword,
    }
)
_NAME: Final = re.compile(r"[@%]?[^\W\d]\w*")


class Documents:
    """The texts that are open in an editor, each read by the engine behind the last change."""

    def __init__(self, engine: Engine, server: LanguageServer) -> None:
        self.engine = engine
        self._server = server
        self._reading: dict[str, asyncio.Task[Document]] = {}
        self._terms: dict[str, tuple[Term, ...]] = {}

    def read(self, uri: str, *, at_once: bool) -> None:
        """Read a text that was opened or has changed; what was found in it before is out of date."""
        before = self._reading.pop(uri, None)
        if before is not None:
            before.cancel()
        self._reading[uri] = asyncio.create_task(self._read(uri, 0.0 if at_once else _QUIET_SECONDS))

    def close(self, uri: str) -> None:
        """Forget a text, and take its diagnostics away."""
        before = self._reading.pop(uri, None)
        if before is not None:
            before.cancel()
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    async def of(self, uri: str) -> Document:
        """Return what is known of a text, once its latest change is read."""
        while (task := self._reading.get(uri)) is not None:
            done, _ = await asyncio.wait((task,))
            if not next(iter(done)).cancelled():
                return task.result()
        return Document("", None)

    async def typed(self, uri: str) -> Document:
        """Return the text as it stands in the editor right now, with what is known of the last one that was read."""
        known = await self.of(uri)
        source = self._server.workspace.get_text_document(uri).source.replace("\r\n", "\n")
        return Document(source, known.code, known.problems, known.terms)

    async def _read(self, uri: str, delay: float) -> Document:
        await asyncio.sleep(delay)
        text = self._server.workspace.get_text_document(uri).source.replace("\r\n", "\n")
        path = unquote(urlsplit(uri).path)
        found = await self.read_text(text, path) if holds_program(text, path) else Document(text, None)
        diagnostics = [_diagnostic(item, found, self.codec, uri) for item in found.problems]
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))
        return found

    async def read_text(self, text: str, path: str) -> Document:
        """Ask the engine what is in a text."""
        view = await asyncio.to_thread(self.engine.request, Open(Program(text, PurePosixPath(path).name)))
        lines = text.split("\n")
        if isinstance(view, Failure):
            words = view.message or view.title
            problems = view.problems or (Problem("error", "", words, line=1, column=1),)
            return Document(text, None, tuple(problem_as_given(item, lines) for item in problems))
        language = "relay" if view.code.language == "relay" else "tvmscript"
        if language not in self._terms:
            words = await asyncio.to_thread(self.engine.request, VocabularyOf(language))
            self._terms[language] = () if isinstance(words, Failure) else words.terms
        code = replace(view.code, names=tuple(name_as_given(item, lines) for item in view.code.names))
        problems = tuple(problem_as_given(item, lines) for item in code.problems)
        return Document(text, code, problems, self._terms[language])

    @property
    def codec(self) -> PositionCodec:
        """Translates between characters and what the editor counts."""
        return self._server.workspace.position_codec

    def at(self, document: Document, position: lsp.Position) -> tuple[int, int]:
        """Return the line and the column, in characters, of a position of the editor."""
        found = self.codec.position_from_client_units(document.lines, position)
        return found.line, found.character


def _range(document: Document, place: LineRange, codec: PositionCodec) -> lsp.Range:
    start, end = (lsp.Position(place.line, column) for column in (place.start, place.end))
    return codec.range_to_client_units(document.lines, lsp.Range(start, end))


def _range_of(problem: Problem | Mend, document: Document, codec: PositionCodec) -> lsp.Range:
    start = lsp.Position(max(problem.line - 1, 0), max(problem.column - 1, 0))
    end = lsp.Position(max(problem.end_line - 1, start.line), max(problem.end_column - 1, 0))
    return codec.range_to_client_units(document.lines, lsp.Range(start, max(start, end)))


def _diagnostic(problem: Problem, document: Document, codec: PositionCodec, uri: str) -> lsp.Diagnostic:
    hint = f"\n{problem.hint}" if problem.hint else ""
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri, _range(document, LineRange(item.line - 1, item.column - 1, item.column - 1), codec)),
            item.message,
        )
        for item in problem.related
        if item.line
    ]
    return lsp.Diagnostic(
        _range_of(problem, document, codec),
        problem.message + hint,
        severity=_SEVERITIES[problem.severity],
        code=problem.code or None,
        source="relaxscope",
        related_information=related or None,
    )


def server_of(engine: Engine) -> LanguageServer:
    """Return a language server that asks `engine`."""
    server = LanguageServer("relaxscope", RELEASE)
    documents = Documents(engine, server)
    _add_texts(server, documents)
    _add_names(server, documents)
    _add_help(server, documents)
    _add_writing(server, documents)
    _add_views(server, documents)
    return server


def _add_texts(server: LanguageServer, documents: Documents) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def _opened(params: lsp.DidOpenTextDocumentParams) -> None:
        documents.read(params.text_document.uri, at_once=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def _changed(params: lsp.DidChangeTextDocumentParams) -> None:
        documents.read(params.text_document.uri, at_once=False)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def _closed(params: lsp.DidCloseTextDocumentParams) -> None:
        documents.close(params.text_document.uri)

    kinds = [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))
    async def _fixes(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        document = await documents.of(uri)
        wanted = params.context.only
        found: list[lsp.CodeAction] = []
        if wanted is None or any(lsp.CodeActionKind.SourceFixAll.startswith(kind) for kind in wanted):
            found += await _all_fixes(documents, document, uri)
        if wanted is not None and not any(lsp.CodeActionKind.QuickFix.startswith(kind) for kind in wanted):
            return found
        for problem in document.problems:
            where = _range_of(problem, document, documents.codec)
            mend = problem.mend
            if mend is not None and where.start <= params.range.end and params.range.start <= where.end:
                place = _range_of(mend, document, documents.codec)
                edit = lsp.WorkspaceEdit({uri: [lsp.TextEdit(place, mend.text)]})
                shown = _diagnostic(problem, document, documents.codec, uri)
                found.append(lsp.CodeAction(mend.title, lsp.CodeActionKind.QuickFix, [shown], edit=edit))
        return found


async def _all_fixes(documents: Documents, document: Document, uri: str) -> list[lsp.CodeAction]:
    """Return what mends all that is safe, as one action; nothing if there is nothing."""
    if not any(item.mend for item in document.problems):
        return []
    asked = Check(Program(document.text, PurePosixPath(unquote(urlsplit(uri).path)).name))
    made = await asyncio.to_thread(mended, documents.engine, asked)
    if isinstance(made, Failure) or not made.count:
        return []
    edit = lsp.WorkspaceEdit({uri: [_whole(documents, document, made.text)]})
    return [lsp.CodeAction("Fix all that are safe", lsp.CodeActionKind.SourceFixAll, edit=edit)]


def _whole(documents: Documents, document: Document, text: str) -> lsp.TextEdit:
    """Return the edit that puts another text in the place of all."""
    end = lsp.Position(len(document.lines) - 1, len(document.lines[-1]))
    whole = documents.codec.range_to_client_units(document.lines, lsp.Range(lsp.Position(0, 0), end))
    return lsp.TextEdit(whole, text)


def _add_names(server: LanguageServer, documents: Documents) -> None:
    async def named(uri: str, position: lsp.Position) -> tuple[Document, NameFact | None]:
        document = await documents.of(uri)
        return document, document.fact_at(*documents.at(document, position))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def _definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        document, fact = await named(params.text_document.uri, params.position)
        if fact is None or not fact.line:
            return None
        place = LineRange(fact.line - 1, fact.column - 1, fact.column - 1 + len(fact.name))
        return lsp.Location(params.text_document.uri, _range(document, place, documents.codec))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def _references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, fact = await named(params.text_document.uri, params.position)
        defined = (
            LineRange(fact.line - 1, fact.column - 1, fact.column - 1 + len(fact.name)) if fact is not None else None
        )
        return [
            lsp.Location(params.text_document.uri, _range(document, place, documents.codec))
            for place in (() if fact is None else document.occurrences(fact))
            if params.context.include_declaration or place != defined
        ]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def _prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document, fact = await named(params.text_document.uri, params.position)
        line, column = documents.at(document, params.position)
        places = () if fact is None else document.occurrences(fact)
        found = next((item for item in places if item.line == line and item.start <= column <= item.end), None)
        return None if found is None else _range(document, found, documents.codec)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def _rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        document, fact = await named(params.text_document.uri, params.position)
        if fact is None:
            return None
        await _require_free(documents, document, fact, params)
        edits = [
            lsp.TextEdit(_range(document, place, documents.codec), params.new_name)
            for place in document.occurrences(fact)
        ]
        return lsp.WorkspaceEdit({params.text_document.uri: edits})


async def _require_free(documents: Documents, document: Document, fact: NameFact, params: lsp.RenameParams) -> None:
    """Refuse a name that is none, that is taken, or with which the text has errors that it has not now.

    Raises:
        JsonRpcInvalidParams: the editor shows its words.
    """
    name = params.new_name
    sign = fact.name[0] if fact.name[0] in "@%" else ""
    if _NAME.fullmatch(name) is None or not name.startswith(sign):
        raise JsonRpcInvalidParams(f"{name!r} is no name" + (f" that begins with {sign}" if sign else ""))
    reach = range(fact.first, fact.last + 1)
    taken = any(
        item.name == name and (item.first in reach or fact.first in range(item.first, item.last + 1))
        for item in document.names
    )
    if taken:
        raise JsonRpcInvalidParams(f"{name} is there already")
    lines = list(document.lines)
    for place in sorted(document.occurrences(fact), reverse=True):
        text = lines[place.line]
        lines[place.line] = text[: place.start] + name + text[place.end :]
    made = await documents.read_text("\n".join(lines), unquote(urlsplit(params.text_document.uri).path))
    if _error_count(made) > _error_count(document):
        raise JsonRpcInvalidParams(f"with the name {name} the text would have errors")


def _error_count(document: Document) -> int:
    return sum(item.severity == "error" for item in document.problems)


def _add_help(server: LanguageServer, documents: Documents) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def _hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = await documents.of(params.text_document.uri)
        line, column = documents.at(document, params.position)
        fact, term = document.fact_at(line, column), document.term_at(line, column)
        if fact is not None:
            words = f"```\n{fact.name}: {fact.type or 'unknown'}\n```\n{fact.kind}"
        elif term is not None:
            words = f"```python\n{term.signature or term.name}\n```\n{term.summary or term.kind}"
        else:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, words))

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", '"', "%", "@"]))
    async def _complete(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document = await documents.typed(params.text_document.uri)
        line, column = documents.at(document, params.position)
        return [
            lsp.CompletionItem(
                offer.label,
                kind=_KINDS[offer.kind],
                detail=offer.detail,
                documentation=offer.documentation or None,
                text_edit=lsp.TextEdit(
                    _range(document, LineRange(line, offer.start, column), documents.codec), offer.label
                ),
            )
            for offer in document.offers(line, column)
        ]


def _add_writing(server: LanguageServer, documents: Documents) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=[")", "="]),
    )
    async def _signature(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        document = await documents.typed(params.text_document.uri)
        found = signature_at(document, *documents.at(document, params.position))
        if found is None:
            return None
        parameters = [lsp.ParameterInformation(place) for place in found.parameters]
        active = found.active if found.active is not None else len(parameters)
        shown = lsp.SignatureInformation(found.label, found.summary or None, parameters, active)
        return lsp.SignatureHelp([shown], 0, active)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def _format(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        uri = params.text_document.uri
        document = await documents.of(uri)
        name = PurePosixPath(unquote(urlsplit(uri).path)).name
        try:
            made = await asyncio.to_thread(formatted, documents.engine, document, name)
        except NotFormattedError as error:
            raise JsonRpcException(f"Not formatted: {error}", lsp.LSPErrorCodes.RequestFailed) from None
        return [] if made == document.text else [_whole(documents, document, made)]


def _add_views(server: LanguageServer, documents: Documents) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def _hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        document = await documents.of(params.text_document.uri)
        return [
            lsp.InlayHint(_range(document, place, documents.codec).end, f": {type_}", lsp.InlayHintKind.Type)
            for place, type_ in document.untyped()
            if params.range.start.line <= place.line <= params.range.end.line
        ]

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def _folds(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        document = await documents.of(params.text_document.uri)
        return [lsp.FoldingRange(first, last) for first, last in document.folds()]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def _symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = await documents.of(params.text_document.uri)

        def symbol(fact: NameFact, kind: lsp.SymbolKind) -> lsp.DocumentSymbol:
            start = fact.column - 1
            where = _range(document, LineRange(fact.line - 1, start, start + len(fact.name)), documents.codec)
            return lsp.DocumentSymbol(fact.name, kind, where, where, detail=fact.type)

        return [
            symbol(fact, lsp.SymbolKind.Function if fact.kind == "function" else lsp.SymbolKind.Variable)
            for fact in document.names
            if fact.line
        ]


def serve(engine: Engine, _options: argparse.Namespace) -> int:
    """Serve one editor until it ends the session."""
    server_of(engine).start_io()
    return 0
