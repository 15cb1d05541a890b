"""Patterns as text: Python's expressions over the words of the pattern language, read and never executed.

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    conv.optional(lambda x: is_op("nn.relu")(x))

The words are those of `tvm.relay.dataflow_pattern` and `tvm.relax.dpl`, the names of their classes included, and
`is_global`, `is_number` and `is_extern`; `is_expr` takes a number here, and what has one name in both is Relax's.
Names bound in lines above stand for one pattern each; the last line is the pattern.
"""

import ast
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NoReturn, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import GlobalVar, Op, TensorType
from relax_core.ir.prim import const, is_dtype
from relax_core.pattern.language import nodes, relax_words
from relax_core.pattern.language.nodes import Pattern
from relax_core.source import Source, Span

_DEPTH_LIMIT = 150
PART_LIMIT = 10_000
"""How many parts a pattern that is read may have, those that stand for themselves included."""


def _has_type(pattern: Pattern, type_: tuple[int, ...] | str, dtype: str = "float32") -> Pattern:
    """Match a type that is given as Relay writes it, or a tensor by its shape and dtype."""
    if isinstance(type_, tuple):
        if not all(isinstance(size, int) for size in cast("tuple[object, ...]", type_)):
            raise TypeError("a size is a whole number")
        if not (isinstance(cast("object", dtype), str) and is_dtype(dtype)):
            raise TypeError("a dtype is a string such as 'float32'")
        return pattern.has_type(TensorType(tuple(const(size) for size in type_), dtype))
    if not isinstance(cast("object", type_), str):
        raise TypeError("a type is written as Relay does, or as a shape and a dtype")
    return pattern.has_type(type_)


def _number(value: object, dtype: object = None) -> Pattern:
    """Match a number; a dtype may say which kind of number it is."""
    if not isinstance(value, bool | int | float):
        raise TypeError("a number is True, False, or written in digits")
    if dtype is not None and not (isinstance(dtype, str) and is_dtype(dtype)):
        raise TypeError("a dtype is a string such as 'float32'")
    return nodes.is_number(value, dtype)


def _free(method: Callable[..., Pattern]) -> Callable[..., Pattern]:
    """Make a word of a method: the pattern is its last argument, by default a wildcard."""

    def word(*args: Any) -> Pattern:
        given = [item for item in args if isinstance(item, Pattern)]
        rest = [item for item in args if not isinstance(item, Pattern)]
        return method(given[0] if given else nodes.wildcard(), *rest)

    return word


_WORDS: Mapping[str, Callable[..., Pattern]] = MappingProxyType(
    {
        "wildcard": nodes.wildcard,
        "is_op": nodes.is_op,
        "is_var": nodes.is_var,
        "is_constant": nodes.is_constant,
        "is_const": nodes.is_constant,
        "is_tuple": relax_words.is_relax_tuple,
        "is_tuple_get_item": nodes.is_tuple_get_item,
        "is_if": nodes.is_if,
        "is_let": nodes.is_let,
        "is_function": nodes.is_function,
        "dominates": nodes.dominates,
        "is_global": nodes.is_global,
        "is_gv": relax_words.is_gv,
        "is_dfv": relax_words.is_dfv,
        "is_extern": relax_words.is_extern,
        "is_shape": relax_words.is_shape,
        "is_call_tir": relax_words.is_call_tir,
        "is_call_dps_packed": relax_words.is_call_dps_packed,
        "is_call_packed": relax_words.is_call_packed,
        "reject": relax_words.reject,
        "make_fused_bias_activation_pattern": relax_words.make_fused_bias_activation_pattern,
        "is_number": _number,
        "is_expr": _number,
        "has_attr": _free(Pattern.has_attr),
        "has_dtype": _free(Pattern.has_dtype),
        "has_shape": _free(Pattern.has_shape),
        "has_type": _free(_has_type),
        "has_ty": _free(Pattern.has_ty),
        "has_struct_info": _free(Pattern.has_ty),
        "WildcardPattern": nodes.wildcard,
        "VarPattern": nodes.is_var,
        "ConstantPattern": nodes.is_constant,
        "TuplePattern": nodes.is_tuple,
        "UnorderedTuplePattern": nodes.UnorderedTuplePattern,
        "DataflowVarPattern": relax_words.is_dfv,
        "GlobalVarPattern": relax_words.is_gv,
        "ExternFuncPattern": relax_words.is_extern,
        "PrimArrPattern": relax_words.is_shape,
        "OrPattern": Pattern.__or__,
        "AndPattern": Pattern.__and__,
        "NotPattern": relax_words.reject,
        "TupleGetItemPattern": nodes.is_tuple_get_item,
        "IfPattern": nodes.is_if,
        "LetPattern": nodes.is_let,
        "FunctionPattern": nodes.is_function,
        "AltPattern": Pattern.__or__,
        "CallPattern": nodes.CallPattern,
        "AttrPattern": Pattern.has_attr,
        "DataTypePattern": Pattern.has_dtype,
        "ShapePattern": Pattern.has_shape,
        "TypePattern": _has_type,
        "DominatorPattern": nodes.dominates,
    }
)


