"""Pictures, texts and arrays as the arguments of a function: what fits, what is made of it, and what is refused."""

import json
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from safetensors.numpy import save

from relax_core.engine.debug.replies import ReadInputs
from relax_core.engine.debug.requests import InputFile, InputsOf
from relax_core.engine.input_files import images
from relax_core.engine.inputs import read_members, write_members
from relax_core.engine.protocol import Execute, Failure, Program
from relax_core.engine.session import Session

PIXELS = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
"""A picture of 3 × 2 pixels: `(H, W, C)`."""
ENGINE = Session()


def program(**types: str) -> Program:
    params = ", ".join(f"{name}: {type_}" for name, type_ in types.items())
    return Program(f"@R.function\ndef main({params}):\n    return {next(iter(types))}\n", "m.py")


def png(pixels: Any = PIXELS, **options: Any) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **options)
    return file.getvalue()


def read(asked: Program, *files: InputFile, vocabulary: str = "") -> ReadInputs:
    found = ENGINE.request(InputsOf(asked, files, vocabulary.encode()))
    assert isinstance(found, ReadInputs), found
    return found


def refused(asked: Program, *files: InputFile, vocabulary: str = "") -> tuple[str, str, int]:
    """Return the code, the message and the line of the reason why files are not read."""
    found = ENGINE.request(InputsOf(asked, files, vocabulary.encode()))
    assert isinstance(found, Failure)
    (problem,) = found.problems
    return problem.code, problem.message, problem.line


GRAY = PIXELS[..., 0]
RGB_AS = (
    ('R.Tensor((1, 3, 2, 3), "float32")', "NCHW", PIXELS.transpose(2, 0, 1)[None] / np.float32(255)),
    ('R.Tensor((3, "h", "w"), "uint8")', "CHW", PIXELS.transpose(2, 0, 1)),
    ('R.Tensor((2, 3, 3), "int64")', "HWC", PIXELS),
    ('R.Tensor(("n", 2, 3, 3), "float64")', "NHWC", PIXELS[None].astype("float32") / np.float32(255)),
)


@pytest.mark.parametrize(("type_", "layout", "expected"), RGB_AS, ids=[layout for _, layout, _ in RGB_AS])
def test_the_shape_of_the_parameter_orders_the_axes_of_a_picture(type_: str, layout: str, expected: Any) -> None:
    found = read(program(x=type_), InputFile("photo.png", png()))
    array = read_members(found.archive)["in_0"]
    assert array.dtype.name in type_
    assert np.array_equal(array, expected.astype(array.dtype))
    assert f"RGB, 3 × 2 pixels as {layout}" in found.rows[0].words


@pytest.mark.parametrize(
    ("pixels", "type_", "expected", "words"),
    [
        (GRAY, 'R.Tensor((2, 3), "uint8")', GRAY, "gray, 3 × 2 pixels as HW"),
        (GRAY.astype(np.uint16) * 257, 'R.Tensor((2, 3), "float32")', GRAY / np.float32(255), "divided by 65535"),
        (
            np.dstack([PIXELS, GRAY]),
            'R.Tensor(ndim=3, dtype="uint8")',
            np.dstack([PIXELS, GRAY]).transpose(2, 0, 1),
            "RGBA",
        ),
        (GRAY, 'R.Tensor((3, 2, 3), "uint8")', np.stack([GRAY] * 3), "RGB"),
    ],
    ids=["gray", "gray of 16 bits", "transparent", "gray for three channels"],
)
def test_a_picture_has_the_channels_of_the_parameter(pixels: Any, type_: str, expected: Any, words: str) -> None:
    found = read(program(x=type_), InputFile("photo.png", png(pixels)))
    assert np.array_equal(read_members(found.archive)["in_0"], expected)
    assert words in found.rows[0].words


