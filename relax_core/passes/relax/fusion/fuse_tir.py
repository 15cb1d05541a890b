"""FuseTIR: a primitive function becomes one prim func.

See: tvm/src/relax/transform/fuse_tir.cc
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from relax_core.ir.attrs import Attrs, attr, attrs_of
from relax_core.ir.expr import (
    Binding,
    Call,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, children, map_children, postorder, preorder
from relax_core.ir.prim import PrimExpr, PrimVar, dtype_of
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.rewrite import RewriteLog, Rule
from relax_core.ir.tir import Block, Buffer, BufferParam, BufferRegion, PrimFunc, Stmt, seq
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax import dead_code_elimination
from relax_core.passes.relax.dead_code_elimination import DCEOptions
from relax_core.passes.relax.functions import rewrite_functions
from relax_core.passes.relax.fusion.fuse_ops import PRIMITIVE
from relax_core.passes.relax.interfaces import expand_tuple_arguments, remove_unused_parameters
from relax_core.passes.relax.operators.calls import integers_in, ints

Place: TypeAlias = "Buffer | PrimExpr | tuple[Place, ...]"
"""Where a value lies: a buffer, or one for each field of a tuple; a scalar is itself."""

_CALLS = ("relax.call_tir", "relax.call_tir_inplace")


class NotMergedError(Exception):
    """What stands in the way of merging, in words, and the node that it is about."""

    def __init__(self, words: str, node: Node) -> None:
        super().__init__(words)
        self.node = node


@dataclass(frozen=True, slots=True)
class Merged:
    """A prim func, and for each output the parameter that it is written into, -1 for one of its own."""

    function: PrimFunc
    places: tuple[int, ...]

    @property
    def is_inplace(self) -> bool:
        """Tell whether an output is written into a parameter."""
        return any(item >= 0 for item in self.places)


def merged_prim_func(function: Function, module: IRModule, type_of: Mapping[Node, Type], log: RewriteLog) -> Merged:
    """Return a prim func that does what `function`, whose bindings are `call_tir` and fields of tuples, does.

    Its parameters are those of the function, tensors as buffers and dimensions as scalars, then the outputs that are
    not written into one of these. Each statement stems from the call that it is a part of, not from what else calls the
    same prim func. As in TVM the buffers of its parameters are said not to overlap.

    Raises:
        NotMergedError: a binding is of another kind, or a size is not known well enough.
    """
    assert isinstance(function.body, SeqExpr), "normal form"
    merging = _Merging(module, type_of, log)
    for param in function.params:
        merging.take(param)
    bindings = [item for block in function.body.blocks for item in block.bindings]
    for item in bindings:
        merging.visit(item)
    return merging.finish(function.body.body)


@dataclass(slots=True)
class _Merging:
    """`place_of` is where each variable's value lies; `made` are the buffers that the prim func has to allocate."""

    module: IRModule
    type_of: Mapping[Node, Type]
    log: RewriteLog
    names: Names = field(default_factory=Names)
    blocks: Names = field(default_factory=Names)
    params: list[PrimVar] = field(default_factory=list[PrimVar])
    buffers: list[BufferParam] = field(default_factory=list[BufferParam])
    place_of: dict[Node, Place] = field(default_factory=dict[Node, Place])
    made: list[Buffer] = field(default_factory=list[Buffer])
    written: set[Place] = field(default_factory=set["Place"])
    body: list[Stmt] = field(default_factory=list[Stmt])
    attrs: Attrs = (("tirx.noalias", True),)

    def take(self, param: Var) -> None:
        """Add the parameters for one of the function."""
        match self.type_of.get(param, param.annotation):
            case TensorType() as type_:
                self.place_of[param] = self.parameter(self.buffer(param.name, type_, param))
            case ShapeType(values=tuple() as dims) if all(isinstance(item, PrimVar) for item in dims):
                self.params.extend(item for item in dims if isinstance(item, PrimVar))
            case PrimType(value=PrimVar() as symbol):
                self.params.append(symbol)
                self.place_of[param] = symbol
            case PrimType(dtype=dtype, value=None):
                self.place_of[param] = symbol = PrimVar(self.names.fresh(param.name), dtype)
                self.params.append(symbol)
            case _:
                raise NotMergedError(f"the parameter {param.name} is no tensor and no dimension", param)

    def parameter(self, buffer: Buffer) -> Buffer:
        """Add a parameter for a buffer, and return the buffer."""
        handle = PrimVar(self.names.fresh(f"var_{buffer.name}"), "handle")
        is_inline = not any(isinstance(item, PrimVar) for item in buffer.shape)
        self.params.append(handle)
        self.buffers.append(BufferParam(handle, buffer, is_inline))
        return buffer

    def buffer(self, name: str, type_: TensorType, at: Node) -> Buffer:
        if type_.dims is None or type_.dtype is None:
            raise NotMergedError(f"the sizes of {name} are not known", at)
        return Buffer(self.names.fresh(name), type_.dims, type_.dtype)

    def visit(self, binding: Binding) -> None:
        inplace: tuple[int, ...] = ()
        match binding.value:
            case Call(op=Op(name=operator), args=(GlobalVar(name=name), Tuple(fields=given), *rest)) as call if (
                operator in _CALLS
            ):
                if operator == "relax.call_tir_inplace":
                    inplace, rest = tuple(integers_in(rest[0])), rest[1:]
                found = self.module.find(name)
                if found is None or not isinstance(found.function, PrimFunc):
                    raise NotMergedError(f"@{name} is no prim func", call)
                scalars = tuple(item for part in rest if isinstance(part, ShapeExpr) for item in part.values)
                self.place_of[binding.var] = self.call(found.function, given, call, scalars, inplace)
            case TupleGetItem(tuple_value=source, index=index) if isinstance(place := self.place_of[source], tuple):
                self.place_of[binding.var] = place[index]
            case Tuple(fields=fields) if all(item in self.place_of for item in fields):
                self.place_of[binding.var] = tuple(self.place_of[item] for item in fields)
            case value:
                raise NotMergedError(f"{binding.var.name} is no call of a prim func", value)

    def call(
        self,
        callee: PrimFunc,
        given: tuple[Expr, ...],
        call: Call,
        scalars: tuple[PrimExpr, ...],
        inplace: tuple[int, ...],
    ) -> Place:
        """Add the body of a prim func that is called, and return where its outputs lie."""
        arguments: list[Place] = [self.argument(item) for item in given]
        written = [arguments[at] if at >= 0 else None for at in inplace] or [None] * len(call.type_args)
        own = iter(callee.params[len(arguments) :])
        outputs: list[Place] = []
        made: list[Buffer] = []
        for type_, place in zip(call.type_args, written, strict=True):
            if place is None:
                made.append(self.output(type_, callee, next(own, None), call))
            outputs.append(made[-1] if place is None else place)
        self.written.update(item for item in written if item is not None)
        arguments += [*made, *scalars]
        if len(arguments) != len(callee.params):
            raise NotMergedError("the call gives another number of arguments than the prim func has", call)
        inlined = _BodyInlining(call, self.blocks).bind(callee, arguments)
        self.made.extend((*inlined.buffers, *made))
        self.body.append(inlined.body)
        self.log.copied([(call, item) for item in inlined.made])
        self.attrs = tuple(item for item in callee.attrs if item[0].endswith("noalias")) or self.attrs
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def output(self, type_: Type, callee: PrimFunc, param: PrimVar | None, call: Call) -> Buffer:
        """Make the buffer of an output of a call, named after the parameter that it is given for."""
        buffer = None if param is None else callee.buffer_of(param)
        name = f"{buffer.name}_intermediate" if buffer is not None else "intermediate"
        if not isinstance(type_, TensorType):
            raise NotMergedError("a result is no tensor", call)
        return self.buffer(name, type_, call)

    def argument(self, given: Expr) -> Place:
        match given:
            case PrimValue(value=value):
                return value
            case Var() if given in self.place_of:
                return self.place_of[given]
            case _:
                raise NotMergedError(f"an argument is a {type(given).__name__}", given)

    def finish(self, result: Expr) -> Merged:
        """Return the prim func; the buffers of the result are parameters, the others are allocated."""
        fields = result.fields if isinstance(result, Tuple) else (result,)
        if any(item not in self.place_of for item in fields):
            raise NotMergedError("the result is no value of a prim func", result)
        outputs = tuple(part for item in fields for part in _flat(self.place_of[item]))
        is_param = [item not in self.made for item in outputs]
        is_given = any(is_in and item not in self.written for item, is_in in zip(outputs, is_param, strict=True))
        if is_given or len(set(outputs)) < len(outputs):
            raise NotMergedError("a result is a parameter, or comes twice", result)
        index_of = {item.buffer: self.params.index(item.handle) for item in self.buffers}
        places = tuple(index_of.get(item, -1) for item in outputs)
        for item, is_in in zip(outputs, is_param, strict=True):
            if not is_in:
                self.parameter(item)
        inner = tuple(item for item in self.made if item not in outputs)
        stmts = seq(self.body)
        body = Block("root", (), stmts, alloc_buffers=inner) if inner else stmts
        made = PrimFunc(tuple(self.params), tuple(self.buffers), body, attrs_of(self.attrs), is_private=True)
        return Merged(made, places)


