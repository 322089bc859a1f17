"""Comparisons that cannot be passed by NaN, infinities or a lost sign.

Every function raises AssertionError with the number of wrong elements and the
first of them. Arrays may be of any float type, ml_dtypes.bfloat16 included.
"""

import ml_dtypes
import numpy as np

_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_NAMES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def dtype(name):
    """The numpy type of an MLIR float type name: f16, bf16, f32, f64."""
    return np.dtype(_NAMES[name])


def bits(x):
    """The bit pattern of a float array."""
    x = np.ascontiguousarray(x)
    return x.view(_BITS[x.dtype.itemsize])


def ulp(x, kind):
    """Distance from |x| to the next larger number of the float type `kind`."""
    info = ml_dtypes.finfo(dtype(kind))
    x = np.abs(np.asarray(x, np.float64))
    exponent = np.floor(np.log2(np.maximum(x, float(info.smallest_normal))))
    return np.exp2(exponent - info.nmant)


def assert_close(actual, expected, *, atol=0.0, rtol=0.0, what="value"):
    """|actual - expected| <= atol + rtol * |expected| for finite `expected`.

    NaN matches NaN only, an infinity the same infinity only, and a finite
    number no NaN or infinity. -0 equals +0. atol may be an array.
    """
    actual = np.asarray(actual).astype(np.float64)
    expected = np.asarray(expected).astype(np.float64)
    assert actual.shape == expected.shape, (
        f"{what}: expects shape {expected.shape}, but got {actual.shape}"
    )
    finite = np.isfinite(expected)
    with np.errstate(all="ignore"):
        near = np.abs(actual - expected) <= atol + rtol * np.abs(expected)
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    _report(np.where(finite, near | same, same), actual, expected, what)


def assert_same_bits(actual, expected, what="value"):
    """Equal bit patterns; both arrays must have one type."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} is not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    good = bits(actual).reshape(actual.shape) == bits(expected).reshape(expected.shape)
    _report(good, actual, expected, what)


def assert_plus_zero(actual, what="output"):
    """Every element is +0, by its bits."""
    actual = np.asarray(actual)
    assert_same_bits(actual, np.zeros_like(actual), what)


def assert_minus_inf(lse, what="lse"):
    """Every element is the f32 -inf, by its bits (0xFF800000)."""
    lse = np.asarray(lse)
    assert lse.dtype == np.float32, f"{what}: expects f32, but got {lse.dtype}"
    _report(bits(lse).reshape(lse.shape) == 0xFF800000, lse, np.full(lse.shape, -np.inf), what)


def _report(good, actual, expected, what):
    good = np.asarray(good)
    if good.all():
        return
    wrong = np.argwhere(~good)
    where = tuple(int(x) for x in wrong[0])
    raise AssertionError(
        f"{what}: {len(wrong)} of {good.size} elements differ; at {where}: "
        f"expects {expected[where]!r}, but got {actual[where]!r}"
    )
