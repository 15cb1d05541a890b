"""Put the bindings of dataflow blocks in another order in which each comes behind what it uses."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Literal

from relax_core.ir.expr import Binding, BindingBlock, DataflowBlock, Function, If, MatchCast, SeqExpr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relax.functions import rewrite_functions

Order = Literal["depth-first", "breadth-first"]
Direction = Literal["from-inputs", "from-outputs"]


@dataclass(frozen=True, slots=True)
class SortOptions:
    """Whether a value is followed by one that uses it, or by its siblings; and from which end the sort begins."""

    order: Order = "depth-first"
    direction: Direction = "from-inputs"


def run(module: IRModule, options: SortOptions, ctx: PassContext) -> IRModule:
    """Sort the bindings of every dataflow block.

    What the function binds around a block decides, too: a value that is needed late, or known early, by way of other
    blocks is so in its own. TVM overlooks that a shape needs the match_cast that binds its dimensions, and may put it
    before that. With bindings that nothing uses a second run from the outputs may give yet another order, as in TVM.
    """

    def sort(node: Node) -> Node | None:
        """Rule: bindings of dataflow blocks -> the same bindings in another order."""
        match node:
            case Function(params=params, body=SeqExpr() as body):
                new = _sorted(body, params, options, ctx)
                return None if new is body else replace(node, body=new)
            case If(true_branch=SeqExpr() as yes, false_branch=SeqExpr() as no):
                branches = (_sorted(yes, (), options, ctx), _sorted(no, (), options, ctx))
                is_same = branches[0] is yes and branches[1] is no
                return None if is_same else replace(node, true_branch=branches[0], false_branch=branches[1])
            case _:
                return None

    return rewrite_functions(module, ctx, lambda _, __: (sort,))


def _sorted(body: SeqExpr, params: Sequence[Var], options: SortOptions, ctx: PassContext) -> SeqExpr:
    if not any(isinstance(item, DataflowBlock) for item in body.blocks):
        return body
    graph = _Graph(body, params)
    is_deep = options.order == "depth-first"
    order = (
        graph.from_inputs(is_deep=is_deep)
        if options.direction == "from-inputs"
        else graph.from_outputs(is_deep=is_deep)
    )
    rank = {binding: number for number, binding in enumerate(order)}
    blocks = tuple(_sorted_block(item, rank, options, ctx) for item in body.blocks)
    return body if all(map(is_, blocks, body.blocks)) else replace(body, blocks=blocks)


def _sorted_block(
    block: BindingBlock, rank: Mapping[Node, int], options: SortOptions, ctx: PassContext
) -> BindingBlock:
    if not isinstance(block, DataflowBlock):
        return block
    how = f"{options.order} {options.direction}"
    bindings = tuple(sorted(block.bindings, key=rank.__getitem__))
    if all(map(is_, bindings, block.bindings)):
        ctx.remark(block, "note", f"the block is in this order already: {how}")
        return block
    moved = tuple(new for new, old in zip(bindings, block.bindings, strict=True) if new is not old)
    ctx.remark(block, "applied", f"sorted {how}: {', '.join(item.var.name for item in bindings)}", moved)
    return ctx.derive(replace(block, bindings=bindings), block)


class _Graph:
    """The bindings of a sequence: what each uses, and what uses it.

    What has a symbol in it uses the cast that binds that symbol.
    """

    def __init__(self, body: SeqExpr, params: Sequence[Var]) -> None:
        self.bindings = [item for block in body.blocks for item in block.bindings]
        definer: dict[Node, Node] = {}
        met: set[Node] = {symbol for param in params for symbol in free_symbols(param.annotation)}
        for item in self.bindings:
            definer[item.var] = item
            symbols = _symbols(item)
            if isinstance(item, MatchCast):
                definer.update((symbol, item) for symbol in symbols if symbol not in met)
            met.update(symbols)
        self.uses: dict[Node, tuple[Node, ...]] = {}
        self.users: dict[Node, list[Node]] = {item: [] for item in params}
        for item in self.bindings:
            parts = (*free_vars(item.value), *(symbol for symbol in _symbols(item) if symbol in definer))
            used = (definer.get(part, part) for part in parts)
            self.uses[item] = tuple(dict.fromkeys(part for part in used if part is not item))
            for part in self.uses[item]:
                self.users.setdefault(part, []).append(item)
        ends = (*free_vars(body.body), *free_symbols(body.body))
        self.results = [definer[part] for part in ends if part in definer]

    def from_inputs(self, *, is_deep: bool) -> list[Node]:
        """Begin with parameters and other values from outside, in order of use, then bindings that use nothing."""
        outer = [item for item in self.users if item not in self.uses]
        starts = (*outer, *(item for item in self.bindings if not self.uses[item]))
        found = _traversed(starts, self.users, self.uses, is_deep=is_deep)
        return [item for item in found if item in self.uses]

    def from_outputs(self, *, is_deep: bool) -> list[Node]:
        """Begin with bindings that nothing uses, then with what is returned; the reverse of the order of visits."""
        unused = [item for item in self.bindings if not self.users.get(item)]
        starts = (*(item for item in unused if item not in self.results), *(r for r in self.results if r in unused))
        inner = {item: [part for part in used if part in self.uses] for item, used in self.uses.items()}
        ordered = {item: used[::-1] if is_deep else used for item, used in inner.items()}
        users = {item: self.users.get(item, ()) for item in self.uses}
        return _traversed(starts[::-1] if is_deep else starts, ordered, users, is_deep=is_deep)[::-1]


def _traversed(
    starts: Sequence[Node],
    following: Mapping[Node, Sequence[Node]],
    awaited: Mapping[Node, Sequence[Node]],
    *,
    is_deep: bool,
) -> list[Node]:
    """Visit each node once all of those that it awaits are visited; what becomes ready goes to an end of the queue."""
    visited: dict[Node, None] = {}
    queue = deque(starts)
    while queue:
        current = queue.popleft()
        if current in visited:
            continue
        visited[current] = None
        ready = [item for item in following.get(current, ()) if all(part in visited for part in awaited[item])]
        if is_deep:
            queue.extendleft(reversed(ready))
        else:
            queue.extend(ready)
    return list(visited)


def _symbols(binding: Binding) -> tuple[PrimVar, ...]:
    """Return the symbols that occur in a binding and in the types in it."""
    declared = binding.type if isinstance(binding, MatchCast) else binding.var.annotation
    return (*free_symbols(binding.value), *free_symbols(declared))


PASS = Pass(
    "TopologicalSort",
    "Sorts the bindings of dataflow blocks, depth or breadth first, from the inputs or from the outputs.",
    run,
    options=SortOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/topological_sort.cc",
)