@dataclass(slots=True)
class _BodyInlining:
    """The body of a prim func with the arguments of a call in the place of its parameters, and names of its own."""

    call: Call
    blocks: Names
    taken: dict[Node, Node] = field(default_factory=dict[Node, Node])
    made: list[Node] = field(default_factory=list[Node])
    buffers: tuple[Buffer, ...] = ()
    body: Stmt = field(default_factory=lambda: seq(()))

    def bind(self, callee: PrimFunc, arguments: "list[Place]") -> "_BodyInlining":
        """Put `arguments` into the body of `callee`."""
        pairs = tuple(zip(callee.params, arguments, strict=True))
        # Scalars first: sizes of buffers are made of them.
        for param, given in sorted(pairs, key=lambda pair: isinstance(pair[1], Buffer)):
            buffer = callee.buffer_of(param)
            match given:
                case Buffer() if buffer is not None:
                    self.bind_buffer(buffer, given)
                case PrimExpr() if buffer is None and dtype_of(given) == param.dtype:
                    self.taken[param] = given
                case _:
                    raise NotMergedError(f"the argument for {param.name} is of another kind", self.call)
        for node in postorder(callee.body):
            if node not in self.taken:
                self.taken[node] = copy = self.copied(node)
                self.made += [copy] if copy is not node else []
        body = self.taken[callee.body]
        if isinstance(body, Block) and body.name == "root" and not body.iter_vars:
            self.buffers, body = body.alloc_buffers, body.body
        assert isinstance(body, Stmt), "a statement stays one"
        self.body = body
        return self

    def bind_buffer(self, buffer: Buffer, given: Buffer) -> None:
        """Let a buffer of the caller stand for a parameter; what its sizes name is what the caller's are."""
        if len(buffer.shape) != len(given.shape) or buffer.dtype != given.dtype:
            raise NotMergedError(f"{buffer.name} has another rank or dtype", self.call)
        if buffer.strides or buffer.elem_offset is not None:
            raise NotMergedError(f"{buffer.name} has strides of its own", self.call)
        self.taken[buffer] = given
        for own, size in zip(buffer.shape, given.shape, strict=True):
            if isinstance(own, PrimVar) and own not in self.taken:
                if own.dtype != dtype_of(size):
                    raise NotMergedError(f"the dimension {own.name} is of {own.dtype}, its value is not", self.call)
                self.taken[own] = size
            elif not prove_equal(self.size(own), size):
                raise NotMergedError(f"a size of {buffer.name} cannot be proven", self.call)

    def size(self, own: PrimExpr) -> PrimExpr:
        memo: dict[Node, Node] = dict(self.taken)
        for node in postorder(own):
            if node not in memo:
                memo[node] = map_children(node, memo.__getitem__)
        result = memo[own]
        assert isinstance(result, PrimExpr), "a size stays one"
        return result

    def copied(self, node: Node) -> Node:
        """Return a node with what stands for its parts; variables and buffers that it binds are new ones."""
        match node:
            case PrimVar():
                return replace(node)
            case Buffer():
                made = map_children(node, self.taken.__getitem__)
                return replace(made) if made is node else made
            case Block(name=name) if name and name != "root":
                made = map_children(node, self.taken.__getitem__)
                return replace(made, name=self.blocks.fresh(name), reads=_distinct(made.reads))
            case _:
                return map_children(node, self.taken.__getitem__)


