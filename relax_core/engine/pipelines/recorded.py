"""The stages of a recorded pipeline as programs, which run, are checked and are compared as any other."""

import msgspec

from relax_core.engine.debug.requests import (
    BisectOf,
    BisectRecordedOf,
    Parcel,
)
from relax_core.engine.pipelines.calls.results import recorded_results
from relax_core.engine.pipelines.constants import constants_archive, inputs_archive, read_constants
from relax_core.engine.pipelines.entries import fail
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage
from relax_core.engine.pipelines.sources import open_given
from relax_core.engine.programs.program import Program


def opened(parcel: Parcel) -> Pipeline:
    """Open a recording that was sent.

    Raises:
        CompileError: PL001 to PL005: it holds no stages, or they cannot be read. PL007: the constants do not fit.
        RunError: the archive of constants cannot be read.
    """
    pipeline = open_given(((parcel.name, parcel.content),))
    return pipeline.with_constants(read_constants(parcel.constants)) if parcel.constants else pipeline


def program_of(pipeline: Pipeline, stage: RecordedStage, options: Program) -> Program:
    """Return the text of a stage with its constants as a program that is entered and run as `options` says."""
    constants = constants_archive(pipeline.constants(stage))
    return msgspec.structs.replace(options, text=stage.text or "", name=stage.name, constants=constants)


def first_program(pipeline: Pipeline, options: Program) -> Program:
    """Return the first form of the program, by which arguments are made, as one that takes none of its own.

    Raises:
        CompileError: PL001: the pipeline holds no form of a program.
    """
    first = next(iter(pipeline.forms()), None)
    if first is None:
        fail("PL001", "the recording holds no form of a program")
    return program_of(pipeline, first, msgspec.structs.replace(options, inputs=None))


def with_recorded_inputs(pipeline: Pipeline, options: Program) -> Program:
    """Return `options` with the inputs of the first recorded run, of the entry function if it names one.

    What it has itself stays: inputs, or sizes for made-up ones. Of that run are the recorded results, too, that
    stand in for packed functions.

    Raises:
        CompileError: PL014: recorded results are asked for, and there are none.
    """
    wanted = [item.name for item in options.stand_ins if item.how == "recorded"]
    if wanted and not options.recorded:
        options = msgspec.structs.replace(options, recorded=recorded_results(pipeline, wanted, options.entry))
    run = next((item for item in pipeline.runs if options.entry in ("", item.entry)), None)
    if options.inputs is not None or options.sizes or run is None:
        return options
    return msgspec.structs.replace(options, entry=run.entry, inputs=inputs_archive(run))


def bisect_of(message: BisectRecordedOf, pipeline: Pipeline) -> BisectOf:
    """Return the request to bisect the forms of the program, the first one being the reference.

    Raises:
        CompileError: PL001: the pipeline holds no module.
    """
    options = with_recorded_inputs(pipeline, message.options)
    archives: dict[tuple[str, ...], bytes] = {}
    programs: list[Program] = []
    for stage in pipeline.forms():
        keys = tuple(entry.key for entry in stage.constants)
        if keys not in archives:
            archives[keys] = constants_archive(pipeline.constants(stage))
        made = msgspec.structs.replace(options, text=stage.text or "", name=stage.name)
        programs.append(msgspec.structs.replace(made, constants=archives[keys]))
    if not programs:
        fail("PL001", "the pipeline holds no form of a program")
    numbers = tuple(stage.number for stage in pipeline.forms())
    return BisectOf(
        programs[0], tuple(programs[1:]), message.closeness, message.budget, numbers, message.until, message.ahead
    )
