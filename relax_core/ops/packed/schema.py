"""Schemas of packed functions, read from and written as text in the notation of PyTorch's native functions.

    libtorch_add_out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

See: pytorch/aten/src/ATen/native/native_functions.yaml
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar, cast, get_args

Base = Literal["Tensor", "Scalar", "int", "float", "bool", "str", "ScalarType", "any"]
T = TypeVar("T")


class Absent(Enum):
    """What it means that a parameter has no default value."""

    REQUIRED = "required"


REQUIRED: Final = Absent.REQUIRED
Plain: TypeAlias = "bool | int | float | str | None"
Default: TypeAlias = "Absent | Plain | tuple[Plain, ...]"


@dataclass(frozen=True, slots=True)
class SchemaType:
    """The type of a parameter or of a result.

    `Scalar` is an int, float or bool, or a tensor of rank 0; `any` is unchecked. A list with a `length` also takes one
    value, which stands for all. `alias` is what parentheses hold: "a!" marks a tensor that is written.
    """

    base: Base
    is_list: bool = False
    length: int | None = None
    is_optional: bool = False
    alias: str = ""

    @property
    def is_written(self) -> bool:
        """Tell whether the function writes the argument."""
        return self.alias.endswith("!")

    def takes(self, count: int) -> bool:
        """Tell whether a list of `count` items fits; the 1 of `int[1]` only says that one value stands for a list."""
        return self.length in (None, 1, count)

    def __str__(self) -> str:
        alias = f"({self.alias})" if self.alias else ""
        items = f"[{'' if self.length is None else self.length}]" if self.is_list else ""
        return f"{self.base}{alias}{items}{'?' if self.is_optional else ''}"


@dataclass(frozen=True, slots=True)
class SchemaParam:
    """A parameter; an `is_keyword` one stands behind `*`."""

    name: str
    type: SchemaType
    default: Default = REQUIRED
    is_keyword: bool = False

    def __str__(self) -> str:
        value = self.default
        if isinstance(value, tuple) and self.type.length == len(value) > 1 and len(set(map(repr, value))) == 1:
            value = value[0]
        default = "" if value is REQUIRED else f"={_literal_text(value)}"
        return f"{self.type} {self.name}{default}"


@dataclass(frozen=True, slots=True)
class Schema:
    """What a function takes and gives."""

    name: str
    params: tuple[SchemaParam, ...]
    results: tuple[SchemaType, ...]

    def __str__(self) -> str:
        shown: list[str] = []
        for index, param in enumerate(self.params):
            if param.is_keyword and not (index and self.params[index - 1].is_keyword):
                shown.append("*")
            shown.append(str(param))
        results = ", ".join(map(str, self.results))
        return f"{self.name}({', '.join(shown)}) -> {results if len(self.results) == 1 else f'({results})'}"


class SchemaError(ValueError):
    """A text is no schema; the message says where and why."""


def parse_schema(text: str) -> Schema:
    """Read a schema; printing it and reading it again gives an equal one.

    Raises:
        SchemaError: the text does not follow the notation, names a type that is not known, repeats a parameter, or
            gives a default value of another type.
    """
    return _SchemaParser(text).schema()


_TOKEN = re.compile(
    r"\s*(?:(?P<string>'[^']*'|\"[^\"]*\")|(?P<number>[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?(?!\w)|[-+]inf(?!\w))"
    r"|(?P<name>[A-Za-z_][\w.]*(?:::[\w.]+)?)|(?P<mark>->|[()\[\],=*?!]))"
)
_WORDS: Final = ("True", "False", "None")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int


class _SchemaParser:
    """Reads one schema from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.index = 0

    def _tokens(self) -> Iterator[_Token]:
        start, end = 0, len(self.text.rstrip())
        while start < end:
            match = _TOKEN.match(self.text, start)
            if match is None:
                raise SchemaError(f"column {start + 1}: unexpected {self.text[start:].strip()[0]!r} in {self.text!r}")
            yield _Token(match.lastgroup or "", match.group(match.lastgroup or 0), match.start(match.lastgroup or 0))
            start = match.end()
        yield _Token("end", "the end", end)

    def fail(self, words: str, token: _Token | None = None) -> SchemaError:
        return SchemaError(f"column {(token or self.tokens[self.index]).start + 1}: {words} in {self.text!r}")

    def take(self, text: str) -> bool:
        """Step over the mark `text` if it is next."""
        if self.tokens[self.index].text != text or self.tokens[self.index].kind != "mark":
            return False
        self.index += 1
        return True

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise self.fail(f"expected {text!r}, got {self.tokens[self.index].text!r}")

    def name(self, what: str) -> str:
        token = self.tokens[self.index]
        if token.kind != "name":
            raise self.fail(f"expected {what}, got {token.text!r}")
        self.index += 1
        return token.text

    def separated(self, read: Callable[[], T], end: str) -> list[T]:
        """Read items with commas between them, and the mark `end`."""
        items: list[T] = []
        while not self.take(end):
            if items:
                self.expect(",")
            items.append(read())
        return items

    def schema(self) -> Schema:
        name = self.name("the name of the function")
        self.expect("(")
        params: list[SchemaParam] = []
        is_keyword = False
        for item in self.separated(self.parameter, ")"):
            match item:
                case SchemaParam():
                    params.append(SchemaParam(item.name, item.type, item.default, is_keyword))
                case None if not is_keyword:
                    is_keyword = True
                case None:
                    raise self.fail("'*' is there twice")
        self.expect("->")
        results = self.separated(self.result, ")") if self.take("(") else [self.result()]
        if self.tokens[self.index].kind != "end":
            raise self.fail(f"unexpected {self.tokens[self.index].text!r} after the schema")
        names = [param.name for param in params]
        for repeated in {item for item in names if names.count(item) > 1}:
            raise SchemaError(f"the parameter {repeated!r} is there twice in {self.text!r}")
        return Schema(name, tuple(params), tuple(results))

    def parameter(self) -> SchemaParam | None:
        """Read a parameter, or `*` as `None`."""
        if self.take("*"):
            return None
        type_ = self.type()
        name = self.name("the name of a parameter")
        if not self.take("="):
            return SchemaParam(name, type_)
        start = self.tokens[self.index]
        default = self.literal()
        if not is_literal_of(default, type_):
            raise self.fail(f"the default {_literal_text(default)} of {name!r} is no {type_}", start)
        return SchemaParam(name, type_, _normal(default, type_))

    def result(self) -> SchemaType:
        type_ = self.type()
        if self.tokens[self.index].kind == "name":
            self.index += 1
        return type_

    def type(self) -> SchemaType:
        token = self.tokens[self.index]
        base = self.name("a type")
        if base not in get_args(Base):
            raise self.fail(f"{base!r} is no type; the types are {', '.join(get_args(Base))}", token)
        alias = ""
        if self.take("("):
            alias = self.name("the name of an alias") + ("!" if self.take("!") else "")
            self.expect(")")
        is_list = self.take("[")
        length = None
        if is_list and not self.take("]"):
            number = self.tokens[self.index]
            if not number.text.isdigit() or int(number.text) < 1:
                raise self.fail(f"expected a length, got {number.text!r}")
            length = int(number.text)
            self.index += 1
            self.expect("]")
        return SchemaType(cast("Base", base), is_list, length, self.take("?"), alias)

    def literal(self) -> "Plain | tuple[Plain, ...]":
        return tuple(self.separated(self.plain, "]")) if self.take("[") else self.plain()

    def plain(self) -> Plain:
        token = self.tokens[self.index]
        self.index += 1
        match token.kind:
            case "string":
                return token.text[1:-1]
            case "number":
                return int(token.text) if re.fullmatch(r"[-+]?\d+", token.text) else float(token.text)
            case "name" if token.text in ("inf", "nan"):
                return float(token.text)
            case "name" if token.text in _WORDS:
                return {"True": True, "False": False, "None": None}[token.text]
            case _:
                self.index -= 1
                raise self.fail(f"expected a default value, got {token.text!r}")


