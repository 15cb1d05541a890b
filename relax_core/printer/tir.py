"""Print prim funcs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from relax_core.frontend.tvmscript.literal.literals import MADE
from relax_core.frontend.tvmscript.tir.block import BUFFER
from relax_core.ir.attrs import Attrs, AttrValue
from relax_core.ir.intrinsics import SCOPE_IDS, UNKNOWN_POINTER
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import CommReducer, IntImm, Intrinsic, PrimExpr, PrimVar, is_number
from relax_core.ir.tir import (
    NOTHING,
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferParam,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    IterVar,
    LaunchThread,
    LetStmt,
    MatchRegion,
    PrimFunc,
    ScopedStmt,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.printer.emitter import Emitter
from relax_core.printer.literals import attributes, quoted
from relax_core.printer.naming import FunctionNames
from relax_core.printer.printed import INDENT
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.tir_buffers import BufferPrinter, type_of_variable

ALLOC_BUFFER = "alloc_buffer"
# A variable that numbers threads so often is declared before.
SHARED = 2


@dataclass(frozen=True, slots=True)
class ScopedPrinter:
    """Prints the first line of a statement that holds others."""

    buffers: BufferPrinter
    launches: Counter[PrimVar]

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalars."""
        return self.buffers.scalars

    @property
    def is_latest(self) -> bool:
        """Tell whether the text is of 2023 or later, as apache-tvm 0.25 and 0.27 print it."""
        return self.buffers.spelling.name != "2022"

    def line(self, stmt: ScopedStmt) -> str:
        """Show the statement as a line whose scope is the rest of the list."""
        if isinstance(stmt, LetStmt) and isinstance(stmt.value, Intrinsic) and stmt.value.name in SCOPE_IDS:
            # With a type, TVM takes it for a variable that can be assigned again.
            return f"{self.scalars.variable(stmt.var)} = {self.scalars.show(stmt.value)}"
        if isinstance(stmt, LetStmt):
            type_ = type_of_variable(stmt.var)
            # The plain form is a variable that can be assigned again.
            shown = f"T.let[{type_}]" if self.is_latest else type_
            return f"{self.scalars.variable(stmt.var)}: {shown} = {self.scalars.show(stmt.value)}"
        if isinstance(stmt, DeclBuffer) and stmt.buffer in self.scalars.variables:
            return f"{self.scalars.variable(stmt.buffer)}: T.{stmt.buffer.dtype}"
        defined = self._defined(stmt)
        head = "" if defined is None else f"{self.scalars.variable(defined)} = "
        return head + self._call(stmt)

    def head(self, stmt: ScopedStmt) -> str:
        """Show the statement as `with ...:`."""
        call, defined = self._call(stmt), self._defined(stmt)
        return f"with {call}:" if defined is None else f"with {call} as {self.scalars.variable(defined)}:"

    def _defined(self, stmt: ScopedStmt) -> Node | None:
        match stmt:
            case LetStmt(var=var) | Allocate(var=var):
                return var
            case LaunchThread(var=var):
                return var if self.launches[var] < SHARED else None
            case DeclBuffer(buffer=buffer):
                return buffer
            case AttrStmt() | BufferRealize():
                return None

    def _call(self, stmt: ScopedStmt) -> str:
        show = self.scalars.show
        match stmt:
            case LetStmt(var=var, value=value):
                return f"T.{'bind' if self.is_latest else 'LetStmt'}({show(value)}, {type_of_variable(var)})"
            case AttrStmt(subject=subject, key=key, value=value):
                return f"T.attr({show(subject)}, {quoted(key)}, {show(value)})"
            case LaunchThread(var=var, tag=tag, extent=extent):
                thread = quoted(tag) if self.launches[var] < SHARED else self.scalars.variable(var)
                return f"T.launch_thread({thread}, {show(extent)})"
            case Allocate():
                return self._allocate(stmt)
            case DeclBuffer():
                return self._declare(stmt)
            case BufferRealize(region=region, scope=scope, condition=condition):
                shown = f"T.realize({self.buffers.region(region)}, {quoted(scope)}"
                return f"{shown})" if condition is None else f"{shown}, {show(condition)})"

    def _allocate(self, stmt: Allocate) -> str:
        shown = f'T.allocate([{self.scalars.shown(stmt.extents)}], "{stmt.dtype}", {quoted(stmt.scope)}'
        if stmt.condition is not None:
            shown += f", condition={self.scalars.show(stmt.condition)}"
        return f"{shown}{_annotations(stmt)})"

    def _declare(self, stmt: DeclBuffer) -> str:
        """Where `T.alloc_buffer` makes a buffer of a block, a declared one without a pointer has memory of its own."""
        is_unknown = _is_of_unknown_memory(stmt)
        is_allocated = stmt.pointer is None and self.buffers.spelling.alloc_buffer != ALLOC_BUFFER
        call = ALLOC_BUFFER if is_allocated else "Buffer" if is_unknown else "decl_buffer"
        shown = f"T.{call}({self.buffers.given(stmt.buffer)}"
        if stmt.pointer is not None and not is_unknown:
            shown += f", data={self.scalars.show(stmt.pointer)}"
        return f"{shown}{_annotations(stmt)})"