def _redirected(pattern: Pattern, target: object) -> Pattern:
    if not isinstance(pattern, nodes.WildcardPattern) or not isinstance(target, Pattern):
        raise TypeError("a wildcard is redirected to a pattern")
    return pattern.redirect_to(target)


_METHODS: Mapping[str, Callable[..., Pattern]] = MappingProxyType(
    {
        "has_attr": Pattern.has_attr,
        "has_dtype": Pattern.has_dtype,
        "has_shape": Pattern.has_shape,
        "has_type": _has_type,
        "has_ty": Pattern.has_ty,
        "has_struct_info": Pattern.has_ty,
        "dominates": Pattern.dominates,
        "optional": Pattern.optional,
        "any_args": Pattern.any_args,
        "redirect_to": _redirected,
    }
)
_OPERATORS: Mapping[type[ast.operator], Callable[[Pattern, Pattern], Pattern]] = MappingProxyType(
    {
        ast.BitOr: lambda a, b: a | b,
        ast.BitAnd: lambda a, b: a & b,
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Div: lambda a, b: a / b,
    }
)


def parse_pattern(text: str, name: str = "pattern") -> Pattern:
    """Read a pattern.

    Raises:
        CompileError: PT001 for bad syntax, PT002 for a word that the language does not have, PT003 for wrong arguments,
            PT010 for a pattern that is too large.
    """
    source, tree = parsed(text, name)
    try:
        return PatternParser(source).read(tree)
    except (MemoryError, RecursionError) as error:
        raise too_deep(source) from error


def parsed(text: str, name: str) -> tuple[Source, ast.Module]:
    """Parse a text of patterns as Python.

    Raises:
        CompileError: PT001.
    """
    if not is_text(text):
        # The place could not be shown either.
        source = Source(name, text.encode(errors="replace").decode())
        raise _error(source, "PT001", "the pattern holds half of a surrogate pair, which is no character", (1, 0))
    source = Source(name, text)
    try:
        return source, ast.parse(text.strip() and text)
    except (SyntaxError, ValueError) as error:
        line, column = (error.lineno or 1, error.offset or 1) if isinstance(error, SyntaxError) else (1, 1)
        raise _error(source, "PT001", "the pattern is no Python expression", (line, column - 1)) from error
    except (MemoryError, RecursionError) as error:
        raise too_deep(source) from error


def too_deep(source: Source) -> CompileError:
    """Return the error of a text that is nested too deeply to be read."""
    return _error(source, "PT001", "the pattern is nested too deeply; give names to its parts", (1, 0))


def is_text(value: str) -> bool:
    """Tell whether `value` can be written to a file: it holds no half of a surrogate pair."""
    return not any("\ud800" <= sign <= "\udfff" for sign in value)


