"""Pictures as tensors: channels, their order and their range are those that the parameter has."""

from io import BytesIO
from typing import Any, Final, NamedTuple

import numpy as np
from PIL import Image

from relax_core.engine.archives import DAMAGED, words_of
from relax_core.engine.input_files.kinds import PICTURES
from relax_core.engine.input_files.misfits import known_dims, misfit, refuse
from relax_core.engine.npy import Array
from relax_core.ir.expr import TensorType, Var

PIXEL_LIMIT: Final = 1 << 24
"""Of one picture, such as 4096 × 4096: a few bytes can claim any number."""
_LAYOUTS: Final = ((2, ("HW",)), (3, ("CHW", "HWC")), (4, ("NCHW", "NHWC")))
"""By rank; where both fit, as with symbolic dimensions, the first is taken."""
_MODES: Final = ((1, "L"), (3, "RGB"), (4, "RGBA"))
_WORDS: Final = ((1, "gray"), (3, "RGB"), (4, "RGBA"))


class Given(NamedTuple):
    """An array for a parameter, and what was done to a file to come to it."""

    array: Array
    words: str


def picture_array(title: str, content: bytes, type_: TensorType, param: Var) -> Given:
    """Decode a picture for a parameter of `type_`: of rank 2 to 4, with 1, 3 or 4 channels, as gray, RGB or RGBA.

    The numbers stay as they are for integers; for floats they are divided by the largest, so that they are from 0 to 1.

    Raises:
        RunError: EN036 if the picture cannot be read, EN037 if the parameter has another size or cannot hold it.
    """
    try:
        # Opening reads the header alone; pixels are decoded when they are asked for.
        image = Image.open(BytesIO(content), formats=tuple(PICTURES))
        if image.width * image.height > PIXEL_LIMIT:
            size = f"{image.width} × {image.height} pixels, at most {PIXEL_LIMIT:,} are read"
            refuse(f"the picture {title} has {size}", param)
        layout, channels = _layout(title, image, type_, param)
        pixels = np.asarray(image if _is_deep(image) else image.convert(dict(_MODES)[channels]))
    except (*DAMAGED, Image.DecompressionBombError, SyntaxError) as error:
        refuse(f"the picture {title} cannot be read: {words_of(error)}", param)
    pixels, dtype = pixels.reshape(image.height, image.width, channels), np.dtype(type_.dtype or "float32")
    largest = 65535 if _is_deep(image) else 255
    array = _ordered(_converted(title, pixels, dtype, largest, param), layout)
    scaled = f", divided by {largest}" if dtype.kind in "fV" else ""
    words = f"{dict(_WORDS)[channels]}, {image.width} × {image.height} pixels as {layout}{scaled}"
    return Given(array, words)


def _is_deep(image: Image.Image) -> bool:
    """Tell whether it is a gray picture of 16 bits, which Pillow would cut off at 255."""
    return image.mode.startswith("I")


def _own_channels(image: Image.Image) -> int:
    if image.mode in ("1", "L") or _is_deep(image):
        return 1
    return 4 if image.has_transparency_data else 3


def _layout(title: str, image: Image.Image, type_: TensorType, param: Var) -> tuple[str, int]:
    """Return in which order the axes are, and how many channels the picture gets."""
    dims, rank = known_dims(type_), type_.ndim
    layouts = dict(_LAYOUTS).get(3 if rank is None else rank, ())
    if not layouts:
        misfit(f"the picture {title}", param, "a picture is a tensor of rank 2, 3 or 4")
    found: list[str] = []
    for layout in layouts:
        wanted = dict(zip(layout, dims or (None,) * len(layout), strict=True))
        channels = wanted.get("C") or (1 if "C" not in layout else _own_channels(image))
        sizes = {"N": 1, "C": channels, "H": image.height, "W": image.width}
        if channels in dict(_MODES) and not (_is_deep(image) and channels != 1):
            if all(size in (None, sizes[axis]) for axis, size in wanted.items()):
                return layout, channels
            found.append(f"{tuple(sizes[axis] for axis in layout)} as {layout}")
    size = f"{image.width} × {image.height} pixels"
    shapes = f": {' or '.join(found)}" if found else ""
    misfit(f"the picture {title}, {size}{shapes},", param, "a parameter takes a picture of exactly its size")


def _converted(title: str, pixels: Array, dtype: "np.dtype[Any]", largest: int, param: Var) -> Array:
    if dtype.kind in "fV":
        return (pixels.astype(np.float32) / largest).astype(dtype)
    if dtype.kind not in "iu" or np.iinfo(dtype).max < largest:
        misfit(
            f"the picture {title}, with numbers from 0 to {largest},", param, "its dtype does not hold these numbers"
        )
    return pixels.astype(dtype)


def _ordered(pixels: Array, layout: str) -> Array:
    """Return pixels `(H, W, C)` in another order of axes."""
    if layout == "HW":
        return pixels[..., 0]
    ordered = np.ascontiguousarray(np.moveaxis(pixels, -1, 0)) if layout.endswith("CHW") else pixels
    return ordered[np.newaxis] if layout.startswith("N") else ordered
