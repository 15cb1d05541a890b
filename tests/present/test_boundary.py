"""The Run page says what crosses the boundary to an external function."""

from pathlib import Path

import numpy as np

import relax_core as rc
from relax_core.engine.protocol import Program, RunOf
from relax_core.engine.session import Session
from relax_core.present.regions.boundary import boundary_of
from relax_core.present.running.run_models import Run

SAMPLES = Path(__file__).parents[2] / "samples"
TEXT = (SAMPLES / "relay" / "partition_branches.relay").read_text(encoding="utf-8")
TABLES = (SAMPLES / "patterns" / "dnnl.json").read_text(encoding="utf-8")
PASSES = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph"


def test_a_partitioned_program_runs_and_its_calls_name_target_arguments_and_bytes() -> None:
    module = rc.parse(TEXT, "m.relay")
    partitioned = rc.run_pipeline(module, PASSES, tables=rc.read_tables(TABLES))[-1].after
    executable = rc.build(partitioned)
    words = [found.words for entry in executable.functions if (found := boundary_of(entry)) is not None]
    assert words == [
        "across the boundary to dnnl: 3 arguments, 1.6 kB in, 1.0 kB out",
        "across the boundary to dnnl: 3 arguments, 2.6 kB in, 256 B out",
        "across the boundary to dnnl: 1 argument, 256 B in, 16 B out",
    ]
    rng = np.random.default_rng(0)
    shapes = ((1, 4, 8, 8), (4, 4, 3, 3), (4,), (4, 4, 3, 3))
    args = [(rng.standard_normal(shape) * 0.1).astype("float32") for shape in shapes]
    found = rc.VirtualMachine(executable)["main"](*args)
    np.testing.assert_allclose(found, rc.evaluate(module, "main", *args), rtol=1e-4)


def test_the_run_of_a_partitioned_program_says_so() -> None:
    run = Session().request(RunOf(Program(TEXT, "m.relay", pipeline=f"{PASSES}, RelayToRelax", tables=TABLES)))
    assert isinstance(run, Run), run
    said = "across the boundary to dnnl: 3 arguments, 1.6 kB in, 1.0 kB out"
    assert said in repr(run)


def test_the_two_calls_of_the_thread_run() -> None:
    text = (SAMPLES / "relay" / "library_call_two.relay").read_text(encoding="utf-8")
    tables = rc.read_tables((SAMPLES / "patterns" / "my_library.json").read_text(encoding="utf-8"))
    module = rc.parse(text, "m.relay")
    partitioned = rc.run_pipeline(module, PASSES, tables=tables)[-1].after
    assert rc.VirtualMachine(rc.build(partitioned))["main"]() == rc.evaluate(module)


def test_a_partitioned_program_of_relax_says_what_crosses() -> None:
    module = rc.parse((SAMPLES / "relax" / "partition_paths.py").read_text(encoding="utf-8"))
    tables = rc.read_tables((SAMPLES / "patterns" / "relax_libraries.json").read_text(encoding="utf-8"))
    passes = "FuseOpsByPattern, MergeCompositeFunctions, RunCodegen"
    executable = rc.build(rc.run_pipeline(module, passes, tables=tables)[-1].after)
    words = [found.words for entry in executable.functions if (found := boundary_of(entry)) is not None]
    assert sorted(words) == [
        "across the boundary to cutlass: 2 arguments, 1.3 kB in, 256 B out",
        "across the boundary to cutlass: 2 arguments, 512 B in, 256 B out",
        "across the boundary to cutlass: 3 arguments, 704 B in, 256 B out",
        "across the boundary to gates: 1 argument, 256 B in, 256 B out",
    ]
