"""Random programs of one dataflow block for the tests of partitioning, and tables of patterns for both sides."""

import random
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import relax_core as rc
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder

HEAD = "x: R.Tensor(({n}, 4), 'float32'), y: R.Tensor(({n}, 4), 'float32'), w: R.Tensor((4, 4), 'float32')"
UNARY = ("R.nn.relu({a})", "R.exp({a})", "R.tanh({a})", "R.multiply({a}, R.const(0.5, 'float32'))")
BINARY = ("R.add({a}, {b})", "R.multiply({a}, {b})", "R.matmul({a}, w)", "R.subtract({a}, {b})")
PATTERNS: Mapping[str, str] = {
    "dnnl.mm_add_relu": "is_op('relax.nn.relu')(is_op('relax.add')(is_op('relax.matmul')(wildcard(), wildcard()), "
    "wildcard()))",
    "dnnl.mm": "is_op('relax.nn.relu')(is_op('relax.matmul')(wildcard(), wildcard())) | "
    "is_op('relax.matmul')(wildcard(), wildcard())",
    "acl.scale": "is_op('relax.multiply')(wildcard(), is_const())",
    "acl.exp_tanh": "is_op('relax.tanh')(is_op('relax.exp')(wildcard()))",
    "dnnl.add": "is_op('relax.add')(wildcard(), wildcard())",
    "dnnl.relu": "is_op('relax.nn.relu')(wildcard())",
}
"""Patterns as text, which ours reads and which is an expression over the words of tvm.relax.dpl."""


def program(body: Sequence[str], outputs: Sequence[str], *, rows: str = "4") -> str:
    """Return the function `main` of a module, indented as it stands in one."""
    lines = "\n".join(f"            {line}" for line in body)
    result = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    head = HEAD.format(n=f'"{rows}"' if rows.isalpha() else rows)
    return f"""
    @R.function
    def main({head}):
        with R.dataflow():
{lines}
            R.output({", ".join(outputs)})
        return {result}
"""


def random_program(seed: int) -> str:
    """Return a program all of whose values are used; with an odd seed its number of rows is symbolic."""
    rng = random.Random(seed)
    lines: list[str] = []
    names, unused = ["x", "y"], list[str]()
    for number in range(rng.randint(3, 12)):
        form = rng.choice(UNARY if rng.random() < 0.45 else BINARY)
        a, b = (rng.choice(names[-4:]) for _ in range(2))
        lines.append(f"v{number} = {form.format(a=a, b=b)}")
        unused = [item for item in unused if item not in (a, b if "{b}" in form else "")] + [f"v{number}"]
        names.append(f"v{number}")
    return program(lines, unused, rows="n" if seed % 2 else "4")


PARTIAL: Mapping[str, str] = {
    "dnnl.mm_relu": "is_op('relax.nn.relu')(is_op('relax.matmul')(wildcard(), wildcard()))",
    "dnnl.mm_add": "is_op('relax.add')(is_op('relax.matmul')(wildcard(), wildcard()), wildcard())",
    "dnnl.concat": "is_op('relax.concat')(is_tuple([is_op('relax.exp')(wildcard()), "
    "is_op('relax.nn.relu')(wildcard())]))",
    "one.relu": "is_op('relax.nn.relu')(wildcard())",
    "one.tanh": "is_op('relax.tanh')(wildcard())",
    "one.add": "is_op('relax.add')(wildcard(), wildcard())",
    "one.mul": "is_op('relax.multiply')(wildcard(), wildcard())",
    "t.exp": "is_op('relax.exp')(wildcard())",
}
"""Patterns of single tests."""


def tables(*names: str) -> rc.Tables:
    """Return the table of these composites, of all if none is named."""
    return rc.Tables(patterns=tuple((name, rc.pattern(PATTERNS[name])) for name in names or PATTERNS))


def their_patterns(*names: str) -> list[Any]:
    """Return the same patterns in the language of apache-tvm."""
    return [(name, their_pattern({**PATTERNS, **PARTIAL}[name])) for name in names or PATTERNS]


def their_pattern(text: str) -> Any:
    """Return the pattern of apache-tvm that a text is an expression of."""
    dpl: Any = import_module("tvm.relax.dpl")
    words = ("is_op", "wildcard", "is_const", "is_tuple", "is_tuple_get_item")
    return eval(text, {name: getattr(dpl, name) for name in words})


def composites(module: IRModule) -> dict[str, str]:
    """Return the names of composite functions, local ones too, and of what they are composites."""
    found: dict[str, str] = {}
    for name, function in module.relax_functions:
        for node in preorder(function):
            composite = attr(node.attrs, "Composite") if isinstance(node, Function) else None
            if isinstance(composite, str):
                found[name.name] = composite
    return found
