"""AlterOpImpl: kernels of an operator are replaced by others, which may want other layouts."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NoReturn

from relax_core.ir.attrs import attr, with_attr
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Dims,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import StringImm
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.tir import PrimFunc
from relax_core.ops.spec import OpTypeError
from relax_core.ops.tensors.index_map import IndexMap, parse_index_map
from relax_core.ops.tensors.index_map_inverse import inverse_of
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions, with_definitions
from relax_core.passes.relax.layout.remove_pad import OPERATOR_NAME, remove_pad
from relax_core.passes.relax.operators.calls import op_call


@dataclass(frozen=True, slots=True)
class AlterOpImplOptions:
    """`op_impl_map` gives for an `operator_name` the kernel that takes its place: a prim func of the module or another.

    `op_buffer_transforms` gives for it the layout of each parameter of that kernel, `"lambda i: (i // 4, i % 4)"`, or
    `None` where it stays. Without an entry all stay.
    """

    op_impl_map: tuple[tuple[str, str | PrimFunc], ...] = ()
    op_buffer_transforms: tuple[tuple[str, tuple[str | None, ...]], ...] = ()


def run(module: IRModule, options: AlterOpImplOptions, ctx: PassContext) -> IRModule:
    """Replace what `call_tir` calls, transform its inputs to the layouts of the new kernel, and its results back.

    Where a layout pads, a kernel `remove_pad` follows. Scalars stay. The kernels that were called before stay in the
    module: DeadCodeElimination drops them.

    Raises:
        CompileError: PS018: a kernel is not there, has another number of parameters, or a layout has no inverse here.
    """
    altering = _Altering(module, options, ctx)
    changed = change_functions(module, ctx, altering.function)
    if not altering.added:
        return changed
    return with_definitions(changed, (*changed.definitions, *altering.added), ctx)


@dataclass(frozen=True, slots=True)
class _Replacement:
    """A kernel that takes the place of others, and the layouts of its parameters."""

    var: GlobalVar
    layouts: tuple[IndexMap | None, ...]


@dataclass(slots=True)
class _Altering:
    module: IRModule
    options: AlterOpImplOptions
    ctx: PassContext
    added: list[Definition] = field(default_factory=list[Definition])
    found: dict[str, _Replacement] = field(default_factory=dict[str, _Replacement])
    unpads: dict[int, GlobalVar] = field(default_factory=dict[int, GlobalVar])

    def function(self, _: GlobalVar, function: Function) -> Function:
        names = names_in(function)

        def alter(node: Node) -> Node | None:
            """Rule: call_tir of a kernel of the operator -> transforms, call_tir of the other kernel, transforms."""
            if not isinstance(node, BindingBlock):
                return None
            kind = DataflowVar if isinstance(node, DataflowBlock) else Var
            bindings = tuple(chain.from_iterable(self.binding(item, kind, names) for item in node.bindings))
            return (
                None
                if len(bindings) == len(node.bindings) and bindings == node.bindings
                else replace(node, bindings=bindings)
            )

        return self.ctx.rewrite(function, alter)

    def binding(self, item: Binding, kind: type[Var], names: Names) -> Iterator[Binding]:
        """Yield what takes the place of a binding."""
        replacement = self.replacement(item)
        if replacement is None or not isinstance(item.value, Call):
            yield item
            return
        made = _Bindings(self, item, kind, names)
        value = made.call(item.value, replacement)
        yield from made.bindings
        yield self.ctx.derive(replace(item, value=value), item)

    def replacement(self, item: Binding) -> _Replacement | None:
        match item:
            case VarBinding(value=Call(op=Op(name="relax.call_tir"), args=(GlobalVar(name=name), Tuple(), *_)) as call):
                found = self.module.find(name)
            case _:
                return None
        old = None if found is None else found.function
        operator = attr(old.attrs, OPERATOR_NAME) if isinstance(old, PrimFunc) else None
        impl = dict(self.options.op_impl_map).get(operator) if isinstance(operator, str) else None
        if impl is None or not isinstance(operator, str) or not isinstance(old, PrimFunc):
            why = f"no other kernel is given for {operator}" if operator else "it does not say which operator it is of"
            self.ctx.remark(call, "missed", f"@{name} stays: {why}")
            return None
        if operator not in self.found:
            self.found[operator] = self.made(operator, impl, call)
        replacement = self.found[operator]
        count = len(old.params)
        if replacement.layouts and len(replacement.layouts) != count:
            self.ctx.fail("PS018", f"{operator} has {count} buffers, and {len(replacement.layouts)} layouts", call)
        self.ctx.remark(call, "applied", f"@{replacement.var.name} takes the place of @{name}, a kernel of {operator}")
        return replacement

    def made(self, operator: str, impl: str | PrimFunc, call: Call) -> _Replacement:
        """Add the kernel that takes the place of those of an operator."""
        kernel = self.module[impl] if isinstance(impl, str) and impl in self.module else impl
        if not isinstance(kernel, PrimFunc):
            self.ctx.fail("PS018", f"the kernel for {operator} is no prim func of the module", call)
        texts = dict(self.options.op_buffer_transforms).get(operator, ())
        named = replace(kernel, attrs=with_attr(kernel.attrs, OPERATOR_NAME, operator), is_private=True)
        var = self.equal_kernel(named)
        if var is None:
            names = Names((*self.module.names, *(item.var.name for item in self.added)))
            var = GlobalVar(names.fresh(f"{operator}_replacement".replace(".", "_")))
            self.added.append(self.ctx.derive(Definition(var, self.ctx.derive(named, call)), call))
        return _Replacement(var, tuple(self.layout(text, call) for text in texts))

    def equal_kernel(self, kernel: PrimFunc) -> GlobalVar | None:
        """Return the function of the module, or one added before, that is the same kernel."""
        return next(
            (
                item.var
                for item in (*self.module.definitions, *self.added)
                if isinstance(item.function, PrimFunc) and structural_equal(item.function, kernel)
            ),
            None,
        )

    def layout(self, text: str | None, call: Call) -> IndexMap | None:
        if text is None:
            return None
        try:
            return parse_index_map(text)
        except OpTypeError:
            self.ctx.fail(
                "PS018", f"the layout {text} is no mapping of indices", call, "lambda i, j: (i // 4, j, i % 4)"
            )

    def unpad(self, ndim: int, dtype: str, source: Node) -> GlobalVar:
        """Return the kernel that removes the padding of tensors with so many axes."""
        if ndim not in self.unpads:
            names = Names((*self.module.names, *(item.var.name for item in self.added)))
            self.unpads[ndim] = GlobalVar(names.fresh("remove_pad"))
            self.added.append(self.ctx.derive(Definition(self.unpads[ndim], remove_pad(ndim, dtype)), source))
        return self.unpads[ndim]


@dataclass(slots=True)
class _Bindings:
    """The bindings that one call becomes, but for the last."""

    altering: _Altering
    item: Binding
    kind: type[Var]
    names: Names
    bindings: list[Binding] = field(default_factory=list[Binding])

    def emit(self, value: Expr) -> Var:
        """Bind a value to a variable of its own."""
        ctx = self.altering.ctx
        var = ctx.derive(self.kind(self.names.fresh("lv")), self.item)
        self.bindings.append(ctx.derive(VarBinding(var, ctx.derive(value, self.item.value)), self.item))
        return var

    def call(self, call: Call, replacement: _Replacement) -> Expr:
        """Return the value for a call: that of the other kernel, in the layouts that the call gave before."""
        inputs = call.args[1]
        assert isinstance(inputs, Tuple), "the inputs of call_tir are a tuple"
        layouts = replacement.layouts
        count = len(inputs.fields)
        given = tuple(
            self.transformed(value, layout)
            for value, layout in zip(inputs.fields, layouts[:count] or (None,) * count, strict=True)
        )
        results = layouts[len(layouts) - len(call.type_args) :] if layouts else (None,) * len(call.type_args)
        types = tuple(self.type_in(type_, layout) for type_, layout in zip(call.type_args, results, strict=True))
        args = (replacement.var, replace(inputs, fields=given), *call.args[2:])
        new = self.altering.ctx.derive(replace(call, args=args, type_args=types), call)
        if not any(results):
            return new
        whole = self.emit(new)
        if len(types) == 1:
            return self.back(whole, call.type_args[0], results[0])
        # TVM normalizes the result that it removes padding from when it makes it, and the others with the whole tuple.
        padded = [self.is_padded(*item) for item in zip(call.type_args, results, strict=True)]
        early = {at: self.emit(TupleGetItem(whole, at)) for at, is_padded in enumerate(padded) if is_padded}
        fields: list[Expr] = []
        for at, (type_, layout) in enumerate(zip(call.type_args, results, strict=True)):
            part = early[at] if at in early else self.emit(TupleGetItem(whole, at))
            value = self.back(part, type_, layout)
            fields.append(value if isinstance(value, Var) else self.emit(value))
        return Tuple(tuple(fields))

    def transformed(self, value: Expr, layout: IndexMap | None) -> Expr:
        if layout is None or (isinstance(value, Constant) and value.data.ndim == 0):
            return value
        return self.emit(_transform(value, layout))

    def type_in(self, type_: Type, layout: IndexMap | None) -> Type:
        match type_:
            case TensorType(shape=tuple() as dims) if layout is not None and len(dims) == len(layout.names):
                return replace(type_, shape=layout.shape(dims), ndim=len(layout.results))
            case _ if layout is None:
                return type_
            case _:
                self.fail(layout)

    def back(self, value: Var, type_: Type, layout: IndexMap | None) -> Expr:
        """Return a result in the layout that it had before."""
        if layout is None:
            return value
        assert isinstance(type_, TensorType), "type_in refuses the others"
        dims = type_.dims
        assert dims is not None, "type_in refuses the others"
        flat = _transform(value, self.inverse(layout, dims))
        if not self.is_padded(type_, layout):
            return flat
        callee = self.altering.unpad(len(dims), type_.dtype or "float32", self.item)
        return Call(Op("relax.call_tir"), (callee, Tuple((self.emit(flat),))), type_args=(type_,))

    def inverse(self, layout: IndexMap, dims: Dims) -> IndexMap:
        inverse = inverse_of(layout, dims)
        if inverse is None:
            self.fail(layout)
        return inverse

    def is_padded(self, type_: Type, layout: IndexMap | None) -> bool:
        """Tell whether a layout has more elements than the tensor of a type."""
        if layout is None or not isinstance(type_, TensorType) or type_.dims is None:
            return False
        after = self.inverse(layout, type_.dims).shape(layout.shape(type_.dims))
        return not all(map(prove_equal, type_.dims, after))

    def fail(self, layout: IndexMap) -> NoReturn:
        hint = "a layout splits, reorders and joins whole axes of a known shape"
        self.altering.ctx.fail(
            "PS018", f"the layout {layout.text} of {self.item.var.name} has no inverse", self.item, hint
        )


def _transform(value: Expr, layout: IndexMap) -> Call:
    return op_call("layout_transform", value, PrimValue(StringImm(layout.text)))


PASS = Pass(
    "AlterOpImpl",
    "Replaces kernels of an operator by one that may want other layouts.",
    run,
    options=AlterOpImplOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/alter_op_impl.cc",
)
