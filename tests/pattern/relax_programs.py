"""Programs of Relax to match patterns against, and the same patterns in the language of apache-tvm."""

import random
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import relax_core as rc
from relax_core.ir.expr import Binding, Call, Constant, DataflowBlock, Expr, Function, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.pattern.graph.uses import BlockUses
from tests.apache_tvm import from_source, relax

HEAD = """\
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32"),
        w: R.Tensor((4, 4), "float32"), v: R.Tensor((1, 4), "float32"),
    ):
        with R.dataflow():
{lines}
            R.output({outputs})
        return {result}
"""
SHARED = "Normalize, CanonicalizeBindings, EliminateCommonSubexpr, CanonicalizeBindings, DeadCodeElimination"
"""What both make of a module after a rewrite, so that only the rewrite is compared."""


def program(body: str, outputs: str) -> str:
    """Return the text of a module with one dataflow block; its lines stand between semicolons."""
    lines = "\n".join(f"            {line.strip()}" for line in body.split(";"))
    return HEAD.format(lines=lines, outputs=outputs, result=f"({outputs})" if "," in outputs else outputs)


@cache
def theirs(text: str) -> Any:
    """Read a text as apache-tvm does; nobody changes the module."""
    return from_source(text)


def ours(text: str) -> IRModule:
    """Read what apache-tvm prints of a text, with the types that it infers."""
    return rc.parse(theirs(text).script())


def main(module: IRModule) -> Function:
    function = module["main"]
    assert isinstance(function, Function)
    return function


def block_of(module: IRModule) -> DataflowBlock:
    return next(node for node in preorder(main(module)) if isinstance(node, DataflowBlock))


def values(module: IRModule) -> dict[str, Expr]:
    """Return what is bound in a module by the names of the variables."""
    return {node.var.name: node.value for node in preorder(main(module)) if isinstance(node, Binding)}


def words_of_theirs() -> dict[str, Any]:
    """Return the words of `tvm.relax.dpl`, as a namespace to read a pattern in."""
    found = {name: getattr(relax.dpl, name) for name in dir(relax.dpl) if not name.startswith("__")}
    return {**found, "R": relax}


def words_of_ours() -> dict[str, Any]:
    """Return the same words of ours."""
    return {name: getattr(rc, name) for name in dir(rc) if name in words_of_theirs()}