def is_literal_of(value: object, type_: SchemaType) -> bool:
    """Tell whether a plain value may be the default of a parameter of `type_`."""
    match value:
        case None:
            return type_.is_optional
        case tuple() if type_.is_list:
            items = cast("tuple[object, ...]", value)
            item = SchemaType(type_.base)
            return type_.takes(len(items)) and all(is_literal_of(part, item) for part in items)
        case _ if type_.is_list:
            return type_.length is not None and is_literal_of(value, SchemaType(type_.base))
        case bool():
            return type_.base in ("bool", "Scalar", "any")
        case int():
            return type_.base in ("int", "float", "Scalar", "any")
        case float():
            return type_.base in ("float", "Scalar", "any")
        case str():
            return type_.base in ("str", "ScalarType", "any")
        case _:
            return False


def _normal(value: "Plain | tuple[Plain, ...]", type_: SchemaType) -> "Plain | tuple[Plain, ...]":
    """Return the default as the function gets it: a float for `float`, a list for a list."""
    if isinstance(value, tuple):
        return tuple(cast("Plain", _normal(item, SchemaType(type_.base))) for item in value)
    if type_.is_list and type_.length is not None and value is not None:
        return (cast("Plain", _normal(value, SchemaType(type_.base))),) * type_.length
    return float(value) if type_.base == "float" and isinstance(value, int) else value


def _literal_text(value: object) -> str:
    match value:
        case str():
            return f'"{value}"' if "'" in value else f"'{value}'"
        case tuple():
            return f"[{', '.join(_literal_text(item) for item in cast('tuple[object, ...]', value))}]"
        case _:
            return repr(value)
