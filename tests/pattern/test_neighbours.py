"""Which regions of one target are neighbours, over how many units, and what their reasons name."""

from collections.abc import Callable
from math import log2

import pytest

import relax_core as rc
from relax_core.analysis.regions import find_regions
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.pattern.partition.apart import NEAREST_LIMIT, Apart, apart
from tests.counting import lines_of
from tests.passes.relay.byoc import T, program, stages, tables

MERGED = "AnnotateTarget(include_non_call_ops=False), MergeCompilerRegions"
NAMED = f"{MERGED}, PartitionGraph"


def pairs(module: IRModule, given: rc.Tables, passes: str = MERGED) -> tuple[Apart, ...]:
    return apart(stages(module, passes, given)[-1].after, given)


# title, text, what other targets take, the pairs: kind and path
CASES: tuple[tuple[str, str, dict[str, str], list[str]], ...] = (
    ("one unit", "nn.relu(tanh(nn.relu(%x)))", {}, ["unsupported operator: a 0, tanh, a 1"]),
    ("two in a row", "nn.relu(exp(tanh(nn.relu(%x))))", {}, ["blocking path: a 0, tanh, exp, a 1"]),
    (
        "four in a row, one of them of another target",
        "nn.relu(exp(tanh(sqrt(exp(nn.relu(%x))))))",
        {"b": "sqrt"},
        ["blocking path: a 0, exp, b 1, tanh, exp, a 2"],
    ),
    ("all of another target", "nn.relu(exp(sqrt(nn.relu(%x))))", {"b": "sqrt exp"}, ["another target: a 0, b 1, a 2"]),
    (
        "through what has an effect",
        "let %r = ref(nn.relu(%x)); nn.relu(ref_read(%r))",
        {},
        ["effect: a 0, RefCreate, RefRead, let %r, a 1"],
    ),
    (
        "two other targets",
        "nn.relu(exp(sqrt(nn.relu(%x))))",
        {"b": "sqrt", "c": "exp"},
        ["another target: a 0, b 1, c 2, a 3"],
    ),
    (
        "two ways of one and of two",
        "%0 = nn.relu(%x); nn.relu(multiply(tanh(%0), sqrt(exp(%0))))",
        {},
        ["blocking path: a 0, exp, sqrt, tanh, multiply, a 1"],
    ),
    (
        "the nearest before, whatever is behind it",
        "nn.relu(exp(tanh(nn.relu(exp(tanh(nn.relu(%x)))))))",
        {},
        ["blocking path: a 0, tanh, exp, a 1", "blocking path: a 1, tanh, exp, a 2"],
    ),
    (
        "each way in has a nearest",
        "nn.relu(multiply(exp(nn.relu(%x)), sqrt(tanh(nn.relu(%y)))))",
        {},
        ["blocking path: a 0, exp, multiply, a 2", "blocking path: a 1, tanh, sqrt, multiply, a 2"],
    ),
    (
        "users that are equally far",
        "%0 = exp(tanh(nn.relu(%x))); tuple_of(nn.relu(%0), nn.relu(%0))",
        {},
        ["blocking path: a 0, tanh, exp, a 1", "blocking path: a 0, tanh, exp, a 2"],
    ),
    (
        "over a call of a function",
        "nn.relu(exp(@f(nn.relu(%x))))",
        {},
        ["blocking path: a 0, @f, exp, a 1"],
    ),
    (
        "over a call of a local function",
        f"let %f = fn (%p: {T}) {{ tanh(%p) }}; nn.relu(exp(%f(nn.relu(%x))))",
        {},
        ["blocking path: a 0, %f, exp, a 1"],
    ),
    (
        "through a let on the way",
        "let %v = tanh(nn.relu(%x)); nn.relu(exp(%v))",
        {},
        ["blocking path: a 0, tanh, exp, let %v, a 1"],
    ),
    ("no way", "multiply(nn.relu(%x), nn.relu(%y))", {}, []),
)


def module_of(text: str) -> IRModule:
    return program(text.replace("tuple_of", ""), more=f"def @f(%p: {T}) {{ tanh(%p) }}")


