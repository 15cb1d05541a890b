"""Print Relay modules as Relay text 0.0.5. The text reads back as an equal module, with its constants in it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.relay.types import dtype_of_name
from relax_core.ir.absent import absence_of
from relax_core.ir.attrs import Attrs, AttrValue, attr
from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Op,
    Tuple,
    TupleGetItem,
    Type,
    TypeVar,
    Var,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.relay import (
    Constructor,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    TypeData,
)
from relax_core.ir.tir import PrimFunc
from relax_core.printer.printed import Layout, Part, Piece, Printed, joined, write
from relax_core.printer.relay_text.literals import attribute, attributes, metadata_section, param_devices, scalar
from relax_core.printer.relay_text.schedule import Schedule, is_leaf, schedule
from relax_core.printer.relay_text.types import NotRelay, RelayTypes

_ILLEGAL = re.compile(r"[^\w?.]|\.(?![^\W\d])|\.$")


def relay_name(name: str) -> str:
    """Return `name` with what no identifier holds replaced."""
    legal = _ILLEGAL.sub("_", name) or "v"
    return f"v{legal}" if legal[0].isdigit() or legal[0] in "?." else legal


class RelayNames:
    """Gives each variable a name when it is first asked for: its own, with a number if that is taken.

    `used` are the variables that occur, and `types` the names that a type variable must not have.
    """

    def __init__(self, used: Set[Var], types: Iterable[str] = ()) -> None:
        self._used = used
        self._names: dict[Var | TypeVar, str] = {}
        self._vars: set[str] = {"_"}
        self._types: set[str] = {"_", "Tensor", *types}
        self._next: dict[str, int] = {}

    def var(self, var: Var) -> str:
        """Return the name of a variable, without `%`. All variables `_` that are never used share it."""
        if var.name == "_" and var not in self._used:
            return "_"
        found = self._names.get(var)
        return self._fresh(var, relay_name(var.name), self._vars) if found is None else found

    def type_var(self, variable: TypeVar) -> str:
        """Return the name of a type variable."""
        found = self._names.get(variable)
        return self._fresh(variable, relay_name(variable.name), self._types) if found is None else found

    def _fresh(self, key: Var | TypeVar, base: str, taken: set[str]) -> str:
        name = base
        while name in taken or (taken is self._types and dtype_of_name(name) is not None):
            count = self._next[base] = self._next.get(base, 0) + 1
            name = f"{base.rstrip('_') or 'v'}{count}"
        taken.add(name)
        self._names[key] = name
        return name


class Tensors:
    """The tensors of a text's metadata section, each once."""

    def __init__(self) -> None:
        self.data: list[npt.NDArray[Any] | None] = []
        self._index: dict[tuple[str, tuple[int, ...], bytes], int] = {}
        self._absent: dict[Node, int] = {}

    def index_of(self, data: npt.NDArray[Any]) -> int:
        """Return the number of a tensor."""
        key = (data.dtype.name, data.shape, data.tobytes())
        if key not in self._index:
            self._index[key] = len(self.data)
            self.data.append(data)
        return self._index[key]

    def index_of_absent(self, constant: Constant) -> int:
        """Return the number of a constant without data, whose entry has none either."""
        if constant not in self._absent:
            self._absent[constant] = len(self.data)
            self.data.append(None)
        return self._absent[constant]


