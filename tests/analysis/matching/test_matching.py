"""Stages are matched without what a pass recorded: how much of the truth is found, and links on small texts."""

from collections.abc import Mapping

import pytest

from benchmarks.matching import RELAX, RELAX_PIPELINES, RELAY_PIPELINES, Scores, score_samples
from relax_core.analysis.matching.links import Link, Links, weakest
from relax_core.analysis.matching.modules import match_outlines
from relax_core.analysis.matching.outlines import outline_of
from relax_core.analysis.matching.parts import Outline, Part, family_of
from relax_core.frontend.parse import parse_text

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n"
TENSOR = 'R.Tensor((4,), dtype="float32")'


def relax(*lines: str, name: str = "main", params: str = f"x: {TENSOR}, y: {TENSOR}") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"    @R.function\n    def {name}({params}) -> {TENSOR}:\n{body}\n"


def prim(signature: str, *lines: str) -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"    @T.prim_func(private=True, s_tir=True)\n    def {signature}:\n{body}\n"


def outlines(*functions: str) -> Mapping[str, Outline]:
    parsed = parse_text(HEAD + "@I.ir_module\nclass Module:\n" + "\n".join(functions), "m.py")
    assert parsed.modules, parsed.diagnostics
    return {item.var.name: outline_of(item) for item in parsed.modules[0].definitions}


def relay(*lines: str, name: str = "main", after: str = "") -> Mapping[str, Outline]:
    body = "\n  ".join(lines)
    text = f"def @{name}(%x: Tensor[(4), float32]) {{\n  {body}\n}}\n{after}\n"
    parsed = parse_text(text, "m.relay")
    assert parsed.modules, parsed.diagnostics
    return {item.var.name: outline_of(item) for item in parsed.modules[0].definitions}


def matched(before: Mapping[str, Outline], after: Mapping[str, Outline]) -> list[tuple[str, str, str, str]]:
    """List the links as what a part was, what it is, how sure that is, and why."""
    links = match_outlines(before, after)
    found = [link for item in after.values() for part in item.parts for link in links.origins_of(part)]
    return [(words(link.before), words(link.after), link.confidence, link.why) for link in found]


def words(part: Part) -> str:
    return f"{part.function}.{part.kind} {part.name or part.operator}".rstrip()


@pytest.fixture(scope="module")
def scores() -> Scores:
    return score_samples(RELAX, RELAX_PIPELINES)


def test_most_links_of_our_passes_are_found_and_few_are_wrong(scores: Scores) -> None:
    total = scores.total
    assert total.recorded > 4_000
    assert total.found_share >= 0.95, scores.to_text()
    assert total.wrong_share <= 0.01, scores.to_text()
    assert total.right_anew / total.recorded_anew >= 0.9, scores.to_text()
    assert total.sure_wrong <= total.found // 1_000, scores.to_text()


@pytest.fixture(scope="module")
def relay_scores() -> Scores:
    return score_samples(("relay",), RELAY_PIPELINES, every=4)


def test_most_links_of_the_passes_of_relay_are_found_and_few_are_wrong(relay_scores: Scores) -> None:
    total = relay_scores.total
    assert total.recorded > 3_000
    assert total.found_share >= 0.95, relay_scores.to_text()
    assert total.wrong_share <= 0.01, relay_scores.to_text()


@pytest.mark.parametrize("name", ["RelayToRelax", "LambdaLift", "PartitionGraph", "FuseOps", "ToANormalForm"])
def test_a_pass_of_relay_is_matched(name: str, relay_scores: Scores) -> None:
    score = relay_scores.of[name]
    assert score.stages
    assert score.found_share >= 0.95
    assert score.wrong_share <= 0.01


@pytest.mark.parametrize(
    "name",
    [
        "VMShapeLower",
        "LegalizeOps",
        "CallTIRRewrite",
        "LowerAllocTensor",
        "KillAfterLastUse",
        "LowerRuntimeBuiltin",
        "LambdaLift",
    ],
)
def test_a_pass_is_matched(name: str, scores: Scores) -> None:
    score = scores.of[name]
    assert score.stages
    assert score.found_share >= 0.95
    assert score.wrong_share <= 0.015


