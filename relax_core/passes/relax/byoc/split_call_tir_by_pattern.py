"""SplitCallTIRByPattern: leading nests of prim funcs that a library knows are called as kernels of the library.

See: tvm/src/relax/transform/split_call_tir_by_pattern.cc
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    TensorType,
    Tuple,
    Type,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, const
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import Block, Buffer, For, PrimFunc
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.byoc.library_kernels import SplitPrimFunc, split_prim_func
from relax_core.passes.relax.byoc.nest_matches import NestMatch, match_nest, nests_of
from relax_core.passes.relax.functions import operator_call, rewrite_functions

Codegen = Callable[[tuple[NestMatch, ...]], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class SplitCallTIRByPatternOptions:
    """`patterns` are prim funcs, or names of prim funcs of the module; the first that matches a nest counts.

    `fcodegen` is given the matches of a prim func and answers with the code of a kernel, how many of the nests it
    does, and the buffers that it takes. Without it, the reference backend takes all the nests that it can.
    """

    patterns: tuple[str | PrimFunc, ...] = ()
    fcodegen: Codegen | None = None


def run(module: IRModule, options: SplitCallTIRByPatternOptions, ctx: PassContext) -> IRModule:
    """Call the kernel `f` by `call_dps_packed`, and what is left, `unfused_epilogue`, by `call_tir` with what it gives.

    The kernel stays in the module as `External`: the reference backend runs it, whatever code `fcodegen` makes. It
    takes the place of the prim func `f`, which TVM leaves in the module under the name that the library now has; where
    `f` is public or used otherwise it stays here, and the kernel is `f_kernel`. A size of the pattern's buffers stands
    for any other, where TVM wants them equal. What is left takes one value of the kernel: TVM also splits where it
    reads more, from buffers that are nowhere then, and breaks down where it gives several results.

    Raises:
        CompileError: PS018 if a pattern is no prim func of the module, or more than one nest.
    """
    patterns = tuple(_pattern(item, module, ctx) for item in options.patterns)
    if not patterns:
        ctx.remark(module, "note", "there are no patterns: give prim funcs, or names of prim funcs of the module")
        return module
    splitting = _Splitting(module, patterns, options.fcodegen, ctx, Names(module.names), _used_otherwise(module))
    types = ctx.types_when_read(module)

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        return (_KernelCalls(splitting, names_in(function), types, ctx).block,)

    changed = rewrite_functions(module, ctx, rules_for)
    if changed is module:
        return module
    gone = {name for name, item in splitting.found.items() if item is not None and item.kernel_name == name}
    kept = (item for item in changed.definitions if item.var.name not in gone)
    return with_definitions(changed, (*kept, *splitting.added), ctx)


def _pattern(item: str | PrimFunc, module: IRModule, ctx: PassContext) -> PrimFunc:
    found = module[item] if isinstance(item, str) and item in module else item
    if not isinstance(found, PrimFunc):
        names = ", ".join(var.name for var, _ in module.prim_funcs) or "none"
        ctx.fail("PS018", f"the pattern {item} is no prim func of the module", module, f"prim funcs: {names}")
    nests = nests_of(found)
    if len(nests) != 1 or not isinstance(nests[0], For):
        name = item if isinstance(item, str) else "of a prim func"
        hint = "give a pattern for each nest; those that match nests in a row make one kernel"
        ctx.fail("PS018", f"the pattern {name} is not one nest of loops", found, hint)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _SplitDefinition:
    """A prim func that is split, the name of its kernel, and the global of the rest, `None` if nothing is left.

    `matches` are those of the nests that the kernel does.
    """

    function: PrimFunc
    parts: SplitPrimFunc
    matches: tuple[NestMatch, ...]
    kernel_name: str
    rest: GlobalVar | None


def _used_otherwise(module: IRModule) -> frozenset[str]:
    """Return the names of the functions that are used otherwise than by `call_tir`."""
    found: set[str] = set()
    for _, function in module.relax_functions:
        for node in preorder(function):
            match node:
                case Call(op=Op(name="relax.call_tir"), args=(GlobalVar(), *parts)):
                    pass
                case _:
                    parts = children(node)
            found |= {item.name for item in parts if isinstance(item, GlobalVar)}
    return frozenset(found)


@dataclass(slots=True)
class _Splitting:
    """The prim funcs of a module that were looked at, and the definitions that are added to it."""

    module: IRModule
    patterns: tuple[PrimFunc, ...]
    codegen: Codegen | None
    ctx: PassContext
    names: Names
    used: frozenset[str]
    found: dict[str, _SplitDefinition | None] = field(default_factory=dict[str, _SplitDefinition | None])
    added: list[Definition] = field(default_factory=list[Definition])

    def split(self, name: str, output_count: int) -> _SplitDefinition | None:
        """Return the parts of a prim func, `None` if it stays."""
        if name not in self.found:
            definition = self.module.find(name)
            is_prim = definition is not None and isinstance(definition.function, PrimFunc)
            self.found[name] = self.made(definition, output_count) if definition is not None and is_prim else None
        return self.found[name]

    def made(self, definition: Definition, output_count: int) -> _SplitDefinition | None:
        function, name = definition.function, definition.var.name
        assert isinstance(function, PrimFunc), "only prim funcs are split"
        matches, why = self.matches(function)
        parts = self.parts(function, matches, output_count) if matches else why
        if isinstance(parts, str):
            self.ctx.remark(function, "missed", f"@{name} stays: {parts}")
            return None
        is_replaced = self.is_replaced(definition, parts)
        kernel_name = name if is_replaced else self.names.fresh(f"{name}_kernel")
        self.add(kernel_name, parts.kernel, definition)
        rest = None if parts.rest is None else self.rest(parts.rest, definition)
        return _SplitDefinition(function, parts, matches[: parts.count], kernel_name, rest)

    def matches(self, function: PrimFunc) -> tuple[tuple[NestMatch, ...], str]:
        """Match the nests of a prim func one after the other, up to the first that no pattern matches, and why not."""
        found: list[NestMatch] = []
        for nest in nests_of(function):
            tried = [match_nest(pattern, nest) for pattern in self.patterns]
            match = next((item for item in tried if isinstance(item, NestMatch)), None)
            if match is None:
                return tuple(found), "; ".join(dict.fromkeys(item for item in tried if isinstance(item, str)))
            found.append(match)
        return tuple(found), ""

    def parts(self, function: PrimFunc, matches: tuple[NestMatch, ...], output_count: int) -> SplitPrimFunc | str:
        """Split a prim func behind as many of the nests that match as can be split off."""
        if self.codegen is not None:
            _, count, buffers = self.codegen(matches)
            given = [item for item in buffers if isinstance(item, Buffer)]
            if not 0 < count <= len(matches):
                return f"the code generator takes {count} of {len(matches)} nests"
            return split_prim_func(function, count, output_count, given)
        tried = (split_prim_func(function, count, output_count) for count in range(len(matches), 0, -1))
        whys: list[str] = []
        for item in tried:
            if not isinstance(item, str):
                return item
            whys.append(item)
        return whys[0]

    def is_replaced(self, definition: Definition, parts: SplitPrimFunc) -> bool:
        """Tell whether the kernel takes the place of a prim func, which then nothing else may use."""
        is_same = definition.function.is_private or parts.rest is None
        return is_same and definition.var.name not in self.used

    def rest(self, rest: PrimFunc, source: Definition) -> GlobalVar:
        """Return the global of what is left of a prim func, which others may be left with as well."""
        known = (item.var for item in self.added if structural_equal(item.function, rest))
        return next(known, None) or self.add(self.names.fresh("unfused_epilogue"), rest, source)

    def add(self, name: str, function: PrimFunc, source: Definition) -> GlobalVar:
        made = Definition(GlobalVar(name), self.ctx.derive(function, source.function))
        self.added.append(self.ctx.derive(made, source))
        return made.var


@dataclass(frozen=True, slots=True)
class _KernelCalls:
    """The calls in one function of prim funcs that are split."""

    splitting: _Splitting
    names: Names
    types: Mapping[Node, Type]
    ctx: PassContext

    def block(self, node: Node) -> Node | None:
        """Rule: call_tir(f, (x, y)) -> call_tir(unfused_epilogue, (call_dps_packed("f", (x,)), y))."""
        if not isinstance(node, BindingBlock):
            return None
        bindings = tuple(made for item in node.bindings for made in self.bindings(item, node))
        return None if bindings == node.bindings else replace(node, bindings=bindings)

    def bindings(self, binding: Binding, block: BindingBlock) -> Iterator[Binding]:
        match binding:
            case VarBinding(
                value=Call(op=Op(name="relax.call_tir"), args=(GlobalVar(name=name), Tuple() as given)) as call
            ):
                split = self.splitting.split(name, len(call.type_args))
            case _:
                yield binding
                return
        if split is None:
            yield binding
            return
        emitter = Emitter(self.names, is_dataflow=isinstance(block, DataflowBlock))
        value = self.call(split, call, given, emitter)
        self.ctx.remark(call, "applied", _said(name, split), tuple(item.nest for item in split.matches))
        for item in emitter.bindings:
            yield self.ctx.derive(item, binding, rule="call_tir -> call of a kernel of a library")
        yield self.ctx.derive(replace(binding, value=self.ctx.derive(value, call)), binding)

    def call(self, split: _SplitDefinition, call: Call, given: Tuple, emitter: Emitter) -> Call:
        """Return the call that gives the results; that of the kernel is emitted if there is another one behind it."""
        parts, callee = split.parts, ExternFunc(split.kernel_name)
        if parts.crossing is None or split.rest is None:
            made = operator_call("relax.call_dps_packed", callee, given, type_args=call.type_args)
            return replace(made, span=call.span)
        inputs = tuple(given.fields[place] for place in parts.inputs)
        type_ = _type_at(parts.crossing, split.function, [self.types.get(item) for item in given.fields])
        made = operator_call("relax.call_dps_packed", callee, Tuple(inputs), type_args=(type_,))
        crossing = emitter.emit(self.ctx.derive(replace(made, span=call.span), call))
        left = tuple(given.fields[place] for place in parts.rest_inputs)
        return replace(call, args=(split.rest, Tuple((crossing, *left))))


def _type_at(crossing: Buffer, function: PrimFunc, given: Sequence[Type | None]) -> Type:
    """Return the type of what a kernel gives where the whole prim func is called with values of these types."""
    sizes: dict[PrimVar, PrimExpr] = {}
    for handle, type_ in zip(function.params, given, strict=False):
        buffer = function.buffer_of(handle)
        if buffer is not None and isinstance(type_, TensorType) and type_.dims is not None:
            pairs = zip(buffer.shape, type_.dims, strict=False)
            sizes |= {size: dim for size, dim in pairs if isinstance(size, PrimVar)}
    dims = (replace_symbols(size, sizes) for size in crossing.shape)
    # Sizes of kernels may be of 32 bits, those of Relax are not.
    return TensorType(tuple(const(item.value) if isinstance(item, IntImm) else item for item in dims), crossing.dtype)


def _said(name: str, split: _SplitDefinition) -> str:
    blocks = ", ".join(item.name for match in split.matches for item in preorder(match.nest) if isinstance(item, Block))
    left = "nothing is left" if split.rest is None else f"@{split.rest.name} does the rest"
    return f"@{name}: the library does {blocks}; {left}"


PASS = Pass(
    "SplitCallTIRByPattern",
    "Calls leading loop nests of prim funcs that a library knows as kernels of the library.",
    run,
    options=SplitCallTIRByPatternOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/split_call_tir_by_pattern.cc",
)
