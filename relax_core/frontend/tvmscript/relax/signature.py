"""Read what stands around the body of a Relax function: decorators, signatures, and the dimensions they define."""

import ast
from dataclasses import dataclass

from relax_core.frontend.tvmscript.context import Context, Failed, source_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.plain.plain_types import is_plain_tensor, plain_dtype
from relax_core.frontend.tvmscript.purity import is_typed
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.scalar.prim_variables import with_symbol
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scope import POISONED
from relax_core.frontend.tvmscript.unread import refuse_repeated
from relax_core.ir.expr import OBJECT, PrimType, TensorType, Type, Var

_FLAGS = ("private", "pure", "check_well_formed", "s_tir")


@dataclass(frozen=True, slots=True)
class Decorator:
    """What a decorator says: which kind of thing it marks, and its flags."""

    kind: str
    is_private: bool = False
    is_pure: bool = True
    is_checked: bool = True


def read_decorator(context: Context, node: ast.expr) -> Decorator:
    """Read `@R.function(private=True)`, `@T.prim_func`, `@I.ir_module(check_well_formed=False)`."""
    func, keywords = (node.func, node.keywords) if isinstance(node, ast.Call) else (node, [])
    if isinstance(node, ast.Call):
        refuse_repeated(context, node)
    if isinstance(node, ast.Call) and node.args:
        raise context.fail("PA016", node, "a decorator takes flags by name, such as private=True")
    flags: dict[str, bool] = {}
    for item in keywords:
        if item.arg == "metadata":
            # 2022 hands the table of constants over; it is found by its name.
            continue
        if item.arg not in _FLAGS:
            raise context.unsupported(item.value, f"`{item.arg}=` of a decorator")
        if not isinstance(item.value, ast.Constant) or not isinstance(item.value.value, bool):
            raise context.fail("PA016", item.value, f"`{item.arg}` is True or False")
        flags[item.arg] = item.value.value
    name = qualified(func, context.aliases) or source_of(func)
    is_checked = flags.get("check_well_formed", True)
    return Decorator(name, flags.get("private", False), flags.get("pure", True), is_checked)


def read_parameters(reader: RelaxReader, node: ast.FunctionDef) -> tuple[Var, ...]:
    """Read the parameters of a function and define them in its scope; what is wrong with one is reported."""
    context = reader.context
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise context.unsupported(node, f"a parameter of `{node.name}` with a star, by position or by name only")
    for default in arguments.defaults:
        message = f"`{source_of(default)}` is not used: every call of `{node.name}` gives all arguments"
        context.report("PA033", default, message, "remove it", severity="warning")
    if reader.level > 1:
        _own_symbols(reader, arguments)
    params: list[Var] = []
    names: set[str] = set()
    for argument in arguments.args:
        if argument.arg in names:
            context.report("PA022", argument, f"the parameter `{argument.arg}` is there twice")
        names.add(argument.arg)
        annotation = _annotation(reader, argument)
        if isinstance(annotation, PrimType) and argument.arg in reader.prims.computed:
            annotation = with_symbol(annotation, argument.arg, context.span(argument))
        var = Var(argument.arg, annotation, span=context.span(argument))
        params.append(var)
        reader.scope.define(argument.arg, var)
    return tuple(params)


def _own_symbols(reader: RelaxReader, arguments: ast.arguments) -> None:
    """Define what the signature of a local function writes as `("n", 4)`: a dimension of its own, as in TVM.

    A name without quotes is the dimension of the function around it.
    """
    for argument in arguments.args:
        for item in ast.walk(argument.annotation) if argument.annotation is not None else ():
            for dim in item.elts if isinstance(item, ast.Tuple | ast.List) else ():
                match dim:
                    case ast.Constant(value=str(name)) if name.isidentifier() and name not in reader.scope.names:
                        reader.define_symbol(name, dim)
                    case _:
                        pass


def _annotation(reader: RelaxReader, argument: ast.arg) -> Type:
    """The declared type; an error in it has been reported and leaves a parameter of any type."""
    if argument.annotation is None:
        if is_typed(reader.context.source.text):
            hint = "write R.Any for a value of any kind"
            reader.context.report("PA007", argument, f"the parameter `{argument.arg}` has no type", hint)
        return OBJECT
    try:
        return reader.declared(argument.annotation, defines=True)
    except Failed:
        return OBJECT


def read_return_type(reader: RelaxReader, node: ast.FunctionDef) -> Type | None:
    """Read the declared result; `None` if there is none, or if a reported error is in it."""
    if node.returns is None:
        return None
    try:
        return reader.declared(node.returns)
    except Failed:
        return None


def declared_dtypes(context: Context, body: list[ast.stmt]) -> dict[str, str]:
    """Return the dtypes that statements such as `n = T.int64()` or `m = T.var("int32")` declare."""
    found: dict[str, str] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                dtype = declared_dtype(context, call)
                if dtype is not None:
                    found[name] = dtype
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                for name, call in zip(names, values, strict=True):
                    dtype = declared_dtype(context, call) if isinstance(call, ast.Call) else None
                    if dtype is not None and isinstance(name, ast.Name):
                        found[name.id] = dtype
            case _:
                pass
    return found


def declared_dtype(context: Context, call: ast.Call) -> str | None:
    """Return the dtype if `call` declares a scalar variable: `T.int64()`, `T.var("int32")`, `T.Var("n", "int64")`."""
    name = qualified(call.func, context.aliases) or ""
    short = name.removeprefix("tir.")
    if short == name:
        return None
    strings = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if short in ("var", "Var", "SizeVar"):
        return next((item for item in reversed(strings) if is_dtype(item)), "int32" if short == "var" else "int64")
    if is_dtype(short) and not call.args and all(item.arg == "is_size_var" for item in call.keywords):
        return short
    return None


def literal_parameters(context: Context, node: ast.FunctionDef) -> tuple[Type | None, ...]:
    """Return, for each parameter, what a bare literal is there: a tensor, a host scalar, or unknown."""
    return tuple(_literal_type(context, argument.annotation) for argument in node.args.args)


def literal_result(context: Context, node: ast.FunctionDef) -> Type | None:
    """Return what the function declares to return if it is a host scalar or a tensor; else unknown."""
    return _literal_type(context, node.returns)


def _literal_type(context: Context, node: ast.expr | None) -> Type | None:
    if isinstance(node, ast.Name) and (words := context.plain.get(node.id)) is not None:
        return TensorType(None, plain_dtype(words)) if is_plain_tensor(words) else None
    inner = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    name = (qualified(inner, context.aliases) if inner is not None else None) or ""
    match name.removeprefix("relax."):
        case "Tensor":
            return TensorType(None, _written_dtype(node))
        case "Prim":
            return PrimType(_written_dtype(node) or "int64")
        case short if short.startswith("tir.") and is_dtype(short.removeprefix("tir.")):
            return PrimType(short.removeprefix("tir."))
        case _:
            return None


def _written_dtype(node: ast.expr | None) -> str | None:
    """Return the dtype among the arguments of a type, by position or by name."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            given = [*args, *(item.value for item in keywords)]
        case ast.Subscript(slice=ast.Tuple(elts=given)):
            pass
        case ast.Subscript(slice=index):
            given = [index]
        case _:
            given = []
    strings = (item.value for item in given if isinstance(item, ast.Constant) and isinstance(item.value, str))
    return next((item for item in strings if is_dtype(item)), None)


def poison(reader: RelaxReader, names: tuple[str, ...]) -> None:
    """Let `names` stand for definitions that failed."""
    for name in names:
        reader.scope.define(name, POISONED)
