"""Load each weight when it is needed, and hand over what it becomes as soon as it is there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    OBJECT,
    VOID,
    Binding,
    BindingBlock,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    PrimType,
    SeqExpr,
    ShapeType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.properties import FORCE_PURE
from relax_core.passes.relax.functions import effect, integer, operator_call, packed_call
from relax_core.passes.relax.runtime import to_non_dataflow

_SUFFIX = "transform_params"


@dataclass(frozen=True, slots=True)
class LazyTransformParamsOptions:
    """The packed functions that give and take values: `fget_item(..., index)` and `fset_item(..., index, value)`.

    The further parameters are named; the function gets them as parameters of its own, and passes them on in front. With
    no `fset_item` the function returns its results.
    """

    fget_item: str = "get_item"
    fset_item: str | None = "set_item"
    extra_get_item_params: tuple[str, ...] = ()
    extra_set_item_params: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.fget_item:
            raise ValueError("fget_item is the name of a packed function")


def run(module: IRModule, options: LazyTransformParamsOptions, ctx: PassContext) -> IRModule:
    """Rewrite functions whose names end in `transform_params`, which compute a tuple of weights from others.

    A weight is loaded before its first use. A result is handed over behind the last use of its variable, and a weight
    that is a field of the one parameter is freed there. Behind LiftTransformParams.

    Dataflow blocks become ordinary ones, since loading has effects; TVM calls in them nonetheless, and loses what they
    output.

    apache-tvm does not hand over a weight that is returned as it is, nor the fields of a tuple that no variable names.
    """

    def change(var: GlobalVar, function: Function) -> Function:
        if not _is_changed(var):
            ctx.remark(function, "missed", f"@{var.name} stays: its name does not end in {_SUFFIX}")
            return function
        return _Loading(function, options, ctx).rewritten(var.name)

    return change_functions(to_non_dataflow.run(module, NoOptions(), ctx, _is_changed), ctx, change)


def _is_changed(var: GlobalVar) -> bool:
    return var.name.endswith(_SUFFIX)


@dataclass(slots=True)
class _Loading:
    """A function that transforms weights, while it comes to load them itself."""

    function: Function
    options: LazyTransformParamsOptions
    ctx: PassContext
    names: Names = field(init=False)
    getters: tuple[Var, ...] = field(init=False)
    setters: tuple[Var, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.names = names_in(self.function)
        self.getters = self.extra(self.options.extra_get_item_params)
        self.setters = self.extra(self.options.extra_set_item_params)

    def extra(self, names: tuple[str, ...]) -> tuple[Var, ...]:
        return tuple(self.ctx.derive(Var(self.names.fresh(name), OBJECT), self.function) for name in names)

    def rewritten(self, name: str) -> Function:
        function, body = self.function, self.function.body
        assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
        count = attr(function.attrs, "num_input")
        count = count if isinstance(count, int) and not isinstance(count, bool) else 0
        weights = function.params[count:]
        bindings = list(chain.from_iterable(block.bindings for block in body.blocks))
        made = list(self.loaded(bindings, weights))
        result: Expr = body.body
        if self.options.fset_item:
            made, result = self.handed_over(made, result, _fields_of(bindings, weights))
        sizes = tuple(self.ctx.derive(Var("symbolic_var_holder", item), function) for item in _sizes(weights))
        block = self.ctx.derive(BindingBlock(tuple(made)), body)
        new = Function(
            (*function.params[:count], *self.getters, *self.setters, *sizes),
            self.ctx.derive(SeqExpr((block,), result), body),
            VOID if self.options.fset_item else function.ret_type,
            tuple(item for item in function.attrs if item[0] != FORCE_PURE),
            is_pure=False,
            is_private=function.is_private,
            span=function.span,
        )
        self.ctx.remark(function, "applied", f"@{name} loads its weights one by one: {len(weights)}", weights)
        return self.ctx.derive(new, function, rule="function of weights -> function that loads them")

    def loaded(self, bindings: list[Binding], weights: tuple[Var, ...]) -> Iterator[Binding]:
        """Yield the bindings with loads before the first uses of weights, or in the place of fields of the one."""
        missing = dict.fromkeys(weights)
        whole = weights[0] if len(weights) == 1 and isinstance(weights[0].annotation, TupleType) else None
        for item in bindings:
            match item:
                case VarBinding(value=TupleGetItem(tuple_value=Var() as value, index=index)) if value is whole:
                    load = self.load(index, item)
                    cast = Var(self.names.fresh("gv"), _field(value.annotation, index))
                    yield load
                    yield self.ctx.derive(MatchCast(cast, load.var, cast.annotation or OBJECT), item)
                    yield self.ctx.derive(replace(item, value=cast), item)
                case _:
                    for var in free_vars(item.value):
                        if var in missing and var is not whole:
                            del missing[var]
                            yield from self.asked(var, weights.index(var))
                    yield item

    def asked(self, weight: Var, index: int) -> Iterator[Binding]:
        load = self.load(index, weight)
        yield load
        yield self.ctx.derive(MatchCast(weight, load.var, weight.annotation or OBJECT), weight)

    def load(self, index: int, source: Var | Binding) -> VarBinding:
        call = packed_call(self.options.fget_item, *self.getters, integer(index), result=OBJECT)
        return self.ctx.derive(VarBinding(Var(self.names.fresh("gv"), OBJECT), call), source)

    def handed_over(self, bindings: list[Binding], result: Expr, freed: frozenset[Var]) -> tuple[list[Binding], Expr]:
        """Return bindings that hand over the fields of the result, and what is returned then."""
        value_of = {item.var: item.value for item in bindings}
        output = value_of.get(result) if isinstance(result, Var) else result
        fields = output.fields if isinstance(output, Tuple) else (result,)
        places: dict[Expr, list[int]] = {}
        for index, item in enumerate(fields):
            places.setdefault(item, []).append(index)
        # A variable that a tuple is bound to goes with its binding; any other result is handed over like a field.
        is_bound = isinstance(result, Var) and isinstance(output, Tuple)
        inner = [item for item in bindings if not is_bound or item.var is not result]
        ends = _last_uses(inner)
        made: list[Binding] = []
        for item in inner:
            made.append(item)
            for var in ends.get(item.var, ()):
                made += (self.set(index, var) for index in places.pop(var, ()))
                if var in freed:
                    made.append(self.ctx.derive(effect(operator_call("relax.vm.kill_object", var)), item))
        rest = [self.set(index, item) for item, indices in places.items() for index in indices]
        # The statement stands where the result was bound, as in apache-tvm.
        empty = [self.ctx.derive(effect(Tuple()), self.function)] if is_bound else []
        return [*made, *empty, *rest], self.ctx.derive(Tuple(), self.function)

    def set(self, index: int, value: Expr) -> Binding:
        name = self.options.fset_item
        assert name, "results are handed over to a function"
        call = packed_call(name, *self.setters, integer(index), value, result=OBJECT)
        return self.ctx.derive(replace(effect(call), var=Var("_", OBJECT)), value)


def _field(type_: Type | None, index: int) -> Type:
    assert isinstance(type_, TupleType), "what a field is taken from is a tuple"
    return type_.fields[index]


def _fields_of(bindings: list[Binding], weights: tuple[Var, ...]) -> frozenset[Var]:
    """Return the variables of fields of the weights, which are freed behind their last use."""
    return frozenset(
        item.var
        for item in bindings
        if isinstance(item.value, TupleGetItem) and item.value.tuple_value in weights[:1] and len(weights) == 1
    )


def _last_uses(bindings: list[Binding]) -> Mapping[Var, list[Var]]:
    """Return, for each binding by its variable, what is used there for the last time, itself if nothing uses it."""
    ended: set[Var] = set()
    found: dict[Var, list[Var]] = {}
    for item in reversed(bindings):
        used = dict.fromkeys((*free_vars(item.value), item.var))
        found[item.var] = [var for var in used if var not in ended]
        ended.update(used)
    return found


def _sizes(weights: tuple[Var, ...]) -> Iterator[Type]:
    """Yield the types of the weights that are sizes and scalars, which stay parameters."""
    stack = [item.annotation for item in reversed(weights)]
    while stack:
        match stack.pop():
            case TupleType(fields=fields):
                stack += reversed(fields)
            case (ShapeType() | PrimType()) as found:
                yield found
            case _:
                pass


PASS = Pass(
    "LazyTransformParams",
    "Makes functions that transform weights load each when it is needed, and hand over each result.",
    run,
    options=LazyTransformParamsOptions,
    needs=("normal form",),
    see="tvm/python/tvm/relax/transform/lazy_transform_params.py",
)
