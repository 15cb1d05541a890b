"""Read types: `Tensor[(2, ?), float32]`, `List[A]`, `fn (A) -> B`, `(A, B)`, `ref(A)`, `float32`."""

import re
from functools import lru_cache
from types import MappingProxyType

from relax_core.frontend.relay.lexer.cursor import Cursor
from relax_core.frontend.relay.lexer.tokens import END, Tokens, tokenize
from relax_core.frontend.relay.metadata import Metadata, meta_parts
from relax_core.frontend.relay.report import RelayFailed, Report, did_you_mean
from relax_core.frontend.relay.scope import Library, ModuleNames, Names, Notes
from relax_core.ir.expr import OBJECT, AdtType, FuncType, RefType, TensorType, TupleType, Type, TypeVar
from relax_core.ir.node import Node
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr, PrimVar

_DTYPE = re.compile(r"(?:u?int|float|bfloat)[1-9]\d*(?:x[1-9]\d*)?|float8_e\w+|bool|handle")
_WHOLE_DTYPES = MappingProxyType({"uint1": "bool", "int": "int32", "uint": "uint32", "float": "float32"})
"""Other spellings: an old one of bool, and kinds without a width."""
_PLAIN_TENSOR = re.compile(r"Tensor\[\((?:\d{1,18}, ?)*\d{0,18}\), ?[a-z]+\d*\]")
_BUILT_IN = ("Tensor", "float32", "float64", "float16", "int8", "int32", "int64", "uint8", "bool")


@lru_cache(maxsize=256)
def dtype_of_name(name: str) -> str | None:
    """Return the dtype that a name says, `None` if it is none."""
    if name in _WHOLE_DTYPES:
        return _WHOLE_DTYPES[name]
    return name if _DTYPE.fullmatch(name) else None