NO_MARKS: Mapping[Node, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Notes:
    """What is shown behind expressions: their types as comments, and marks in angle brackets."""

    types: Mapping[Node, Type]
    marks: Mapping[Node, str]


class RelayPrinter:
    """Prints one function of a module."""

    def __init__(self, function: Function, tensors: Tensors, notes: Notes, names: Iterable[str]) -> None:
        self.function = function
        self.tensors = tensors
        self.notes = notes
        self.plan: Schedule = schedule(function)
        self.names = RelayNames(self.plan.used, names)
        self.graph_names: dict[Expr, str] = {}

    def definition(self, name: str) -> Iterator[Part]:
        """Show `def @name(...) { ... }`."""
        yield f"def @{relay_name(name)}"
        yield from self._function(self.function)

    def _function(self, function: Function) -> Iterator[Part]:
        variables = ", ".join(self.names.type_var(item) for item in function.type_params)
        yield f"[{variables}](" if variables else "("
        devices, attrs = param_devices(function.attrs, len(function.params))
        shown: list[Part] = [
            Piece(var, (self._declared(var, device),)) for var, device in zip(function.params, devices, strict=True)
        ]
        if attrs:
            shown.append(attributes(attrs))
        yield from joined(shown)
        yield ")"
        if function.ret_type is not None:
            yield f" -> {self.type(function.ret_type)}"
        yield " "
        yield from self._braces(function, "body", function.body)

    def type(self, type_: Type) -> str:
        """Return a type as text."""
        return RelayTypes(self.names.type_var).show(type_)

    def _declared(self, var: Var, device: AttrValue = None) -> str:
        marked = "" if device is None else f" {{virtual_device={attribute(device)}}}"
        annotation = "" if var.annotation is None else f": {self.type(var.annotation)}"
        return f"%{self.names.var(var)}{marked}{annotation}"

    def _braces(self, owner: Node, name: str, body: Expr) -> Iterator[Part]:
        yield from ("{", Layout.DEEPER, Layout.NEWLINE)
        yield from self._block(owner, name, body)
        yield from (Layout.BACK, Layout.NEWLINE, "}")

    def _block(self, owner: Node, name: str, body: Expr) -> Iterator[Part]:
        """Show the statements of a block, then its value."""
        for statement in self.plan.block_of[owner, name].statements:
            yield Piece(statement, self._statement(statement))
            yield Layout.NEWLINE
        while isinstance(body, Let) and (body is owner or body not in self.plan.bound):
            body = body.body
        yield self._place(body)
        yield from self._noted(body)

    def _statement(self, statement: Expr) -> Iterator[Part]:
        is_named_later = statement in self.plan.bound and statement not in self.graph_names
        if isinstance(statement, Let) and not is_named_later:
            device = attr(statement.attrs, "virtual_device")
            yield Piece(statement.var, (f"let {self._declared(statement.var, device)}",))
            yield " = "
            yield self._place(statement.value)
            yield from self._noted(statement.value)
        else:
            name = self.graph_names[statement] = f"%{len(self.graph_names)}"
            yield f"{name} = "
            yield from self._expr(statement)
            yield from self._noted(statement)
        yield ";"

    def _noted(self, expr: Expr) -> Iterator[Part]:
        if expr in self.notes.marks:
            yield f"<{self.notes.marks[expr]}>"
        found = None if is_leaf(expr) else self.notes.types.get(expr)
        if found is not None:
            try:
                yield f" /* ty={self.type(found)} */"
            except NotRelay:
                return

    def _place(self, expr: Expr) -> Part:
        """Show an expression where it is used: its name if it has one."""
        name = self.graph_names.get(expr)
        return Piece(expr, (name,) if name is not None else self._expr(expr))

    def _type_arguments(self, call: Call) -> str:
        return f"[{', '.join(map(self.type, call.type_args))}]" if call.type_args else ""

    def _arguments(self, args: tuple[Expr, ...], attrs: Attrs = ()) -> Iterator[Part]:
        yield "("
        shown: list[Part] = [self._place(item) for item in args]
        if attrs:
            shown.append(attributes(attrs))
        yield from joined(shown)
        yield ")"

    def _constant(self, constant: Constant) -> str:
        absent = absence_of(constant)
        if absent is not None:
            comment = "" if absent.type is None else f" /* ty={self.type(absent.type)} */"
            return f"meta[relay.Constant][{self.tensors.index_of_absent(constant)}]{comment}"
        text = scalar(constant.data)
        return f"meta[relay.Constant][{self.tensors.index_of(constant.data)}]" if text is None else text

    def _expr(self, expr: Expr) -> Iterator[Part]:
        match expr:
            case Var():
                yield f"%{self.names.var(expr)}"
            case GlobalVar():
                yield f"@{relay_name(expr.name)}"
            case Op() | Constructor():
                yield expr.name
            case Constant():
                yield self._constant(expr)
            case Call() if is_leaf(expr):
                yield self._place(expr.op)
                yield self._type_arguments(expr)
            case Call():
                yield self._place(expr.op)
                yield self._type_arguments(expr)
                if isinstance(expr.op, Call) and is_leaf(expr.op):
                    # `Leaf()` alone would be the value, not a call of it.
                    yield "()"
                yield from self._arguments(expr.args, expr.attrs)
            case Tuple():
                yield from ("(", *joined(self._place(item) for item in expr.fields))
                yield ",)" if len(expr.fields) == 1 else ")"
            case TupleGetItem():
                base = self._place(expr.tuple_value)
                is_number = isinstance(expr.tuple_value, Constant)
                yield from ("(", base, ")") if is_number else (base,)
                yield f".{expr.index}"
            case If():
                yield from ("if (", self._place(expr.condition), ") ")
                yield from self._braces(expr, "true_branch", expr.true_branch)
                yield " else "
                yield from self._braces(expr, "false_branch", expr.false_branch)
            case Function():
                yield "fn "
                yield from self._function(expr)
            case Match():
                yield from self._match(expr)
            case Let():
                yield from self._braces(expr, "body", expr)
            case RefCreate() | RefRead() | RefWrite():
                yield from self._reference(expr)
            case _:
                raise NotRelay(type(expr).__name__)

    def _reference(self, expr: RefCreate | RefRead | RefWrite) -> Iterator[Part]:
        match expr:
            case RefCreate():
                yield "ref"
                yield from self._arguments((expr.value,))
            case RefRead():
                yield "ref_read"
                yield from self._arguments((expr.ref,))
            case RefWrite():
                yield "ref_write"
                yield from self._arguments((expr.ref, expr.value))

    def _match(self, expr: Match) -> Iterator[Part]:
        yield from ("match" if expr.is_complete else "match?", " (", self._place(expr.value), ") {", Layout.DEEPER)
        for index, clause in enumerate(expr.clauses):
            yield Layout.NEWLINE
            yield Piece(clause, self._clause(expr, index))
            yield ","
        yield from (Layout.BACK, Layout.NEWLINE, "}")

    def _clause(self, expr: Match, index: int) -> Iterator[Part]:
        clause = expr.clauses[index]
        yield self._pattern(clause.pattern)
        yield " => "
        is_short = is_leaf(clause.body) or clause.body in self.graph_names
        if is_short and not self.plan.block_of[expr, str(index)].statements:
            yield self._place(clause.body)
        else:
            yield from self._braces(expr, str(index), clause.body)

    def _pattern(self, pattern: Pattern) -> Part:
        return Piece(pattern, self._pattern_parts(pattern))

    def _pattern_parts(self, pattern: Pattern) -> Iterator[Part]:
        match pattern:
            case PatternWildcard():
                yield "_"
            case PatternVar():
                yield Piece(pattern.var, (self._declared(pattern.var),))
            case PatternConstructor():
                yield pattern.constructor.name
                if pattern.patterns:
                    yield from ("(", *joined(self._pattern(item) for item in pattern.patterns), ")")
            case PatternTuple():
                yield from ("(", *joined(self._pattern(item) for item in pattern.patterns), ")")
            case _:
                raise NotRelay(type(pattern).__name__)


INDENT = "  "
_NO_TYPES: Mapping[Node, Type] = MappingProxyType({})


def print_relay(
    module: IRModule, *, types: Mapping[Node, Type] | None = None, marks: Mapping[Node, str] = NO_MARKS
) -> Printed:
    """Print a module; linear in its size. Shared expressions are graph variables, `%0 = ...;`.

    `types`, as `check.infer` makes them, are shown as comments `/* ty=... */`. `marks` stand in angle brackets behind
    the values of lets and the results of blocks, as `<cpu(0)>` in TVM's debug print of devices; such a text reads back.

    Raises:
        CompileError: RL022, the module holds what Relay text has no words for.
    """
    try:
        return write(_module(module, Notes(_NO_TYPES if types is None else types, marks)), indent=INDENT)
    except NotRelay as error:
        hint = "print it with --dialect tvmscript"
        message = f"{error} cannot be printed as Relay"
        raise CompileError((Diagnostic("RL022", message, module.span, hint),)) from None


def _module(module: IRModule, notes: Notes) -> Iterator[Part]:
    tensors = Tensors()
    if not _is_fragment(module):
        yield from ('#[version = "0.0.5"]', Layout.NEWLINE)
    yield Piece(module, _definitions(module, tensors, notes))
    if any(data is not None for data in tensors.data):
        yield from (Layout.NEWLINE, "#[metadata]", Layout.NEWLINE, metadata_section(tensors.data), Layout.NEWLINE)


def _is_fragment(module: IRModule) -> bool:
    """Tell whether a function is used that the module lacks; such a text has no version."""
    known = set(module.names)
    return any(isinstance(node, GlobalVar) and node.name not in known for node in preorder(module))


def _definitions(module: IRModule, tensors: Tensors, notes: Notes) -> Iterator[Part]:
    for data in module.type_data:
        yield Piece(data, _type_data(data))
        yield Layout.NEWLINE
    for index, definition in enumerate(module.definitions):
        if index > 0 or module.type_data:
            yield Layout.NEWLINE
        shown = _definition(definition, tensors, notes, [data.name for data in module.type_data])
        yield Piece(definition, (Piece(definition.function, shown),))
        yield Layout.NEWLINE


def _definition(definition: Definition, tensors: Tensors, notes: Notes, names: list[str]) -> Iterator[Part]:
    match definition.function:
        case Function() as function:
            yield from RelayPrinter(function, tensors, notes, names).definition(definition.var.name)
        case PrimFunc():
            raise NotRelay(f"the prim func {definition.var.name}")


def _type_data(data: TypeData) -> Iterator[Part]:
    names = RelayNames(frozenset())
    params = ", ".join(names.type_var(item) for item in data.type_params)
    head = f"{data.name}[{params}]" if params else data.name
    if data.is_extern:
        yield f"extern type {head}"
        return
    yield from (f"type {head} {{", Layout.DEEPER)
    for constructor in data.constructors:
        yield Layout.NEWLINE
        yield Piece(constructor, _constructor(constructor, names))
        yield ","
    yield from (Layout.BACK, Layout.NEWLINE, "}")


def _constructor(constructor: Constructor, names: RelayNames) -> Iterator[Part]:
    yield constructor.name
    if constructor.field_types:
        yield from ("(", *joined(RelayTypes(names.type_var).parts(constructor.field_types)), ")")
