"""Capture what a CUDA device can run as a graph, and give it memory that stays."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from relax_core.ir.attrs import attr, attrs_of
from relax_core.ir.equality import structural_hash
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Null,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar, StringImm
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.functions import context_call, copied_function, integer
from relax_core.passes.relax.runtime.static_plan_block_memory import VIEWS

CAPTURED = "relax.rewrite_cuda_graph.capture_symbolic_vars"
"""The attribute that names the dimensions for each of whose values a graph is captured."""
_STORAGE, _ALLOCATED = "relax.memory.alloc_storage", "relax.builtin.alloc_tensor"
_PASSIVE = ("relax.memory.", "relax.vm.", "relax.builtin.", "relax.reshape", "relax.null_value", "relax.shape_of")
"""What operators begin with that start nothing on a device."""


@dataclass(frozen=True, slots=True)
class RewriteCUDAGraphOptions:
    """`use_cuda_graph` is TVM's configuration `relax.backend.use_cuda_graph`."""

    use_cuda_graph: bool = False


def run(module: IRModule, options: RewriteCUDAGraphOptions, ctx: PassContext) -> IRModule:
    """Make of launches one behind the other, whose tensors lie in the same place in every run, a function to capture.

    Storages of known sizes that the result does not lie in are allocated once, by `cuda_graph_alloc`; each function
    takes the largest of them first, so that functions share them. What is made of these, of constants, and of the
    parameters from `num_input` on is static. A region begins with a launch whose arguments are static and takes all
    that is static until a launch that is not. Dimensions that `relax.rewrite_cuda_graph.capture_symbolic_vars` names
    may occur: the graph is captured for each of their values. Equal regions share a function.

    The reference machine calls such a function as it stands, and allocates anew for each call: values are the same.

    A region ends at an `if`; in TVM it goes on behind it, and all of it then runs before the branches do. A result
    that lies deeper in a tuple, or comes out of another function, keeps its memory; in TVM the next run overwrites it.
    """
    if not options.use_cuda_graph:
        ctx.remark(module, "missed", "nothing is captured as a CUDA graph: use_cuda_graph is not set")
        return module
    prim_funcs = frozenset(var.name for var, _ in module.prim_funcs)
    types = ctx.types(module)
    plans = {
        var.name: _Planner(function, prim_funcs, ctx).plan(function.body)
        for var, function in module.relax_functions
        if isinstance(function.body, SeqExpr)
    }
    storages = _SharedStorages()
    for plan in plans.values():
        storages.share(plan.storages)
    if not storages.kept and not any(plan.regions for plan in plans.values()):
        ctx.remark(module, "missed", "nothing is captured as a CUDA graph: no launch has all its tensors in one place")
        return module
    graphs = _Graphs(module, types, storages, ctx)
    definitions: list[Definition] = []
    for item in module.definitions:
        plan = plans.get(item.var.name)
        if isinstance(item.function, Function) and plan is not None and (plan.regions or plan.storages):
            item = ctx.derive(replace(item, function=graphs.rewritten(item.var, item.function, plan)), item)
        definitions.append(item)
    return with_definitions(module, (*definitions, *graphs.added), ctx)


@dataclass(eq=False, slots=True)
class _Region:
    """Bindings that become one graph, and those of their variables that are used elsewhere, in order of first use."""

    bindings: list[Binding] = field(default_factory=list[Binding])
    outputs: list[Var] = field(default_factory=list[Var])

    def inputs(self) -> list[Var]:
        """Return the variables that come from elsewhere, in order of first use."""
        own = {item.var for item in self.bindings}
        used = (var for item in self.bindings for var in free_vars(item.value) if var not in own)
        return list(dict.fromkeys(used))


@dataclass(frozen=True, slots=True)
class _GraphPlan:
    """The regions of a function, and the storages that it allocates once."""

    regions: list[_Region] = field(default_factory=list[_Region])
    storages: list[VarBinding] = field(default_factory=list[VarBinding])