TEXTS = (
    ("bytes", 'R.Tensor(("n",), "int64")', "hé\n", "", [104, 195, 169], "3 bytes of UTF-8"),
    (
        "bytes that are filled up",
        'R.Tensor((1, 4), "uint8")',
        "hi",
        "",
        [[104, 105, 0, 0]],
        "2 bytes of UTF-8, then 2 zeros",
    ),
    (
        "words",
        'R.Tensor(("n",), "int32")',
        "the cats  sat",
        "the\ncat\ncats\nsat\n",
        [0, 2, 3],
        "3 tokens of the vocabulary",
    ),
    ("unknown words", 'R.Tensor(("n",), "int32")', "a-b", '{"a": 7, "b": 9, "<unk>": 1}', [7, 1, 9], "3 tokens"),
    (
        "a tokenizer",
        'R.Tensor(("n",), "int32")',
        "ba",
        json.dumps({"model": {"vocab": {"a": 3, "b": 4}}}),
        [4, 3],
        "2 tokens",
    ),
)


@pytest.mark.parametrize(
    ("type_", "text", "vocabulary", "numbers", "words"), [item[1:] for item in TEXTS], ids=[item[0] for item in TEXTS]
)
def test_a_text_becomes(type_: str, text: str, vocabulary: str, numbers: list[Any], words: str) -> None:
    found = read(program(x=type_), InputFile("words.txt", text.encode()), vocabulary=vocabulary)
    array = read_members(found.archive)["in_0"]
    assert (array.tolist(), array.dtype.name in type_) == (numbers, True)
    assert words in found.rows[0].words


THREE = program(
    image='R.Tensor((3, "h", "w"), "float32")',
    tokens='R.Tensor(("h",), "int32")',
    weight='R.Tensor(("h", "w"), "float32")',
)


def test_files_go_to_the_parameters_that_they_are_named_after_or_that_take_them() -> None:
    weight = np.ones((2, 3), np.float32)
    files = (
        InputFile("weight.safetensors", save({"x": weight}), "weight"),
        InputFile("a.txt", b"hi"),
        InputFile("b.png", png()),
    )
    found = read(THREE, *files)
    assert [(row.param, row.file) for row in found.rows] == [
        ("image", "b.png"),
        ("tokens", "a.txt"),
        ("weight", "weight.safetensors"),
    ]
    assert [array.shape for _, array in sorted(read_members(found.archive).items())] == [(3, 2, 3), (2,), (2, 3)]


def test_what_has_no_file_is_made_up_of_the_sizes_that_the_files_have() -> None:
    found = read(THREE, InputFile("tokens.txt", b"four"))
    assert [row.value for row in found.rows] == ["(3, 4, 3) float32", "(4,) int32", "(4, 3) float32"]
    ran = ENGINE.request(Execute(Program(THREE.text, inputs=found.archive)))
    assert not isinstance(ran, Failure)
    assert not ran.problems


def test_an_archive_is_for_all_that_it_names() -> None:
    archive = write_members({"image": np.zeros((3, 1, 2), np.float32), "tokens": np.array([5], np.int32)})
    found = read(THREE, InputFile("in.npz", archive), InputFile("weight.npy", b"\x93NUMPY" + npy_rest()))
    assert [row.file for row in found.rows] == ["in.npz", "in.npz", "weight.npy"]


def npy_rest() -> bytes:
    file = BytesIO()
    np.save(file, np.zeros((1, 2), np.float32))
    return file.getvalue()[6:]


def test_shapes_and_tuples_are_made_up_beside_a_file() -> None:
    asked = program(x='R.Tensor((2, 3), "uint8")', t='R.Tuple(R.Shape(["n"]), R.Tensor(("n",), "float32"))')
    found = read(asked, InputFile("x.png", png(GRAY)))
    assert sorted(read_members(found.archive)) == ["in_0", "in_1_0", "in_1_1"]
    assert not isinstance(ENGINE.request(Execute(Program(asked.text, inputs=found.archive))), Failure)