@pytest.mark.parametrize(("text", "others", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_pairs_name_the_whole_way(text: str, others: dict[str, str], wanted: list[str]) -> None:
    given = tables(a="nn.relu", **others)
    found = pairs(module_of(text), given)
    assert sorted(f"{item.kind}: {', '.join(item.path)}" for item in found) == sorted(wanted)
    # The calls of a partitioned module are explained alike.
    named = pairs(module_of(text), given, NAMED)
    assert len(named) == len(found)
    assert {item.path[1:-1] for item in named if not others} == {item.path[1:-1] for item in found if not others}


def test_the_reason_says_of_each_on_the_way_why() -> None:
    given = tables(("a.t", "is_op('tanh')(is_op('exp')(wildcard()))"), a="nn.relu", b="sqrt")
    (pair,) = pairs(program("nn.relu(exp(sqrt(tanh(nn.relu(%x)))))"), given)
    assert pair.message == (
        "a 0 -> tanh (default) -> b 1 (b) -> exp (default) -> a 2: "
        "a.t: is_op('exp') did not match nn.relu: is not exp; b 1 goes to b; a does not support exp"
    )


def test_a_very_long_way_is_shortened_in_words_only() -> None:
    (pair,) = pairs(program("nn.relu(" + "tanh(" * 500 + "nn.relu(%x)" + ")" * 501), tables(a="nn.relu"))
    assert len(pair.path) == 502
    assert "476 more" in pair.message
    assert len(pair.message) < 600


@pytest.mark.parametrize("count", [1, 2, 5])
def test_if_the_target_takes_all_on_the_way_they_are_one(count: int) -> None:
    """Taking all but one of the operators on the way leaves the two apart."""
    names = ("tanh", "exp", "sqrt", "sigmoid", "negative")[:count]
    text = "nn.relu(" + "".join(f"{name}(" for name in reversed(names)) + "nn.relu(%x)" + ")" * (count + 1)
    (pair,) = pairs(program(text), tables(a="nn.relu"))
    assert pair.path[1:-1] == names
    after = stages(program(text), MERGED, tables(a=" ".join(("nn.relu", *pair.path[1:-1]))))[-1].after
    function = after["main"]
    assert isinstance(function, Function)
    assert len(find_regions(function).all) == 1
    for left in names:
        others = " ".join(name for name in names if name != left)
        (still,) = pairs(program(text), tables(a=f"nn.relu {others}"))
        assert (still.kind, still.path[1:-1]) == ("unsupported operator", (left,))


def ladder(count: int) -> str:
    """Write a chain of operators that no target takes, each of which a region joins and another leaves."""
    lines = [f"%c{k + 1} = multiply(%c{k}, nn.relu(%y)); %r{k} = nn.relu(%c{k + 1});" for k in range(count)]
    return numbered(f"%c0 = tanh(%x); {' '.join(lines)} ({', '.join(f'%r{k}' for k in range(count))})")


def hub(count: int) -> str:
    """Write regions that all meet in two operators, and as many behind them."""
    before = ", ".join("nn.relu(%x)" for _ in range(count))
    behind = ", ".join(f"nn.relu(%h.{k})" for k in range(count))
    return numbered(
        f"%h0 = concatenate(({before})); %h1 = tanh(%h0); %h = split(%h1, indices_or_sections={count}); ({behind})"
    )


def numbered(text: str) -> str:
    """Write graph bindings, which are numbered, for names."""
    names: dict[str, str] = {}
    words = text.replace("%x", "@x").replace("%y", "@y").split("%")
    for word in words[1:]:
        name = ""
        for char in word:
            if not char.isalnum():
                break
            name += char
        names.setdefault(name, str(len(names)))
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"%{name}", f"%<{names[name]}>")
    return text.replace("<", "").replace(">", "")


SMALL, LARGE = 24, 96


@pytest.mark.parametrize("shape", [ladder, hub])
def test_there_are_no_more_pairs_than_the_program_has_uses(shape: Callable[[int], str]) -> None:
    module = stages(program(shape(LARGE)), MERGED, tables(a="nn.relu"))[-1].after
    assert LARGE <= len(apart(module)) <= 2 * NEAREST_LIMIT * LARGE


def test_finding_the_pairs_takes_work_that_grows_as_n_log_n() -> None:
    def work(count: int) -> int:
        module = stages(program(ladder(count)), MERGED, tables(a="nn.relu"))[-1].after
        return lines_of(lambda: apart(module))

    assert work(LARGE) / work(SMALL) <= LARGE * log2(LARGE) / (SMALL * log2(SMALL))
