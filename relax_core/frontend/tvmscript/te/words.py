"""The words of tensor expressions: calls by their names, and expressions in the words of TVMScript."""

import ast
import copy
from collections.abc import Mapping
from typing import Final

from relax_core.frontend.tvmscript.names import dotted

_TE: Final = (("te",), ("tvm", "te"))
_SCALARS: Final = (*_TE, ("tir",), ("tirx",), ("T",), ("tvm", "tir"), ("tvm", "tirx"))
_TOPI: Final = (("topi",), ("tvm", "topi"))
_ALL: Final = ("all", "any")
REDUCTIONS: Final = ("sum", "max", "min")


def te_call(node: ast.AST) -> str:
    """Return "compute" for a call of `te.compute`; nothing for what is no call of `te`."""
    return _word(node, _TE)


def topi_call(node: ast.AST) -> str:
    """Return "nn.relu" for a call of `topi.nn.relu`; nothing for what is no call of `topi`."""
    return _word(node, _TOPI)


def _word(node: ast.AST, modules: tuple[tuple[str, ...], ...]) -> str:
    name = dotted(node.func) if isinstance(node, ast.Call) else None
    for module in modules:
        if name is not None and name[: len(module)] == module:
            return ".".join(name[len(module) :])
    return ""


class Rewritten(ast.NodeTransformer):
    """Writes `te.exp(x)` as `T.exp(x)`, `all(a, b)` as `a and b`, and literals in the place of names for them.

    `dtypes` are those of tensors by name, which `a.dtype` asks for.
    """

    def __init__(self, literals: Mapping[str, ast.expr], dtypes: Mapping[str, str]) -> None:
        self.literals = literals
        self.dtypes = dtypes

    def expr(self, node: ast.expr) -> ast.expr:
        """Return an expression rewritten; the one that is given stays as it is."""
        made = self.visit(copy.deepcopy(node))
        assert isinstance(made, ast.expr)
        return made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.literals.get(node.id)
        return node if found is None else ast.copy_location(copy.deepcopy(found), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        names = {item.arg for item in ast.walk(node.args) if isinstance(item, ast.arg)}
        rest = {name: value for name, value in self.literals.items() if name not in names}
        body = Rewritten(rest, self.dtypes).expr(node.body)
        return ast.copy_location(ast.Lambda(node.args, body), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="dtype") if name in self.dtypes:
                return ast.copy_location(ast.Constant(self.dtypes[name]), node)
            case _:
                return ast.copy_location(ast.Attribute(self.visit(node.value), node.attr, node.ctx), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        args = [self.visit(item) for item in node.args]
        named = [ast.copy_location(ast.keyword(item.arg, self.visit(item.value)), item) for item in node.keywords]
        word = "" if te_call(node) in REDUCTIONS else _word(node, _SCALARS)
        if word in _ALL and len(args) > 1 and not named:
            joined = ast.And() if word == "all" else ast.Or()
            return ast.copy_location(ast.BoolOp(joined, args), node)
        func = node.func
        if word and "." not in word and dotted(func) != ("T", word):
            name = ast.copy_location(ast.Name("T", ast.Load()), func)
            func = ast.copy_location(ast.Attribute(name, word, ast.Load()), func)
        elif not word:
            func = self.visit(func)
        return ast.copy_location(ast.Call(func, args, named), node)