def test_renamed_variables_are_matched_by_what_they_compute() -> None:
    before = outlines(relax("a = R.add(x, y)", "b = R.multiply(a, y)", "return b"))
    after = outlines(relax("first = R.add(x, y)", "second = R.multiply(first, y)", "return second"))
    found = matched(before, after)
    why = "same operator and operands"
    assert ("main.binding a", "main.binding first", "sure", why) in found
    assert ("main.binding b", "main.binding second", "sure", why) in found
    assert len(found) == len(after["main"].parts)


def test_renumbered_names_do_not_mislead() -> None:
    before = outlines(relax("lv = R.add(x, y)", "lv1 = R.multiply(x, y)", "lv2 = R.subtract(lv1, y)", "return lv2"))
    after = outlines(relax("lv = R.multiply(x, y)", "lv1 = R.subtract(lv, y)", "return lv1"))
    found = {(old, new) for old, new, _, _ in matched(before, after)}
    assert ("main.binding lv1", "main.binding lv") in found
    assert ("main.binding lv2", "main.binding lv1") in found
    assert not any(old == "main.binding lv" for old, _ in found)


def test_names_that_were_numbered_by_a_printer_are_known() -> None:
    before = outlines(relax("full = R.sin(x)", "mask = R.multiply(full, y)", "return mask"))
    after = outlines(relax("full_1 = R.tan(x)", "mask_1 = R.power(full_1, y)", "return mask_1"))
    found = matched(before, after)
    assert ("main.binding full", "main.binding full_1", "likely", "same name but for a number") in found
    assert [old for old, new, _, _ in found if new == "main.binding full_1"] == ["main.binding full"]


def test_what_may_be_one_that_was_not_found_is_not_made_for_another() -> None:
    before = outlines(relax("a = R.sin(x)", "b = R.sin(y)", "keep = R.add(a, b)", "return keep"))
    after = outlines(relax("c = R.sin(R.exp(x))", "d = R.cos(y)", "keep = R.add(c, d)", "return keep"))
    found = matched(before, after)
    assert ("main.binding keep", "main.binding keep", "sure", "same name") in found
    assert not any(
        new in ("main.binding c", "main.binding d") and why.startswith("made for") for _, new, _, why in found
    )


def test_much_that_is_alike_takes_no_longer_than_it_is_much() -> None:
    count = 1_500
    before = outlines(relax(*(f"lv{number} = R.add(x, y)" for number in range(count)), "return x"))
    after = outlines(relax(*(f"gv{number} = R.add(x, y)" for number in range(count)), "return x"))
    found = [link for link in matched(before, after) if link[1].startswith("main.binding")]
    assert [(old.removeprefix("main.binding lv"), new.removeprefix("main.binding gv")) for old, new, _, _ in found] == [
        (str(number), str(number)) for number in range(count)
    ]


def test_what_is_new_has_no_origin() -> None:
    before = outlines(relax("a = R.add(x, y)", "return a"))
    after = outlines(relax("a = R.add(x, y)", "z = R.sin(y)", "return a"))
    assert not any(new == "main.binding z" for _, new, _, _ in matched(before, after))


def test_a_fused_function_stems_from_the_bindings_that_it_took() -> None:
    before = outlines(relax("lv = R.add(x, y)", "lv1 = R.multiply(lv, x)", "lv2 = R.exp(lv1)", "return lv2"))
    fused = relax(
        "lv = R.add(p, q)", "gv = R.multiply(lv, p)", "return gv", name="fused", params=f"p: {TENSOR}, q: {TENSOR}"
    )
    after = outlines(fused, relax("lv = Module.fused(x, y)", "lv2 = R.exp(lv)", "return lv2"))
    found = {(old, new): why for old, new, _, why in matched(before, after)}
    assert found["main.binding lv", "fused.binding lv"] == "same operator and operands, inside @fused"
    assert ("main.binding lv1", "fused.binding gv") in found
    assert {old for old, new in found if new == "main.binding lv"} == {"main.binding lv", "main.binding lv1"}
    assert ("main.parameter x", "fused.parameter p") in found


def test_a_name_is_that_of_the_value_in_an_annotation_that_goes() -> None:
    before = relay('let %a = annotation.compiler_end(nn.relu(%x), compiler="c");', "%a")
    found = matched(before, relay("let %a = nn.relu(%x);", "%a"))
    assert ("main.binding a", "main.binding a", "sure", "same name") in found
    assert ("main.call relax.nn.relu", "main.binding a", "sure", "the value that had an annotation around it") in found


