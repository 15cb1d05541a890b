"""Read a Relay text: its definitions, or its one expression, as a module."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from relax_core.diagnostics import Diagnostic
from relax_core.frontend.collector import collector_held
from relax_core.frontend.relay.definitions import DefinitionReader, Item, declared_arity, find_items
from relax_core.frontend.relay.lexer.cursor import kept_room
from relax_core.frontend.relay.lexer.tokens import END, Tokens, tokenize
from relax_core.frontend.relay.metadata import MalformedMetadata, Metadata, read_metadata
from relax_core.frontend.relay.prelude import Found, definitions_for, prelude
from relax_core.frontend.relay.report import RelayFailed, Report, TooManyErrors
from relax_core.frontend.relay.scope import ModuleNames, Notes
from relax_core.ir.dialect import DIALECT_ATTR
from relax_core.ir.expr import Expr, Function, GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.relay import TypeData
from relax_core.source import Source, Span

VERSIONS = ("0.0.5", "0.0.4")
LIBRARIES = ("prelude.rly", "core.rly")
"""What a text may import; both are the prelude."""
_VERSION_LINE = re.compile(r'#\[\s*version\s*=\s*"([^"\n]*)"\s*\]|v(\d+\.\d+\.\d+)')
_HEADER = re.compile(r"#\[\s*version\b")
_CODE = re.compile(r"(?m)^[ \t]*(?:def @|type \w+\s*[\[{]|let %|free_var %|fn\s*[\[(]|%\w+\s*=)")


@dataclass(frozen=True, slots=True)
class RelayText:
    """The module of a text, if it has one, what is to be said, and what the text says beside the program."""

    modules: tuple[IRModule, ...]
    diagnostics: tuple[Diagnostic, ...]
    notes: Notes


def read_relay(source: Source) -> RelayText:
    """Read a text of version 0.0.4 or 0.0.5. A text that is one expression becomes the function `main`.

    The free variables of the expression are the parameters of `main`, in the order of their first use. Definitions
    of the prelude that are reached are added to the module. Linear in the text.
    """
    reading = _Reading(source)
    try:
        with collector_held(), kept_room():
            modules = reading.run()
    except TooManyErrors:
        modules = ()
    return RelayText(modules, tuple(reading.report.diagnostics), reading.notes)


class _Reading:
    """One reading; it is also the library of its module, and reads what is used of the prelude."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.report = Report()
        self.names = ModuleNames()
        self.notes = Notes()
        self.type_data: list[TypeData] = []
        self.definitions: list[Definition] = []
        self.metadata = Metadata()
        self.is_open = False
        self.queue: list[tuple[str, Found]] = []

    def run(self) -> tuple[IRModule, ...]:
        tokens = tokenize(self.source, self.report, self._start())
        self._read_metadata(tokens)
        items = find_items(tokens)
        head = items[0].start if items else tokens.count
        first = self._version(tokens, head)
        start = self._imports(tokens, first)
        has_expression = any(kind not in ("elision", ";") for kind in tokens.kinds[start:head])
        self.names.is_fragment = first == 0
        items = self._registered(tokens, items)
        types = [item for item in items if item.kind != "def"]
        rests = [self._type(tokens, item) for item in types]
        reader = self._reader(tokens)
        rests += [self._definition(reader, item) for item in items if item.kind == "def"]
        if has_expression:
            self._expression(tokens, start)
        for first, last in rests:
            self._rest(tokens, first, last)
        for name, found in self.queue:
            # Reading a function may enqueue others.
            self._library_function(name, found)
        if not items and not has_expression and not self.report.error_count:
            span = Span(self.source, 0, 0)
            self.report.error("RL020", span, "the text holds no program", "a function is `def @main(...) { ... }`")
        if not self.definitions and not self.type_data:
            return ()
        span = Span(self.source, tokens.starts[0], tokens.starts[-1])
        attrs = ((DIALECT_ATTR, "relay"),)
        return (IRModule(tuple(self.definitions), attrs, type_data=tuple(self.type_data), span=span),)

    def _start(self) -> int:
        """Skip prose before the header, as an error message has it."""
        found = _HEADER.search(self.source.text)
        if found is None or found.start() == 0:
            return 0
        before = self.source.text[: found.start()]
        lines = [line.strip() for line in before.split("\n")]
        if all(not line or line.startswith("//") for line in lines) or _CODE.search(before):
            return 0
        message = "the text before the version is skipped"
        first = next(line for line in before.split("\n") if line.strip() and not line.strip().startswith("//"))
        span = Span(self.source, before.index(first), found.start())
        self.report.say("note", "RL017", span, message)
        return found.start()

    def _version(self, tokens: Tokens, head: int) -> int:
        at = 0
        while at < head and tokens.kinds[at] == "version":
            match = _VERSION_LINE.match(tokens.texts[at])
            version = (match[1] or match[2]) if match is not None else ""
            if version not in VERSIONS:
                message = f"version {version} is read as {VERSIONS[0]}"
                self.report.say("warning", "RL018", tokens.span(at), message)
            at += 1
        return at

    def _imports(self, tokens: Tokens, at: int) -> int:
        """Skip `import "prelude.rly"`: what is used of the prelude is there in any case."""
        while tokens.texts[at] == "import" and tokens.kinds[at + 1] == "string":
            if tokens.texts[at + 1].strip('"') not in LIBRARIES:
                message = f"there is no library {tokens.texts[at + 1]}"
                self.report.error("RL024", tokens.span(at + 1), message, f"there are {', '.join(LIBRARIES)}")
            at += 2
        return at

    def _read_metadata(self, tokens: Tokens) -> None:
        start = tokens.metadata_start
        if start is None:
            return
        try:
            self.metadata = read_metadata(self.source.text[start:])
        except MalformedMetadata as error:
            span = Span(self.source, start, start)
            self.report.error("RL021", span, f"the metadata section cannot be read: {error}")

    def _reader(self, tokens: Tokens) -> DefinitionReader:
        reader = DefinitionReader(tokens, self.report, self.names, self, self.notes)
        reader.metadata = self.metadata
        return reader

    def _registered(self, tokens: Tokens, items: Iterable[Item]) -> tuple[Item, ...]:
        """Declare the names of a module, so that definitions may use later ones; duplicates are dropped."""
        kept: list[Item] = []
        for item in items:
            table = self.names.globals if item.kind == "def" else self.names.types
            if item.name in table:
                sign = "@" if item.kind == "def" else ""
                self.report.error("RL012", tokens.span(item.start, item.start + 1), f"{sign}{item.name} is there twice")
                continue
            kept.append(item)
            if item.kind == "def" and item.name:
                self.names.globals[item.name] = GlobalVar(item.name, span=tokens.span(item.start + 1))
            elif item.name:
                self.names.types[item.name] = declared_arity(tokens, item)
        return tuple(kept)

    def _type(self, tokens: Tokens, item: Item) -> tuple[int, int]:
        """Read a type, and return which tokens behind it are left."""
        reader = self._reader(tokens)
        try:
            data = reader.type_definition(item)
        except RelayFailed:
            return self._broken(tokens, item)
        if reader.is_broken:
            return self._broken(tokens, item)
        self.type_data.append(data)
        return reader.position, item.end

    def _definition(self, reader: DefinitionReader, item: Item) -> tuple[int, int]:
        reader.is_broken = False
        reader.depth = reader.part_depth = 0
        scope = reader.enter()
        var = self.names.globals.get(item.name) or GlobalVar(item.name)
        try:
            definition = reader.function_definition(item, var)
        except RelayFailed:
            reader.leave(scope)
            return self._broken(reader.tokens, item)
        except RecursionError:
            reader.leave(scope)
            self.report.error("RL003", reader.tokens.span(item.start), f"@{item.name} is nested too deeply")
            return self._broken(reader.tokens, item)
        if reader.is_broken:
            return self._broken(reader.tokens, item)
        self.definitions.append(definition)
        return reader.position, item.end

    def _broken(self, tokens: Tokens, item: Item) -> tuple[int, int]:
        """Note whether a definition with errors is unclosed, so that what follows the others may be its rest."""
        kinds = tokens.kinds[item.start : item.end]
        self.is_open = self.is_open or kinds.count("{") > kinds.count("}")
        return item.end, item.end

    def _rest(self, tokens: Tokens, first: int, last: int) -> None:
        """Read what stands behind a definition: nothing, `...`, or an expression that uses it."""
        while first < last and tokens.kinds[first] in ("elision", ";"):
            first += 1
        if first >= last or self.is_open:
            return
        if "main" in self.names.globals or tokens.kinds[first] in ("}", ")", "]"):
            shown = tokens.texts[first]
            message = f"expected a definition, found `{shown}`"
            self.report.error("RL001", tokens.span(first), message)
            return
        self._expression(tokens, first)

    def _expression(self, tokens: Tokens, start: int) -> None:
        """Read an expression without a function around it as `main`."""
        reader = self._reader(tokens)
        reader.move_to(tokens, start)
        reader.free_vars = {}
        follows = zip(tokens.texts, tokens.kinds, tokens.kinds[1:], strict=False)
        reader.bound_graphs = {text for text, kind, behind in follows if (kind, behind) == ("graph", "=")}
        reader.may_lack_value = True
        try:
            body = reader.sequence()
        except RecursionError:
            self.report.error("RL003", tokens.span(start), "the text is nested too deeply")
            return
        while reader.accept("elision") or reader.accept(";"):
            pass
        if reader.kinds[reader.position] not in (END, "def", "type", "extern") and not reader.is_broken:
            shown = reader.texts[reader.position]
            self.report.error("RL001", tokens.span(reader.position), f"expected the end of the text, found `{shown}`")
            return
        if not reader.is_broken and "main" not in self.names.globals:
            self._main(tokens, start, body, reader)

    def _main(self, tokens: Tokens, start: int, body: Expr, reader: DefinitionReader) -> None:
        params = tuple((reader.free_vars or {}).values())
        span = reader.span_from(start)
        is_function = isinstance(body, Function) and not params
        function = body if isinstance(body, Function) and not params else Function(params, body, span=span)
        names = ", ".join(f"%{var.name}" for var in params)
        what = "the function" if is_function else f"the expression, with parameters ({names}),"
        self.report.say("note", "RL019", tokens.span(start), f"{what} is read as @main")
        var = self.names.globals["main"] = GlobalVar("main", span=tokens.span(start))
        self.definitions.insert(0, Definition(var, function, span=span))

    # The library

    @property
    def type_names(self) -> Iterable[str]:
        """The types of the prelude."""
        return prelude().types

    @property
    def constructor_names(self) -> Iterable[str]:
        """The constructors of the prelude."""
        return prelude().type_of_constructor

    @property
    def global_names(self) -> Iterable[str]:
        """The functions of the prelude."""
        return prelude().functions

    def add_type(self, name: str) -> bool:
        """Read a type of the library into the module."""
        found = definitions_for(name).types.get(name)
        if found is None or name in self.names.types:
            return False
        self.names.types[name] = declared_arity(found.tokens, found.item)
        self.type_data.append(self._reader(found.tokens).type_definition(found.item))
        return True

    def add_constructor(self, name: str) -> bool:
        """Read the type of a constructor of the library into the module."""
        type_name = definitions_for(name).type_of_constructor.get(name)
        return type_name is not None and self.add_type(type_name)

    def add_global(self, name: str) -> bool:
        """Declare a function of the library; its definition is read when the module's own are."""
        found = definitions_for(name).functions.get(name)
        if found is None:
            return False
        self.names.globals[name] = GlobalVar(name, span=found.tokens.span(found.item.start + 1))
        self.queue.append((name, found))
        return True

    def _library_function(self, name: str, found: Found) -> None:
        reader = self._reader(found.tokens)
        self.definitions.append(reader.function_definition(found.item, self.names.globals[name]))