def read_pattern(text: str, words: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read lines of Python, of which the last is a pattern; return it, and what the other lines name."""
    *lines, last = text.strip().splitlines()
    names = dict(words)
    exec("\n".join(lines), names)
    whole = eval(last, names)
    return whole, {name: item for name, item in names.items() if name not in words and name != "__builtins__"}


def their_pattern(text: str) -> Any:
    """Read a pattern in their language."""
    return read_pattern(text, words_of_theirs())[0]


def their_context(text: str) -> tuple[Any, dict[str, Any]]:
    """Read the lines of a pattern context in their language; return it, and its patterns by name."""
    with relax.dpl.PatternContext() as context:
        _, names = read_pattern(f"{text}\nNone", words_of_theirs())
    return context, {name: item for name, item in names.items() if isinstance(item, relax.dpl.DFPattern)}


def their_mapping(program_text: str, pattern_text: str) -> dict[str, str] | None:
    """Return which variable each named pattern matches for apache-tvm."""
    context, named = their_context(pattern_text)
    found = context.match_dfb(theirs(program_text)["main"].body.blocks[0])
    if found is None:
        return None
    pairs = tuple(found.items())
    return {name: var.name for name, item in named.items() for other, var in pairs if item.same_as(other)}


def our_mapping(program_text: str, pattern_text: str) -> dict[str, str] | None:
    """Return which variable each named pattern matches for us."""
    module, context = ours(program_text), rc.graph_pattern(pattern_text)
    found = context.match_dfb(block_of(module), module)
    return None if found is None else named_mapping(found, context.named)


def named_mapping(found: Mapping[rc.Pattern, Var], named: Mapping[str, rc.Pattern]) -> dict[str, str]:
    return {name: found[item].name for name, item in named.items() if item in found}


def call(name: str, count: int = 1) -> str:
    """Return the text of a pattern for a call whose arguments are no patterns of the graph."""
    return f"is_op('relax.{name}')({', '.join(['wildcard()'] * count)}, add_constraint=False)"


def described_graph(rng: random.Random, module: IRModule) -> str:
    """Return the text of a graph that describes some uses of a program, and so is likely to match."""
    uses = BlockUses(block_of(module))
    edges = [(producer, user) for producer in uses.order for user in uses.users(producer)]
    chosen = [rng.choice(edges)]
    for _ in range(rng.randint(0, 3)):
        known = {var for edge in chosen for var in edge}
        more = [edge for edge in edges if edge not in chosen and known & {*edge}]
        chosen += [rng.choice(more)] if more else []
    rng.shuffle(chosen)
    names = {var: f"p{number}" for number, var in enumerate(dict.fromkeys(var for edge in chosen for var in edge))}
    lines = [f"{name} = {_described(rng, uses.value_of.get(var))}" for var, name in names.items()]
    for producer, user in chosen:
        place = [item for item in uses.operands_of[user] if isinstance(item, Var)].index(producer)
        form = rng.choice(("{} ^ {}", "{} ^ {}", "{} >> {}", f"{{}}.used_by({{}}, {place})"))
        lines.append(form.format(names[producer], names[user]))
    return "\n".join(lines)


def _described(rng: random.Random, value: Expr | None) -> str:
    if not isinstance(value, Call) or not isinstance(value.op, Op) or rng.random() < 0.3:
        return "wildcard()"
    count = sum(isinstance(arg, Var | Constant) for arg in value.args)
    return call(value.op.name.removeprefix("relax."), count)


PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "two products of one": "x = wildcard(); a = wildcard(); b = wildcard()\n"
        "m = is_op('relax.matmul')(x, a)\nn = is_op('relax.matmul')(x, b)",
        "product of a product": f"m = {call('matmul', 2)}\nn = {call('matmul', 2)}\nm ^ n",
        "used by nothing else": f"m = {call('matmul', 2)}\nn = {call('matmul', 2)}\nm >> n",
        "one weight for both": "x = wildcard(); w = wildcard()\n"
        "m = is_op('relax.matmul')(x, w)\nn = is_op('relax.matmul')(m, w)",
        "any two": "r = wildcard(); s = wildcard()\nr ^ s",
        "a fork of any": "r = wildcard(); s = wildcard(); t = wildcard()\nr.fork_to(s, t)",
        "a diamond": "s = wildcard(); l = wildcard(); r = wildcard(); j = wildcard()\ns ^ l ^ j\ns ^ r ^ j",
        "relu for exp alone": f"r = {call('nn.relu')}\ne = {call('exp')}\nr >> e",
        "the second argument": f"r = {call('nn.relu')}\na = {call('add', 2)}\nr.used_by(a, 1)",
        "the first argument": f"r = {call('nn.relu')}\na = {call('add', 2)}\nr.used_by(a, index=0)",
        "one shape": "x = wildcard(); y = wildcard()\na = is_op('relax.add')(x, y)\nx.same_shape_as(y)",
        "a chain and its copy": f"r = {call('nn.relu')}\nc = r ^ r.dup()\nt = c[1]",
        "a branch that leads on": f"s = {call('add', 2)}\nr2 = wildcard()\nr = {call('nn.relu')}\nt = {call('tanh')}\n"
        "s ^ r2\ns ^ r ^ t",
        "no relu": f"r = ~{call('nn.relu')}\ne = is_op('relax.exp')(r)",
        "relu or tanh": f"r = {call('nn.relu')} | {call('tanh')}\ne = is_op('relax.exp')(r)",
        "relu of that shape": f"r = {call('nn.relu')} & wildcard().has_shape((4, 4))\ne = is_op('relax.exp')(r)",
    }
)
PROGRAMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "two products": ("a = R.matmul(x, w); b = R.matmul(x, y)", "a, b"),
        "a product of a product": ("a = R.matmul(x, w); b = R.matmul(a, w)", "b"),
        "three products": ("a = R.matmul(x, w); b = R.matmul(a, w); c = R.matmul(b, a)", "c"),
        "a diamond": ("s = R.add(x, y); a = R.exp(s); b = R.tanh(s); c = R.multiply(a, b)", "c"),
        "a fork": ("p = R.nn.relu(x); q = R.exp(p); z = R.tanh(p)", "q, z"),
        "an output inside": ("p = R.nn.relu(x); q = R.exp(p)", "p, q"),
        "either side": ("p = R.nn.relu(x); q = R.add(y, p); r = R.nn.relu(q); s = R.add(r, r)", "s"),
        "two shapes": ("q = R.add(x, v); r = R.add(x, w)", "q, r"),
        "two branches": ("s = R.add(x, y); r2 = R.nn.relu(s); t = R.tanh(r2); r1 = R.exp(s)", "t, r1"),
        "a chain": ("p = R.nn.relu(x); q = R.nn.relu(p); r = R.nn.relu(q)", "r"),
        "inputs in no order": ("z = R.exp(y); p = R.add(w, z); q = R.add(x, y)", "p, q"),
        "a tuple inside": ("p = R.nn.relu(x); c = R.concat((y, p)); d = R.concat((p, p))", "c, d"),
        "a literal": ('p = R.nn.relu(x); q = R.add(R.const(1.0, "float32"), p)', "q"),
        "another name": ("p = R.nn.relu(x); q = p; b = R.exp(q)", "b"),
    }
)