def test_a_function_moves_with_the_region_that_calls_it() -> None:
    local = ("%0 = fn (%p: Tensor[(4), float32]) { exp(%p) };", "%0(%x)")
    moved = relay(*local, name="region")["region"]
    found = matched(relay(*local), {**relay("@region(%x)", after="def @region(%x) { %x }"), "region": moved})
    assert ("main.function", "region.function", "sure", "same parameters and operators") in found
    assert ("main.parameter p", "region.parameter p", "sure", "same parameters and operators") in found
    assert any(link[:2] == ("main.call relax.exp", "region.call relax.exp") for link in found)


def module_of(*functions: str) -> Mapping[str, Outline]:
    return {
        item.var.name: outline_of(item) for item in parse_text("\n".join(functions), "m.relay").modules[0].definitions
    }


def test_a_copy_for_each_type_stems_from_the_function_that_it_copies() -> None:
    twice = "def @{0}(%p: Tensor[({1}), float32]) {{ add(%p, %p) }}"
    main = "def @main(%x: Tensor[(4), float32], %y: Tensor[(2), float32]) {{ (@twice(%x), @{0}(%y)) }}"
    before = module_of(twice.format("twice", "?"), main.format("twice"))
    found = matched(before, module_of(twice.format("twice", 4), twice.format("twice1", 2), main.format("twice1")))
    assert ("twice.function twice", "twice1.function twice1", "sure", "a copy of @twice") in found
    assert {old for old, new, _, _ in found if new == "twice1.call relax.add"} == {"twice.call relax.add"}


def test_a_function_with_more_calls_than_before_is_no_copy() -> None:
    fused = "def @{0}(%p: Tensor[(4), float32]) {{ {1} }}"
    main = "def @main(%x: Tensor[(4), float32]) {{ let %a = @fused(%x); let %b = {0}; (%a, %b) }}"
    before = module_of(fused.format("fused", "tanh(%p)"), main.format("exp(%x)"))
    after = module_of(fused.format("fused", "tanh(%p)"), fused.format("fused1", "exp(%p)"), main.format("@fused1(%x)"))
    found = {(old, new) for old, new, _, _ in matched(before, after)}
    assert ("main.binding b", "fused1.function fused1") in found
    assert ("fused.function fused", "fused1.function fused1") not in found


def test_a_function_stems_from_where_data_stand_for_it() -> None:
    head = "type F {\n  F_given_halve,\n}\ndef @halve(%p: Tensor[(4), float32]) { tanh(%p) }"
    new = "def @given_halve(%p: Tensor[(4), float32]) { @halve(%p) }"
    main = "def @main(%x: Tensor[(4), float32]) {{ let %a = @each({0}, %x); %a }}"
    each = "def @each(%f: {0}, %p: Tensor[(4), float32]) {{ {1} }}"
    before = module_of(
        head, each.format("fn (Tensor[(4), float32]) -> Tensor[(4), float32]", "%f(%p)"), main.format("@halve")
    )
    after = module_of(head, new, each.format("F[]", "@given_halve(%p)"), main.format("F_given_halve"))
    found = matched(before, after)
    assert [link for link in found if link[1] == "given_halve.function given_halve"] == [
        ("main.binding a", "given_halve.function given_halve", "likely", "the function that F_given_halve holds")
    ]


def test_an_operator_holds_no_function_that_its_name_ends_in() -> None:
    before = outlines(relax("a = R.sin(x)", "b = R.nn.log_softmax(a)", "return b"))
    made = relax("c = R.sin(x)", "return c", name="softmax", params=f"x: {TENSOR}")
    after = outlines(made, relax("a = Module.softmax(x)", "b = R.nn.log_softmax(a)", "return b"))
    assert {old for old, new, _, _ in matched(before, after) if new == "softmax.function softmax"} == {"main.binding a"}


COPY = (
    "for i in range(4):",
    '    with T.sblock("copy"):',
    "        v = T.axis.spatial(4, i)",
    "        B[v] = A[v] + T.float32(1.0)",
)
COPY_SIGNATURE = 'inc(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"))'


def test_a_prim_func_stems_from_the_calls_that_it_serves() -> None:
    before = outlines(relax("a = R.add(x, y)", "b = R.add(a, y)", "return b"))
    call = "R.call_tir(Module.add, ({0},), out_ty=" + TENSOR + ")"
    after = outlines(
        prim(COPY_SIGNATURE.replace("inc", "add"), *COPY),
        relax(f"a = {call.format('x, y')}", f"b = {call.format('a, y')}", "return b"),
    )
    found = [(old, why) for old, new, _, why in matched(before, after) if new == "add.prim func add"]
    assert found == [("main.binding a", "called by a"), ("main.binding b", "called by b")]