class _Planner:
    """Finds the regions of a function."""

    def __init__(self, function: Function, prim_funcs: frozenset[str], ctx: PassContext) -> None:
        self.prim_funcs = prim_funcs
        self.ctx = ctx
        count = attr(function.attrs, "num_input")
        self.static = set(function.params[count:]) if isinstance(count, int) else set[Var]()
        names = attr(function.attrs, CAPTURED)
        wanted = names if isinstance(names, tuple) else ()
        symbols = (symbol for param in function.params for symbol in free_symbols(param.annotation))
        self.captured = {symbol for symbol in symbols if symbol.name in wanted}
        self.found = _GraphPlan()
        self.leaving = self.parts_of_result(function.body)

    def plan(self, body: SeqExpr) -> _GraphPlan:
        """Return the regions, with what each gives to the rest."""
        self.sequence(body)
        owner = {item: region for region in self.found.regions for item in region.bindings}
        maker = {item.var: region for item, region in owner.items()}
        for step in _steps(body):
            region = owner.get(step) if isinstance(step, Binding) else None
            for var in free_vars(step.value if isinstance(step, Binding) else step):
                made_by = maker.get(var)
                if made_by is not None and made_by is not region and var not in made_by.outputs:
                    made_by.outputs.append(var)
        for region in self.found.regions:
            first, *rest = region.bindings
            self.ctx.remark(first, "applied", f"a graph of {len(rest) + 1} bindings begins with {_name_of(first)}")
        return self.found

    def sequence(self, body: SeqExpr) -> None:
        region: _Region | None = None
        for block in body.blocks:
            if isinstance(block, DataflowBlock):
                region = None
                continue
            for item in block.bindings:
                region = self.binding(item, region)

    def binding(self, item: Binding, region: _Region | None) -> _Region | None:
        """Take a binding in, and return the region that is open behind it."""
        match item:
            case VarBinding(value=If(true_branch=SeqExpr() as first, false_branch=SeqExpr() as second)):
                self.sequence(first)
                self.sequence(second)
                return None
            case VarBinding(value=Call(op=Op(name=name)) as call) if name == _STORAGE:
                if _size(call) is not None and item.var not in self.leaving:
                    self.found.storages.append(item)
                    self.static.add(item.var)
                return region
            case VarBinding(value=Call() as call):
                return self.call(item, call, region)
            case VarBinding(value=value) if self.is_static(value):
                return self.taken(item, region)
            case _:
                return region

    def call(self, item: VarBinding, call: Call, region: _Region | None) -> _Region | None:
        if not self.is_launch(call):
            if not self.is_passive(call):
                return None
            is_static = not _is_call_of(call, _ALLOCATED) and self.is_static(Tuple(call.args))
            return self.taken(item, region) if is_static else region
        moving = [arg for arg in call.args if not self.is_static(arg)]
        if moving or item.var in self.leaving:
            words = ", ".join(var.name for arg in moving for var in free_vars(arg)) or "its result"
            message = f"{_name_of(item)} is in no graph: {words} may be elsewhere in the next run"
            self.ctx.remark(item, "missed", message)
            return None
        if region is None:
            region = _Region()
            self.found.regions.append(region)
        return self.taken(item, region)

    def taken(self, item: Binding, region: _Region | None) -> _Region | None:
        self.static.add(item.var)
        if region is not None:
            region.bindings.append(item)
        return region

    def is_launch(self, call: Call) -> bool:
        match call.op:
            case GlobalVar(name=name):
                return name in self.prim_funcs
            case ExternFunc(name=name):
                return not name.startswith("vm.builtin.")
            case Op(name=name):
                return name != "relax.call_builtin_with_ctx" and not self.is_passive(call)
            case _:
                return False

    def is_passive(self, call: Call) -> bool:
        return isinstance(call.op, Op) and call.op.name.startswith(_PASSIVE)

    def is_static(self, expr: Expr) -> bool:
        """Tell whether a value is the same in each run, or in each for the same captured dimensions."""
        match expr:
            case Var():
                return expr in self.static
            case PrimValue() | ShapeExpr():
                return self.captured.issuperset(free_symbols(expr))
            case Tuple(fields=fields):
                return all(map(self.is_static, fields))
            case TupleGetItem(tuple_value=whole):
                return self.is_static(whole)
            case _:
                return isinstance(expr, Constant | DataTypeImm | Null | GlobalVar | ExternFunc)

    def parts_of_result(self, body: Expr) -> set[Var]:
        """Return the variables in whose memory the result may lie."""
        value_of = {item.var: item.value for item in preorder(body) if isinstance(item, Binding)}
        found: set[Var] = set()
        rest = [body]
        while rest:
            match rest.pop():
                case Var() as var if var not in found:
                    found.add(var)
                    rest += [value_of[var]] if var in value_of else []
                case SeqExpr(body=value) | TupleGetItem(tuple_value=value):
                    rest.append(value)
                case If(true_branch=first, false_branch=second):
                    rest += [first, second]
                case Tuple(fields=fields):
                    rest += fields
                case Call() as call if self.may_give_arguments(call):
                    rest += call.args
                case _:
                    pass
        return found

    def may_give_arguments(self, call: Call) -> bool:
        match call.op:
            case Op(name=name):
                return name.startswith(_PASSIVE) or name in VIEWS or name == "relax.call_builtin_with_ctx"
            case GlobalVar(name=name):
                return name not in self.prim_funcs
            case _:
                return True


