"""Read attributes: `axis=1, newshape=[2, -1], epsilon=1e-05f, virtual_device=VirtualDevice(device_type=1)`."""

import json
from types import MappingProxyType
from typing import Any, cast

from relax_core.frontend.relay.lexer.numbers import MalformedNumber, lacks_suffix, read_number
from relax_core.frontend.relay.lexer.tokens import END
from relax_core.frontend.relay.metadata import meta_parts, meta_reference
from relax_core.frontend.relay.operators import ATTRIBUTES_OF, COMMON_ATTRIBUTES
from relax_core.frontend.relay.report import did_you_mean
from relax_core.frontend.relay.types import RelayTypeReader
from relax_core.ir.attrs import Attrs, AttrValue
from relax_core.ops.relay.show import show_type

# The field by which a value that is an object of a named class is told from a list of pairs.
CLASS = "__class__"
# The attributes of a call that are one entry of the metadata section, when that section is missing.
ALL_ATTRIBUTES = "__attrs__"
# The attribute of a function that holds, by parameter, what `{virtual_device=...}` behind it says.
PARAM_DEVICES = "param_virtual_devices"
# An attribute that stands for a function or a type, kept as its text.
EXPRESSION = "expression"
_WORDS = MappingProxyType({"None": None, "nullptr": None, "true": True, "false": False})