X = 'R.Tensor((1, 3, 4, 4), "float32")'
TOKENS = 'R.Tensor((2,), "int8")'
REFUSED = (
    (
        "a picture of another size",
        X,
        "x.png",
        png(),
        "EN037",
        "3 × 2 pixels: (1, 3, 2, 3) as NCHW or (1, 2, 3, 4) as NHWC",
    ),
    (
        "a picture for a vector",
        'R.Tensor((4,), "float32")',
        "x.png",
        png(),
        "EN037",
        "fit the parameter `x`, which is (4,) f32",
    ),
    (
        "a picture for small integers",
        'R.Tensor((2, 3, 3), "int8")',
        "x.png",
        png(),
        "EN037",
        "with numbers from 0 to 255, does",
    ),
    ("a picture that is cut off", "R.Tensor(ndim=3)", "x.png", png()[:-30], "EN036", "cannot be read"),
    ("a text for floats", X, "x.txt", b"hi", "EN037", "fit the parameter `x`, which is (1, 3, 4, 4) f32"),
    (
        "a text that is too long",
        TOKENS,
        "x.txt",
        b"long",
        "EN037",
        "4 bytes of UTF-8, does not fit the parameter `x`, which is (2,) i8",
    ),
    ("bytes that are too large", TOKENS, "x.txt", "é".encode(), "EN037", "with numbers from 169 to 195"),
    ("no bytes", TOKENS, "x.npz", b"", "EN004", "`x.npz` is empty: it has no bytes at all"),
    ("bytes that are nothing", TOKENS, "x.bin", b"\xfe\x00", "EN036", "`x.bin` is no array, no picture and no text"),
    ("a text for a scalar", 'R.Prim("int64")', "x.txt", b"7", "EN037", "which is Prim i64"),
    (
        "an archive with another name",
        TOKENS,
        "x.npz",
        write_members({"y": np.zeros(2)}),
        "EN004",
        "`x.npz` has `y`, which no parameter takes",
    ),
    (
        "a text for another parameter",
        X,
        "y.txt",
        b"hi",
        "EN037",
        "`y.txt` is for no parameter: none that is left is a tensor of integers",
    ),
)


@pytest.mark.parametrize(
    ("type_", "name", "content", "code", "words"), [item[1:] for item in REFUSED], ids=[item[0] for item in REFUSED]
)
def test_what_does_not_fit_is_told(type_: str, name: str, content: bytes, code: str, words: str) -> None:
    found_code, message, line = refused(program(x=type_), InputFile(name, content))
    assert (found_code, words in message) == (code, True), message
    # What is about a parameter stands where it is declared.
    assert line == (2 if "`x`" in message or code == "EN036" else 0)


VOCABULARIES = (
    ("a list", "[1, 2]", "`h` in line 1, column 1 of the text `x.txt` begins no token"),
    ("no numbers", '{"h": "i"}', "no JSON object of numbers by token"),
    ("nothing", "\n", "the vocabulary has 0 tokens"),
    ("not this letter", "h\nj", "`i` in line 1, column 2"),
)


@pytest.mark.parametrize(
    ("vocabulary", "words"), [item[1:] for item in VOCABULARIES], ids=[item[0] for item in VOCABULARIES]
)
def test_a_vocabulary_that_does_not_do_is_told(vocabulary: str, words: str) -> None:
    code, message, line = refused(program(x=TOKENS), InputFile("x.txt", b"hi"), vocabulary=vocabulary)
    assert (code, words in message, line) == ("EN036", True, 2), message


def test_a_picture_that_claims_too_many_pixels_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "PIXEL_LIMIT", 5)
    code, message, _ = refused(program(x="R.Tensor(ndim=3)"), InputFile("x.png", png()))
    assert (code, message) == ("EN036", "the picture `x.png` has 3 × 2 pixels, at most 5 are read")


def test_inputs_that_no_request_holds_are_refused() -> None:
    asked = program(x='R.Tensor(("n", "n"), "float64")')
    code, message, _ = refused(asked, InputFile("x.png", png(np.zeros((1500, 1500), np.uint8))))
    assert (code, "18.0 MB together" in message) == ("EN016", True), message


@given(st.data())
def test_a_damaged_picture_is_a_picture_or_a_diagnostic(data: st.DataObject) -> None:
    content = bytearray(png())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(8, len(content) - 1))] = data.draw(st.integers(0, 255))
    found = ENGINE.request(InputsOf(program(x="R.Tensor(ndim=3)"), (InputFile("x.png", bytes(content)),)))
    assert isinstance(found, ReadInputs) or [item.code for item in found.problems] in (["EN036"], ["EN037"])
