"""The Partition page without a browser: tables, edits of patterns, lets, and Relax."""

import json

import pytest

from relax_core.engine.samples import list_samples, list_tables
from tests.views.pages import opened, sent_to
from views.state.selection import screen
from views.state.shared import ProgramState
from views.worker.tables import (
    patterns_of,
    supported_of,
    table_name,
    targets_of,
    with_new_pattern,
    with_operators,
    with_pattern,
    without_operator,
    without_pattern,
)

SEED = "relay/library_call_two.relay"
TEXTS = {item.path: item.text for item in list_samples()}


@pytest.mark.parametrize(
    ("sample", "name"),
    [(SEED, "my_library"), ("relay/conv_bn_relu.relay", "dnnl")],
    ids=["an attribute of calls", "operators"],
)
def test_the_table_that_fits_a_program_best_is_chosen(sample: str, name: str) -> None:
    assert table_name(ProgramState(), TEXTS[sample]) == name
    assert table_name(ProgramState(table="acl"), TEXTS[sample]) == "acl"
    assert table_name(ProgramState(table="no such"), TEXTS[sample]) == name


@pytest.mark.parametrize("name", [name for name, _ in list_tables()])
def test_a_pattern_is_replaced_in_its_place(name: str) -> None:
    table = dict(list_tables())[name]
    place = len(patterns_of(table)) - 1
    edited = with_pattern(table, place, patterns_of(table)[place][0], "wildcard()")
    assert patterns_of(edited)[place] == (patterns_of(table)[place][0], "wildcard()")
    assert patterns_of(edited)[:place] == patterns_of(table)[:place]
    assert targets_of(edited) == targets_of(table)
    assert with_pattern(table, place + 1, "a.b", "wildcard()") == table


@pytest.mark.parametrize("text", ["", "{", "[]", '{"patterns": 3}', '{"patterns": [["a"], 1, [1, 2]]}', "[" * 10**5])
def test_a_text_that_is_no_table_has_no_patterns(text: str) -> None:
    assert patterns_of(text) == ()
    assert targets_of(text) == ()
    assert with_pattern(text, 0, "a.b", "wildcard()") == text


TABLE = '{"title": "mine", "patterns": [["npu.a", "wildcard()"]], "supported": {"npu": ["add"], "dsp": ["tanh"]}}'


def test_patterns_are_added_under_names_of_their_own_renamed_and_removed() -> None:
    one = with_new_pattern(TABLE, "is_op('tanh')(wildcard())")
    two = with_new_pattern(one, "is_constant()")
    assert [name for name, _ in patterns_of(two)] == ["npu.a", "npu.pattern", "npu.pattern2"]
    renamed = with_pattern(two, 1, "npu.tanh", "is_op('tanh')(wildcard())")
    assert patterns_of(without_pattern(renamed, 0)) == (
        ("npu.tanh", "is_op('tanh')(wildcard())"),
        ("npu.pattern2", "is_constant()"),
    )
    assert json.loads(renamed)["title"] == "mine"
    assert without_pattern(TABLE, 1) == TABLE


def test_targets_take_operators_and_give_them_back() -> None:
    more = with_operators(TABLE, "npu", ("exp", "add"))
    assert supported_of(more) == (("npu", ("add", "exp")), ("dsp", ("tanh",)))
    assert supported_of(without_operator(more, "npu", "add")) == (("npu", ("exp",)), ("dsp", ("tanh",)))
    assert supported_of(without_operator(TABLE, "dsp", "tanh")) == (("npu", ("add",)), ("dsp", ()))
    assert supported_of(with_operators('{"patterns": [["npu.a", "wildcard()"]]}', "npu", ("add",))) == (
        ("npu", ("add",)),
    )


def test_the_page_shows_four_passes_after_the_source() -> None:
    view = sent_to(opened("partition", screen(sample=SEED)))["relaxscope_graph"][0]
    names = [label for _, label in view["steps"]]
    assert names == ["Source", "MergeComposite", "AnnotateTarget", "MergeCompilerRegions", "PartitionGraph"]
    assert (view["step"], view["tab"], view["path"]) == ("3", "main", [])


def test_the_shown_pair_is_a_path_from_a_region_to_a_region() -> None:
    view = sent_to(opened("partition", screen(sample=SEED, pair=0)))["relaxscope_graph"][0]
    start, between, end = view["path"]
    assert start
    assert between
    assert end
    assert len({*start, *between, *end}) == len([*start, *between, *end])


@pytest.mark.parametrize("pair", [7, -3], ids=["beyond the last", "negative"])
def test_a_pair_that_is_none_shows_no_path(pair: int) -> None:
    sent = sent_to(opened("partition", screen(sample=SEED, pair=pair, step=99)))
    assert sent["relaxscope_graph"][0]["path"] == []
    assert sent["relaxscope_regions"][0]["shown"] in (-1, pair)


def test_a_broken_pattern_keeps_the_tables_and_says_where_it_is_broken() -> None:
    table = dict(list_tables())["my_library"]
    broken = with_pattern(table, 0, "match_key", "is_op('add')(wildcard(")
    app = opened("partition", screen(sample=SEED, table_text=broken))
    view, _ = sent_to(app)["relaxscope_regions"]
    assert [problem["code"][:2] for problem in view["problems"]] == ["PT"]
    assert view["problems"][0]["line"] == 1
    assert view["patterns"] == [["match_key", "is_op('add')(wildcard("]]
    assert not app.error


def test_an_edited_pattern_is_tried() -> None:
    table = dict(list_tables())["my_library"]
    pattern = "wildcard()(wildcard(), wildcard()).has_attr({'match_key': 'my_library'})"
    edited = with_pattern(table, 0, "match_key", pattern)
    app = opened("partition", screen(sample=SEED, table_text=edited))
    _, model = sent_to(app)["relaxscope_regions"]
    assert [row["match_count"] for row in model["patterns"]] == [1]
    assert len(model["report"]["regions"]) == 1


def test_a_relax_module_is_partitioned() -> None:
    app = opened("partition", screen(sample="relax/partition_paths.py"))
    assert not app.error
    _, model = sent_to(app)["relaxscope_regions"]
    assert [item["name"] for item in model["stages"]] == ["FuseOpsByPattern", "MergeCompositeFunctions", "RunCodegen"]
    assert [item["name"] for item in model["report"]["regions"]] == ["cutlass 0", "cutlass 1", "gates 0", "cutlass 2"]
    assert table_name(ProgramState(), TEXTS["relax/partition_paths.py"]) == "relax_libraries"
    # Lets are Relay's.
    assert "partition.lets" not in [str(item.key) for item in app.selectbox]


def test_a_way_between_two_regions_of_relax_is_shown() -> None:
    app = opened("partition", screen(sample="relax/partition_paths.py", pair=0))
    view, _ = sent_to(app)["relaxscope_regions"]
    assert view["shown"] == 0
    marks, _ = sent_to(app)["relaxscope_graph"]
    assert marks["path"] == [["2/main/7"], ["2/main/11"], ["2/main/15"]]
    # The functions of regions are there as soon as these are merged.
    assert ["fused_relax_add1_cutlass", "@fused_relax_add1_cutlass"] in marks["tabs"]


def test_a_program_of_which_the_table_knows_nothing_has_no_region() -> None:
    app = opened("partition", screen(sample="relay/even_odd.relay", table="dnnl"))
    assert not app.error
    assert "relaxscope_regions" in sent_to(app)
