"""Parse and run pipelines of passes."""

import ast
import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, cast

from relax_core.check.check import check
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.collector import collector_held
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import normalize
from relax_core.ir.rewriting.rewrite import Takes
from relax_core.passes import library
from relax_core.passes.core import ABSENT_DATA, Dialect, Pass, PassContext, Stage
from relax_core.passes.external import with_external, without_external
from relax_core.passes.named_pipelines import PIPELINES
from relax_core.passes.options import OptionTypeError, option_value, required_options
from relax_core.passes.outcome import faults_in, is_of_library, module_made, rejected, warnings_since
from relax_core.passes.own import OWN_PASSES, OwnFunction, own_pass
from relax_core.passes.properties import PROPERTIES, culprit
from relax_core.pattern.partition.tables import NO_TABLES, Tables
from relax_core.source import Source, Span

Progress: TypeAlias = Callable[[int, int, str, float], None]
"""Called before each pass with its index, the number of passes, its name, and the seconds since the start."""

DEFAULT_PIPELINE = (
    "Normalize, LambdaLift, CanonicalizeBindings, LegalizeOps, DeadCodeElimination, ToNonDataflow, "
    "RemovePurityChecking, CallTIRRewrite, LowerAllocTensor, LowerRuntimeBuiltin, VMShapeLower, AttachGlobalSymbol"
)
RELAY_PIPELINE = f"RelayToRelax, {DEFAULT_PIPELINE}"
NORMAL_FORM = "normal form"
DIALECTS = MappingProxyType({"relax": "relax", "relay": "relay", "tir": "tir", "tirx": "tir", "s_tir": "tir"})
"""What may stand before the name of a pass, and the dialect that it means: TVM 0.27 has two modules for TIR."""
EVERYWHERE = ("any", "tir")
"""Dialects whose passes work on each module: those on TIR change its prim funcs and leave the rest."""
_NO_REFUSAL = ("PS015", "PS016")
"""Codes of a pass that did not finish, be it its own fault or that of the module that it was given."""
LANGUAGES = MappingProxyType({"relax": "Relax", "relay": "Relay", "tir": "TIR", "any": "both"})


@dataclass(frozen=True, slots=True)
class Step:
    """One item of a pipeline: a pass with its options."""

    pass_: Pass
    options: Any
    text: str


Passes: TypeAlias = str | Pass | Step | OwnFunction | Iterable[str | Pass | Step | OwnFunction]
"""A pipeline: text, a pass, a function from module to module, or several of these."""


def run_pipeline(
    module: IRModule,
    passes: Passes | None = None,
    *,
    tables: Tables = NO_TABLES,
    progress: Progress | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    begun: tuple[Stage, ...] = (),
) -> tuple[Stage, ...]:
    """Run `passes`, such as "LambdaLift(names='2022'), LegalizeOps", the default pipeline if `None`.

    "zero", "default_build" and "default" are TVM's pipelines of these names, also among passes: "zero, ToNonDataflow".

    A pass of one's own is a function from module to module, which may take a `PassContext` as well, or a `Pass`, alone
    or in a list with names: `["Normalize", mine, "LegalizeOps"]`.

    Returns one stage per pass that ran. A pass that fails is the last stage, with its diagnostics, and the stages
    before it are kept: it refused the module, raised an exception, returned no module, or left one that is ill-formed.
    A name is that of the pass for the dialect that the module has at that point; `relay.FuseOps` says which is meant.
    `begun` are stages that the first of these passes have made of this very module: they do not run again.

    Raises:
        CompileError: the text of the pipeline or the module has errors, or the run was cancelled.
    """
    steps = read_steps(default_pipeline(module) if passes is None else passes, dialect_of(module))
    start = time.perf_counter()
    stages: list[Stage] = []
    # Between passes, too: what one pass allocates the next one traverses.
    with collector_held():
        known = _tolerated(module, steps[0].pass_.tolerates if steps else ())
        for index, step in enumerate(steps):
            if is_cancelled():
                raise CompileError((Diagnostic("PS009", f"the pipeline was cancelled before {step.pass_.name}"),))
            if progress is not None:
                progress(index, len(steps), step.pass_.name, time.perf_counter() - start)
            if index < len(begun):
                stages.append(begun[index])
            else:
                refusal = tuple(item for item in known if item.code == ABSENT_DATA) if step.pass_.reads_data else ()
                stages.append(_checked(run_step(step, module, tuple(stages), tables, refusal), step.pass_))
            if stages[-1].is_failed:
                break
            module = stages[-1].after
            # A pass of the library that had nothing to repair left nothing to look for.
            had_faults = not is_of_library(step.pass_) or any(item.code in step.pass_.repairs for item in known)
            if step.pass_.repairs and had_faults:
                known = _tolerated(module, steps[index + 1].pass_.tolerates if index + 1 < len(steps) else ())
    return _up_to_the_cause(tuple(stages))


