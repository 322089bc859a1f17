"""Real input: all attentions of a sentence encoder, layer by layer and end to end."""

import attn_reference
import compare
import numpy as np
import pytest
from attn_program import Problem, run, run_all
from minilm import LAYERS, Encoder

SENTENCES = (
    "Attention is all you need.",
    "The log-sum-exp of a row is what a backward pass needs, and what merging needs.",
    "A row without a single key has nothing to say: its output is zero, its LSE minus "
    "infinity, and whoever merges it with another state must get that other state back, "
    "bit by bit, whatever the base of the logarithm is and in whichever order they come.",
)
# P is rounded to the input type once a score: the bound of docs/Semantics.md.
P_ERROR = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 1e-5}


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


def exact(q, k, v):
    return attn_reference.attention(q, k, v)[0]


def test_the_encoder_knows_what_is_alike(encoder):
    """The NumPy model is the model: paraphrases are near, other topics are not."""
    texts = ("The cat sits on the mat.", "A cat is on the mat.", "Stock prices fell today.")
    cat, paraphrase, other = (encoder.encode(text, exact) for text in texts)
    assert cat @ paraphrase > 0.9
    assert cat @ other < 0.2


@pytest.mark.slow
def test_attention_of_every_layer(encoder, device, kind):
    """The layers of a sentence are the batch; sentences have their own lengths."""
    problems = []
    for text in SENTENCES:
        layers = []

        def record(*operands, layers=layers):
            layers.append(operands)
            return exact(*operands)

        encoder.encode(text, record)
        assert len(layers) == LAYERS
        stacked = (np.concatenate(x).astype(compare.dtype(kind)) for x in zip(*layers))
        problems.append(Problem(*stacked))
    for problem, result in zip(problems, run_all(problems, device)):
        out, lse = problem.reference()
        largest = np.abs(problem.v.astype(np.float64)).max()
        atol = P_ERROR[kind] * largest + compare.ulp(out, kind)
        compare.assert_close(result.out, out, atol=atol, what="output")
        compare.assert_close(
            result.lse, lse, atol=2e-5 * np.maximum(1, np.abs(lse)), what="lse"
        )


@pytest.mark.kinds("f16")
@pytest.mark.slow
def test_embedding_from_end_to_end(encoder, device, kind):
    """The device's attention in every layer leads to the same embedding."""

    def on_device(q, k, v):
        q, k, v = (x.astype(compare.dtype(kind)) for x in (q, k, v))
        return run(Problem(q, k, v), device).out.astype(np.float64)

    text = SENTENCES[1]
    assert encoder.encode(text, on_device) @ encoder.encode(text, exact) > 0.9999
