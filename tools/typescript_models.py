"""Write what the browser components receive and send as TypeScript: `python tools/typescript_models.py`.

`views/widgets/generated/models.ts` has an interface for each message class that a component meets, which are those of
the `channel(...)` that its module declares and what they hold. `theme.ts` has the colours, signs and letters of
`tokens.json`, `grammar.ts` the tables by which texts are cut into tokens. All are checked in, so that a build needs
no Python object and a reader sees the types; a test compares them with the classes.
"""

import enum
import importlib
import re
import sys
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, cast

import msgspec
from msgspec import inspect

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from relax_core.engine.debug import replies  # noqa: E402  # the tool runs from a checkout, without installation
from relax_core.present import device_models, grammar, kernel_models, models, theme  # noqa: E402
from relax_core.present.catalog_of import catalog_models  # noqa: E402
from relax_core.present.regions import partition_models, region_models  # noqa: E402
from relax_core.present.running import run_models  # noqa: E402
from views.widgets.channel import Asked, Channel  # noqa: E402

VIEWS = ROOT / "views"
GENERATED = VIEWS / "widgets" / "generated"
LINE = 120
# Modules whose literal types keep their names; an earlier one wins where two name the same set of words.
NAMED = (models, run_models, catalog_models, device_models, partition_models, region_models, kernel_models, replies)
_DECLARES = re.compile(r"^\w+ = channel\(", re.MULTILINE)
# What `LETTER` and `WORD` of the grammars are in a pattern with the flag `u`.
_LETTER = r"[\p{L}\p{Nl}\p{No}_]"
_WORD = r"[\p{L}\p{N}_]"
_HEAD = "// Written by tools/typescript_models.py from the classes of the same names: change those.\n"
_SCALARS: Mapping[type, str] = MappingProxyType(
    {
        inspect.StrType: "string",
        inspect.IntType: "number",
        inspect.FloatType: "number",
        inspect.BoolType: "boolean",
        inspect.NoneType: "null",
        inspect.AnyType: "unknown",
    }
)


@dataclass(slots=True)
class _Writer:
    """The declarations that were written, by name, and the classes that they stand for."""

    literals: Mapping[frozenset[object], str]
    declarations: dict[str, str] = field(default_factory=dict[str, str])
    classes: dict[str, type] = field(default_factory=dict[str, type])

    def name_of(self, cls: type, fields: tuple[inspect.Field, ...]) -> str:
        """Declare a class, once, and return its name.

        Raises:
            ValueError: two classes have one name.
        """
        known = self.classes.setdefault(cls.__name__, cls)
        if known is not cls:
            raise ValueError(f"{cls.__module__} and {known.__module__} both have a class {cls.__name__}")
        if cls.__name__ not in self.declarations:
            self.declarations[cls.__name__] = ""
            config = getattr(cls, "__struct_config__", None)
            write = self._tuple if config is not None and config.array_like else self._interface
            self.declarations[cls.__name__] = _comment(cls.__doc__) + write(cls, fields)
        return cls.__name__

    def _interface(self, cls: type, fields: tuple[inspect.Field, ...]) -> str:
        # A structure is sent whole; of an action the component may leave out what has a default.
        is_sent = issubclass(cls, msgspec.Struct)
        notes = _field_notes(cls)
        lines = [f"export interface {cls.__name__} {{"]
        for item in fields:
            mark = "" if is_sent or item.required else "?"
            lines += [f"  {line}" for line in _comment(notes.get(item.name)).splitlines()]
            lines.append(f"  readonly {item.encode_name}{mark}: {self.type_of(item.type)};")
        return "\n".join((*lines, "}"))

    def _tuple(self, cls: type, fields: tuple[inspect.Field, ...]) -> str:
        tag = cls.__struct_config__.tag  # type: ignore[attr-defined]
        parts = [f'tag: "{tag}"'] if tag is not None else []
        parts += [f"{item.encode_name}: {self.type_of(item.type)}" for item in fields]
        whole = f"export type {cls.__name__} = readonly [{', '.join(parts)}];"
        if len(whole) <= LINE:
            return whole
        return f"export type {cls.__name__} = readonly [\n" + "".join(f"  {part},\n" for part in parts) + "];"

    def type_of(self, kind: inspect.Type) -> str:
        """Write a type as TypeScript has it, and declare the classes in it.

        Raises:
            TypeError: JSON has no such type.
        """
        match kind:
            case inspect.LiteralType(values=values):
                named = self.literals.get(frozenset(values))
                return named or " | ".join(_quoted(value) for value in values)
            case inspect.StructType(cls=cls, fields=fields) | inspect.DataclassType(cls=cls, fields=fields):
                return self.name_of(cls, fields)
            case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
                return _list_of(self.type_of(item))
            case inspect.TupleType(item_types=items):
                return f"readonly [{', '.join(map(self.type_of, items))}]"
            case inspect.DictType(value_type=value):
                return f"Readonly<Record<string, {self.type_of(value)}>>"
            case inspect.UnionType(types=types):
                return " | ".join(map(self.type_of, types))
            case _ if type(kind) in _SCALARS:
                return _SCALARS[type(kind)]
            case _:
                raise TypeError(f"{kind} has no form in TypeScript")