class AttributeReader(RelayTypeReader):
    """Reads attributes, which are plain data: one that is an expression is refused."""

    def at_attribute(self) -> bool:
        """Tell whether `name=` stands at the cursor."""
        at = self.position
        return self.kinds[at + 1] == "=" and (self.kinds[at] in ("ident", "string") or self.texts[at].isidentifier())

    def attributes(self, closing: str) -> Attrs:
        """Read `name=value, ...` up to `closing`, which is not taken."""
        found: dict[str, AttrValue] = {}
        while self.kinds[self.position] != closing:
            if self.kinds[self.position] == "meta" and self.kinds[self.position + 1] != "=":
                found.update(self.all_attributes())
            else:
                if not self.at_attribute():
                    raise self.unexpected("an attribute, such as axis=1", "attributes stand behind the arguments")
                at = self.position
                name = self._unquoted(at) if self.kinds[at] == "string" else self.texts[at]
                self.position = at + 2
                value = self.attribute_value()
                pairs = pairs_of(value) if name == "__dict__" else None
                if pairs is None or is_reference(pairs):
                    found[name] = value
                else:
                    found.update(pairs)
            if not self.accept(","):
                break
        return tuple(found.items())

    def all_attributes(self) -> Attrs:
        """Read `meta[relay.attrs.CompilerAttrs][0]`, which stands for all attributes of a call."""
        value = self._meta()
        pairs = pairs_of(value)
        if pairs is None or is_reference(pairs):
            return ((ALL_ATTRIBUTES, value),)
        return tuple((key, item) for key, item in pairs if key != CLASS)

    def attribute_value(self) -> AttrValue:
        """Read a value."""
        self.deeper_part()
        value = self._value()
        self.part_depth -= 1
        return value

    def _value(self) -> AttrValue:
        at = self.position
        kind = self.kinds[at]
        match kind:
            case "number" | "inf" | "-":
                return self._number()
            case "string":
                self.position += 1
                return self._unquoted(at)
            case "True" | "False":
                self.position += 1
                return kind == "True"
            case "[" | "(":
                return self._list("]" if kind == "[" else ")")
            case "{":
                return self._dictionary()
            case "meta":
                return self._meta()
            case "ident":
                return self._word()
            case "global":
                self.position += 1
                return ((CLASS, EXPRESSION), ("text", self.texts[at]))
            case "local" | "graph" | "fn" | "ref" | "if" | "match" | "let":
                hint = "an attribute is data: numbers, strings, names of functions, and lists of them"
                raise self.fail("RL023", at, f"an attribute cannot be an expression such as `{self.texts[at]}`", hint)
            case _:
                raise self.unexpected("the value of an attribute", "attributes are numbers, strings, and lists of them")

    def _word(self) -> AttrValue:
        at = self.position
        text = self.texts[at]
        self.position += 1
        if self.kinds[self.position] == "[":
            # A type, such as Tensor[(1, 2), float32]; `show_type` gives it one spelling.
            self.position = at
            return ((CLASS, EXPRESSION), ("text", show_type(self.type())))
        if text == "Target" and self.kinds[self.position] == "(":
            return self._target(at)
        if self.accept("("):
            fields = self.attributes(")")
            self.expect(")")
            return ((CLASS, text), *fields)
        return _WORDS.get(text, text)

    def _target(self, at: int) -> AttrValue:
        """Read `Target(id=7f2a80, kind='llvm', keys={'cpu'})`, which TVM prints for people, as it stands."""
        depth = 0
        while self.kinds[self.position] != END:
            depth += {"(": 1, ")": -1}.get(self.kinds[self.position], 0)
            self.position += 1
            if depth == 0:
                break
        span = self.span_from(at)
        return ((CLASS, EXPRESSION), ("text", " ".join(span.source.text[span.start : span.end].split())))

    def _number(self) -> AttrValue:
        at = self.position
        sign = ""
        while self.accept("-"):
            sign = "" if sign else "-"
        if self.kinds[self.position] not in ("number", "inf"):
            raise self.unexpected("a number")
        text = sign + self.texts[self.position]
        self.position += 1
        try:
            data = read_number(text)
        except MalformedNumber as error:
            self.report.error("RL009", self.span_from(at), f"{text}: {error}")
            return 0
        # An attribute is a double: it keeps the digits, whatever the width that the suffix names.
        return float(text.split("f")[0]) if data.dtype.kind == "f" and "n" not in text else data.item()

    def _list(self, closing: str) -> AttrValue:
        self.position += 1
        found: list[AttrValue] = []
        while self.kinds[self.position] != closing:
            found.append(self.attribute_value())
            if not self.accept(","):
                break
        self.expect(closing)
        return tuple(found)

    def _dictionary(self) -> AttrValue:
        self.position += 1
        found: list[tuple[str, AttrValue]] = []
        while self.kinds[self.position] != "}":
            at = self.position
            if self.kinds[at] not in ("string", "ident"):
                raise self.unexpected("a key")
            self.position += 1
            key = self._unquoted(at) if self.kinds[at] == "string" else self.texts[at]
            if not self.accept("="):
                self.expect(":")
            found.append((key, self.attribute_value()))
            if not self.accept(","):
                break
        self.expect("}")
        return tuple(found)

    def _meta(self) -> AttrValue:
        at = self.position
        self.position += 1
        name, index = meta_parts(self.texts[at])
        value = self.metadata.attribute(name, index)
        if value is not None:
            return value
        self.report_missing(at)
        return meta_reference(name, index)

    def _unquoted(self, at: int) -> str:
        text = self.texts[at]
        if text.startswith("'"):
            self.report.say("note", "RL015", self.tokens.span(at), f'`{text}` is read as a string; TVM wants `"`')
        return unquoted(text)

    def check_attributes(self, operator: str, attrs: Attrs, at: int) -> None:
        """Warn of attributes that the operator does not have, as far as these are known."""
        known = ATTRIBUTES_OF.get(operator)
        if known is None:
            return
        for name, _ in attrs:
            if name not in known and name not in COMMON_ATTRIBUTES and name != ALL_ATTRIBUTES:
                message = f"{operator} has no attribute `{name}`"
                hint = did_you_mean(name, known) or (f"it has {', '.join(sorted(known))}" if known else "")
                self.report.say("note", "RL016", self.span_from(at), message, hint)

    def note_suffix(self, at: int, text: str) -> None:
        """Warn of a float literal without `f`, which TVM does not read."""
        if lacks_suffix(text):
            message = f"`{text}` is read as float32; TVM wants `{text}f`"
            self.report.say("note", "RL015", self.tokens.span(at), message)


def unquoted(text: str) -> str:
    """Return what a string literal stands for; a backslash that JSON does not know is itself."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return inner


def pairs_of(value: AttrValue) -> Attrs | None:
    """Return a dictionary or an object as its pairs, `None` for any other value."""
    items: tuple[Any, ...] = value if isinstance(value, tuple) else ()
    are_pairs = all(isinstance(item, tuple) and len(cast("tuple[Any, ...]", item)) == 2 for item in items)
    return items if items and are_pairs and all(isinstance(item[0], str) for item in items) else None


def is_reference(pairs: Attrs) -> bool:
    """Tell whether an object stands for an entry of a metadata section that is not there."""
    return pairs[0] == (CLASS, "meta")