def _checked(stage: Stage, pass_: Pass) -> Stage:
    """Return `stage`, failed if a pass of the user's own left an ill-formed module, with warnings if it is dubious.

    Passes of the library are trusted: `verify` checks them too.
    """
    if stage.is_failed or not stage.is_changed or is_of_library(pass_):
        return stage
    faults = faults_in(stage.after, pass_.name, pass_.tolerates, (stage.before,))
    if faults:
        return rejected(stage, faults)
    warnings = warnings_since(stage.before, stage.after)
    return dataclasses.replace(stage, diagnostics=(*stage.diagnostics, *warnings)) if warnings else stage


def _up_to_the_cause(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return `stages` up to the first that left an ill-formed module, if the last one failed because of its input.

    Only then is the output of the library's passes checked.
    """
    if not stages or not any(item.code in _NO_REFUSAL for item in stages[-1].diagnostics):
        return stages
    cause = verify(stages[:-1])
    return cause if cause and cause[-1].is_failed else stages


def verify(
    stages: tuple[Stage, ...],
    *,
    progress: Progress | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Stage, ...]:
    """Check what each pass left, those of the library included, and return the stages up to the first ill-formed one.

    That one fails with PS017 and keeps what it left as `rejected`. A pass that left the module as it was, and one whose
    module was checked before, costs nothing; of the others only what they changed is looked at.

    Raises:
        CompileError: the verification was cancelled.
    """
    start = time.perf_counter()
    checked: list[IRModule] = []
    with collector_held():
        for number, stage in enumerate(stages):
            if stage.is_failed or not stage.is_changed:
                continue
            if is_cancelled():
                raise CompileError((Diagnostic("PS009", f"the check of what {stage.pass_name} left was cancelled"),))
            if progress is not None:
                progress(number, len(stages), stage.pass_name, time.perf_counter() - start)
            checked.append(stage.before)
            faults = faults_in(stage.after, stage.pass_name, (ABSENT_DATA,), reversed(checked))
            if faults:
                return (*stages[:number], rejected(stage, faults))
    return stages


def tolerated_codes(text: str | None, dialect: Dialect) -> tuple[str, ...]:
    """Return the codes of the errors that a module may have before the pipeline `text`.

    Its first pass repairs them, or does without what is missing.

    Raises:
        CompileError: the text of the pipeline has errors.
    """
    steps = parse_pipeline(text, dialect) if text is not None else ()
    return steps[0].pass_.tolerates if steps else ()


def _tolerated(module: IRModule, codes: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Raise the errors of `module` that are not of the kinds `codes`; return the others, and what its text lacks."""
    with collector_held():
        diagnostics = check(module)
    if any(item.severity == "error" and item.code not in codes for item in diagnostics):
        raise CompileError(diagnostics)
    return tuple(item for item in diagnostics if item.severity == "error" or item.code == ABSENT_DATA)


def default_pipeline(module: IRModule) -> str:
    """Return the pipeline that makes `module` ready for the machine."""
    return RELAY_PIPELINE if dialect_of(module) == "relay" else DEFAULT_PIPELINE


def run_step(
    step: Step,
    module: IRModule,
    before: tuple[Stage, ...] = (),
    tables: Tables = NO_TABLES,
    refusal: tuple[Diagnostic, ...] = (),
    takes: Takes | None = None,
) -> Stage:
    """Run one pass on `module`, after the stages `before`; with a `refusal` it fails for these reasons instead.

    With `takes` only those applications of its rules are made.
    """
    context = PassContext(before, tables, takes)
    context.log.read(module)
    start = time.perf_counter()
    diagnostics: tuple[Diagnostic, ...] = ()
    after = module

    def run() -> IRModule:
        if refusal:
            raise CompileError(refusal)
        seen, external = (module, ()) if step.pass_.sees_external else without_external(module, context)
        start_module = _normalized(seen, context) if NORMAL_FORM in step.pass_.needs else seen
        _require(step.pass_, start_module, context)
        made = step.pass_.run(start_module, step.options, context)
        return module if made is seen else with_external(made, external, context)

    try:
        after = module_made(step.pass_, run)
    except CompileError as error:
        diagnostics = error.diagnostics
    seconds = time.perf_counter() - start
    said = (*diagnostics, *context.warnings)
    return Stage(
        len(before), step.pass_.name, step.options, module, after,
        context.log, context.remarks, seconds, said, context.kept_types, context.kept_orders,
        again=partial(run_step, step, module, before, tables, refusal),
    )  # fmt: skip


def final_module(module: IRModule, stages: tuple[Stage, ...]) -> IRModule:
    """Return the module after the last stage.

    Raises:
        CompileError: the last stage failed.
    """
    if stages and stages[-1].is_failed:
        raise CompileError(stages[-1].diagnostics)
    return stages[-1].after if stages else module


def provider(name: str) -> Pass:
    """Return the pass that gives the property `name`."""
    return next(item for item in library.PASSES.values() if name in item.gives)


def _normalized(module: IRModule, context: PassContext) -> IRModule:
    """Bring `module` into A-normal form, as TVM's parser does: a pipeline need not name that pass."""
    node = culprit(module, NORMAL_FORM)
    if node is None:
        return module
    context.remark(node, "applied", "the module was not in A-normal form; it was normalized first")
    return normalize(module, context.log)


def _require(pass_: Pass, module: IRModule, context: PassContext) -> None:
    """Stop with a diagnostic if a property that `pass_` needs does not hold."""
    for name in pass_.needs:
        # `_normalized` has established the normal form.
        node = culprit(module, name) if name != NORMAL_FORM else None
        if node is not None:
            claim = PROPERTIES[name].claim
            what = "this local function" if isinstance(node, Function) and name == "no local functions" else "this"
            context.fail(
                "PS003",
                f"{pass_.name} needs a module {claim}; {what} is in the way",
                node,
                f"run {provider(name).name} before {pass_.name}",
            )


def read_steps(passes: Passes, dialect: Dialect = "relax") -> tuple[Step, ...]:
    """Return the steps of a pipeline for a module in `dialect`, given as text, as passes, or as a list of both.

    Raises:
        CompileError: the text cannot be read, or something else than a pass is in the list.
    """
    if isinstance(passes, str):
        return parse_pipeline(passes, dialect)
    steps: list[Step] = []
    items: object = passes
    for item in cast("Iterable[object]", items) if isinstance(items, Iterable) else (items,):
        made = parse_pipeline(item, dialect) if isinstance(item, str) else (_own_step(item, dialect),)
        steps += made
        for step in made:
            dialect = step.pass_.to_dialect or dialect
    return tuple(steps)


def _own_step(item: object, dialect: Dialect) -> Step:
    if callable(item) and not isinstance(item, Pass | Step):
        item = own_pass(cast("OwnFunction", item))
    if not isinstance(item, Pass | Step):
        message = (
            f"a pipeline holds names of passes, functions and Pass objects, got a value of type {type(item).__name__}"
        )
        hint = "a pass is a function that takes a module and returns one"
        raise CompileError((Diagnostic("PS001", message, hint=hint),))
    pass_ = item if isinstance(item, Pass) else item.pass_
    if pass_.dialect not in (dialect, *EVERYWHERE):
        raise CompileError((_foreign(pass_, dialect, None),))
    unknown = next((name for name in pass_.needs if name not in PROPERTIES), None)
    if unknown is not None:
        hint = f"properties: {', '.join(PROPERTIES)}"
        raise CompileError((Diagnostic("PS002", f"{pass_.name} needs `{unknown}`, which is no property", hint=hint),))
    if isinstance(item, Step):
        return item
    try:
        return Step(pass_, pass_.options(), pass_.name)
    except (TypeError, ValueError) as error:
        hint = "give each option a default, or give the pass as Step(pass_, options, name)"
        raise CompileError((Diagnostic("PS002", f"{pass_.name}: {error}", hint=hint),)) from None


def pass_(item: "str | OwnFunction | Pass", **options: Any) -> str | Step:
    """Return a pass with options for a list of passes: `pass_("FuseOps", max_depth=4)`, `pass_(mine, depth=2)`.

    Options of a name are checked when the pipeline is read, unless one of them is a value that a text cannot hold, such
    as an array: then the name says which pass is meant, `"relay.FuseOps"` where two dialects have it.

    Raises:
        CompileError: PS002: the pass has no such option. PS001: there is no pass of this name.
    """
    text = ", ".join(f"{name}={value!r}" for name, value in options.items())
    if isinstance(item, str) and all(map(_is_literal, options.values())):
        return f"{item}({text})"
    made = _named(item) if isinstance(item, str) else own_pass(item)
    known = [field.name for field in dataclasses.fields(made.options)]
    try:
        values = {name: option_value(made, name, value) if name in known else value for name, value in options.items()}
        return Step(made, made.options(**values), f"{made.name}({text})")
    except (TypeError, ValueError) as error:
        hint = f"options: {', '.join(known)}" if known else f"{made.name} has no options"
        words = str(error) if isinstance(error, OptionTypeError) else f"{made.name}: {error}"
        raise CompileError((Diagnostic("PS002", words, hint=hint),)) from None


def _is_literal(value: object) -> bool:
    """Tell whether the text of a value gives the value again."""
    match value:
        case list() | tuple():
            return all(map(_is_literal, cast("Iterable[object]", value)))
        case dict():
            pairs = cast("dict[object, object]", value).items()
            return all(_is_literal(key) and _is_literal(item) for key, item in pairs)
        case float():
            return type(value) is float and math.isfinite(value)
        case _:
            return type(value) in (str, int, bool, bytes, type(None))


def _named(name: str) -> Pass:
    """Return the pass of a name, of Relax if several dialects have it."""
    passes = OWN_PASSES.all()
    dialect, _, word = name.rpartition(".")
    keys = (
        ((DIALECTS.get(dialect, dialect), word),)
        if dialect
        else (("relax", word), ("relay", word), ("tir", word), ("any", word))
    )
    found = next((passes[key] for key in keys if key in passes), None)
    if found is None:
        near = get_close_matches(word, [key for _, key in passes], 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else ""
        raise CompileError((Diagnostic("PS001", f"there is no pass {name}", hint=hint),))
    return found


def _foreign(pass_: Pass, dialect: Dialect, span: Span | None) -> Diagnostic:
    message = f"{pass_.name} works on {LANGUAGES[pass_.dialect]}; the module is {LANGUAGES[dialect]} here"
    hint = f"run RelayToRelax before {pass_.name}" if dialect == "relay" else "run it before RelayToRelax"
    return Diagnostic("PS010", message, span, hint)


def parse_pipeline(text: str, dialect: Dialect = "relax") -> tuple[Step, ...]:
    """Read a pipeline for a module in `dialect`: names of passes with options as literals, separated by commas.

    A name of `PIPELINES` stands for the passes of that pipeline of TVM.

    Raises:
        CompileError: with the place in `text` as its span.
    """
    source = Source("<pipeline>", text)
    if not text.strip():
        return ()
    try:
        tree = ast.parse(f"(\n{text}\n,)", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        at = getattr(error, "lineno", None) or 2
        offset = source.offset(at - 1, getattr(error, "offset", None) or 1)
        hint = "write passes like LambdaLift, LegalizeOps(functions=['main'])"
        message = f"the pipeline cannot be read: {getattr(error, 'msg', 'it is nested too deeply')}"
        raise CompileError((Diagnostic("PS001", message, Span(source, offset, offset + 1), hint),)) from None
    items = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    reader = _PipelineParser(source, dialect)
    return tuple(step for item in items for step in reader.steps(item))


@dataclass(slots=True)
class _PipelineParser:
    """Reads a pipeline; `dialect` is that of the module at the point that is read."""

    source: Source
    dialect: Dialect
    passes: Mapping[tuple[str, str], Pass] = field(default_factory=OWN_PASSES.all)

    def span(self, node: ast.expr | ast.keyword) -> Span:
        """The place of `node`; the text stands one line lower in what was parsed."""
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return Span(self.source, start, max(end, start + 1))

    def _offset(self, line: int, byte: int) -> int:
        text = self.source.line_text(line - 1).encode()[:byte].decode(errors="ignore")
        return self.source.offset(line - 1, len(text) + 1)

    def fail(self, code: str, message: str, node: ast.expr | ast.keyword, hint: str = "") -> NoReturn:
        raise CompileError((Diagnostic(code, message, self.span(node), hint),))

    def steps(self, item: ast.expr) -> tuple[Step, ...]:
        """Return the step of a pass, or those of a pipeline that has a name."""
        if not isinstance(item, ast.Name) or item.id not in PIPELINES or ("relax", item.id) in self.passes:
            return (self.step(item),)
        if self.dialect != "relax" and item.id != "s_tir":
            what = f"{item.id} is a pipeline of Relax; the module is {LANGUAGES[self.dialect]} here"
            self.fail("PS010", what, item, f"write RelayToRelax, {item.id}")
        return parse_pipeline(PIPELINES[item.id], self.dialect)

    def step(self, item: ast.expr) -> Step:
        if isinstance(item, ast.Call):
            pass_ = self.find(item.func)
            if item.args:
                given = next((option.name for option in dataclasses.fields(pass_.options)), "name")
                hint = f"write {given}={self.span(item.args[0]).text}"
                self.fail("PS002", "options are given by name", item.args[0], hint)
            keywords = item.keywords
        else:
            pass_, keywords = self.find(item), []
        self.dialect = pass_.to_dialect or self.dialect
        return Step(pass_, self.options(pass_, keywords), self.span(item).text)

    def find(self, name: ast.expr) -> Pass:
        match name:
            case ast.Name(id=word):
                keys = ((dialect, word) for dialect in (self.dialect, *EVERYWHERE))
                found = next((self.passes[key] for key in keys if key in self.passes), None)
                foreign = next((item for (_, key), item in self.passes.items() if key == word), None)
                if found is None and foreign is not None:
                    self._refuse(foreign, name)
            case ast.Attribute(value=ast.Name(id=dialect), attr=word) if dialect in DIALECTS:
                found = self.passes.get((DIALECTS[dialect], word))
                if found is not None and found.dialect not in (self.dialect, *EVERYWHERE):
                    self._refuse(found, name)
            case _:
                self.fail("PS001", f"{self.span(name).text} is not the name of a pass", name)
        if found is None:
            near = get_close_matches(word, [*PIPELINES, *(key for _, key in self.passes)], 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"passes: {', '.join(key for _, key in self.passes)}"
            self.fail("PS001", f"there is no pass {word}", name, hint)
        return found

    def _refuse(self, pass_: Pass, name: ast.expr) -> NoReturn:
        """Report a pass that the module's dialect does not have."""
        raise CompileError((_foreign(pass_, self.dialect, self.span(name)),))

    def options(self, pass_: Pass, keywords: list[ast.keyword]) -> Any:
        fields = {item.name: item for item in dataclasses.fields(pass_.options)}
        values: dict[str, Any] = {}
        for keyword in keywords:
            if keyword.arg is None or keyword.arg not in fields:
                near = get_close_matches(keyword.arg or "", fields, 1, 0.4)
                known = f"options: {', '.join(fields)}" if fields else f"{pass_.name} has no options"
                hint = f"did you mean {near[0]}?" if near else known
                self.fail("PS002", f"{pass_.name} has no option {keyword.arg or '**'}", keyword, hint)
            if keyword.arg in values:
                self.fail("PS002", f"{pass_.name} is given {keyword.arg} twice", keyword, "remove one of them")
            try:
                values[keyword.arg] = option_value(pass_, keyword.arg, self.literal(keyword.value))
            except OptionTypeError as error:
                self.fail("PS002", str(error), keyword, _default_hint(fields[keyword.arg]))
        span = self.span(keywords[0]) if keywords else None
        missing = [name for name in required_options(pass_) if name not in values]
        if missing:
            hint = f"as in {pass_.name}({', '.join(f'{name}=...' for name in (*values, *missing))})"
            message = f"{pass_.name} needs the option{'s' if len(missing) > 1 else ''} {' and '.join(missing)}"
            raise CompileError((Diagnostic("PS002", message, span, hint),))
        try:
            return pass_.options(**values)
        except (TypeError, ValueError) as error:
            raise CompileError((Diagnostic("PS002", f"{pass_.name}: {error}", span),)) from None

    def literal(self, node: ast.expr) -> Any:
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, MemoryError, RecursionError):
            value = ...
        # `ast` also reads sets, complex numbers and `...`, which no option is.
        if not _is_literal(value):
            self.fail("PS002", f"{self.span(node).text} is not a literal", node, "use strings, numbers, lists")
        return _hashable(value)


def _default_hint(option: "dataclasses.Field[Any]") -> str:
    return "" if option.default is dataclasses.MISSING else f"the default is {option.default!r}"


def _hashable(value: Any) -> Any:
    """Convert lists to tuples, and a dict to a tuple of pairs."""
    match value:
        case list() | tuple():
            return tuple(_hashable(item) for item in cast("tuple[Any, ...]", value))
        case dict():
            return tuple((key, _hashable(item)) for key, item in cast("dict[Any, Any]", value).items())
        case _:
            return value
