"""Look into a function that is new where it is called: what it does is what was done there."""

from relax_core.analysis.matching.links import Confidence
from relax_core.analysis.matching.parts import VALUES, Outline, Part, ancestors
from relax_core.analysis.matching.sides import Sides, parts_within, shape_of


def look_into(sides: Sides, call: Part, made: Outline) -> None:
    """Match what is in `made`, a function of the module or one that is written there, with what was done at `call`."""
    is_local = made.function.parent is not None
    operands = call.operands[1:] if is_local else call.operands
    sides.argument = dict(zip(made.parameters, operands, strict=False))
    sides.inside = {}
    why = f"inside @{made.name}" if made.name else "inside the function that is called"
    own = sides.links.counterpart.get(call)
    for part in made.parts[1:]:
        if part.kind == "function":
            # What it makes and returns is what it was made for, and is matched as such.
            if not (
                is_local or part in sides.links.counterpart or any(part in items for items in made.function.results)
            ):
                _match_moved(sides, part, made)
            continue
        if part.kind not in VALUES or _function_around(part) is not made.function:
            # What a function that it makes will do is not done yet.
            continue
        paired = sides.links.counterpart.get(part) if is_local else None
        found = (paired,) if paired is not None else sides.free(sides.key_of(part), part, own)
        if found:
            best = next((item for item in found if item.name == part.name), found[0])
            confidence: Confidence = "sure" if len(found) == 1 else "likely"
            sides.inside[part] = best
            sides.links.taken.setdefault(best, part)
            sides.links.counterpart.setdefault(part, best)
            sides.links.link(best, part, confidence, f"same operator and operands, {why}")
            sides.links.link(best, call, confidence, why)
            if is_local:
                sides.links.link(best, made.function, confidence, why)
    _link_interface(sides, call, made)
    sides.argument, sides.inside = {}, {}


def _match_moved(sides: Sides, function: Part, made: Outline) -> None:
    """Match a function that is written in `made` with one before that has the same parts, and these with each other."""
    parts = parts_within(function, made.parts, made.parts.index(function))
    for olds in sides.local_functions.get(shape_of(parts), ()):
        if not any(item in sides.links.taken for item in olds):
            for one, other in zip(olds, parts, strict=True):
                sides.links.pair(one, other, "sure", "same parameters and operators")
            return


def _function_around(part: Part) -> Part | None:
    return next((item for item in ancestors(part) if item.kind == "function"), None)


def _link_interface(sides: Sides, call: Part, made: Outline) -> None:
    """Link the parameters to the arguments, and what is returned to what the call was."""
    links = sides.links
    words = f"argument of @{made.name}" if made.name else "argument of the function"
    for part in made.parameters:
        value = sides.known(part)
        if isinstance(value, Part) and made.function not in links.counterpart and part not in links.counterpart:
            links.link(value, part, "sure", words)
    result = next((item for items in made.function.results for item in items), None)
    value = sides.known(result) if result is not None else None
    if isinstance(value, Part):
        links.counterpart.setdefault(call, value)
        for part in made.parts if made.function not in links.counterpart else ():
            if part.kind == "result" and part.parent is made.function:
                links.link(value, part, "sure", "returned")
