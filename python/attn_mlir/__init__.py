"""Attention with its log-sum-exp, compiled by AttnMLIR.

>>> import attn_mlir, numpy as np
>>> q = np.zeros((1, 8, 128, 64), np.float16)
>>> k = v = np.ones((1, 2, 256, 64), np.float16)
>>> o, lse = attn_mlir.attention(q, k, v, causal=True, return_lse=True)
"""

from ._attention import CompiledAttention, TensorSpec, attention, compile
from ._merge import merge_states
from ._native import AttnError, UnavailableError, UnsupportedError, capabilities

__version__ = "0.1.0"
__all__ = [
    "AttnError",
    "CompiledAttention",
    "TensorSpec",
    "UnavailableError",
    "UnsupportedError",
    "attention",
    "capabilities",
    "compile",
    "merge_states",
]