def _is_of_unknown_memory(stmt: DeclBuffer) -> bool:
    return isinstance(stmt.pointer, Intrinsic) and stmt.pointer.name == UNKNOWN_POINTER


def _annotations(stmt: Allocate | DeclBuffer) -> str:
    return f", annotations={attributes(stmt.annotations)}" if stmt.annotations else ""


@dataclass(slots=True, eq=False)
class PrimFuncPrinter:
    """Prints one prim func.

    In its `scalars` a bare integer is int32, and `variables` are the buffers that the text calls variables. `ranges`
    are the loops around the place; `launches` tells how often a variable numbers threads.
    """

    spelling: Wording
    names: FunctionNames
    scalars: ScalarPrinter
    buffers: BufferPrinter
    variables: set[Node]
    ranges: dict[PrimVar, For] = field(default_factory=dict[PrimVar, For])
    launches: Counter[PrimVar] = field(default_factory=Counter[PrimVar])
    buffers_by_name: dict[str, Buffer] = field(default_factory=dict[str, Buffer])

    @property
    def emitter(self) -> Emitter:
        """What the text is written with."""
        return self.scalars.emitter

    def show(self, function: PrimFunc, name: str, indent: str) -> str:
        """Show the function under a name; its first line stands at `indent` already."""
        flags = [*(["private=True"] if function.is_private else [])]
        flags += () if function.is_s_tir is False else self.spelling.prim_func_flags
        decorator = f"@T.prim_func({', '.join(flags)})" if flags else "@T.prim_func"
        inline = {item.handle: item for item in function.buffers if self._is_inline(item)}
        params = ", ".join([self._param(item, inline.get(item)) for item in function.params])
        result = f" -> T.{function.ret_dtype}" if function.ret_dtype is not None else ""
        inner = f"{indent}{INDENT}"
        lines = [f"{decorator}{indent}def {name}({params}){result}:"]
        if function.attrs:
            lines.append(f"T.func_attr({attributes(function.attrs)})")
        lines += self._declarations(function)
        lines += [self._match(item) for item in function.buffers if not self._is_inline(item)]
        return f"{inner.join(lines)}{self._body(function.body, inner)}"

    def _is_inline(self, param: BufferParam) -> bool:
        """Tell whether a buffer stands in the signature; apache-tvm 0.25 knows no dimensions there."""
        if not param.is_inline or self.spelling.name != "2023":
            return param.is_inline
        return not any(isinstance(item, PrimVar) for item in preorder(param.buffer))

    def _param(self, param: PrimVar, inline: BufferParam | None) -> str:
        if inline is None:
            return self.emitter.mark(param, f"{self.names[param]}: {type_of_variable(param)}")
        buffer = inline.buffer
        shown = f"{self.names[buffer]}: {self.buffers.definition(buffer, 'Buffer', is_signature=True)}"
        return self.emitter.mark(inline, self.emitter.mark(param, self.emitter.mark(buffer, shown)))

    def _match(self, param: BufferParam) -> str:
        name, handle = self.scalars.variable(param.buffer), self.scalars.variable(param.handle)
        return self.emitter.mark(param, f"{name} = {self.buffers.definition(param.buffer, 'match_buffer', handle)}")

    def _declarations(self, function: PrimFunc) -> Iterator[str]:
        """Show `n = T.int64()` for the dimensions that are bound from the arguments' shapes.

        Where a buffer stands in the signature, 2022 and 2026 know its int64 dimensions from there.
        """
        for buffer in self.names.buffers:
            self.buffers_by_name.setdefault(buffer.name, buffer)
        for scope in self.names.scopes:
            match scope:
                case DeclBuffer(buffer=buffer, is_scalar=True) if self.spelling.name != "2022":
                    self.variables.add(buffer)
                case LaunchThread(var=var, tag=tag):
                    self.launches[var] += 1
                    if self.launches[var] == SHARED:
                        yield f"{self.scalars.variable(var)} = T.env_thread({quoted(tag)})"
                case _:
                    pass
        free = _free_symbols(function, self.names)
        inline = signature_symbols(function) if free and self.spelling.name != "2023" else ()
        for symbol in free:
            if symbol in inline:
                continue
            is_2022 = self.spelling.name == "2022" and symbol.dtype != "handle"
            type_ = type_of_variable(symbol)
            made = f'T.var("{symbol.dtype}")' if is_2022 else type_ if type_.endswith(")") else f"{type_}()"
            yield f"{self.scalars.variable(symbol)} = {made}"

    def _body(self, body: Stmt, indent: str) -> str:
        """Show the body; a root block that only allocates is left out, as its buffers make it again.

        Before 2025 they make it only where there are other blocks.
        """
        match body:
            case Block(name="root", iter_vars=(), init=None, predicate=None, annotations=(), matches=()) if (
                body.alloc_buffers and body.reads is None and body.writes is None and self._makes_root(body)
            ):
                return self.emitter.mark(body, self._allocations(body, indent) + self._lines(body.body, indent))
            case _:
                return self._lines(body, indent)

    def _makes_root(self, root: Block) -> bool:
        is_shared = self.spelling.alloc_buffer == ALLOC_BUFFER
        return not is_shared or any(isinstance(item, Block) for item in preorder(root.body))

    def _allocations(self, block: Block, indent: str) -> str:
        lines: list[str] = []
        for buffer in block.alloc_buffers:
            made = self.buffers.definition(buffer, self.spelling.alloc_buffer)
            lines += (indent, self.scalars.variable(buffer), " = ", made)
        for item in block.matches:
            lines += (indent, self._matched(item))
        return "".join(lines)

    def _matched(self, match: MatchRegion) -> str:
        name, region = self.scalars.variable(match.buffer), self.buffers.region(match.region)
        return self.emitter.mark(match, f"{name} = {self.buffers.definition(match.buffer, 'match_buffer', region)}")

    def _lines(self, stmt: Stmt, indent: str) -> str:
        """Show statements as lines at `indent`, which starts with the line break before each."""
        lines: list[str] = []
        stack: list[Stmt | _Inside] = [stmt]
        while stack:
            item = stack.pop()
            match item:
                case BufferStore():
                    lines += (indent, self._simple(item, indent))
                case For():
                    lines.append(self.emitter.nested(self._loop, item, indent))
                case Block():
                    lines += (indent, self.emitter.nested(self._simple, item, indent))
                case SeqStmt(stmts=stmts):
                    stack += _lined_up(stmts or (NOTHING,))
                case LetStmt() | AttrStmt() | LaunchThread() | Allocate() | DeclBuffer() | BufferRealize():
                    lines += (indent, self.emitter.mark(item, self._scoped().line(item)))
                    stack.append(item.body)
                case _Inside(stmt=scoped):
                    lines += (indent, self.emitter.nested(self._inside, scoped, indent))
                case _:
                    lines += (indent, self.emitter.nested(self._simple, item, indent))
        return "".join(lines)

    def _scoped(self) -> ScopedPrinter:
        return ScopedPrinter(self.buffers, self.launches)

    def _inside(self, stmt: ScopedStmt, indent: str) -> str:
        """Show a statement whose scope ends before the list does: `with ...:`."""
        if isinstance(stmt, DeclBuffer):
            # A variable lives to the end of its list, so this one is shown as the buffer that it is.
            self.variables.discard(stmt.buffer)
        return self.emitter.mark(stmt, f"{self._scoped().head(stmt)}{self._lines(stmt.body, indent + INDENT)}")

    def _simple(self, stmt: Stmt, indent: str) -> str:
        return self.emitter.mark(stmt, self._statement(stmt, indent))

    def _statement(self, stmt: Stmt, indent: str) -> str:
        show, inner = self.scalars.show, indent + INDENT
        match stmt:
            case BufferStore(buffer=buffer, indices=indices, value=value):
                return f"{self.scalars.element(buffer, indices)} = {show(value)}"
            case Block():
                return self._block(stmt, inner)
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                text = f"if {show(condition)}:{self._lines(then, inner)}"
                return text if other is None else f"{text}{indent}else:{self._lines(other, inner)}"
            case While(condition=condition, body=body):
                return f"while {show(condition)}:{self._lines(body, inner)}"
            case AssertStmt():
                return f"assert {show(stmt.condition)}{_message(stmt)}"
            case Evaluate(value=value):
                return self._evaluation(value)
            case _:
                raise AssertionError(type(stmt).__name__)

    def _evaluation(self, value: PrimExpr) -> str:
        match value:
            case Intrinsic(name="break_loop" | "continue_loop" as name, args=()):
                return name.removesuffix("_loop")
            case Intrinsic(name="ret", args=(result,)) if self.spelling.name != "2022":
                return f"return {self.scalars.show(result)}"
            case _:
                return f"T.evaluate({self.scalars.show(value)})"

    def _loop(self, loop: For, indent: str) -> str:
        """Show a loop; a nest of plain loops is one `T.grid`, whose text shows each of them."""
        nest = _nest(loop)
        for item in nest:
            self.ranges[item.var] = item
        return indent + self._nested(nest, self._header(nest), indent)

    def _nested(self, nest: list[For], header: str, indent: str) -> str:
        text = header + self._lines(nest[-1].body, indent + INDENT)
        for item in reversed(nest):
            text = self.emitter.mark(item, text)
        return text

    def _header(self, nest: list[For]) -> str:
        names = self.scalars.variables_of([item.var for item in nest])
        if len(nest) > 1:
            return f"for {names} in T.grid({self.scalars.shown([item.extent for item in nest])}):"
        loop = nest[0]
        is_plain = loop.kind == "serial" and not loop.annotations
        if _starts_at_zero(loop) and loop.step is None:
            shown = self.scalars.show(loop.extent)
        else:
            shown = f"{self.scalars.show(loop.start)}, {self.buffers.stop(loop.start, loop.extent)}"
        if loop.step is not None:
            shown += f"{', ' if is_plain else ', step='}{self.scalars.show(loop.step)}"
        if loop.thread is not None:
            shown += f", thread={quoted(loop.thread)}"
        if loop.annotations:
            shown += f", annotations={attributes(loop.annotations)}"
        return f"for {names} in {'range' if is_plain else f'T.{loop.kind}'}({shown}):"

    def _block(self, block: Block, indent: str) -> str:
        lines = [f"with T.{self.spelling.block}({quoted(block.name) if block.name else ''}):"]
        lines += self._axes(block.iter_vars)
        if block.predicate is not None:
            lines.append(f"T.where({self.scalars.show(block.predicate)})")
        for word, regions in (("reads", block.reads), ("writes", block.writes)):
            if regions is not None:
                lines.append(f"T.{word}({', '.join([self.buffers.region(item) for item in regions])})")
        body = block.body
        while block.annotations and isinstance(body, DeclBuffer) and _is_of_unknown_memory(body):
            # The annotations may name it.
            lines.append(self.emitter.mark(body, self._scoped().line(body)))
            self.buffers_by_name[body.buffer.name] = body.buffer
            body = body.body
        if block.annotations:
            lines.append(f"T.{self.spelling.block_attr}({attributes(self._named(block.annotations))})")
        text = indent.join(lines) + self._allocations(block, indent)
        if block.init is not None:
            text += f"{indent}with T.init():{self._lines(block.init, indent + INDENT)}"
        return text + self._lines(body, indent)

    def _named(self, attrs: Attrs) -> Attrs:
        """Replace the buffers that annotations list by their names here."""
        return tuple((key, self._named_value(value)) for key, value in attrs)

    def _named_value(self, value: AttrValue) -> AttrValue:
        match value:
            case ((str(mark), str(name)),) if mark == BUFFER:
                buffer = self.buffers_by_name.get(name)
                return ((f"{MADE}lambda", self.names[buffer] if buffer is not None else name),)
            case tuple():
                return tuple(self._named_value(item) for item in value)  # pyright: ignore[reportArgumentType]  # parts of plain data are plain data
            case _:
                return value

    def _axes(self, axes: tuple[IterVar, ...]) -> list[str]:
        # As TVM: one axis alone is no remap, which in 0.25 gives it another dtype of the start.
        if len(axes) > 1 and all(self._is_remapped(item) for item in axes):
            kinds = "".join("S" if item.kind == "spatial" else "R" for item in axes)
            names = self.scalars.variables_of([item.var for item in axes])
            bindings = ", ".join([self.emitter.mark(item, self.scalars.show(item.binding)) for item in axes])
            return [f'{names} = T.axis.remap("{kinds}", [{bindings}])']
        return [self.emitter.mark(item, self._axis(item)) for item in axes]

    def _axis(self, axis: IterVar) -> str:
        name = self.scalars.variable(axis.var)
        if axis.start is None:
            extent = self.scalars.show(axis.extent)
        else:
            extent = f"({self.scalars.show(axis.start)}, {self.buffers.stop(axis.start, axis.extent)})"
        return f"{name} = T.axis.{axis.kind}({extent}, {self.scalars.show(axis.binding)})"

    def _is_remapped(self, axis: IterVar) -> bool:
        loop = self.ranges.get(axis.binding) if isinstance(axis.binding, PrimVar) else None
        if loop is None or axis.kind not in ("spatial", "reduce"):
            return False
        start = None if _starts_at_zero(loop) else loop.start
        is_same_start = start is axis.start or (
            start is not None and axis.start is not None and _same(start, axis.start)
        )
        return is_same_start and _same(loop.extent, axis.extent)