def _distinct(regions: tuple[BufferRegion, ...] | None) -> tuple[BufferRegion, ...] | None:
    """Return regions without those that come again: two parameters of the callee may be one buffer."""
    kept: list[BufferRegion] = []
    for item in regions or ():
        if not any(_is_region(item, other) for other in kept):
            kept.append(item)
    return regions if regions is None or len(kept) == len(regions) else tuple(kept)


def _is_region(a: BufferRegion, b: BufferRegion) -> bool:
    return a.buffer is b.buffer and all(map(prove_equal, (*a.starts, *a.extents), (*b.starts, *b.extents)))


def _flat(place: Place) -> tuple[Buffer, ...]:
    match place:
        case Buffer():
            return (place,)
        case tuple():
            return tuple(part for item in place for part in _flat(item))
        case _:
            raise NotMergedError("a result is a scalar", place)


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Merge the prim funcs that each primitive function calls, and call the result with `call_tir`.

    As in TVM, private functions take the fields of tuples and no unused parameters before, and what is unused goes
    behind it: bindings, and private functions that nothing reaches any more.
    """
    expanded = expand_tuple_arguments.run(module, NoOptions(), ctx)
    shortened = remove_unused_parameters.run(expanded, NoOptions(), ctx)
    return dead_code_elimination.run(_fused(shortened, ctx), DCEOptions(), ctx)


def _fused(module: IRModule, ctx: PassContext) -> IRModule:
    type_of = ctx.types(module)
    merged = dict(_merged(module, type_of, ctx))
    if not merged:
        return module

    def call_prim_func(node: Node) -> Node | None:
        """Rule: call of a primitive function -> call_tir of its prim func."""
        match node:
            case VarBinding(var=var, value=Call(op=GlobalVar(name=name) as callee, args=args)) if name in merged:
                type_ = type_of[var]
                results = type_.fields if isinstance(type_, TupleType) else (type_,)
                places = (ints(merged[name].places),) if merged[name].is_inplace else ()
                operator = Op("relax.call_tir_inplace" if places else "relax.call_tir")
                call = Call(operator, (callee, Tuple(tuple(_given(args))), *places), type_args=results)
                return replace(node, value=call)
            case _:
                return None

    def rules_for(name: GlobalVar, _: Function) -> tuple[Rule, ...]:
        return () if name.name in merged else (call_prim_func,)

    called = rewrite_functions(module, ctx, rules_for).definitions
    return with_definitions(module, tuple(_with_prim_func(item, merged, ctx) for item in called), ctx)


def _merged(module: IRModule, type_of: Mapping[Node, Type], ctx: PassContext) -> Iterator[tuple[str, Merged]]:
    """Yield the prim funcs of the primitive functions that are only called, by their names."""
    values = _values_used(module)
    for name, function in module.relax_functions:
        if not attr(function.attrs, PRIMITIVE):
            continue
        if name.name in values or not function.is_private:
            ctx.remark(function, "missed", f"@{name.name} stays a function: it is used as a value or from outside")
            continue
        try:
            made = merged_prim_func(function, module, type_of, ctx.log)
        except NotMergedError as error:
            ctx.remark(function, "missed", f"@{name.name} stays a function: {error}", (error.node,))
            continue
        ctx.remark(function, "applied", f"the prim funcs that @{name.name} calls become one")
        yield name.name, made


def _values_used(module: IRModule) -> set[str]:
    """Return the names of functions that stand somewhere else than as the callee of a call."""
    found: set[str] = set()
    for item in preorder(module):
        parts = item.args if isinstance(item, Call) else () if isinstance(item, Definition) else children(item)
        found.update(part.name for part in parts if isinstance(part, GlobalVar))
    return found


def _with_prim_func(definition: Definition, merged: Mapping[str, Merged], ctx: PassContext) -> Definition:
    made = merged.get(definition.var.name)
    return definition if made is None else ctx.derive(replace(definition, function=made.function), definition)


def _given(args: tuple[Expr, ...]) -> Iterator[Expr]:
    """Yield the arguments of the prim func: dimensions one by one."""
    for item in args:
        match item:
            case ShapeExpr(values=dims):
                yield from map(PrimValue, dims)
            case _:
                yield item


PASS = Pass(
    "FuseTIR",
    "Makes one prim func of those that a primitive function calls.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/fuse_tir.cc",
)
