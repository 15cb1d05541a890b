"""Put what lays out the weights of a prim func into a prim func of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from relax_core.ir.attrs import Attrs, attr
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar, const
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.ir.rewriting.rewrite import RewriteLog, Rule, rewrite
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRef,
    BufferRegion,
    BufferStore,
    For,
    IterVar,
    PrimFunc,
    SeqStmt,
    Stmt,
    seq,
)
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.dead_code_elimination import DCEOptions
from relax_core.passes.relax.dead_code_elimination import run as eliminate_dead_code
from relax_core.passes.relax.functions import rewrite_functions
from relax_core.passes.relax.layout.attach_attr_layout_free_buffers import FREE
from relax_core.passes.tir.copies import renewed

PREPROC = "meta_schedule.layout_rewrite_preproc"
"""The annotation of a block that writes a weight as the blocks behind it want to read it."""
_KNOWN = (Block, IterVar, BufferRegion, BufferLoad, BufferStore, Buffer, For, SeqStmt)
"""What a statement that lays out a weight is made of, expressions aside: nothing that has another effect."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Call `f_weight_prepack` for the weights of a prim func `f`, and `f_prepacked` with what it gives.

    The statements of `f` whose blocks say `meta_schedule.layout_rewrite_preproc` become the first one, so that a weight
    that is known can be laid out ahead. What is unused goes then. Each of these statements has to write one buffer of
    constant size from one parameter, which nothing else reads; else `f` stays. TVM also splits where the rest reads
    the parameter, which then is in no buffer.
    """
    found: dict[str, _SplitPrimFunc] = {}
    names = Names(module.names)
    for definition in module.definitions:
        function = definition.function
        if isinstance(function, PrimFunc) and any(map(_is_preproc, preorder(function.body))):
            parts = _parts(function)
            if isinstance(parts, str):
                ctx.remark(function, "missed", f"@{definition.var.name} stays: {parts}")
                continue
            prepack, rest = (names.fresh(f"{definition.var.name}{end}") for end in ("_weight_prepack", "_prepacked"))
            found[definition.var.name] = _define(definition, parts, prepack, rest, ctx)

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        return (_Calls(found, names_in(function), ctx).block,)

    changed = rewrite_functions(module, ctx, rules_for) if found else module
    if changed is module:
        return module
    added = [item for parts in found.values() if parts.is_called for item in parts.definitions]
    return eliminate_dead_code(ctx.derive(changed.with_definitions(*added), module), DCEOptions(), ctx)


@dataclass(slots=True)
class _SplitPrimFunc:
    """A prim func in two parts: for each weight its place among the parameters, and the buffer that it is laid out in.

    The weights are in the order of the statements.
    """

    places: tuple[int, ...]
    laid_out: tuple[Buffer, ...]
    prepack: PrimFunc
    rest: PrimFunc
    definitions: tuple[Definition, ...] = ()
    is_called: bool = field(default=False)


def _parts(function: PrimFunc) -> _SplitPrimFunc | str:
    """Split a prim func; the answer is a reason if that is not possible."""
    root = function.body
    if not (isinstance(root, Block) and root.name == "root" and isinstance(root.body, SeqStmt)):
        return "its statements are not in a root block"
    moved = tuple(item for item in root.body.stmts if any(map(_is_preproc, preorder(item))))
    kept = tuple(item for item in root.body.stmts if item not in moved)
    pairs = [_accesses(item) for item in moved]
    if any(pair is None for pair in pairs):
        return "a statement does more than to write one buffer from another"
    accesses = [pair for pair in pairs if pair is not None]
    params = [function.buffer_of(item) for item in function.params]
    why = _refusal(accesses, params, root, seq(kept))
    if why:
        return why
    weights, laid_out = [pair[0] for pair in accesses], tuple(pair[1] for pair in accesses)
    places = tuple(params.index(item) for item in weights)
    handles = {place: (function.params[place], PrimVar(f"var_{made.name}", "handle"), made)
               for place, made in zip(places, laid_out, strict=True)}  # fmt: skip
    given = [handles[place] for place in places]
    attrs = _without(function.attrs, FREE)
    prepack = replace(
        function,
        params=(*(old for old, _, _ in given), *(new for _, new, _ in given)),
        buffers=(
            *(item for old, _, _ in given for item in function.buffers if item.handle is old),
            *(BufferParam(new, made) for _, new, made in given),
        ),
        body=seq([_without_annotation(item) for item in moved]),
        attrs=attrs,
    )
    replaced = {old: (new, made) for old, new, made in given}
    inner = tuple(item for item in root.alloc_buffers if item not in laid_out)
    rest = replace(
        function,
        params=tuple(replaced[item][0] if item in replaced else item for item in function.params),
        buffers=tuple(
            BufferParam(*replaced[item.handle]) if item.handle in replaced else item for item in function.buffers
        ),
        body=replace(root, body=seq(kept), alloc_buffers=inner) if inner else seq(kept),
        attrs=attrs,
    )
    return _SplitPrimFunc(places, laid_out, renewed(prepack), renewed(rest))


def _refusal(accesses: list[tuple[Buffer, Buffer]], params: list[Buffer | None], root: Block, rest: Stmt) -> str:
    """Say why the statements cannot be on their own; the empty string if they can."""
    weights, laid_out = {pair[0] for pair in accesses}, {pair[1] for pair in accesses}
    used = set(preorder(rest))
    if len(weights) < len(accesses) or len(laid_out) < len(accesses):
        return "two statements share a buffer"
    if not weights.issubset(params) or not laid_out.issubset(root.alloc_buffers):
        return "a statement does not write a buffer of its own from a parameter"
    if not weights.isdisjoint(used):
        return "the rest reads a weight as it was"
    if any(constant_value(size) is None for item in (*weights, *laid_out) for size in item.shape):
        return "the sizes of a weight are not constants"
    if any(item.scope != "global" or item.strides or item.elem_offset is not None for item in laid_out):
        return "a buffer is no plain tensor"
    return "" if laid_out <= used else "nothing reads what a statement writes"


def _is_preproc(node: Node) -> bool:
    return isinstance(node, Block) and bool(attr(node.annotations, PREPROC))


def _accesses(stmt: Stmt) -> tuple[Buffer, Buffer] | None:
    """Return the only buffer that a statement reads, and the only one that it writes; `None` if it does more."""
    nodes = list(preorder(stmt))
    bound = {item.var for item in nodes if isinstance(item, For | IterVar)}
    reads = {item.buffer for item in nodes if isinstance(item, BufferLoad)}
    writes = {item.buffer for item in nodes if isinstance(item, BufferStore)}
    is_plain = all(not isinstance(item, Stmt) or isinstance(item, _KNOWN) for item in nodes)
    is_closed = all(item in bound for item in nodes if isinstance(item, PrimVar))
    blocks = [item for item in nodes if isinstance(item, Block)]
    is_plain = is_plain and not any(item.alloc_buffers or item.matches or item.init for item in blocks)
    is_plain = is_plain and not any(isinstance(item, BufferRef) for item in nodes)
    others = {item for item in nodes if isinstance(item, Buffer)} - reads - writes
    if not (is_plain and is_closed) or others or len(reads) != 1 or len(writes) != 1 or reads == writes:
        return None
    return reads.pop(), writes.pop()


def _without(attrs: Attrs, key: str) -> Attrs:
    return tuple(item for item in attrs if item[0] != key)


def _without_annotation(stmt: Stmt) -> Stmt:
    def plain(node: Node) -> Node | None:
        """Rule: block that lays out a weight -> plain block."""
        match node:
            case Block() if _is_preproc(node):
                return replace(node, annotations=_without(node.annotations, PREPROC))
            case _:
                return None

    return rewrite(stmt, plain, log=RewriteLog())


def _define(definition: Definition, parts: _SplitPrimFunc, prepack: str, rest: str, ctx: PassContext) -> _SplitPrimFunc:
    made = tuple(
        ctx.derive(Definition(GlobalVar(name), ctx.derive(function, definition.function)), definition)
        for name, function in ((prepack, parts.prepack), (rest, parts.rest))
    )
    return replace(parts, definitions=made)


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls in one function of prim funcs that are split."""

    found: dict[str, _SplitPrimFunc]
    names: Names
    ctx: PassContext

    def block(self, node: Node) -> Node | None:
        """Rule: call_tir(f, (x, w)) -> call_tir(f_prepacked, (x, call_tir(f_weight_prepack, (w,))))."""
        if not isinstance(node, BindingBlock):
            return None
        bindings = tuple(made for item in node.bindings for made in self.bindings(item, node))
        return None if bindings == node.bindings else replace(node, bindings=bindings)

    def bindings(self, binding: Binding, block: BindingBlock) -> Iterator[Binding]:
        match binding:
            case VarBinding(
                value=Call(
                    op=Op(name="relax.call_tir"), args=(GlobalVar(name=name), Tuple(fields=inputs), *rest)
                ) as call
            ) if name in self.found and len(inputs) > max(self.found[name].places):
                emitter = Emitter(self.names, is_dataflow=isinstance(block, DataflowBlock))
                parts = self.found[name]
                parts.is_called = True
                given = list(inputs)
                for place, laid_out in zip(*self.prepacked(parts, inputs, emitter), strict=True):
                    given[place] = laid_out
                args = (parts.definitions[1].var, Tuple(tuple(given)), *rest)
                result = emitter.emit(replace(call, args=args))
                self.ctx.remark(call, "applied", f"the weights of @{name} are laid out before it is called", inputs)
                for item in emitter.bindings:
                    yield self.ctx.derive(item, binding, rule="call -> calls that lay out weights, and use them")
                yield self.ctx.derive(replace(binding, value=result), binding)
            case _:
                yield binding

    def prepacked(
        self, parts: _SplitPrimFunc, inputs: tuple[Expr, ...], emitter: Emitter
    ) -> tuple[list[int], list[Expr]]:
        """Call the prim func that lays out the weights; return their places in order, and what it gives for each."""
        sizes = [tuple(const(constant_value(size) or 0) for size in item.shape) for item in parts.laid_out]
        types = tuple(TensorType(dims, item.dtype) for dims, item in zip(sizes, parts.laid_out, strict=True))
        args = (parts.definitions[0].var, Tuple(tuple(inputs[place] for place in parts.places)))
        result = emitter.emit(Call(Op("relax.call_tir"), args, type_args=types))
        places = sorted(parts.places)
        if len(places) == 1:
            return places, [result]
        return places, [emitter.emit(TupleGetItem(result, parts.places.index(place))) for place in places]


PASS = Pass(
    "SplitLayoutRewritePreproc",
    "Lays out weights by prim funcs of their own, which LiftTransformParams can move out of the program.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/split_layout_rewrite_preproc.cc",
)
