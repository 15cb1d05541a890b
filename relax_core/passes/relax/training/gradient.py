"""Add to a module the function that computes the gradient of another one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from relax_core.ir.attrs import attrs_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.ops.spec import OpTypeError
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.closures.result_types import map_symbols
from relax_core.passes.relax.functions import copied_function
from relax_core.passes.relax.operators.calls import dtype
from relax_core.passes.relax.training.expressions import Expressions, op
from relax_core.passes.relax.training.gradient_rules import RULES, GradientSite
from relax_core.passes.relax.training.simplify_gradient import simplified

_START = "relax.grad.start_checkpoint"
_CODE = "PS018"


@dataclass(frozen=True, slots=True)
class GradientOptions:
    """`func_name` is differentiated with respect to the variables `require_grads`, its parameters by default.

    What is differentiated is its result, or the field `target_index` of that.
    """

    func_name: str = "main"
    require_grads: tuple[str, ...] = ()
    target_index: int = 0


def run(module: IRModule, options: GradientOptions, ctx: PassContext) -> IRModule:
    """Add a function `<name>_adjoint` that returns the results and, as a tuple, the gradients of their target.

    Reverse mode: behind the bindings of the function, which is one dataflow block, the adjoint of each variable is
    computed from those of its uses, operator by operator. Values between `grad.start_checkpoint` and
    `grad.end_checkpoint` are computed again for that. What nothing needs is left out, and transpositions of products
    are moved to where they are none. apache-tvm also computes again what has symbolic dimensions.
    """
    function = next((item for var, item in module.relax_functions if var.name == options.func_name), None)
    if function is None:
        ctx.fail(
            _CODE, f"there is no Relax function {options.func_name}", module, f"functions: {', '.join(module.names)}"
        )
    new = _Differentiation(function, options, ctx, ctx.types(module)).adjoint()
    name = f"{options.func_name}_adjoint"
    # A public function has its name as its symbol, without an attribute that says so.
    attrs = attrs_of({key: value for key, value in new.attrs if key != "global_symbol"})
    made = ctx.derive(replace(new, attrs=attrs, is_private=False), function)
    if name in module:
        if not structural_equal(module[name], made):
            ctx.fail(_CODE, f"there is another function {name} already", module[name], "rename it")
        ctx.remark(function, "missed", f"@{name} is there already", (module[name],))
        return module
    definition = ctx.derive(Definition(ctx.derive(GlobalVar(name), function), made), function)
    ctx.remark(made, "applied", f"@{name} computes the gradient of @{options.func_name}", (function,))
    return with_definitions(module, (*module.definitions, definition), ctx)


class _Differentiation:
    """A function while its adjoint is made: a copy of it with the adjoints behind its bindings."""

    def __init__(
        self, function: Function, options: GradientOptions, ctx: PassContext, type_of: Mapping[Node, Type]
    ) -> None:
        self.ctx = ctx
        self.options = options
        self.original = function
        symbols: dict[PrimVar, PrimExpr] = {item: PrimVar(item.name, item.dtype) for item in free_symbols(function)}
        copied, self.new_of = copied_function(function, symbols, ctx)
        self.params = copied.params
        self.block, self.result = self.parts(copied)
        types = {new: map_symbols(type_of[old], symbols) for old, new in self.new_of.items()}
        names = Names(item.name for item in preorder(copied) if isinstance(item, Var))
        self.made = Expressions(names, {**type_of, **types})
        self.adjoint_of: dict[Var, Var] = {}
        self.same_as: dict[Var, Var] = {}
        """The variables behind checkpoint marks."""
        self.known: dict[Var, Var] = {}
        """What holds the value of a variable of the forward part in the backward part."""
        self.value_of: dict[Var, Expr] = {}

    def parts(self, function: Function) -> tuple[DataflowBlock, Expr]:
        body = function.body
        if isinstance(body, SeqExpr) and len(body.blocks) == 1 and isinstance(body.blocks[0], DataflowBlock):
            return body.blocks[0], body.body
        return self.refuse(self.original, "its body is not one dataflow block", "apply ConvertToDataflow")

    def refuse(self, node: Node, why: str, hint: str = "") -> NoReturn:
        return self.ctx.fail(_CODE, f"@{self.options.func_name} has no gradient: {why}", node, hint)

    def adjoint(self) -> Function:
        """Return the adjoint function."""
        forward = self.forward()
        target = self.target()
        wanted = self.wanted()
        type_ = self.made.tensor(target)
        self.update(target, op("ones", self.made.shape(target), dtype(str(type_.dtype))))
        for binding in reversed(forward):
            if binding.var in self.adjoint_of:
                start = len(self.made.emitter.bindings)
                self.backward(binding)
                self.derive(start, binding)
        start = len(self.made.emitter.bindings)
        outputs = tuple(map(self.output, wanted))
        self.derive(start, self.original)
        result = self.ctx.derive(Tuple((self.renamed(self.result), Tuple(outputs))), self.original)
        bindings = _needed(self.made.emitter.bindings, result)
        bindings, result = simplified(tuple(bindings), result, self.made, self.ctx)
        block = self.ctx.derive(replace(self.block, bindings=tuple(_needed(bindings, result))), self.original)
        body = self.ctx.derive(SeqExpr((block,), result), self.original.body)
        return replace(self.original, params=self.params, body=body, ret_type=self.made.type(result))

    def derive(self, start: int, source: Node) -> None:
        for item in self.made.emitter.bindings[start:]:
            for node in preorder(item):
                if not isinstance(node, Var):
                    self.ctx.derive(node, source)

    def forward(self) -> list[VarBinding]:
        """Emit the bindings of the function, marks of checkpoints left out, and return them."""
        held = set(self.params)
        ended: set[Var] = set()
        kept: list[VarBinding] = []
        self.known.update(zip(self.params, self.params, strict=True))
        for item in self.block.bindings:
            if not isinstance(item, VarBinding):
                self.refuse(item, "it has a match_cast")
            match item.value:
                case Call(op=Op(name=("relax.grad.start_checkpoint" | "relax.grad.end_checkpoint") as name), args=args):
                    source = args[0]
                    assert isinstance(source, Var), "the argument is a variable in normal form"
                    self.same_as[item.var] = self.same_as.get(source, source)
                    if name == _START:
                        held.add(self.same_as[item.var])
                    else:
                        ended.add(item.var)
                    continue
                case value:
                    if all(var in held or var in ended for var in free_vars(value)):
                        held.add(item.var)
                    new = self.ctx.derive(replace(item, value=self.renamed(value)), item)
                    kept.append(new)
                    self.made.emitter.bindings.append(new)
                    self.value_of[new.var] = new.value
        self.known.update((var, var) for var in held)
        return kept

    def renamed(self, value: Expr) -> Expr:
        """Return a value in which no variable is behind a mark."""
        used = {var: new for var in free_vars(value) if (new := self.same_as.get(var)) is not None}
        return self.ctx.substitute(value, dict(used)) if used else value

    def target(self) -> Var:
        result = self.renamed(self.result)
        fields = result.fields if isinstance(result, Tuple) else (result,)
        index = self.options.target_index
        if not 0 <= index < len(fields):
            self.refuse(self.original, f"it has {len(fields)} results, and target_index is {index}")
        target = fields[index]
        type_ = self.made.type(target)
        if not isinstance(target, Var):
            self.refuse(self.original, "what is differentiated is no variable")
        is_scalar = isinstance(type_, TensorType) and type_.ndim == 0 and _is_float(type_)
        if not is_scalar:
            self.refuse(self.original, f"{target.name} is no float tensor of rank 0", "return a loss")
        return target

    def wanted(self) -> tuple[Var, ...]:
        names = self.options.require_grads
        by_name = {old.name: new for old, new in self.new_of.items()}
        missing = next((name for name in names if name not in by_name), None)
        if missing is not None:
            self.refuse(self.original, f"it has no variable {missing}", f"variables: {', '.join(by_name)}")
        if len(set(names)) < len(names):
            self.refuse(self.original, "a variable of require_grads is named twice")
        found = tuple(by_name[name] for name in names) or self.params
        other = next((var for var in found if names and not _is_float(self.made.type(var))), None)
        if other is not None:
            self.refuse(self.original, f"{other.name} is no float tensor")
        return tuple(self.same_as.get(var, var) for var in found)

    def output(self, var: Var) -> Var:
        if var not in self.adjoint_of:
            self.update(var, self.zeros(self.made.type(var)))
        adjoint = self.adjoint_of[var]
        made = Var(self.made.emitter.names.fresh(f"{var.name}_adjoint_out"), self.made.type(adjoint))
        self.made.emitter.bind(made, adjoint)
        return made

    def backward(self, binding: VarBinding) -> None:
        """Emit the adjoints of what a binding uses."""
        grad = self.adjoint_of[binding.var]
        match binding.value:
            case Call(op=Op(name=name)) as call:
                self.call(binding, call, name, grad)
            case (Var() | Tuple()) as value:
                self.update(value, grad)
            case TupleGetItem(tuple_value=Var() as whole, index=index):
                self.field(whole, index, grad)
            case Constant():
                pass
            case value:
                self.refuse(binding, f"the value of {binding.var.name} has none")

    def call(self, binding: VarBinding, call: Call, name: str, grad: Var) -> None:
        rule = RULES.get(name)
        if rule is None:
            self.refuse(binding, f"the operator {name.removeprefix('relax.')} has none")
        again = self.ctx.substitute(call, {var: self.held(var) for var in free_vars(call) if self.held(var) is not var})
        if binding.var not in self.known:
            self.known[binding.var] = self.made.bind(again, f"{binding.var.name}_cp")
        site = GradientSite(again, name, self.known[binding.var], grad, self.made)
        try:
            for arg, partial in zip(call.args, rule(site), strict=False):
                if partial is not None:
                    self.update(arg, partial)
        except (ValueError, OpTypeError) as error:
            self.refuse(binding, f"{binding.var.name}: {error}")

    def held(self, var: Var) -> Var:
        """Return what holds the value of a variable, computed again if it is not kept."""
        found = self.known.get(var)
        if found is None:
            value = self.value_of[var]
            used = {item: self.held(item) for item in free_vars(value)}
            changed = {old: new for old, new in used.items() if old is not new}
            found = self.known[var] = self.made.bind(self.ctx.substitute(value, dict(changed)), f"{var.name}_cp")
        return found

    def field(self, whole: Var, index: int, grad: Var) -> None:
        type_ = self.made.type(whole)
        assert isinstance(type_, TupleType), "what a field is taken from is a tuple"
        before = self.adjoint_of.get(whole)
        fields: list[Expr]
        if before is None:
            fields = [self.zeros(item) for item in type_.fields]
            fields[index] = grad
        else:
            fields = list(_fields(before, len(type_.fields)))
            fields[index] = self.sum(fields[index], grad)
        self.set(whole, Tuple(tuple(fields)))

    def update(self, expr: Expr, partial: Expr) -> None:
        """Add to the adjoints of the variables in an argument."""
        self.share(expr, self.made.normal(partial))

    def share(self, expr: Expr, partial: Expr) -> None:
        match expr:
            case Tuple(fields=fields):
                for item, part in zip(fields, _fields(partial, len(fields)), strict=True):
                    self.share(item, part)
            case Var():
                new = self.made.normal(partial)
                before = self.adjoint_of.get(expr)
                self.set(expr, new if before is None else self.sum(before, new))
            case _:
                pass

    def set(self, var: Var, adjoint: Expr) -> None:
        self.adjoint_of[var] = self.made.bind(adjoint, f"{var.name}_adjoint")

    def sum(self, a: Expr, b: Expr) -> Expr:
        """Return the sum of two tensors, or of the fields of two tuples."""
        type_ = self.made.type(a)
        if not isinstance(type_, TupleType):
            return op("add", a, b)
        count = range(len(type_.fields))
        pairs = [
            tuple(item.fields[k] if isinstance(item, Tuple) else TupleGetItem(item, k) for item in (a, b))
            for k in count
        ]
        return Tuple(tuple(self.sum(*pair) for pair in pairs))

    def zeros(self, type_: Type) -> Expr:
        match type_:
            case TupleType(fields=fields):
                return Tuple(tuple(map(self.zeros, fields)))
            case TensorType(shape=tuple() as dims, dtype=str(name)):
                return op("zeros", ShapeExpr(dims), dtype(name))
            case _:
                return self.refuse(self.original, "the shape of a tensor is not known")


def _fields(expr: Expr, count: int) -> tuple[Expr, ...]:
    return expr.fields if isinstance(expr, Tuple) else tuple(TupleGetItem(expr, k) for k in range(count))


def _is_float(type_: Type | None) -> bool:
    match type_:
        case TensorType(dtype=str(name)):
            return "float" in name
        case TupleType(fields=fields):
            return all(map(_is_float, fields))
        case _:
            return False


def _needed(bindings: Iterable[Binding], result: Expr) -> list[Binding]:
    """Return the bindings that a result needs."""
    used = set(free_vars(result))
    kept: list[Binding] = []
    for item in reversed(list(bindings)):
        if item.var in used:
            used.update(free_vars(item.value))
            kept.append(item)
    return kept[::-1]


PASS = Pass(
    "Gradient",
    "Adds the function that computes the gradient of another one.",
    run,
    options=GradientOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/gradient.cc",
)