def roots() -> Iterator[type]:
    """Yield the classes that components meet: those of each `channel(...)` that a module below `views/` declares."""
    yield Asked
    for path in sorted(VIEWS.rglob("*.py")):
        if _DECLARES.search(path.read_text(encoding="utf-8")):
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for item in vars(module).values():
                if isinstance(item, Channel):
                    channel = cast("Channel[msgspec.Struct, msgspec.Struct, object]", item)
                    kinds = (channel.model, channel.props, channel.action, channel.apart)
                    yield from (kind for kind in kinds if kind is not None)


def models_text() -> str:
    """Return the text of `models.ts`."""
    literals = dict(reversed(list(_literals())))
    writer = _Writer(literals)
    for root in roots():
        writer.type_of(inspect.type_info(root))
    unions = "\n".join(
        _wrapped(f"export type {name} = ", [_quoted(value) for value in typing.get_args(alias)])
        for name, alias in sorted(_aliases().items())
        if any(re.search(rf"\b{name}\b", text) for text in writer.declarations.values())
    )
    return "\n".join((_HEAD, unions, "", "\n\n".join(text for _, text in sorted(writer.declarations.items())), ""))


def theme_text() -> str:
    """Return the text of `theme.ts`."""
    parts = (
        ("MARKS", {name: look.sign for name, look in theme.TOKENS.marks.items()}),
        ("KINDS", {name: {"letter": k.letter, "color": k.color} for name, k in theme.TOKENS.kinds.items()}),
        ("LIGHT", dict(theme.LIGHT)),
    )
    texts = [f"export const {name} = {_object(value)};\n" for name, value in parts]
    css = f"export const THEME_CSS =\n  {_quoted(theme.component_css())};\n"
    return "\n".join((_HEAD.replace("the classes of the same names", "tokens.json"), *texts, css))


def grammar_text() -> str:
    """Return the text of `grammar.ts`: the tables of `relax_core/present/grammar.py`, patterns in JavaScript's form."""
    grammars = {
        name: {
            "states": {
                state: [
                    {"pattern": _script(rule.pattern), "syntax": rule.syntax, "state": rule.state} for rule in rules
                ]
                for state, rules in table.states.items()
            },
            "keywords": table.keywords,
            "types": _script(table.types),
            "heads": table.heads,
        }
        for name, table in grammar.GRAMMARS.items()
    }
    text = msgspec.json.format(msgspec.json.encode(grammars), indent=2).decode()
    head = _HEAD.replace("the classes of the same names", "relax_core/present/grammar.py")
    return f"{head}\nexport const GRAMMARS = {text} as const;\n"


def _script(pattern: str) -> str:
    return pattern.replace("{L}", _LETTER).replace("{W}", _WORD)


def files() -> dict[str, str]:
    """Return name and text of each generated file."""
    return {"models.ts": models_text(), "theme.ts": theme_text(), "grammar.ts": grammar_text()}


def main() -> None:
    """Write the files."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (GENERATED / name).write_text(text, encoding="utf-8")
        print(f"{(GENERATED / name).relative_to(ROOT)}  {text.count(chr(10))} lines")


def _aliases() -> dict[str, Any]:
    """Name the literal types of the modules that define them; a later module does not take a name again."""
    found: dict[str, Any] = {}
    for module in NAMED:
        for name, value in vars(module).items():
            if typing.get_origin(value) is typing.Literal and not name.startswith("_") and _defines(module, name):
                found.setdefault(name, value)
    return found


def _literals() -> Iterator[tuple[frozenset[object], str]]:
    for name, alias in _aliases().items():
        yield frozenset(typing.get_args(alias)), name


def _defines(module: ModuleType, name: str) -> bool:
    return re.search(rf"^{name} = ", Path(str(module.__file__)).read_text(encoding="utf-8"), re.MULTILINE) is not None


def _field_notes(cls: type) -> dict[str, str]:
    """Return the strings that stand below the fields of a class, by field."""
    source = Path(str(sys.modules[cls.__module__].__file__)).read_text(encoding="utf-8")
    body = source.split(
        f"\nclass {cls.__name__}(" if f"\nclass {cls.__name__}(" in source else f"\nclass {cls.__name__}:"
    )[1]
    body = re.split(r"\n(?=\S)", body, maxsplit=1)[0]
    return dict(re.findall(r'^    (\w+):[^\n]*\n    """(.*?)"""', body, re.MULTILINE | re.DOTALL))


def _comment(text: str | None) -> str:
    if not text:
        return ""
    first = re.sub(r"\s+", " ", text.strip().split("\n\n")[0])
    return f"/** {first} */\n"


def _wrapped(start: str, choices: list[str]) -> str:
    whole = start + " | ".join(choices) + ";"
    return whole if len(whole) <= LINE else start.rstrip() + "".join(f"\n  | {choice}" for choice in choices) + ";"


def _list_of(item: str) -> str:
    return f"readonly ({item})[]" if item.startswith("readonly ") or " | " in item else f"readonly {item}[]"


def _quoted(value: object) -> str:
    return msgspec.json.encode(value.value if isinstance(value, enum.Enum) else value).decode()


def _object(value: Mapping[str, Any]) -> str:
    lines = (f"  {name}: {_quoted(item)}," for name, item in value.items())
    return "{\n" + "\n".join(lines) + "\n} as const"


if __name__ == "__main__":
    main()
