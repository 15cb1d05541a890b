"""The inspector: type, device, place, dimensions, uses, life through the stages and text of a node."""

from collections.abc import Iterator, Sequence

from relax_core.diagnostics import plural
from relax_core.ir.absent import reference_of
from relax_core.ir.attrs import Attrs
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import (
    Call,
    Constant,
    DataflowBlock,
    ExternFunc,
    Function,
    FuncType,
    GlobalVar,
    If,
    MatchCast,
    ObjectType,
    Op,
    PrimType,
    SeqExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.relay import Clause, Constructor, Let, Match, Pattern
from relax_core.ir.rewriting.substitute import type_nodes
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.ops import find
from relax_core.present.measures import cut
from relax_core.present.models import Chip, Inspector, InspectorRow, Kind, Part, Section
from relax_core.present.nodes.life import InspectorContext, callee_words, life_rows, name_and_value, what_is
from relax_core.present.words import dims_text, dtype_text, is_void, type_text

_USES_LIMIT = 50
_TEXT_LIMIT = 2_000
_TYPE_COLUMNS = 400
_LINES_SHOWN = 8
_DEFAULT_DEVICE = "cpu(0)"


_VALUE_COLUMNS = 80


def relay_facts(value: Node, context: InspectorContext) -> Iterator[InspectorRow]:
    """Yield what a Relay expression is made of, and the device and the type that the text notes."""
    if value in context.marks:
        words = (Part(context.marks[value], "code"), Part(" in the text", "muted"))
        yield InspectorRow("Marked", words)
    if value in context.noted:
        words = (Part(context.spell(context.noted[value]), "code"), Part(" in the text's comment", "muted"))
        yield InspectorRow("Noted type", words)
    match value:
        case Call(op=Op(name=name), attrs=attrs):
            yield InspectorRow("Operator", (Part(name, "code"),))
            for key, item in attrs:
                yield InspectorRow(key, (Part(cut(repr(item), _VALUE_COLUMNS), "code"),))
        case Call(op=Constructor() as constructor) | (Constructor() as constructor):
            fields = ", ".join(map(context.spell, constructor.field_types))
            shown = f"{constructor.name}({fields})" if fields else constructor.name
            yield InspectorRow("Constructor", (Part(shown, "code"), Part(f" of {constructor.type_name}", "muted")))
        case Match(clauses=clauses, is_complete=is_complete):
            words = "one is always taken" if is_complete else "perhaps none is taken"
            yield InspectorRow("Clauses", (Part(str(len(clauses))), Part(f", {words}", "muted")))
        case _:
            pass


def relay_uses(node: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """List the expressions of the function that use the value of `node`."""
    if node not in context.index.place_of:
        return ()
    value = node.var if isinstance(node, Let) else node
    rows: list[InspectorRow] = []
    for item in context.index.nodes_of[context.index.function_of(node)]:
        count = sum(part is value for part in _read_by(item))
        if count == 0:
            continue
        title = f"let %{item.var.name}" if isinstance(item, Let) and item.value is value else _words(item)
        label = f"{title} ×{count}" if count > 1 else title
        line = context.line_of(item)
        part = Part(label, "code", node=context.index.id_of(item))
        rows.append(InspectorRow("", (part,), f"line {line}" if line else ""))
    more = len(rows) - _USES_LIMIT
    rest = (InspectorRow("", (Part(f"and {plural(more, 'more use')}", "muted"),)),) if more > 0 else ()
    return (*rows[:_USES_LIMIT], *rest)


def _read_by(item: Node) -> tuple[Node, ...]:
    """Return the parts whose values `item` reads; a `let` reads its value, its body is what follows."""
    match item:
        case Let(value=value, body=body):
            return value, *(() if isinstance(body, Let) else (body,))
        case Function(body=body):
            return (body,)
        case Pattern():
            return ()
        case _:
            return children(item)


def _words(item: Node) -> str:
    match item:
        case Function() | Let():
            return "result"
        case Clause() | If() | Match():
            return what_is(item)
        case _:
            return callee_words(item)


def inspect(node: Node, context: InspectorContext) -> Inspector:
    """Present `node` of the module that `context` is about."""
    name, value = name_and_value(node)
    type_ = context.types.get(name if name is not None else value) or context.types.get(value)
    if type_ is None and isinstance(name, Var):
        type_ = name.annotation
    is_relay = dialect_of(context.module) == "relay"
    sections = (
        Section(
            "", "pairs", (*_facts(node, value, type_, context), *(relay_facts(value, context) if is_relay else ()))
        ),
        Section("Dimensions", "pairs", _dimensions(type_, node, context)),
        Section("Used by", "table", relay_uses(node, context) if is_relay else _uses(name, context)),
        Section("Why", "text", _remarks(node, context)),
        Section("Life of this node", "life", life_rows(node, context)),
        Section("Text", "code", _text(value, context)),
    )
    return Inspector(
        _title(name, value, context),
        kind_of_type(type_),
        tuple(_chips(value, node, context)),
        tuple(section for section in sections if section.rows),
    )


def kind_of_type(type_: Type | None) -> Kind | None:
    """Return the kind of value that a type promises."""
    match type_:
        case TensorType(ndim=0):
            return "tensor0"
        case TensorType():
            return "tensor"
        case ShapeType():
            return "shape"
        case PrimType(dtype="string"):
            return "string"
        case PrimType():
            return "prim"
        case TupleType():
            return "void" if is_void(type_) else "tuple"
        case FuncType():
            return "closure"
        case ObjectType():
            return "object"
        case _:
            return None


def _title(name: Var | None, value: Node, context: InspectorContext) -> str:
    if name is not None:
        return name.name
    match value:
        case Function() | PrimFunc():
            return f"@{context.index.function_of(value)}"
        case GlobalVar(name=word) | Op(name=word) | ExternFunc(name=word) | Constructor(name=word):
            return word
        case SeqExpr(body=Var(name=word)):
            return f"return {word}"
        case Buffer(name=word):
            return word
        case _:
            return cut(" ".join(context.show(value).split()), 32) or type(value).__name__


def _chips(value: Node, node: Node, context: InspectorContext) -> list[Chip]:
    chips = [Chip(_parameter_words(node, context) or what_is(value))]
    if context.at > 0 and node not in context.indexes[context.at - 1].place_of:
        log = context.stages[context.at - 1].log
        is_made_from = any(item in context.indexes[context.at - 1].place_of for item in log.ancestry(node))
        chips.append(Chip("~ changed", "changed") if is_made_from else Chip("+ added", "added"))
    return chips


def _parameter_words(node: Node, context: InspectorContext) -> str:
    function = context.module.find(context.index.function_of(node)) if node in context.index.place_of else None
    if function is not None and isinstance(function.function, Function) and node in function.function.params:
        return "parameter"
    return ""


def _facts(node: Node, value: Node, type_: Type | None, context: InspectorContext) -> list[InspectorRow]:
    rows = [InspectorRow("Type", _type_words(type_, context))] if type_ is not None else []
    if isinstance(type_, TensorType):
        device = type_.vdevice or _DEFAULT_DEVICE
        words = (Part(device, category="cat0"), *(() if type_.vdevice else (Part(" by default", "muted"),)))
        rows.append(InspectorRow("Device", words))
    line = context.end_line_of(node) if isinstance(node, SeqExpr) else context.line_of(node)
    if line:
        where = _where(node, context)
        others = [other for other in context.lines_of(node) if other != line and not isinstance(node, SeqExpr)]
        links = (part for other in others[:_LINES_SHOWN] for part in (Part(", "), Part(str(other), line=other)))
        more = Part(f" and {len(others) - _LINES_SHOWN} more" if len(others) > _LINES_SHOWN else "")
        first = Part(f"line{'s' if others else ''} {line}", line=line)
        rows.append(InspectorRow("Defined", (first, *links, more, Part(where, "muted"))))
    match value:
        case Call(op=Op(name="relax.call_tir"), args=(GlobalVar(name=name), *_)):
            link = Part(name, "code", node=_function_id(name, context))
            rows.append(InspectorRow("Kernel", (link, Part(", destination passing"))))
        case Call(op=Op(name="relax.make_closure"), args=(GlobalVar(name=name), Tuple(fields=fields))):
            rows.append(InspectorRow("Function", (Part(f"@{name}", "code", node=_function_id(name, context)),)))
            rows.append(InspectorRow("Captures", tuple(_operands(fields, context)) or (Part("nothing"),)))
        case (
            Call(op=ExternFunc(name=name))
            | Call(op=Op(name="relax.call_dps_packed" | "relax.call_pure_packed"), args=(ExternFunc(name=name), *_))
        ):
            rows.append(InspectorRow("Packed", (Part(name, "code"), Part(", looked up when it is called", "muted"))))
        case Call(op=Op(name=name)) if (spec := find(name)) is not None:
            rows.append(InspectorRow("Operator", (Part(name, "code"), Part(f" {spec.summary}", "muted"))))
            rows.append(InspectorRow("Effects", (Part("none" if spec.is_pure else "may have side effects"),)))
        case Function(params=params, is_pure=is_pure, attrs=attrs):
            rows.append(InspectorRow("Parameters", tuple(_operands(params, context)) or (Part("none"),)))
            rows.append(InspectorRow("Effects", (Part("none" if is_pure else "may have side effects"),)))
            rows += _attributes(attrs)
        case PrimFunc(params=params, attrs=attrs):
            rows.append(InspectorRow("Parameters", (Part(", ".join(item.name for item in params), "code"),)))
            rows += _attributes(attrs)
        case Buffer(shape=shape, dtype=dtype, scope=scope):
            rows.insert(0, InspectorRow("Type", (Part(f"{dims_text(shape)} {dtype_text(dtype)}", "code"),)))
            rows.append(InspectorRow("Scope", (Part(scope),)))
        case Constant() if (reference := reference_of(value)) is not None:
            rows.append(InspectorRow("Value", (Part(reference, "code"), Part(" the text does not hold it", "muted"))))
        case Constant(data=data):
            rows.append(InspectorRow("Value", (Part(cut(" ".join(str(data).split()), 80), "code"),)))
        case _:
            pass
    return rows


def _type_words(type_: Type, context: InspectorContext) -> tuple[Part, ...]:
    """Return the type as the text spells it, and the short form that graphs and registers show."""
    full, short = cut(context.spell(type_), _TYPE_COLUMNS), type_text(type_)
    return (Part(full, "code"), *((Part(f" {short}", "muted"),) if short != full else ()))


def _attributes(attrs: Attrs) -> list[InspectorRow]:
    return [InspectorRow(name, (Part(cut(repr(value), 80), "code"),)) for name, value in attrs]


def _operands(items: Sequence[Node], context: InspectorContext) -> list[Part]:
    parts: list[Part] = []
    for item in items:
        if parts:
            parts.append(Part(", "))
        parts.append(Part(_short(item, context), "code", node=context.index.id_of(item)))
    return parts


def _short(item: Node, context: InspectorContext) -> str:
    return item.name if isinstance(item, Var | GlobalVar) else cut(" ".join(context.show(item).split()), 24)


def _function_id(name: str, context: InspectorContext) -> str:
    found = context.module.find(name)
    return context.index.id_of(found.function) if found is not None else ""


def _where(node: Node, context: InspectorContext) -> str:
    function = context.index.function_of(node) if node in context.index.place_of else ""
    nodes = context.index.nodes_of.get(function, ())
    block = next((item for item in nodes if isinstance(item, DataflowBlock) and node in item.bindings), None)
    return ", in a dataflow block" if block is not None else f" in {function}" if function else ""


def _dimensions(type_: Type | None, node: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """Name the definition of each symbolic dimension of a type: the first value whose type has it by itself."""
    symbols: dict[PrimVar, None] = {}
    for root in type_nodes(type_):
        symbols.update((item, None) for item in preorder(root) if isinstance(item, PrimVar))
    if not symbols or node not in context.index.place_of:
        return ()
    nodes = context.index.nodes_of[context.index.function_of(node)]
    rows: list[InspectorRow] = []
    for symbol in symbols:
        origin = next((found for item in nodes if (found := _axis_of(symbol, item, context)) is not None), None)
        rows.append(InspectorRow(symbol.name, origin or (Part("computed"),)))
    return tuple(rows)


_AXES_OF_MATRIX = ("rows", "columns")


def _axis_of(symbol: PrimVar, item: Node, context: InspectorContext) -> tuple[Part, ...] | None:
    match item:
        case MatchCast(var=var, type=declared):
            words = "matched by "
        case Var(annotation=annotation) as var if annotation is not None:
            declared, words = annotation, ""
        case _:
            return None
    dims = (
        declared.dims
        if isinstance(declared, TensorType)
        else declared.values
        if isinstance(declared, ShapeType)
        else None
    )
    for axis, dim in enumerate(dims or ()):
        if dim is symbol:
            is_matrix = isinstance(declared, TensorType) and len(dims or ()) == 2
            place = _AXES_OF_MATRIX[axis] if is_matrix else f"axis {axis}"
            return Part(f"{words}{place} of "), Part(var.name, "code", node=context.index.id_of(var))
    if isinstance(declared, PrimType) and declared.value is symbol:
        return Part(f"{words}value of "), Part(var.name, "code", node=context.index.id_of(var))
    return None


def _uses(name: Var | None, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """List the bindings and results of the function that read the variable `name`."""
    if name is None or name not in context.index.place_of:
        return ()
    rows: list[InspectorRow] = []
    for item in context.index.nodes_of[context.index.function_of(name)]:
        match item:
            case VarBinding(value=Function()):
                continue
            case VarBinding(value=value) | MatchCast(value=value):
                count = _count(value, name)
            case SeqExpr(body=value):
                count = _count(value, name)
            case _:
                continue
        if count:
            title = "return" if isinstance(item, SeqExpr) else callee_words(value)
            label = f"{title} ×{count}" if count > 1 else title
            line = (
                context.end_line_of(item)
                if isinstance(item, SeqExpr)
                else context.line_of(item) or context.line_of(value)
            )
            part = Part(label, "code", node=context.index.id_of(item))
            rows.append(InspectorRow("", (part,), f"line {line}" if line else ""))
    more = len(rows) - _USES_LIMIT
    return (
        *rows[:_USES_LIMIT],
        *([InspectorRow("", (Part(f"and {plural(more, 'more use')}", "muted"),))] if more > 0 else ()),
    )


def _count(value: Node, name: Var) -> int:
    """Count the occurrences of `name` in an expression, bodies of branches and functions excluded."""
    count = 0
    stack: list[Node] = [value]
    while stack:
        item = stack.pop()
        if item is name:
            count += 1
        elif isinstance(item, If):
            stack.append(item.condition)
        elif not isinstance(item, Function | SeqExpr):
            stack.extend(children(item))
    return count


def _remarks(node: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    """Return the remarks about this node and about the nodes that it stems from."""
    names = {node, *name_and_value(node)}
    rows: list[InspectorRow] = []
    for stage in context.stages[: max(context.at, 0)]:
        stems_from = {item for name in names if name is not None for item in stage.log.ancestry(name)}
        for remark in stage.remarks:
            if not stems_from.isdisjoint((remark.node, *remark.because)):
                rows.append(InspectorRow("", (Part(f"{stage.pass_name}: ", "strong"), Part(remark.message))))
    return tuple(rows)


def _text(value: Node, context: InspectorContext) -> tuple[InspectorRow, ...]:
    text = f"return {_short(value.body, context)}" if isinstance(value, SeqExpr) else context.show(value)
    if len(text) > _TEXT_LIMIT:
        text = f"{text[:_TEXT_LIMIT]}…"
    return (InspectorRow("", (Part(text, "code"),)),) if text else ()
