"""Where a packed function's declaration is found: the library's table, what the host added, and further sources.

The names are those of PyTorch's native functions with "libtorch_" before them; `_out` functions write their result
into a tensor that the caller gives.
"""

import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from relax_core.ops.packed import results, runtime_functions
from relax_core.ops.packed.spec import AtLeast, AxisLimit, Choice, PackedSpec, spec_of

_APPROXIMATE = Choice("approximate", ("none", "tanh"))
_DIM = AxisLimit("dim")

SPECS: tuple[PackedSpec, ...] = (
    spec_of("libtorch_add_out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
            "Writes self + alpha * other.", infer=results.broadcast("self", "other")),
    spec_of("libtorch_add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "self + alpha * other.", infer=results.broadcast("self", "other")),
    spec_of("libtorch_gelu_out(Tensor self, *, str approximate='none', Tensor(a!) out) -> Tensor(a!)",
            "Writes the Gaussian error linear unit, exact or by tanh.", limits=(_APPROXIMATE,), infer=results.like()),
    spec_of("libtorch_gelu(Tensor self, *, str approximate='none') -> Tensor",
            "The Gaussian error linear unit, exact or by tanh.", limits=(_APPROXIMATE,), infer=results.like()),
    spec_of("libtorch_leaky_relu_out(Tensor self, Scalar negative_slope=0.01, *, Tensor(a!) out) -> Tensor(a!)",
            "Writes self where it is positive, else negative_slope * self.", infer=results.like()),
    spec_of("libtorch_clamp_out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)",
            "Writes self kept between min and max.", infer=results.like()),
    spec_of("libtorch_fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)",
            "Sets every element of self, in place.", infer=results.like()),
    spec_of("libtorch_where(Tensor condition, Tensor self, Tensor other) -> Tensor",
            "self where the condition holds, else other.", infer=results.broadcast("condition", "self", "other")),
    spec_of("libtorch_softmax(Tensor self, int[1] dim, ScalarType? dtype=None) -> Tensor",
            "The softmax over one axis or a list of axes.", limits=(_DIM,), infer=results.like()),
    spec_of("libtorch_sum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
            "The sum over all axes, or over those of a list.", limits=(_DIM,), infer=results.reduced(widens=True)),
    spec_of("libtorch_mean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
            "The mean over all axes, or over those of a list.", limits=(_DIM,), infer=results.reduced()),
    spec_of("libtorch_any(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
            "Whether an element is not zero.", limits=(_DIM,), infer=results.reduced("bool")),
    spec_of("libtorch_norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False) -> Tensor",
            "The p-norm over all axes, or over those of a list.", limits=(_DIM,), infer=results.reduced()),
    spec_of("libtorch_cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
            "The running sum along an axis.", limits=(_DIM,), infer=results.running_type),
    spec_of("libtorch_unique(Tensor self, *, bool sorted=True, bool return_inverse=False, bool return_counts=False)"
            " -> (Tensor, Tensor?, Tensor?)",
            "The different elements; if asked for, where each went, and how often it occurs.",
            infer=results.unique_type),
    spec_of("libtorch_topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True)"
            " -> (Tensor values, Tensor indices)",
            "The k largest or smallest elements along an axis, and their positions.",
            limits=(_DIM, AtLeast("k", 0)), infer=results.topk_type),
    spec_of("libtorch_cat(Tensor[] tensors, int dim=0) -> Tensor",
            "Tensors one after the other along an axis.", limits=(AxisLimit("dim", "tensors"),),
            infer=results.cat_type),
    spec_of("libtorch_stack(Tensor[] tensors, int dim=0) -> Tensor",
            "Tensors along a new axis.", limits=(AxisLimit("dim", "tensors", 1),), infer=results.stack_type),
    spec_of("libtorch_split(Tensor self, int split_size, int dim=0) -> Tensor[]",
            "Pieces of a size along an axis; the last may be smaller.", limits=(_DIM, AtLeast("split_size", 1))),
    spec_of("libtorch_einsum(str equation, Tensor[] tensors) -> Tensor",
            "A sum of products by Einstein's notation."),
    spec_of("libtorch_full(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor",
            "A tensor of one value.", limits=(AtLeast("size", 0),), infer=results.fill_type),
    spec_of("libtorch_arange(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor",
            "Numbers from start to end, without end.", infer=results.range_type),
    spec_of("libtorch_constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
            "Room before and after the last axes: pairs, the last axis first.", infer=results.pad_type),
    spec_of("libtorch_flip(Tensor self, int[] dims) -> Tensor",
            "The order along axes turned round.", limits=(AxisLimit("dims"),), infer=results.like()),
    spec_of("libtorch_roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
            "Elements moved along axes, or along all of them as one.", limits=(AxisLimit("dims"),),
            infer=results.like()),
    spec_of("libtorch_index_select(Tensor self, int dim, Tensor index) -> Tensor",
            "The slices of an axis that an index names.", limits=(_DIM,), infer=results.select_type),
    spec_of("libtorch_upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None,"
            " float? scales_w=None) -> Tensor",
            "An image of another size, by the nearest element.", limits=(AtLeast("output_size", 1),),
            infer=results.upsample_type),
    spec_of("libtorch_slow_conv2d_forward_out(Tensor self, Tensor weight, int[2] kernel_size, Tensor? bias=None,"
            " int[2] stride=1, int[2] padding=0, *, Tensor(a!) output) -> Tensor(a!)",
            "Writes a convolution of images, NCHW with OIHW.",
            limits=(AtLeast("kernel_size", 1), AtLeast("stride", 1), AtLeast("padding", 0)),
            infer=results.convolution_type),
    spec_of("libtorch_batch_norm(Tensor input, Tensor? weight=None, Tensor? bias=None, Tensor? running_mean=None,"
            " Tensor? running_var=None, bool training=False, float momentum=0.1, float eps=1e-05,"
            " bool cudnn_enabled=False) -> Tensor",
            "Channels brought to mean 0 and variance 1, by the batch or by running statistics, which stay as they are.",
            infer=results.like("input")),
    spec_of("libtorch_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None,"
            " float eps=1e-05, bool cudnn_enable=True) -> Tensor",
            "The last axes brought to mean 0 and variance 1.", infer=results.like("input")),
    spec_of("libtorch_native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean,"
            " Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor?, Tensor?, Tensor?)",
            "The gradients of a layer norm: of the input, the weight and the bias, as far as the mask asks for them."),
    spec_of("libtorch_item(Tensor self) -> Scalar",
            "The host scalar that a tensor of one element holds.", infer=results.scalar_type),
)  # fmt: skip


PACKED: Mapping[str, PackedSpec] = MappingProxyType({spec.name: spec for spec in (*SPECS, *runtime_functions.SPECS)})
"""The library's declarations by name."""

Source: TypeAlias = Callable[[str], PackedSpec | None]


class Declarations:
    """Declarations by name: those of the host before the library's, then what the sources know."""

    __slots__ = ("_added", "_sources")

    def __init__(self) -> None:
        self._added: dict[str, PackedSpec | None] = {}
        self._sources: tuple[Source, ...] = ()

    def add(self, name: str, spec: PackedSpec | None) -> None:
        """Declare the function `name`; `None` says that it has no schema."""
        self._added[name] = spec

    def add_source(self, source: Source) -> None:
        """Ask `source` for names that are in no table."""
        if source not in self._sources:
            self._sources = (*self._sources, source)

    def find(self, name: str) -> PackedSpec | None:
        """Return the declaration of the packed function `name`."""
        if name in self._added:
            return self._added[name]
        if name in PACKED:
            return PACKED[name]
        return next((spec for source in self._sources if (spec := source(name)) is not None), None)

    def all(self) -> tuple[PackedSpec, ...]:
        """Return the declarations of the tables, by name."""
        found = {**PACKED, **self._added}
        return tuple(spec for _, spec in sorted(found.items()) if spec is not None)

    def near(self, name: str) -> tuple[str, ...]:
        """Return at most three declared names that look like `name`."""
        return tuple(difflib.get_close_matches(name, [spec.name for spec in self.all()], 3, 0.6))


DECLARED: Final = Declarations()