class PatternParser:
    """Reads one text; `names` are the patterns bound so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._names: dict[str, Pattern] = {}
        self._depth = 0
        self._part_count = 0

    def read(self, tree: ast.Module) -> Pattern:
        result: Pattern | None = None
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    result = self._names[name] = self.pattern(value)
                case ast.Expr(value=value):
                    result = self.pattern(value)
                case _:
                    self._fail("PT002", "a pattern is an expression, or `name = expression`", statement)
        if result is None:
            raise _error(self.source, "PT001", "there is no pattern", (1, 0))
        return result

    def pattern(self, tree: ast.expr) -> Pattern:
        self._depth += 1
        self._part_count += 1
        if self._part_count > PART_LIMIT:
            self._fail("PT010", f"the pattern has more than {PART_LIMIT:,} parts", tree, "write several patterns")
        if self._depth > _DEPTH_LIMIT:
            self._fail("PT001", f"the pattern is nested deeper than {_DEPTH_LIMIT}; give names to its parts", tree)
        match tree:
            case ast.Name(id=name) if name in self._names:
                result = self._names[name]
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
                result = _OPERATORS[type(operator)](self.pattern(left), self.pattern(right))
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                result = ~self.pattern(operand)
            case ast.Call():
                result = self._call(tree)
            case ast.Subscript(value=value, slice=ast.Constant(value=int(index))):
                result = _checked(nodes.is_tuple_get_item(self.pattern(value), index))
            case ast.Name(id=name):
                self._fail("PT002", f"{name} is no pattern", tree, f"the words are {', '.join(_WORDS)}")
            case _:
                self._fail("PT002", f"{ast.unparse(tree)} is no pattern", tree)
        self._depth -= 1
        return result

    def _call(self, tree: ast.Call) -> Pattern:
        match tree.func:
            case ast.Name(id=word) if word in _WORDS and word not in self._names:
                return self._made(_WORDS[word], tree)
            case ast.Attribute(value=value, attr=method) if method in _METHODS:
                return self._made(partial(_METHODS[method], self.pattern(value)), tree)
            case ast.Attribute(attr=method):
                return self._fail("PT002", f".{method} is no method", tree, f"the methods are {', '.join(_METHODS)}")
            case callee:
                flags = {item.arg: self._flag(item) for item in tree.keywords}
                takes_more, has_edges = flags.get("varg_default_wildcard", False), flags.get("add_constraint", True)
                match [ast.unparse(item) for item in tree.args]:
                    case ["None"]:
                        return self.pattern(callee).any_args()
                    case _:
                        args = [self.pattern(item) for item in tree.args]
                        made = self.pattern(callee)
                        return made(*args, varg_default_wildcard=takes_more, add_constraint=has_edges)

    def _flag(self, item: ast.keyword) -> bool:
        """Read an argument of a call pattern that is no pattern."""
        match item:
            case ast.keyword(arg="varg_default_wildcard" | "add_constraint", value=ast.Constant(value=bool(value))):
                return value
            case _:
                hint = "besides patterns it takes varg_default_wildcard and add_constraint, each True or False"
                self._fail("PT003", "a call pattern takes patterns without names", item, hint)

    def _made(self, make: Callable[..., Pattern], tree: ast.Call) -> Pattern:
        args = [self._argument(item) for item in tree.args]
        named = {item.arg or "": self._argument(item.value) for item in tree.keywords}
        if len(named) < len(tree.keywords):
            self._fail("PT003", f"{ast.unparse(tree.func)} is given an argument twice", tree, "remove one of them")
        try:
            return _checked(make(*args, **named))
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            self._fail("PT003", f"{ast.unparse(tree.func)} does not take these arguments", tree, str(error))

    def _argument(self, tree: ast.expr) -> Any:
        match tree:
            case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=name)]), body=body):
                return partial(self._with, name, body)
            case ast.Tuple(elts=items) | ast.List(elts=items) if any(map(self._is_pattern, items)):
                return tuple(self.pattern(item) for item in items)
            case ast.Subscript(value=ast.Name(id="Tensor")):
                return ast.unparse(tree)
            case ast.Attribute(value=ast.Name(id="R")) | ast.Call(func=ast.Attribute(value=ast.Name(id="R"))) if (
                "R" not in self._names
            ):
                return ast.unparse(tree)
            case _ if self._is_pattern(tree):
                return self.pattern(tree)
            case _:
                try:
                    return _frozen(ast.literal_eval(tree))
                except (ValueError, TypeError, SyntaxError):
                    return self._fail("PT003", f"{ast.unparse(tree)} is neither a pattern nor a literal", tree)

    def _with(self, name: str, body: ast.expr, inner: Pattern) -> Pattern:
        """Read the body of a `lambda`, whose parameter stands for `inner`."""
        outer = self._names
        self._names = {**outer, name: inner}
        result = self.pattern(body)
        self._names = outer
        return result

    def _is_pattern(self, tree: ast.expr) -> bool:
        match tree:
            case ast.Call() | ast.BinOp() | ast.UnaryOp(op=ast.Invert()):
                return True
            case ast.Subscript(value=value):
                return self._is_pattern(value)
            case ast.Name(id=name):
                return name in self._names
            case _:
                return False

    def _fail(self, code: str, message: str, tree: ast.AST, hint: str = "") -> NoReturn:
        place = (getattr(tree, "lineno", 1), getattr(tree, "col_offset", 0))
        raise _error(self.source, code, message, place, hint)


_OPEN = ("args", "params", "fields")
"""Fields that may be `None`, which matches anything."""


def _checked(pattern: Pattern) -> Pattern:
    """Return `pattern`, whose fields come from literals of a text, if they are what they should be.

    Raises:
        TypeError: they are not.
    """
    for name in pattern.PARTS:
        part: object = getattr(pattern, name)
        if part is None and name not in _OPEN:
            raise TypeError("a part of it is a pattern, not None")
        if not (part is None or isinstance(part, Pattern | tuple)):
            raise TypeError("its parts are patterns")
    if not all(isinstance(part, Pattern) for part in cast("tuple[object, ...]", nodes.parts(pattern))):
        raise TypeError("its parts are patterns")
    match pattern:
        case nodes.VarPattern(name=word) | nodes.DataTypePattern(dtype=word) | nodes.ExprPattern(expr=Op(name=word)):
            _check_name(word)
        case nodes.DataflowVarPattern() | nodes.GlobalVarPattern() | nodes.ExternFuncPattern():
            _check_name(pattern.name)
        case nodes.ExprPattern(expr=GlobalVar(name=word)):
            _check_name(word)
        case nodes.ShapePattern(shape=shape) | nodes.PrimArrPattern(values=shape):
            if not all(size is None or _is_size(size) for size in shape):
                raise TypeError("a size is a whole number or None")
        case nodes.TupleGetItemPattern(index=index):
            if not (index is None or _is_size(index)):
                raise TypeError("the index of a field is a whole number or None")
        case nodes.AttrPattern(attrs=attrs):
            for key, value in attrs:
                _check_name(key)
                _check_attribute(value)
        case _:
            pass
    return pattern


def _check_name(word: object) -> None:
    if not isinstance(word, str):
        raise TypeError("a name is a string")
    if not is_text(word):
        raise TypeError("a name holds half of a surrogate pair, which is no character")


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_attribute(value: object) -> None:
    match value:
        case str():
            _check_name(value)
        case tuple():
            for item in cast("tuple[object, ...]", value):
                _check_attribute(item)
        case None | bool() | int() | float():
            pass
        case _:
            raise TypeError(f"an attribute is a string, a number, None or a list, not {type(value).__name__}")


def _frozen(value: Any) -> Any:
    match value:
        case dict():
            return {key: _frozen(item) for key, item in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return tuple(_frozen(item) for item in cast("tuple[Any, ...]", value))
        case _:
            return value


def _error(source: Source, code: str, message: str, place: tuple[int, int], hint: str = "") -> CompileError:
    """Make the error at a 1-based line and a column in UTF-8 bytes, as `ast` counts."""
    line, byte_column = place
    text = source.line_text(min(line, source.line_count))
    column = len(text.encode()[: max(byte_column, 0)].decode(errors="ignore"))
    start = source.offset(line, column + 1)
    span = Span(source, start, start + max(len(text) - column, 0))
    return CompileError((Diagnostic(code, message, span, hint),))