def _steps(body: SeqExpr) -> Iterator[Binding | Expr]:
    """Yield the bindings and other values of a sequence, those of its branches too, in the order of the text."""
    for block in body.blocks:
        for item in block.bindings:
            match item.value:
                case If(condition=condition, true_branch=SeqExpr() as first, false_branch=SeqExpr() as second):
                    yield condition
                    yield from _steps(first)
                    yield from _steps(second)
                case _:
                    yield item
    yield body.body


def _is_call_of(call: Call, name: str) -> bool:
    return isinstance(call.op, Op) and call.op.name == name


def _name_of(binding: Binding) -> str:
    op = binding.value.op if isinstance(binding.value, Call) else None
    return op.name.removeprefix("relax.") if isinstance(op, GlobalVar | ExternFunc | Op) else binding.var.name


def _size(call: Call) -> int | None:
    """Return how many bytes a storage has, if that is known."""
    match call.args[0]:
        case ShapeExpr(values=(size,)):
            value = constant_value(size)
            return value if isinstance(value, int) else None
        case _:
            return None


def _place(call: Call) -> tuple[object, ...]:
    """Return the device and the scope of a storage."""
    values = (item.value for item in call.args[1:3] if isinstance(item, PrimValue))
    return tuple(item.value if isinstance(item, StringImm) else constant_value(item) for item in values)


class _SharedStorages:
    """Storages that the functions of a module share; for each the largest allocation is kept."""

    def __init__(self) -> None:
        self.kept: list[VarBinding] = []
        self.slot_of: dict[VarBinding, int] = {}
        self._slots: dict[tuple[object, ...], list[int]] = {}

    def share(self, storages: Iterable[VarBinding]) -> None:
        """Give those of a function their places, the largest first; each place of a device and a scope once."""
        count = Counter[tuple[object, ...]]()
        for item in sorted(storages, key=lambda item: -_bytes(item)):
            assert isinstance(item.value, Call), "storages are allocated by calls"
            place = _place(item.value)
            slots = self._slots.setdefault(place, [])
            if count[place] == len(slots):
                slots.append(len(self.kept))
                self.kept.append(item)
            slot = slots[count[place]]
            count[place] += 1
            if _bytes(item) > _bytes(self.kept[slot]):
                self.kept[slot] = item
            self.slot_of[item] = slot


def _bytes(item: VarBinding) -> int:
    return (_size(item.value) if isinstance(item.value, Call) else None) or 0


