"""Small Relay programs for partitioning: how they are written, annotated and compared."""

import random
from typing import Any

import numpy as np

import relax_core as rc
from relax_core.ir.expr import Function, TensorType
from relax_core.ir.module import IRModule
from relax_core.ir.prim import IntImm
from relax_core.passes.core import Stage

T = "Tensor[(4, 4), float32]"


def program(body: str, params: str = f"%x: {T}, %y: {T}, %c: bool", more: str = "") -> IRModule:
    """Return a module with `main(params) { body }`, and the functions of `more`."""
    return rc.parse(f'#[version = "0.0.5"]\ndef @main({params}) {{\n{body}\n}}\n{more}\n', "m.relay")


def tables(*patterns: tuple[str, str], **supported: str) -> rc.Tables:
    """Return tables: names of composites with their patterns, and for each target its operators between spaces."""
    made = tuple((name, rc.pattern(text)) for name, text in patterns)
    return rc.Tables(made, {target: tuple(names.split()) for target, names in supported.items()})


def stages(module: IRModule, passes: str, given: rc.Tables) -> tuple[Stage, ...]:
    """Run passes, none of which fails."""
    ran = rc.run_pipeline(module, passes, tables=given)
    assert not ran[-1].is_failed, [item.render() for item in ran[-1].diagnostics]
    return ran


def after(module: IRModule, passes: str, given: rc.Tables) -> IRModule:
    """Return what the passes make."""
    return stages(module, passes, given)[-1].after


def begins(text: str) -> str:
    """Write annotations out: `b:t⟦e⟧` is a begin for the target t, `e:t⟦e⟧` an end."""
    while (close := text.find("⟧")) >= 0:
        start = text.rindex("⟦", 0, close)
        head = max(text.rfind("b:", 0, start), text.rfind("e:", 0, start))
        kind = "begin" if text[head] == "b" else "end"
        call = f'annotation.compiler_{kind}({text[start + 1 : close]}, compiler="{text[head + 2 : start]}")'
        text = text[:head] + call + text[close + 1 :]
    return text


def inputs_of(module: IRModule) -> list[Any]:
    """Return random arguments for the tensors that `main` takes, alike on each call."""
    function = module["main"]
    assert isinstance(function, Function)
    rng = np.random.default_rng(0)
    made: list[Any] = []
    for param in function.params:
        type_ = param.annotation
        assert isinstance(type_, TensorType)
        sizes = [dim.value for dim in type_.dims or () if isinstance(dim, IntImm)]
        made.append((rng.random(sizes) * 9).astype(type_.dtype))
    return made


def annotated_anywhere(rng: random.Random) -> IRModule:
    """Draw a program with lets, branches and functions, and begins and ends anywhere: it may be ill-formed."""
    values, lines = ["%x", "%y"], list[str]()
    for number in range(rng.randint(0, 4)):
        is_let = rng.random() < 0.5
        name = f"%w{number}" if is_let else f"%{number}"
        lines.append(f"{'let ' if is_let else ''}{name} = {_drawn(rng, 2, values)};")
        values.append(name)
    return program(begins("\n".join((*lines, _drawn(rng, 3, values[-3:])))))


def _drawn(rng: random.Random, depth: int, values: list[str]) -> str:
    """Draw an expression with begins and ends anywhere."""

    def part() -> str:
        return _drawn(rng, depth - 1, values)

    kind = rng.randint(0, 11) if depth else 0
    target = rng.choice("aab")
    match kind:
        case 0:
            return rng.choice(values)
        case 1 | 2:
            return f"nn.relu({part()})"
        case 3:
            return f"add({part()}, {part()})"
        case 4 | 5 | 6:
            return f"b:{target}⟦{part()}⟧"
        case 7 | 8 | 9:
            return f"e:{target}⟦{part()}⟧"
        case 10:
            return f"({part()}, {part()}).{rng.randint(0, 1)}"
        case _:
            fresh = rng.randint(0, 10**9)
            return rng.choice((
                f"(if (%c) {{ {part()} }} else {{ {part()} }})",
                f"(let %v{fresh} = {part()}; {part()})",
                f"(fn (%p{fresh}: {T}) {{ {part()} }})({part()})",
                f"e:{target}⟦({part()}, {part()})⟧.1",
            ))  # fmt: skip
