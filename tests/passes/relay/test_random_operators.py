"""Random numbers from a key: the cipher as its paper states it, on Python's integers, and what is made of its words."""

import math
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from tests.passes.relay.operator_cases import Array
from tests.passes.relay.running import agree, both, parsed

KEY = "%k: Tensor[(10), uint64]"
WORD = 2**64
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
FIRST = 1 << 63


def threefry(key: list[int], text: list[int]) -> list[int]:
    """Encipher four words in twenty rounds, word by word."""
    parity = 0x1BD11BDAA9FC1A22
    for word in key:
        parity ^= word
    wide, state = [*key, parity], list(text)
    for turn in range(20):
        if turn % 4 == 0:
            state = add_key(wide, state, turn // 4)
        for pair in (0, 1):
            a, b = state[2 * pair : 2 * pair + 2]
            by = ROTATIONS[turn % 8][pair]
            a = (a + b) % WORD
            state[2 * pair : 2 * pair + 2] = a, ((b << by | b >> (64 - by)) % WORD) ^ a
        state = [state[place] for place in (0, 3, 2, 1)]
    return add_key(wide, state, 5)


def add_key(wide: list[int], state: list[int], number: int) -> list[int]:
    added = [wide[(number + place) % 5] + (number if place == 3 else 0) for place in range(4)]
    return [(a + b) % WORD for a, b in zip(state, added, strict=True)]


def half(position: list[int]) -> list[int]:
    whole = (position[0] * WORD + position[1]) >> 1
    return [whole // WORD, whole % WORD]


def generate(key: Array, count: int) -> tuple[Array, Array]:
    words = [int(item) for item in key]
    advance = -(-count // 4) * 4
    if words[7] + advance >= WORD:
        words = moved_on(words)
    drawn: list[int] = []
    for block in range(advance // 4):
        drawn += threefry(words[:4], [*words[4:7], words[7] + 4 * block])
    words[7] += advance
    return np.array(words, "uint64"), np.array(drawn[:count], "uint64")


def moved_on(words: list[int]) -> list[int]:
    if not any(words[8:]):
        return [*threefry(words[:4], [WORD - 1] * 4), 0, 0, 0, 0, FIRST, 0]
    path = [a | b for a, b in zip(words[4:6], words[8:], strict=True)]
    return [*words[:4], *path, 0, 0, *half(words[8:])]


def split(key: Array) -> tuple[Array, Array]:
    words = [int(item) for item in key]
    path, position = words[4:6], words[8:]
    if any(position):
        turned = [a | b for a, b in zip(path, position, strict=True)]
        found = [[*words[:4], *way, *words[6:8], *half(position)] for way in (path, turned)]
    else:
        fresh = threefry(words[:4], words[4:8])
        found = [[*fresh, *way, 0, 0, FIRST >> 1, 0] for way in ([0, 0], [FIRST, 0])]
    return np.array(found[0], "uint64"), np.array(found[1], "uint64")


def fractions(key: Array, count: int, dtype: str) -> tuple[Array, Array]:
    """Put the high bits behind the point of a number between one and two, and subtract one."""
    behind, words = generate(key, count)
    if dtype == "float32":
        found = ((words.astype("uint32") >> 9) | np.uint32(127 << 23)).view("float32")
    else:
        found = ((words >> np.uint64(12)) | np.uint64(1023 << 52)).view("float64")
    return behind, found - found.dtype.type(1)


def normal(key: Array, shape: tuple[int, ...], mean: float, scale: float, dtype: str) -> tuple[Array, Array]:
    behind, found = fractions(key, 2 * math.prod(shape), dtype)
    first, second = found.reshape(2, *shape).astype("float64")
    return behind, mean + scale * np.sqrt(-2 * np.log(1 - first)) * np.sin(2 * np.pi * second)


def multinomial(key: Array, weights: Array, count: int) -> tuple[Array, Array]:
    """Look in each row for the first running sum that is greater than the sample."""
    rows = np.maximum(weights, 0).reshape(-1, weights.shape[-1]).astype("float32")
    behind, found = fractions(key, len(rows) * count, "float32")
    samples = found.reshape(len(rows), count)

    def place(row: Array, sample: float) -> int:
        running: Array = np.cumsum(row / row.sum())
        return next(k for k, total in enumerate(running) if total > sample)

    out = [[place(row, sample) for sample in taken] for row, taken in zip(rows, samples, strict=True)]
    return behind, np.array(out, "int32").reshape(*weights.shape[:-1], count)


def key(*words: int) -> Array:
    return np.array(words, "uint64")


NEW = key(*[0] * 8, FIRST, 0)
USED = key(1, 2, 3, WORD - 1, 5 << 61, 0, 0, 40, 1 << 60, 0)
FULL = key(7, 0, 0, 1, 9, FIRST, 0, WORD - 8, 0, 1)
AT_END = key(7, 0, 0, 1, 9, FIRST, 0, WORD - 2, 0, 0)
KEYS = {"a new key": NEW, "a used key": USED, "a counter without room": FULL, "a path without room": AT_END}
WEIGHTS = np.array([[1, 0, 3, 0.5], [0.25, -1, 0.25, 0.5]], "float32")


def drawn(text: str, *args: Any, params: str = KEY) -> Any:
    return rc.evaluate(parsed(f"def @main({params}) {{ {text} }}"), "main", *args)


def test_the_statement_gives_the_published_words() -> None:
    """The known answers of Random123 for threefry4x64 with 20 rounds."""
    assert [hex(item) for item in threefry([0] * 4, [0] * 4)] == [
        "0x9218ebde6c85537", "0x55941f5266d86105", "0x4bd25e16282434dc", "0xee29ec846bd2e40b",
    ]  # fmt: skip
    assert [hex(item) for item in threefry([WORD - 1] * 4, [WORD - 1] * 4)] == [
        "0x29c24097942bba1b", "0x371bbfb0f6f4e11", "0x3c231ffa33f83a1c", "0xcd29113fde32d168",
    ]  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("count", [1, 6, 16])
def test_words_are_those_of_the_cipher(name: str, count: int) -> None:
    found = drawn(f"random.threefry_generate(%k, out_shape=[{count}])", KEYS[name])
    for a, b in zip(found, generate(KEYS[name], count), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", KEYS)
def test_a_split_key_goes_both_ways(name: str) -> None:
    found = drawn("random.threefry_split(%k)", KEYS[name])
    for a, b in zip(found, split(KEYS[name]), strict=True):
        assert np.array_equal(a, b)


def test_many_splits_and_draws_never_meet() -> None:
    text = "let %s = random.threefry_split(%k); (%s.0, %s.1, random.threefry_generate(%s.0, out_shape=[2]))"
    module = parsed(f"def @main({KEY}) {{ {text} }}")
    # Of the 128 steps of a path six are left.
    at, seen = key(*[0] * 8, 0, 1 << 5), set[bytes]()
    for _ in range(9):
        left, right, (_, words) = rc.evaluate(module, "main", at)
        assert not {left.tobytes(), right.tobytes(), words.tobytes()} & seen
        seen |= {left.tobytes(), right.tobytes(), words.tobytes()}
        at = right
    assert at[:4].any(), "the key changes where the path is full"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers_lie_between_the_bounds(dtype: str) -> None:
    bounds = f"{KEY}, %a: {dtype}, %b: {dtype}"
    text = f'random.uniform(%k, %a, %b, out_shape=[3, 200], out_dtype="{dtype}")'
    behind, found = drawn(text, USED, np.array(-2, dtype), np.array(3, dtype), params=bounds)
    wanted_key, wanted = fractions(USED, 600, dtype)
    assert found.dtype == dtype
    assert np.array_equal(behind, wanted_key)
    agree(found, wanted.reshape(3, 200) * 5 - 2)
    assert -2 <= found.min() < -1.9
    assert 2.9 < found.max() < 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_have_the_mean_and_the_scale(dtype: str) -> None:
    text = f'random.normal(%k, 1f, 2f, out_shape=[2, 1500], out_dtype="{dtype}")'
    behind, found = drawn(text, NEW)
    wanted_key, wanted = normal(NEW, (2, 1500), 1, 2, dtype)
    assert np.array_equal(behind, wanted_key)
    agree(found, wanted)
    assert abs(found.mean() - 1) < 0.1
    assert abs(found.std() - 2) < 0.1


@pytest.mark.parametrize("weights", [WEIGHTS, WEIGHTS[0], WEIGHTS[None]], ids=["rows", "one row", "three axes"])
def test_samples_are_drawn_by_their_weights(weights: Array) -> None:
    sizes = ", ".join(map(str, weights.shape))
    params = f"{KEY}, %a: Tensor[({sizes}{',' * (weights.ndim == 1)}), float32]"
    behind, found = drawn("random.multinomial(%k, %a, num_samples=400)", USED, weights, params=params)
    wanted_key, wanted = multinomial(USED, weights, 400)
    assert np.array_equal(behind, wanted_key)
    assert found.dtype == "int32"
    assert np.array_equal(found, wanted)
    rows = found.reshape(-1, 400)
    assert not (rows == 1).any(), "a weight of zero, or below, is never drawn"


MACHINE = {
    "words": (KEY, "random.threefry_generate(%k, out_shape=[2, 3])", (FULL,)),
    "a split": (KEY, "random.threefry_split(%k)", (AT_END,)),
    "normal": (KEY, 'random.normal(%k, 0f, 1f, out_shape=[5], out_dtype="float64")', (USED,)),
    "samples": (f"{KEY}, %a: Tensor[(2, 4), float32]", "random.multinomial(%k, %a, num_samples=3)", (USED, WEIGHTS)),
}


@pytest.mark.parametrize("name", MACHINE)
def test_the_machine_draws_the_same(name: str) -> None:
    params, text, args = MACHINE[name]
    both(f"def @main({params}) {{ {text} }}", *args)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('random.uniform(%k, 0f, 1f, out_shape=[2], out_dtype="float16")', "float16, neither float32 nor float64"),
        ("random.threefry_generate(%k, out_shape=[0])", "has no element"),
    ],
)
def test_what_has_no_meaning_is_refused(text: str, words: str) -> None:
    with pytest.raises(RunError, match=words):
        drawn(text, NEW)
