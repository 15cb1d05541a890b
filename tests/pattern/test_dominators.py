"""Dominator patterns: paths from one parent to the node that they all lead to."""

import pytest

import relax_core as rc
from tests.pattern.programs import main, module

CONV = "%0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);"
ELEMENT = "wildcard().has_attr({'TOpPattern': 0}).any_args()"
BROAD = f"({ELEMENT} | wildcard().has_attr({{'TOpPattern': 1}}).any_args())"
PARENT = "is_op('nn.conv2d')(wildcard(), wildcard())"
DIAMOND = f"dominates({PARENT}, {BROAD}, is_op('add')(wildcard(), wildcard()))"

CASES = (
    ("the classic diamond", DIAMOND, f"{CONV} %1 = nn.relu(%0); %2 = nn.relu(%0); add(%1, %2)", True),
    ("leaky relu beside relu", DIAMOND, f"{CONV} %1 = nn.relu(%0); %2 = nn.leaky_relu(%0); add(%1, %2)", True),
    ("a deeper branch", DIAMOND, f"{CONV} %1 = nn.relu(%0); %2 = tanh(%1); %3 = exp(%0); add(%2, %3)", True),
    ("one path", f"dominates({PARENT}, {BROAD}, is_op('nn.relu')(wildcard()))", f"{CONV} nn.relu(tanh(exp(%0)))", True),
    ("nothing between", f"dominates({PARENT}, {BROAD}, is_op('nn.relu')(wildcard()))", f"{CONV} nn.relu(%0)", True),
    ("the parent twice", DIAMOND, f"{CONV} add(%0, %0)", True),
    ("a branch and the parent", DIAMOND, f"{CONV} %1 = nn.relu(%0); add(%1, %0)", True),
    (
        "a diamond in a diamond",
        DIAMOND,
        f"{CONV} %1 = nn.relu(%0); %2 = tanh(%1); %3 = exp(%1); %4 = add(%2, %3); %5 = abs(%0); add(%4, %5)",
        True,
    ),
    ("a bias beside the path", DIAMOND, f"{CONV} %1 = nn.bias_add(%0, %b); %2 = nn.relu(%1); add(%2, %1)", True),
    ("a constant beside the path", DIAMOND, f"{CONV} %1 = multiply(%0, 2f); add(%1, %0)", True),
    (
        "two parents are none",
        DIAMOND,
        f"{CONV} %1 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);"
        " %2 = nn.relu(%0); %3 = nn.relu(%1); add(%2, %3)",
        False,
    ),
    (
        "relu of the input instead of the convolution",
        DIAMOND,
        f"{CONV} %1 = nn.relu(%0); %2 = nn.relu(%data); add(%1, %2)",
        False,
    ),
    ("an operator of another kind on the way", DIAMOND, f"{CONV} %1 = nn.softmax(%0); add(%1, %0)", False),
    (
        "an operator of another kind deep on one way",
        DIAMOND,
        f"{CONV} %1 = tanh(nn.softmax(exp(%0))); add(%1, %0)",
        False,
    ),
    ("no parent at all", DIAMOND, "%1 = nn.relu(%data); add(%1, %1)", False),
    ("another child", DIAMOND, f"{CONV} %1 = nn.relu(%0); multiply(%1, %1)", False),
    (
        "broadcast on a path of elements only",
        f"dominates({PARENT}, {ELEMENT}, is_op('nn.relu')(wildcard()))",
        f"{CONV} nn.relu(add(%0, %0))",
        False,
    ),
)


@pytest.mark.parametrize(("pattern", "text", "is_match"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_paths_lead_to_one_parent(pattern: str, text: str, is_match: bool) -> None:
    mod = module(text)
    miss = rc.explain(rc.pattern(pattern), main(mod).body, mod)
    assert (miss is None) == is_match, miss


def test_dominates_as_a_method_is_the_same() -> None:
    mod = module(f"{CONV} %1 = nn.relu(%0); %2 = tanh(%0); add(%1, %2)")
    text = f"is_op('add')(wildcard(), wildcard()).dominates({PARENT}, {BROAD})"
    assert len(rc.match(rc.pattern(text), mod)) == 1


def test_the_nodes_on_the_paths_belong_to_the_match() -> None:
    mod = module(f"{CONV} %1 = nn.relu(%0); %2 = tanh(%1); %3 = exp(%0); add(%2, %3)")
    (found,) = rc.match(rc.pattern(DIAMOND), mod)
    assert len(found.path_nodes) == 3


def test_a_dominator_around_a_dominator() -> None:
    inner = f"dominates({PARENT}, {BROAD}, is_op('nn.relu')(wildcard()))"
    whole = f"dominates({inner}, {BROAD}, is_op('tanh')(wildcard()))"
    assert len(rc.match(rc.pattern(whole), module(f"{CONV} tanh(exp(nn.relu(abs(%0))))"))) >= 1


def test_a_miss_says_that_paths_lead_elsewhere() -> None:
    mod = module(f"{CONV} %1 = nn.relu(%0); %2 = nn.relu(%data); add(%1, %2)")
    miss = rc.explain(rc.pattern(DIAMOND), main(mod).body, mod)
    assert miss is not None
    assert "lead to one parent" in miss.reason
