"""Rewrites of Relax by patterns, given by texts that ours and apache-tvm carry out."""

from collections.abc import Callable, Mapping
from typing import Any

import relax_core as rc
from relax_core.ir.expr import Expr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.rewrite import RewriteLog
from tests.apache_tvm import relax, tvm
from tests.pattern.relax_programs import (
    PATTERNS,
    SHARED,
    call,
    read_pattern,
    their_context,
    theirs,
    words_of_ours,
    words_of_theirs,
)

FORK = PATTERNS["two products of one"]
MERGED = (
    ("cat", "R.concat((a, b), axis=1)"),
    ("mm", "R.matmul(x, cat)"),
    ("m_", "R.strided_slice(mm, axes=[1], begin=[0], end=[4])"),
    ("n_", "R.strided_slice(mm, axes=[1], begin=[4], end=[8])"),
)
THEN = f"r = {call('nn.relu')}\ne = is_op('relax.exp')(r)"
TWICE = f"r = {call('nn.relu')}\ne = is_op('relax.nn.relu')(r)"
ALONE = f"r = {call('nn.relu')}\ne = {call('exp')}\nr >> e"
PAIRS = "p = R.nn.relu(x); q = R.exp(p); z = R.nn.relu(q); u = R.exp(z)"


Read = Callable[[str, dict[str, Any]], Any]


def results(made: tuple[tuple[str, str], ...], env: dict[str, Any], read: Read) -> dict[Any, Any]:
    """Compute what a match becomes in either language: names with a bar are what the variables of these names are."""
    for name, text in made:
        env[name] = read(text, env)
    return {env[name[:-1]]: env[name] for name, _ in made if name.endswith("_")}


def their_expression(text: str, names: Mapping[str, Any]) -> Any:
    return eval(text, {"R": tvm.script.relax, **names})


def our_expression(text: str, names: Mapping[str, Any]) -> Expr:
    return rc.expression(text, **names)


def by_name(found: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each named pattern matches, for apache-tvm, whose maps know objects by their addresses."""
    pairs = tuple(found.items())
    return {name: node for name, item in named.items() for other, node in pairs if item.same_as(other)}


def printed(function: Any) -> IRModule:
    return rc.parse(tvm.IRModule({"main": function}).script())


def their_bindings(graph: str, made: tuple[tuple[str, str], ...], text: str) -> IRModule:
    context, named = their_context(graph)

    def callback(found: Any, _: Any) -> Any:
        return results(made, by_name(found, named), their_expression)

    return printed(relax.dpl.rewrite_bindings(context, callback, theirs(text)["main"]))


def our_bindings(
    graph: str, made: tuple[tuple[str, str], ...], module: IRModule, log: RewriteLog | None = None
) -> IRModule:
    context = rc.graph_pattern(graph)

    def callback(found: Mapping[rc.Pattern, Var], _: Mapping[Var, Expr]) -> Mapping[Var, Expr]:
        env: dict[str, Any] = {name: found[item] for name, item in context.named.items() if item in found}
        return results(made, env, our_expression)

    return rc.rewrite_bindings(context, callback, module, log=log)


def their_calls(pattern: str, made: str, text: str) -> IRModule:
    whole, named = read_pattern(pattern, words_of_theirs())

    def callback(_: Any, found: Any) -> Any:
        return their_expression(made, by_name(found, named))

    return printed(relax.dpl.rewrite_call(whole, callback, theirs(text)["main"]))


def our_calls(pattern: str, made: str, module: IRModule, log: RewriteLog | None = None) -> IRModule:
    whole, named = read_pattern(pattern, words_of_ours())

    def callback(_: Expr, found: rc.Match) -> Expr:
        return our_expression(made, {name: found[item] for name, item in named.items()})

    return rc.rewrite_call(whole, callback, module, log=log)


def same(a: IRModule, b: IRModule) -> bool:
    """Tell whether two modules are equal once both are normalised, and what is computed twice is computed once."""
    return rc.structural_equal(*(rc.run_pipeline(item, SHARED)[-1].after for item in (a, b)))