@dataclass(frozen=True, slots=True)
class _Inside:
    """A statement of a list whose scope ends before the list does."""

    stmt: ScopedStmt


def _lined_up(stmts: tuple[Stmt, ...]) -> "list[Stmt | _Inside]":
    """Return the statements of a list, the last one first; the scope of one that is not the last ends behind it."""
    first = (_Inside(item) if isinstance(item, ScopedStmt) else item for item in reversed(stmts[:-1]))
    return [*stmts[-1:], *first]


def prim_func_printer(spelling: Wording, names: FunctionNames, module_name: str, emitter: Emitter) -> PrimFuncPrinter:
    """Make the printer of one prim func of a module."""
    variables: set[Node] = set()
    scalars = ScalarPrinter(names.__getitem__, "int32", variables, module_name, emitter)
    return PrimFuncPrinter(spelling, names, scalars, BufferPrinter(spelling, scalars), variables)


def _same(a: PrimExpr, b: PrimExpr) -> bool:
    return a is b or (isinstance(a, IntImm) and isinstance(b, IntImm) and (a.value, a.dtype) == (b.value, b.dtype))


def _message(stmt: AssertStmt) -> str:
    """Return the message of an assertion with the comma before it."""
    if stmt.parts or stmt.kind != "RuntimeError":
        parts = ", ".join(quoted(item) for item in stmt.parts or (stmt.message,))
        return f", ({quoted(stmt.kind)}, [{parts}])"
    return f", {quoted(stmt.message)}" if stmt.message else ""