class _Graphs:
    """The functions that are captured, and the one that allocates."""

    def __init__(
        self, module: IRModule, types: Mapping[Node, Type], storages: _SharedStorages, ctx: PassContext
    ) -> None:
        self.types = types
        self.storages = storages
        self.ctx = ctx
        self.names = Names(module.names)
        self.added: list[Definition] = []
        self.count = 0
        self.by_hash: dict[str, GlobalVar] = {}
        self.allocation = GlobalVar(self.names.fresh("cuda_graph_alloc"))
        if storages.kept:
            self.added.append(ctx.derive(Definition(self.allocation, self._allocating()), *storages.kept))

    def _allocating(self) -> Function:
        names = Names()
        bindings = tuple(
            replace(item, var=Var(names.fresh(item.var.name)), value=replace(item.value)) for item in self.storages.kept
        )
        for made, item in zip(bindings, self.storages.kept, strict=True):
            self.ctx.log.rebuilt(item, made)
            self.ctx.log.rebuilt(item.value, made.value)
        result = self.allocated_type()
        return _function(names, (), bindings, tuple(item.var for item in bindings), result)

    def allocated_type(self) -> TupleType:
        """Return the type of what is allocated once."""
        return TupleType((OBJECT,) * len(self.storages.kept))

    def rewritten(self, name: GlobalVar, function: Function, plan: _GraphPlan) -> Function:
        """Return a function with calls of graphs in place of its regions."""
        assert isinstance(function.body, SeqExpr), "only functions in normal form have a plan"
        captured = {region.bindings[0]: (self.captured(name, region), region) for region in plan.regions}
        body = _Writer(self, plan, captured, names_in(function)).sequence(function.body)
        new = replace(function, body=body)
        self.ctx.log.rebuilt(function, new)
        return new

    def captured(self, name: GlobalVar, region: _Region) -> tuple[GlobalVar, int, tuple[PrimVar, ...]]:
        """Return the function that a region becomes, the number of the graph, and the dimensions that it depends on."""
        inputs = region.inputs()
        symbols = dict.fromkeys(symbol for item in region.bindings for symbol in self.symbols_of(item))
        params = tuple(replace(var, annotation=self.types[var]) for var in inputs)
        names = Names(var.name for var in (*inputs, *(item.var for item in region.bindings)))
        shape = (Var(names.fresh("shape_expr"), _shape_of(tuple(symbols))),) if symbols else ()
        bindings = tuple(self.ctx.substitute(item, dict(zip(inputs, params, strict=True))) for item in region.bindings)
        function = _function(names, (*params, *shape), bindings, tuple(region.outputs), self.result_of(region))
        made, _ = copied_function(function, {symbol: replace(symbol) for symbol in symbols}, self.ctx)
        key = structural_hash(made)
        if key not in self.by_hash:
            self.by_hash[key] = GlobalVar(self.names.fresh(f"{name.name}_cuda_graph_capture"))
            self.added.append(self.ctx.derive(Definition(self.by_hash[key], made), *region.bindings))
        self.count += 1
        return self.by_hash[key], self.count - 1, tuple(symbols)

    def symbols_of(self, item: Binding) -> Iterator[PrimVar]:
        for var in free_vars(item.value):
            yield from free_symbols(self.types[var])
        yield from free_symbols(item.value)
        yield from free_symbols(self.types[item.var])

    def result_of(self, region: _Region) -> TupleType:
        """Return the type of what a region gives."""
        return TupleType(tuple(self.types[var] for var in region.outputs))


def _shape_of(symbols: tuple[PrimVar, ...]) -> ShapeType:
    return ShapeType(symbols, len(symbols))


def _function(
    names: Names, params: tuple[Var, ...], bindings: Sequence[Binding], outputs: tuple[Var, ...], result: Type
) -> Function:
    """Make a private function that binds its result, a tuple."""
    whole = Var(names.fresh("gv"))
    block = BindingBlock((*bindings, VarBinding(whole, Tuple(outputs))))
    attrs = attrs_of({"relax.force_pure": True})
    return Function(params, SeqExpr((block,), whole), result, attrs, is_private=True)


_Captured = tuple[tuple[GlobalVar, int, tuple[PrimVar, ...]], _Region]