def test_a_function_with_another_name_is_found_by_its_body() -> None:
    found = matched(outlines(prim(COPY_SIGNATURE, *COPY)), outlines(prim(COPY_SIGNATURE.replace("inc", "inc1"), *COPY)))
    assert ("inc.prim func inc", "inc1.prim func inc1", "sure", "another name, same body") in found
    assert ("inc.block copy", "inc1.block copy", "sure", "same name") in found


def test_a_function_that_stays_is_not_taken_for_one_that_was_renamed() -> None:
    one, other = prim(COPY_SIGNATURE, *COPY), prim(COPY_SIGNATURE.replace("inc", "inc1"), *COPY)
    links = match_outlines(outlines(one), {"inc1": outlines(other)["inc1"]}, kept=("inc",))
    assert not links.of


def test_loops_and_stores_are_followed_when_blocks_and_names_go() -> None:
    flat = (
        "C = T.decl_buffer((4,), data=B.data)",
        "for i_0 in range(2):",
        "    for i_1 in T.vectorized(2):",
        "        C[i_0 * 2 + i_1] = A[i_0 * 2 + i_1] + T.float32(1.0)",
    )
    found = matched(outlines(prim(COPY_SIGNATURE, *COPY)), outlines(prim(COPY_SIGNATURE, *flat)))
    assert ("inc.parameter B", "inc.buffer C", "sure", "a view of B") in found
    assert ("inc.store B", "inc.store C", "sure", "same buffer and operations") in found
    assert ("inc.loop i", "inc.loop i_1", "likely", "around the same store") in found
    assert ("inc.loop i", "inc.loop i_0", "likely", "loop i was split") in found
    assert not any(old == "inc.block copy" for old, _, _, _ in found)


def test_the_half_for_a_device_stems_from_the_statements_that_it_was() -> None:
    host = prim(
        'inc(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"))', 'T.call_packed("inc_kernel", A.data, B.data)'
    )
    device = prim(COPY_SIGNATURE.replace("inc(", "inc_kernel("), *COPY)
    found = matched(outlines(prim(COPY_SIGNATURE, *COPY)), outlines(host, device))
    assert (
        "inc.prim func inc",
        "inc_kernel.prim func inc_kernel",
        "sure",
        "the part of @inc that runs on the device",
    ) in found
    assert ("inc.prim func inc", "inc.prim func inc", "sure", "same name") in found
    assert any(link[:2] == ("inc.store B", "inc_kernel.store B") for link in found)


def test_unrolled_statements_are_copies_of_one() -> None:
    unrolled = tuple(f"B[{i}] = A[{i}] + T.float32(1.0)" for i in range(4))
    found = matched(outlines(prim(COPY_SIGNATURE, *COPY)), outlines(prim(COPY_SIGNATURE, *unrolled)))
    assert [link[2:] for link in found if link[1] == "inc.store B"] == [
        ("likely", "same buffer and operations"),
        *[("likely", "a copy: same buffer and operations")] * 3,
    ]


def test_a_recursive_function_that_is_new_ends() -> None:
    before = outlines(relax("a = R.add(x, y)", "return a"))
    loop = relax("a = R.add(x, y)", "b = Module.loop(a, y)", "return b", name="loop")
    after = outlines(loop, relax("a = Module.loop(x, y)", "return a"))
    assert any(link[:2] == ("main.binding a", "loop.binding a") for link in matched(before, after))


def test_a_link_is_as_sure_as_the_weakest_on_the_way() -> None:
    assert weakest(("sure", "guess", "likely")) == "guess"
    assert weakest(()) == "sure"
    assert family_of("relax.nn.softmax") == family_of("softmax2") == "softmax"


def test_a_pair_is_free_on_both_sides() -> None:
    one, other, third = (
        Part("binding", name, next(iter(outlines(relax("return x")).values())).function.node, "f") for name in "abc"
    )
    links = Links()
    assert links.pair(one, other, "sure", "same name")
    assert not links.pair(one, third, "sure", "same name")
    assert links.origins_of(other) == tuple(links.of[other].values())
    assert isinstance(links.origins_of(other)[0], Link)
