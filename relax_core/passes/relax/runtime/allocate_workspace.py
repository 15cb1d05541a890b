"""Give external functions the memory that they ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relax_core.ir.attrs import attr, has_attr
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    TensorType,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import const
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.functions import dtype_argument, integer, join_blocks, operator_call, shape, string

SIZE = "WorkspaceSize"


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Pass a workspace to each function of a code generator that has a `WorkspaceSize`.

    Each function that calls one allocates a workspace of the largest of these sizes, for all its calls.
    """
    sizes = {
        var.name: size
        for var, function in module.relax_functions
        if has_attr(function.attrs, "Codegen") and isinstance(size := attr(function.attrs, SIZE), int)
    }
    if not sizes:
        ctx.remark(module, "missed", f"no function of a code generator has a {SIZE}")
        return module
    names = Names(module.names)
    given = {name: GlobalVar(names.fresh(name)) for name in sizes}
    change = _Workspace(TensorType((const(max(sizes.values())),), "uint8"), given, ctx)
    definitions: list[Definition] = []
    for item in module.definitions:
        if not isinstance(item.function, Function):
            definitions.append(item)
            continue
        is_given = item.var.name in given
        new = change.taking(item.function) if is_given else change.allocating(item.function)
        var = given.get(item.var.name, item.var)
        definitions.append(item if new is item.function else ctx.derive(Definition(var, new), item, item.function))
    return with_definitions(module, tuple(definitions), ctx)


@dataclass(frozen=True, slots=True)
class _Workspace:
    """Workspaces of one type, which functions with other names from now on take."""

    type_: TensorType
    given: Mapping[str, GlobalVar]
    ctx: PassContext

    def taking(self, function: Function) -> Function:
        """Return a function of a code generator, and the composites in it, with a workspace as the last parameter."""
        workspace = Var(names_in(function).fresh("workspace"), self.type_)
        inner = {
            item.var
            for item in preorder(function)
            if isinstance(item, VarBinding) and isinstance(item.value, Function) and has_attr(item.value.attrs, SIZE)
        }

        def take(node: Node) -> Node | None:
            """Rule: composite and its calls -> those with a workspace."""
            match node:
                case VarBinding(var=var, value=Function() as composite) if var in inner:
                    own = Var(names_in(function).fresh("workspace"), self.type_)
                    return replace(node, value=_with_param(composite, own))
                case Call(op=Var() as callee, args=args) if callee in inner:
                    return replace(node, args=(*args, workspace))
                case _:
                    return None

        made = _with_param(self.ctx.rewrite(function, take), workspace)
        self.ctx.log.rebuilt(function, made)
        return made

    def allocating(self, function: Function) -> Function:
        """Return a function that allocates the workspace for its calls."""
        body = function.body
        assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
        blocks = [item for item in body.blocks if any(map(self.is_call, preorder(item)))]
        if not blocks:
            return function
        is_dataflow = blocks == [body.blocks[0]] and isinstance(body.blocks[0], DataflowBlock)
        kind = DataflowVar if is_dataflow else Var
        workspace = kind(names_in(function).fresh("workspace_main"))
        dims = self.type_.dims
        assert dims is not None, "the size of a workspace is known"
        made = operator_call(
            "relax.builtin.alloc_tensor", shape(dims), dtype_argument("uint8"), integer(0), string("global")
        )
        binding = self.ctx.derive(VarBinding(workspace, made), *blocks)

        def give(node: Node) -> Node | None:
            """Rule: call of a function that needs a workspace -> call with one."""
            if not isinstance(node, Call) or not self.is_call(node):
                return None
            assert isinstance(node.op, GlobalVar), "the functions of code generators have names"
            self.ctx.remark(node, "applied", f"@{node.op.name} is given {workspace.name}", (binding,))
            return replace(node, op=self.given[node.op.name], args=(*node.args, workspace))

        new = self.ctx.rewrite(body, give)
        first = new.blocks[0]
        start: tuple[BindingBlock, ...] = (BindingBlock((binding,)), *new.blocks)
        if is_dataflow:
            start = (replace(first, bindings=(binding, *first.bindings)), *new.blocks[1:])
        made_body: Expr = self.ctx.rewrite(replace(new, blocks=start), join_blocks)
        result = replace(function, body=made_body)
        self.ctx.log.rebuilt(function, result)
        return result

    def is_call(self, node: Node) -> bool:
        return isinstance(node, Call) and isinstance(node.op, GlobalVar) and node.op.name in self.given


def _with_param(function: Function, workspace: Var) -> Function:
    attrs = tuple(item for item in function.attrs if item[0] != SIZE)
    return replace(function, params=(*function.params, workspace), attrs=attrs)


PASS = Pass(
    "AllocateWorkspace",
    "Allocates the memory that functions of code generators ask for, and passes it to them.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/allocate_workspace.cc",
)