def _starts_at_zero(loop: For) -> bool:
    return is_number(loop.start, 0)


def _is_plain(loop: For) -> bool:
    is_serial = loop.kind == "serial" and not loop.annotations and loop.thread is None
    return is_serial and _starts_at_zero(loop) and loop.step is None


def _nest(loop: For) -> list[For]:
    """Return the loops that `T.grid` can join: plain ones directly inside each other, with independent extents."""
    nest = [loop]
    loop_vars = {loop.var}
    if not _is_plain(loop):
        return nest
    while isinstance(inner := nest[-1].body, For) and _is_plain(inner):
        if type(inner.extent) is not IntImm and any(node in loop_vars for node in preorder(inner.extent)):
            break
        nest.append(inner)
        loop_vars.add(inner.var)
    return nest


def _free_symbols(function: PrimFunc, names: FunctionNames) -> list[PrimVar]:
    """Return the variables that nothing in the function binds, in the order of the text."""
    bound: set[PrimVar] = set(function.params)
    for scope in names.scopes:
        match scope:
            case For() | LetStmt() | IterVar() | LaunchThread() | Allocate():
                bound.add(scope.var)
            case CommReducer(params=params):
                bound.update(params)
            case _:
                pass
    return [item for item in names.symbols if item not in bound]


def signature_symbols(function: PrimFunc) -> set[PrimVar]:
    """Return the int64 dimensions of the buffers in the signature."""
    found: set[PrimVar] = set()
    for param in function.buffers:
        for part in children(param.buffer) if param.is_inline else ():
            if isinstance(part, PrimVar):
                found.add(part)
            elif not isinstance(part, IntImm):
                found.update(node for node in preorder(part) if isinstance(node, PrimVar))
    return {item for item in found if item.dtype == "int64"}