class _Writer:
    """Writes a function with the calls of its graphs."""

    def __init__(self, graphs: _Graphs, plan: _GraphPlan, captured: Mapping[Binding, _Captured], names: Names) -> None:
        self.graphs = graphs
        self.captured = captured
        self.names = names
        self.once = {item.var for item in plan.storages}
        self.lifted: dict[Var, VarBinding] = {item.var: item for item in plan.storages}
        self.inside = {item for _, region in captured.values() for item in region.bindings}
        self.source_of: dict[Binding, tuple[Var, int]] = {}
        self.storages: Var | None = None

    def sequence(self, body: SeqExpr) -> SeqExpr:
        """Return a sequence, in which storages and graphs are asked for before they are needed."""
        blocks: list[BindingBlock] = []
        for block in body.blocks:
            if isinstance(block, DataflowBlock):
                blocks.append(block)
                continue
            made = tuple(new for item in block.bindings for new in self.binding(item))
            blocks.append(self.graphs.ctx.derive(replace(block, bindings=made), block))
        return self.graphs.ctx.derive(replace(body, blocks=tuple(blocks)), body)

    def binding(self, item: Binding) -> Iterator[Binding]:
        if self.storages is None and any(part in self.lifted for part in _bound_in(item)):
            yield self.asked(item)
        if item in self.captured:
            call, region = self.captured[item]
            for var in region.inputs():
                yield from self.storage(var)
            yield self.run(call, region)
        match item:
            case _ if item in self.inside:
                if item in self.source_of:
                    yield self.field(item, *self.source_of[item])
            case VarBinding(var=var) if var in self.once:
                yield from self.storage(var)
            case VarBinding(value=If(true_branch=SeqExpr() as first, false_branch=SeqExpr() as second) as choice):
                made = replace(choice, true_branch=self.sequence(first), false_branch=self.sequence(second))
                yield self.graphs.ctx.derive(replace(item, value=self.graphs.ctx.derive(made, choice)), item)
            case _:
                yield item

    def asked(self, item: Binding) -> Binding:
        result = self.graphs.allocated_type()
        call = context_call("vm.builtin.cuda_graph.get_cached_alloc", self.graphs.allocation, integer(0), result=result)
        self.storages = Var(self.names.fresh("gv"), result)
        return self.made(VarBinding(self.storages, call), item)

    def storage(self, var: Var) -> Iterator[Binding]:
        """Yield the binding of a storage that is not bound yet."""
        item = self.lifted.pop(var, None)
        if item is not None:
            assert self.storages is not None, "storages are asked for before the first of them"
            yield self.field(item, self.storages, self.graphs.storages.slot_of[item])

    def run(self, call: tuple[GlobalVar, int, tuple[PrimVar, ...]], region: _Region) -> Binding:
        name, number, symbols = call
        shape = (ShapeExpr(symbols),) if symbols else ()
        inputs = Tuple((*region.inputs(), *shape))
        result = self.graphs.result_of(region)
        value = context_call(
            "vm.builtin.cuda_graph.run_or_capture", name, inputs, integer(number), *shape, result=result
        )
        var = Var(self.names.fresh("gv"), result)
        binding_of = {item.var: item for item in region.bindings}
        for index, output in enumerate(region.outputs):
            self.source_of[binding_of[output]] = var, index
        return self.made(VarBinding(var, value), *region.bindings)

    def field(self, item: Binding, whole: Var, index: int) -> Binding:
        return self.made(VarBinding(item.var, TupleGetItem(whole, index), span=item.span), item)

    def made(self, binding: VarBinding, *origins: Binding) -> VarBinding:
        """Return a binding with the places of others."""
        self.graphs.ctx.derive(binding.value, *(item.value for item in origins))
        return self.graphs.ctx.derive(binding, *origins)


def _bound_in(item: Binding) -> Iterator[Var]:
    return (part.var for part in preorder(item) if isinstance(part, Binding))


PASS = Pass(
    "RewriteCUDAGraph",
    "Makes functions of what CUDA graphs can capture, and allocates their memory once.",
    run,
    options=RewriteCUDAGraphOptions,
    see="tvm/src/relax/transform/rewrite_cuda_graph.cc",
)
