"""Lower symbolic shapes to a heap of integers, and types to checks when the program runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Final

from relax_core.ir.attrs import attr
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    ExternFunc,
    Function,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    Null,
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
from relax_core.ir.node import Node, children, map_children, nodes_in, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, dtype_of
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.ops.show import show_checked_type
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.properties import SHAPE_HEAP, has_shape_heap
from relax_core.passes.relax.functions import (
    allocated_type,
    context_call,
    declared_type,
    dtype_argument,
    effect,
    integer,
    packed_call,
    string,
)
from relax_core.passes.relax.runtime import to_non_dataflow
from relax_core.passes.relax.runtime.shape_heap import SKIP, ShapeHeap, collect, is_computed, is_in_slot
from relax_core.passes.remarks import UnnumberedRemark, summed_up, value_name


@dataclass(frozen=True, slots=True)
class Match:
    """A value whose dimensions are compared with those of a type; `node` is what asks for it."""

    value: Expr
    dims: tuple[PrimExpr, ...]
    error: str
    node: Node
    builtin: str = "vm.builtin.match_shape"


@dataclass(frozen=True, slots=True)
class Demand:
    """What is checked, in the words of the failure, at which node; `matches` collects dimensions to compare.

    Of a weight no tensor of constant shape is checked.
    """

    error: str
    node: Node
    matches: list[Match]
    is_weight: bool = False

    def skips(self, type_: Type) -> bool:
        """Tell whether a value of a type is not looked at."""
        return self.is_weight and _is_tensor_of_constant_shape(type_)

    def add(
        self,
        value: Expr,
        dims: tuple[PrimExpr, ...],
        known: tuple[PrimExpr, ...] | None,
        builtin: str = "vm.builtin.match_shape",
    ) -> None:
        """Compare the dimensions of `value`, unless those that are known are the same."""
        if not are_equal(dims, known):
            self.matches.append(Match(value, dims, self.error, self.node, builtin))


def rank_argument(ndim: int | None) -> Expr:
    """Return the operand that stands for a rank; -1 is any."""
    return integer(-1 if ndim is None else ndim)


def is_tensor_proven(actual: Type | None, wanted: TensorType) -> bool:
    """Tell whether a value of type `actual` is a tensor of the rank and dtype of `wanted`."""
    return (
        isinstance(actual, TensorType) and wanted.ndim in (None, actual.ndim) and wanted.dtype in (None, actual.dtype)
    )


def are_equal(dims: tuple[PrimExpr, ...], known: tuple[PrimExpr, ...] | None) -> bool:
    """Tell whether dimensions are known and provably equal."""
    return (
        known is not None
        and len(dims) == len(known)
        and all(prove_equal(a, b) for a, b in zip(dims, known, strict=True))
    )


def needs_check(type_: Type, actual: Type | None) -> bool:
    """Tell whether a field has anything to check."""
    match type_:
        case TensorType(shape=dims):
            known = actual.dims if isinstance(actual, TensorType) else None
            has_dims = isinstance(dims, tuple) and not are_equal(dims, known)
            return has_dims or not is_tensor_proven(actual, type_)
        case FuncType():
            return not isinstance(actual, FuncType)
        case TupleType(fields=fields):
            known_fields = actual.fields if isinstance(actual, TupleType) else (None,) * len(fields)
            return actual is None or any(map(needs_check, fields, known_fields))
        case ShapeType(ndim=ndim, values=dims):
            if not isinstance(actual, ShapeType) or ndim not in (None, actual.ndim):
                return True
            return dims is not None and not are_equal(dims, actual.values)
        case PrimType():
            return True
        case _:
            return False


CHECKED: Final = MappingProxyType(
    {
        "vm.builtin.check_tensor_info": "rank and dtype",
        "vm.builtin.check_shape_info": "rank",
        "vm.builtin.check_prim_value_info": "dtype",
        "vm.builtin.check_tuple_info": "number of fields",
        "vm.builtin.check_func_info": "that it is a function",
        "vm.builtin.match_shape": "dimensions",
        "vm.builtin.match_prim_value": "value",
    }
)
"""What a builtin that checks looks at."""
CHECK = "declared type -> check when the program runs"
HEAP = "symbolic dimensions -> shape heap"
BOUND = "match_cast(call) -> variable = call; match_cast(variable)"
READ = "symbolic value -> read from the shape heap"
PROVEN = "its type is proven"
HEAP_TYPE = TensorType(None, "int64", 1)


@dataclass(frozen=True, slots=True)
class VMShapeLowerOptions:
    """With `emit_err_ctx` a check that fails says in which function it stands, and what it is of."""

    emit_err_ctx: bool = True


def run(module: IRModule, options: VMShapeLowerOptions, ctx: PassContext) -> IRModule:
    """Lower every function that has no shape heap yet, and add the prim funcs that compute its dimensions.

    Tensors of constant sizes behind `num_input` are not checked, and neither is what is proven, such as a
    result of which the type is known. Of a shape that is read from the heap no more is known than its rank, as in TVM,
    so that it is checked where its dimensions are declared. A dataflow block stays one unless something in it is
    checked or computed, which has an effect.

    TVM writes and reads a slot for each scalar variable of Relax that is used; here only sizes live in the heap, and
    what is computed from sizes comes from it as a whole: in TVM an argument `R.prim_value(n * 2)` becomes arithmetic on
    the call that reads `n`. What may fail, such as a division, is computed where it is needed, in TVM as soon as its
    variables are known. A result is not checked again because it is declared on a virtual device.
    """
    if any(map(_is_lowered, module.relax_functions)):
        module = to_non_dataflow.run(module, NoOptions(), ctx)
    type_of = ctx.types_when_read(module)
    names = Names(module.names)
    added: list[Definition] = []

    ctx.remark_on_reading(partial(_explained, ctx.log))

    def change(name: GlobalVar, function: Function) -> Function:
        if has_shape_heap(function):
            ctx.remark(function, "missed", f"@{name.name} stays: it has a shape heap")
            return function
        lowering = _Lowering(name.name, function, options, type_of, ctx, names, added, names_in(function))
        return ctx.derive(lowering.function_lowered(), function)

    result = change_functions(module, ctx, change)
    return ctx.derive(result.with_definitions(*added), result) if added else result


def _explained(log: RewriteLog) -> Iterator[UnnumberedRemark]:
    """Say what is checked where, what is read from the heap, and where sizes are computed."""
    checks: dict[Node, dict[str, None]] = {}
    read: list[tuple[Node, str]] = []
    for item in log.replacements:
        match item.rule, item.after:
            case rule, (VarBinding(value=Call(op=ExternFunc(name=name))),) if rule == CHECK and name in CHECKED:
                checks.setdefault(item.before, {})[CHECKED[name]] = None
            case rule, (Var() | Call(),) if rule == READ:
                what = "the scalar" if isinstance(item.before, PrimValue) else "the shape"
                dims = item.before.values if isinstance(item.before, ShapeExpr) else children(item.before)
                shown = ", ".join(show_prim(dim) for dim in dims if isinstance(dim, PrimExpr))
                read.append((item.before, f"{what} ({shown}) is read from the shape heap"))
            case rule, (VarBinding(value=Call(op=GlobalVar(name=name))),) if rule == HEAP:
                yield UnnumberedRemark(item.before, "applied", f"dimensions are computed by @{name}")
            case _:
                pass
    for node, kinds in checks.items():
        name = "the result" if isinstance(node, SeqExpr) else value_name(node)
        yield UnnumberedRemark(node, "applied", f"{name} is checked when the program runs: {', '.join(kinds)}")
    yield from summed_up(read, "applied")


def _is_lowered(item: tuple[GlobalVar, Function]) -> bool:
    """Tell whether anything in a dataflow block of a function is checked or computed."""
    blocks = (block for block in nodes_in(item[1]) if isinstance(block, DataflowBlock))
    return any(
        isinstance(part, MatchCast) or (isinstance(part, ShapeExpr | PrimValue) and is_computed(part))
        for block in blocks
        for part in preorder(block)
    )


@dataclass(slots=True)
class _Lowering:
    """The lowering of one function. `made` are the bindings of the block that is being built."""

    name: str
    function: Function
    options: VMShapeLowerOptions
    type_of: Mapping[Node, Type]
    ctx: PassContext
    global_names: Names
    added: list[Definition]
    names: Names
    heap: ShapeHeap = field(default_factory=ShapeHeap)
    heap_var: Var = field(default_factory=lambda: Var(SHAPE_HEAP))
    made: list[Binding] = field(default_factory=list[Binding])
    read: dict[Expr, Type] = field(default_factory=dict[Expr, Type])
    """What is known of the variables that are read from the heap, and of tensors whose sizes are."""
    untyped: set[Expr] = field(default_factory=set[Expr])
    """Values that a match_cast says to be tuples, of which nothing is known before."""

    def function_lowered(self) -> Function:
        function = self.function
        param_types = [declared_type(item) or self.type_of[item] for item in function.params]
        self.heap = collect(function, param_types)
        body = function.body
        assert isinstance(body, SeqExpr), "a function in normal form"
        size = len(self.heap.exprs)
        heap = context_call("vm.builtin.alloc_shape_heap", integer(size), result=HEAP_TYPE) if size else Null()
        self.emit(VarBinding(self.heap_var, heap), function, HEAP)
        self.params()
        new = self.sequence(body, is_outermost=True)
        if not size:
            self.ctx.remark(function, "applied", f"@{self.name} gets no shape heap: no dimension of it is symbolic")
        else:
            shown = ", ".join(f"{index}: {show_prim(expr)}" for index, expr in enumerate(self.heap.exprs))
            self.ctx.remark(function, "applied", f"{size} dimensions live in the shape heap: {shown}")
        return replace(function, body=new)

    def params(self) -> None:
        """Check the arguments, then bind and check their dimensions."""
        matches: list[Match] = []
        count = attr(self.function.attrs, "num_input")
        inputs = count if isinstance(count, int) else len(self.function.params)
        for index, param in enumerate(self.function.params):
            type_ = declared_type(param) or self.type_of[param]
            where = f"fn={self.name}, loc=param[{index}], param={param.name}"
            demand = Demand(self.error(f"{where}, annotation={_shown(type_)}"), param, matches, index >= inputs)
            is_skipped = demand.skips(type_)
            why = "it is a weight, whose sizes are constant" if is_skipped else "its type says nothing to check"
            count = len(self.made) + len(matches)
            self.check(param, type_, None, demand)
            self.note_unchecked(count, len(self.made) + len(matches), param, why)
        self.match(matches)

    def note_unchecked(self, before: int, behind: int, node: Node, why: str) -> None:
        """Say that nothing was checked, if the number of checks is the same as `before`."""
        if before == behind:
            name = "the result" if isinstance(node, SeqExpr) else value_name(node)
            self.ctx.remark(node, "missed", f"{name} is not checked: {why}")

    def error(self, where: str) -> str:
        """Return what a check that fails says."""
        return f"ErrorContext({where}) " if self.options.emit_err_ctx else ""

    def actual(self, value: Expr, type_: Type | None) -> Type | None:
        """Return what is known of a value of the type `type_`: less, if it is read from the heap."""
        match value, type_:
            case Tuple(fields=fields), TupleType(fields=types):
                known = tuple(self.actual(*item) or OBJECT for item in zip(fields, types, strict=True))
                return replace(type_, fields=known)
            case _:
                return self.read.get(value, type_)

    def emit(self, binding: Binding, origin: Node, rule: str) -> None:
        self.made.append(self.ctx.derive(binding, origin, rule=rule))

    def emit_check(self, builtin: str, demand: Demand, value: Expr, *operands: Expr) -> None:
        """Call a checking builtin; its last argument says what is checked."""
        self.emit(effect(packed_call(builtin, value, *operands, string(demand.error))), demand.node, CHECK)

    def check(self, value: Expr, type_: Type, actual: Type | None, demand: Demand) -> None:
        """Check that `value`, of which `actual` is known, has `type_`; what remains to compare is added to `demand`."""
        match type_:
            case TensorType() if demand.skips(type_):
                pass
            case TensorType(ndim=ndim, dtype=dtype, shape=dims):
                if not is_tensor_proven(actual, type_):
                    wanted = self.no_dtype(demand.node) if dtype is None else dtype_argument(dtype)
                    self.emit_check("vm.builtin.check_tensor_info", demand, value, rank_argument(ndim), wanted)
                known = actual.dims if isinstance(actual, TensorType) else None
                if isinstance(dims, tuple):
                    demand.add(value, dims, known)
            case ShapeType(ndim=ndim, values=dims):
                if not (isinstance(actual, ShapeType) and ndim in (None, actual.ndim)):
                    self.emit_check("vm.builtin.check_shape_info", demand, value, rank_argument(ndim))
                if dims is not None:
                    demand.add(value, dims, actual.values if isinstance(actual, ShapeType) else None)
            case PrimType(dtype=dtype, value=prim):
                if not (isinstance(actual, PrimType) and actual.dtype == dtype):
                    self.emit_check("vm.builtin.check_prim_value_info", demand, value, dtype_argument(dtype))
                given = actual.value if isinstance(actual, PrimType) else None
                # A scalar wraps around, so that it is compared unless it is the same modulo the size of its dtype.
                if prim is not None and (given is None or not prove_equal(given, prim, wraps=True)):
                    demand.add(value, (prim,), None, "vm.builtin.match_prim_value")
            case TupleType(fields=fields):
                self.check_tuple(value, fields, actual, demand)
            case FuncType():
                if not isinstance(actual, FuncType):
                    self.emit_check("vm.builtin.check_func_info", demand, value)
            case _:
                pass

    def no_dtype(self, node: Node) -> Expr:
        """Bind what stands for any dtype."""
        var = Var(self.names.fresh("gv"), OBJECT)
        self.emit(VarBinding(var, Null()), node, CHECK)
        return var

    def check_tuple(self, value: Expr, fields: tuple[Type, ...], actual: Type | None, demand: Demand) -> None:
        known = actual.fields if isinstance(actual, TupleType) and len(actual.fields) == len(fields) else None
        if known is None:
            self.emit_check("vm.builtin.check_tuple_info", demand, value, integer(len(fields)))
        for index, item in enumerate(fields):
            inner = None if known is None else known[index]
            if needs_check(item, inner) and not demand.skips(item):
                if isinstance(value, Tuple):
                    part: Expr = value.fields[index]
                else:
                    part = Var(self.names.fresh("gv"))
                    taken: Expr = TupleGetItem(value, index)
                    if value in self.untyped:
                        self.untyped.add(part)
                        taken = packed_call("vm.builtin.tuple_getitem", value, integer(index), result=OBJECT)
                    self.emit(VarBinding(part, taken), demand.node, CHECK)
                self.check(part, item, inner, demand)

    def match(self, matches: Iterable[Match]) -> None:
        """Bind variables and check dimensions; those that need a computation come in a second round."""
        outstanding: list[Match] = []
        last: Node = self.function
        for item in matches:
            codes = self.heap.check_codes(item.dims)
            if any(code != SKIP for code, _ in codes):
                self.emit_match(item, codes)
            waiting = tuple(dim for dim, (code, _) in zip(item.dims, codes, strict=True) if code == SKIP)
            if waiting:
                outstanding.append(item)
            last = item.node
        self.compute(last, [dim for item in outstanding for dim in item.dims])
        for item in outstanding:
            codes = self.heap.check_codes(item.dims)
            if any(code == SKIP for code, _ in codes):
                late = next(dim for dim, (code, _) in zip(item.dims, codes, strict=True) if code == SKIP)
                self.not_computed(late, item.node)
            self.emit_match(item, codes)

    def emit_match(self, item: Match, codes: tuple[tuple[int, int], ...]) -> None:
        pairs = [integer(number) for pair in codes for number in pair]
        rank = [] if item.builtin.endswith("prim_value") else [integer(len(codes))]
        call = packed_call(item.builtin, item.value, self.heap_var, *rank, *pairs, string(item.error))
        self.emit(effect(call), item.node, CHECK)

    def compute(self, node: Node, wanted: Iterable[PrimExpr]) -> None:
        """Compute every dimension whose variables are bound by now; one that can fail only where it is `wanted`."""
        slots = self.heap.computable(wanted)
        if not slots:
            return
        function = self.heap.shape_function(slots)
        var = next((item.var for item in self.added if structural_equal(item.function, function)), None)
        if var is None:
            var = GlobalVar(self.global_names.fresh("shape_func"))
            self.added.append(self.ctx.derive(Definition(var, function), node))
        self.emit(effect(Call(var, (self.heap_var,))), node, HEAP)
        self.heap.known.update(slots)

    def not_computed(self, expr: PrimExpr, node: Node) -> None:
        missing = ", ".join(sorted({item.name for item in self.heap.unknown(expr)}))
        self.ctx.fail(
            "PS005",
            f"{show_prim(expr)} cannot be computed here: nothing binds {missing} before",
            node,
            f"let a parameter or a match_cast have {missing} as a dimension of its own",
        )

    def sequence(self, body: SeqExpr, *, is_outermost: bool = False) -> SeqExpr:
        """Lower the blocks of a function or a branch; what a branch binds is known only there."""
        known = set(self.heap.known)
        outer, self.made = self.made, (self.made if is_outermost else [])
        blocks: list[BindingBlock] = []
        for block in body.blocks:
            if isinstance(block, DataflowBlock) and self.made:
                blocks.append(self.ctx.derive(BindingBlock(tuple(self.made)), block))
                self.made = []
            for binding in block.bindings:
                self.binding(binding)
            blocks.append(self.ctx.derive(replace(block, bindings=tuple(self.made)), block))
            self.made = []
        result = self.value(body.body)
        if is_outermost and self.function.ret_type is not None:
            actual = declared_type(body.body) or self.type_of.get(body.body)
            self.returned(result, self.actual(result, actual), self.function.ret_type)
        if self.made and blocks and type(blocks[-1]) is BindingBlock:
            last = blocks.pop()
            blocks.append(self.ctx.derive(replace(last, bindings=(*last.bindings, *self.made)), last))
        elif self.made:
            blocks.append(self.ctx.derive(BindingBlock(tuple(self.made)), body))
        self.made, self.heap.known = outer, known
        return self.ctx.derive(replace(body, blocks=tuple(blocks), body=result), body)

    def returned(self, value: Expr, actual: Type | None, declared: Type) -> None:
        """Check the declared type of the result unless it is proven."""
        error = self.error(f"fn={self.name}, loc=return, annotation={show_checked_type(declared)}")
        demand = Demand(error, self.function.body, [])
        count = len(self.made)
        self.check(value, declared, actual, demand)
        self.match(demand.matches)
        self.note_unchecked(count, len(self.made), self.function.body, PROVEN)

    def binding(self, binding: Binding) -> None:
        match binding:
            case MatchCast(value=value, type=type_):
                new_value = self.operand(value)
                if not isinstance(self.type_of.get(value), TupleType):
                    self.untyped.add(new_value)
                demand = Demand(self.error(f"match_cast, ty={show_checked_type(type_)}"), binding, [])
                count = len(self.made)
                self.check(new_value, type_, self.actual(new_value, self.type_of.get(value)), demand)
                self.match(demand.matches)
                self.note_unchecked(count, len(self.made), binding, PROVEN)
                self.keep(binding, replace(binding, value=new_value))
            case VarBinding(value=If(condition=condition, true_branch=yes, false_branch=no) as conditional):
                assert isinstance(yes, SeqExpr), "normal form"
                assert isinstance(no, SeqExpr), "normal form"
                test = self.value(condition)
                branches = (self.sequence(yes), self.sequence(no))
                new_if = replace(conditional, condition=test, true_branch=branches[0], false_branch=branches[1])
                known = next((self.read[item.body] for item in branches if item.body in self.read), None)
                if known is not None:
                    self.read[binding.var] = known
                self.keep(binding, replace(binding, value=self.ctx.derive(new_if, conditional)))
            case VarBinding(value=value):
                self.keep(binding, self.with_value(binding, value))
            case _:
                raise AssertionError(type(binding).__name__)

    def keep(self, old: Binding, new: Binding) -> None:
        self.made.append(self.ctx.derive(new, old) if new is not old else old)

    def with_value(self, binding: VarBinding, value: Expr) -> VarBinding:
        match value:
            case ShapeExpr() | PrimValue() if is_computed(value):
                made = self.computed(value)
                self.ctx.log.replace(value, made, READ)
                self.read[binding.var] = _known(value)
                return replace(binding, value=made)
            case _:
                # TVM binds what a tuple holds when it rebuilds the tuple, other operands when it rebuilds the call.
                done = self.tuples(children(value))
                new = map_children(
                    value, lambda item: done.get(item) or (self.value(item) if isinstance(item, Expr) else item)
                )
                new = new if isinstance(value, Call | Tuple | TupleGetItem) else self.value(value)
                known = self.known_less(value, new)
                if known is not None:
                    self.read[binding.var] = known
                return binding if new is value else replace(binding, value=self.ctx.derive(new, value))

    def tuples(self, parts: Iterable[Node]) -> dict[Node, Expr]:
        return {item: self.value(item) for item in parts if isinstance(item, Tuple)}

    def known_less(self, value: Expr, new: Expr) -> Type | None:
        """Return what is known of a lowered value if that is less than before, `None` if it is as much."""
        made = allocated_type(value) if new is not value else None
        if made is not None:
            return TensorType(None, made.dtype, made.ndim)
        match new:
            case Tuple(fields=fields) if any(item in self.read for item in fields):
                types = [self.read.get(item) or self.type_of.get(item) for item in fields]
                return TupleType(tuple(item or OBJECT for item in types))
            case TupleGetItem(tuple_value=whole, index=index) if whole in self.read:
                known = self.read[whole]
                return known.fields[index] if isinstance(known, TupleType) else None
            case _:
                return self.read.get(new)

    def value(self, value: Expr) -> Expr:
        """Return `value` with symbolic shapes and scalars read from the heap into variables."""
        match value:
            case ShapeExpr() | PrimValue() if is_computed(value):
                var, made = Var(self.names.fresh("gv")), self.computed(value)
                self.read[var] = _known(value)
                self.emit(VarBinding(var, made), value, READ)
                self.ctx.log.replace(value, var, READ)
                return var
            case Tuple(fields=fields):
                done = self.tuples(fields)
                new = tuple(done.get(item) or self.value(item) for item in fields)
                is_same = all(a is b for a, b in zip(new, fields, strict=True))
                return value if is_same else self.ctx.derive(replace(value, fields=new), value)
            case _:
                return value

    def operand(self, value: Expr) -> Expr:
        """Return what is cast, bound if it is a call: that is evaluated once, whatever is checked of its result."""
        if not isinstance(value, Call):
            return self.value(value)
        var = Var(self.names.fresh("gv"))
        self.emit(self.with_value(VarBinding(var, value), value), value, BOUND)
        return var

    def computed(self, value: ShapeExpr | PrimValue) -> Call:
        """Return the builtin call that reads a shape or a scalar from the heap."""
        dims = value.values if isinstance(value, ShapeExpr) else (value.value,)
        for dim in dims:
            if not is_in_slot(dtype_of(dim)):
                self.ctx.fail(
                    "PS005",
                    f"{show_prim(dim)} is {dtype_of(dim)}; a slot of the shape heap holds one number",
                    value,
                    "compute a scalar of int64, float32, float64 or bool, and convert it in the callee",
                )
            if self.heap.unknown(dim):
                self.not_computed(dim, value)
        self.compute(value, dims)
        codes = self.heap.make_codes(dims)
        if isinstance(value, ShapeExpr):
            rank = integer(len(dims))
            result: Type = ShapeType(None, len(dims))
            return packed_call("vm.builtin.make_shape", self.heap_var, rank, *codes, result=result)
        dtype = dtype_of(value.value)
        typed = () if dtype.startswith(("int", "uint")) else (dtype_argument(dtype),)
        return packed_call("vm.builtin.make_prim_value", self.heap_var, *codes, *typed, result=PrimType(dtype))


def _known(value: ShapeExpr | PrimValue) -> Type:
    """Return what is known of a shape or a scalar that is read from the heap."""
    is_shape = isinstance(value, ShapeExpr)
    return ShapeType(None, len(value.values)) if is_shape else PrimType(dtype_of(value.value), value.value)


def _is_tensor_of_constant_shape(type_: Type) -> bool:
    return isinstance(type_, TensorType) and isinstance(type_.shape, tuple) and not free_symbols(type_)


def _shown(type_: Type) -> str:
    """Return the type of a parameter as a check says it; of a scalar that names a dimension only the dtype.

    TVM 0.27 writes tuples as `T.Tuple(...)` here, one of no fields as `None`, known sizes as `T.int64(4)`, and every
    virtual device as `llvm:-1:global`: nobody could read these back, so the types are as in the text.
    """
    return show_checked_type(replace(type_, value=None) if isinstance(type_, PrimType) else type_)


PASS = Pass(
    "VMShapeLower",
    "Puts symbolic dimensions into a shape heap, and turns declared types into checks when the program runs.",
    run,
    options=VMShapeLowerOptions,
    needs=("normal form", "no local functions"),
    gives=("computed shapes",),
    see="tvm/src/relax/backend/vm/vm_shape_lower.cc",
)