class RelayTypeReader(Cursor):
    """Reads types. `names` are those of the module; `Library` has what the module may use without defining it."""

    def __init__(self, tokens: Tokens, report: Report, names: ModuleNames, library: Library, notes: Notes) -> None:
        Cursor.__init__(self, tokens, report)
        self.names = names
        self.library = library
        self.notes = notes
        self.type_vars: Names[TypeVar] = Names()
        self.metadata = Metadata()
        self.dims: dict[str, PrimVar] = {}
        self.meta_dims: dict[str, PrimExpr] = {}
        self.is_in_comment = False
        # Whether the definition has an error, and is dropped from the module.
        self.is_broken = False
        self._tensors: dict[str, tuple[Type, int]] = {}
        self._types_of_comments: dict[str, Type | None] = {}

    def type(self) -> Type:
        """Read a type."""
        self.deeper_part()
        made = self._type()
        self.part_depth -= 1
        return made

    def annotation(self) -> Type | None:
        """Read the type that a variable or a result is declared with; `_` declares none."""
        made = self.type()
        return None if made is OBJECT else made

    def _type(self) -> Type:
        match self.kinds[self.position]:
            case "ident":
                return self._named()
            case "(":
                return self._tuple()
            case "fn":
                return self._function()
            case "ref":
                self.position += 1
                self.expect("(")
                value = self.type()
                self.expect(")")
                return RefType(value)
            case "_":
                self.position += 1
                return OBJECT
            case _:
                raise self.unexpected("a type", "for example Tensor[(2, 3), float32]")

    def _named(self) -> Type:
        at = self.position
        name = self.texts[at]
        self.position = at + 1
        if name == "Tensor":
            return self._remembered_tensor(at)
        if name == "custom" and self.kinds[self.position] == "[":
            return TensorType((), self._custom_dtype())
        dtype = dtype_of_name(name)
        if dtype is not None:
            return TensorType((), dtype)
        variable = self.type_vars.visible.get(name)
        if variable is not None:
            return variable
        arguments = self.type_arguments() if self.kinds[self.position] == "[" else ()
        self._require_type(name, at)
        return AdtType(name, arguments)

    def _require_type(self, name: str, at: int) -> None:
        if name in self.names.types or self.library.add_type(name):
            return
        known = (*self.names.types, *self.type_vars.visible, *_BUILT_IN, *self.library.type_names)
        self.report.error("RL008", self.tokens.span(at), f"there is no type `{name}`", did_you_mean(name, known))
        if not self.is_in_comment:
            self.is_broken = True
            self.names.types[name] = None

    def type_arguments(self) -> tuple[Type, ...]:
        """Read `[int32, bool]` behind what takes types."""
        self.position += 1
        found: list[Type] = []
        while self.kinds[self.position] != "]":
            found.append(self.type())
            if not self.accept(","):
                break
        self.expect("]")
        return tuple(found)

    def _remembered_tensor(self, at: int) -> Type:
        """Read a tensor type; one of known sizes that stood before in the same spelling is the same object."""
        found = _PLAIN_TENSOR.match(self.tokens.source.text, self.starts[at])
        if found is None:
            return self._tensor()
        known = self._tensors.get(found[0])
        if known is not None:
            self.position = at + known[1]
            return known[0]
        made = self._tensor()
        self._tensors[found[0]] = made, self.position - at
        return made

    def _tensor(self) -> Type:
        if self.kinds[self.position] != "[":
            return TensorType()
        self.position += 1
        self.expect("(", " before the dimensions")
        dims: list[PrimExpr] = []
        while self.kinds[self.position] != ")":
            dims.append(self._dim())
            if not self.accept(","):
                break
        self.expect(")")
        dtype = self._dtype() if self.accept(",") else "float32"
        self.expect("]")
        return TensorType(tuple(dims), dtype)

    def _dim(self) -> PrimExpr:
        at = self.position
        text = self.texts[at]
        match self.kinds[at]:
            case "number" if text.isdigit() and len(text) < 20:
                self.position = at + 1
                return IntImm(int(text), span=self.tokens.span(at))
            case "number" if text.rstrip("i0123456789") == "" and len(text) < 20:
                self.position = at + 1
                return IntImm(int(text.split("i")[0]), span=self.tokens.span(at))
            case "?" | "_":
                self.position = at + 1
                return AnyDim(span=self.tokens.span(at))
            case "meta":
                self.position = at + 1
                return self._meta_dim(at)
            case "ident":
                self.position = at + 1
                if text in ("Any", "any"):
                    return AnyDim(span=self.tokens.span(at))
                return self.dims.setdefault(text, PrimVar(text, span=self.tokens.span(at)))
            case _:
                raise self.unexpected("a dimension: a number or `?`")

    def _meta_dim(self, at: int) -> PrimExpr:
        """Return what `meta[tir.SizeVar][0]` stands for: a variable, the same one wherever it stands, or a number."""
        text = self.texts[at]
        if text not in self.meta_dims:
            name, index = meta_parts(text)
            found = self.metadata.dimension(name, index)
            if found is None:
                self.report_missing(at)
                is_symbol = name.rsplit(".", 1)[-1] in ("Var", "SizeVar")
                found = PrimVar(f"n{index}") if is_symbol else AnyDim(span=self.tokens.span(at))
            if isinstance(found, PrimVar):
                found = self.dims.setdefault(found.name, found)
            self.meta_dims[text] = found
        return self.meta_dims[text]

    def report_missing(self, at: int) -> None:
        """Say that a reference leads nowhere, once for each table; the program opens all the same."""
        text = self.texts[at]
        name, _ = meta_parts(text)
        if self.metadata.is_there:
            message, hint = f"`{text}` is not in the metadata section", ""
        elif name in self.notes.missing_tables:
            return
        else:
            message = f"the text has no #[metadata] section, which `{text}` refers to"
            hint = "TVM prints it with astext(show_meta_data=True)"
        self.notes.missing_tables.add(name)
        self.report.say("warning", "RL010", self.tokens.span(at), message, hint)

    def _dtype(self) -> str:
        at = self.position
        if self.kinds[at] != "ident":
            raise self.unexpected("a dtype, such as float32")
        self.position = at + 1
        if self.texts[at] == "custom" and self.kinds[self.position] == "[":
            return self._custom_dtype()
        dtype = dtype_of_name(self.texts[at])
        if dtype is None:
            hint = did_you_mean(self.texts[at], _BUILT_IN[1:])
            self.report.error("RL008", self.tokens.span(at), f"there is no dtype `{self.texts[at]}`", hint)
            return "float32"
        return dtype

    def _custom_dtype(self) -> str:
        """Read the rest of `custom[posites2]32`."""
        self.expect("[")
        name = self.expect("ident")
        self.expect("]")
        return f"custom[{name}]{self.expect('number')}"

    def _tuple(self) -> Type:
        self.position += 1
        fields: list[Type] = []
        has_comma = False
        while self.kinds[self.position] != ")":
            fields.append(self.type())
            has_comma = self.accept(",")
            if not has_comma:
                break
        self.expect(")")
        return fields[0] if len(fields) == 1 and not has_comma else TupleType(tuple(fields))

    def _function(self) -> Type:
        self.position += 1
        mark = self.type_vars.enter()
        variables = self.type_params()
        self.expect("(", " before the types of the parameters")
        params: list[Type] = []
        while self.kinds[self.position] != ")":
            params.append(self.type())
            if not self.accept(","):
                break
        self.expect(")")
        self.expect("->", " and the type of the result")
        made = FuncType(tuple(params), self.type(), type_params=variables)
        self.type_vars.leave(mark)
        return made

    def type_params(self) -> tuple[TypeVar, ...]:
        """Read `[A, B]`, if it is there, and make the names visible."""
        found: list[TypeVar] = []
        if self.accept("["):
            while self.kinds[self.position] != "]":
                name = self.expect("ident")
                variable = TypeVar(name)
                found.append(variable)
                self.type_vars.define(name, variable)
                if not self.accept(","):
                    break
            self.expect("]")
        return tuple(found)

    def note_type(self, node: Node) -> None:
        """Keep the type that the comment at the cursor says `node` has; a comment that says no type is a comment."""
        found = self.type_in_comment()
        if found is not None:
            self.notes.types[node] = found

    def type_in_comment(self) -> Type | None:
        """Read the type in the comment before the cursor."""
        place = self.tokens.type_comments.get(self.position)
        if place is None:
            return None
        text = self.tokens.source.text[slice(*place)]
        if "?" in text or self.type_vars.visible:
            # Two unknown dimensions are never the same, and a type variable's name means this function's.
            return self._type_in(place)
        if text not in self._types_of_comments:
            self._types_of_comments[text] = self._type_in(place)
        return self._types_of_comments[text]

    def _type_in(self, place: tuple[int, int]) -> Type | None:
        outer = (self.tokens, self.position, self.report, self.part_depth)
        self.report = Report()
        self.is_in_comment = True
        try:
            self.move_to(tokenize(outer[0].source, self.report, *place), 0)
            found = self.type()
            is_type = self.kinds[self.position] == END and not self.report.diagnostics
            return found if is_type else None
        except RelayFailed:
            return None
        finally:
            self.is_in_comment = False
            self.move_to(outer[0], outer[1])
            self.report, self.part_depth = outer[2], outer[3]
