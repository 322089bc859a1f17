"""Attention as frontends decompose it: linalg on tensors, in many spellings.

The forms are those that torch-mlir and TOSA's lowering print (reductions that also
carry an argmax, a maximum that starts at the lowest number, heads collapsed into
one batch dim, unit dims kept for broadcasts, ...); `write` puts one together.
"""

from dataclasses import dataclass, field

import attn_program

LOOPS = "0123456789"
INFINITY = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000"}  # negative


@dataclass
class Tensor:
    name: str
    shape: tuple
    kind: str

    @property
    def type(self):
        return f"tensor<{'x'.join(map(str, self.shape + (self.kind,)))}>"


@dataclass
class Function:
    """The text of a function while it is written."""

    arguments: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    count: int = 0

    def name(self):
        self.count += 1
        return f"%t{self.count}"

    def emit(self, text, shape=(), kind="f32"):
        tensor = Tensor(self.name(), tuple(shape), kind)
        self.lines.append(f"{tensor.name} = {text}")
        return tensor

    def argument(self, name, shape, kind):
        tensor = Tensor(f"%{name}", tuple(shape), kind)
        self.arguments.append(f'{tensor.name}: {tensor.type} {{attn.name = "{name}"}}')
        return tensor

    def constant(self, value, kind):
        if kind in INFINITY:
            infinite = value == -float("inf")
            value = INFINITY[kind] if infinite else attn_program.float_literal(value)
        return self.emit(f"arith.constant {value}{'' if kind == 'i1' else f' : {kind}'}", kind=kind)

    def empty(self, shape, kind):
        tensor = Tensor("", tuple(shape), kind)
        return self.emit(f"tensor.empty() : {tensor.type}", shape, kind)

    def fill(self, value, shape, kind):
        number, init = self.constant(value, kind), self.empty(shape, kind)
        text = f"linalg.fill ins({number.name} : {kind}) outs({init.name} : {init.type})"
        return self.emit(f"{text} -> {init.type}", shape, kind)

    def generic(self, inputs, maps, init, *body, reduction=None):
        """One result; `body` computes %r from %i0, %i1, ... and %o; without a body
        it is %i0.

        A map is a string of loop numbers, one a dim: "01.3" is (d0, d1, 0, d3).
        """
        dims = max(int(c) for m in maps for c in m if c.isdigit()) + 1
        kinds = ['"reduction"' if n == reduction else '"parallel"' for n in range(dims)]
        loops = ", ".join(f"d{n}" for n in range(dims))
        texts = [", ".join("0" if c == "." else f"d{c}" for c in m) for m in maps]
        texts = [f"affine_map<({loops}) -> ({t})>" for t in texts]
        ins = f"ins({', '.join(t.name for t in inputs)} : {', '.join(t.type for t in inputs)}) "
        block = [f"%i{n}: {t.kind}" for n, t in enumerate(inputs)] + [f"%o: {init.kind}"]
        return self.emit(
            f"linalg.generic {{indexing_maps = [{', '.join(texts)}], "
            f"iterator_types = [{', '.join(kinds)}]}} {ins if inputs else ''}"
            f"outs({init.name} : {init.type}) {{\n  ^bb0({', '.join(block)}):\n    "
            + "\n    ".join([*body, f"linalg.yield {'%r' if body else '%i0'} : {init.kind}"])
            + f"\n  }} -> {init.type}",
            init.shape,
            init.kind,
        )

    def map(self, inputs, maps, shape, kind, *body):
        """Elementwise, into a tensor of `shape`."""
        return self.generic(inputs, [*maps, LOOPS[: len(shape)]], self.empty(shape, kind), *body)

    def unary(self, x, text, kind=None):
        return self.map([x], [LOOPS[: len(x.shape)]], x.shape, kind or x.kind, f"%r = {text}")

    def cast(self, x, kind):
        if x.kind == kind:
            return x
        widens = kind == "f32"
        op = "arith.extf" if widens else "arith.truncf"
        return self.unary(x, f"{op} %i0 : {x.kind} to {kind}", kind)

    def transpose(self, x, order):
        init = self.empty([x.shape[n] for n in order], x.kind)
        text = f"linalg.transpose ins({x.name} : {x.type}) outs({init.name} : {init.type})"
        self.lines.append(f"{self.name()} = {text} permutation = {list(order)}")
        return Tensor(f"%t{self.count}", init.shape, init.kind)

    def reshape(self, x, op, groups, shape):
        out = Tensor("", tuple(shape), x.kind)
        sizes = f" output_shape {list(shape)}" if op == "expand" else ""
        text = f"tensor.{op}_shape {x.name} {groups}{sizes} : {x.type} into {out.type}"
        return self.emit(text, shape, x.kind)

    def collapse_batch(self, x):
        b, h, s, d = x.shape
        return self.reshape(x, "collapse", [[0, 1], [2], [3]], (b * h, s, d))

    def batch_matmul(self, a, b, kind):
        init = self.fill(0, (a.shape[0], a.shape[1], b.shape[2]), kind)
        ins = f"ins({a.name}, {b.name} : {a.type}, {b.type})"
        text = f"linalg.batch_matmul {ins} outs({init.name} : {init.type}) -> {init.type}"
        return self.emit(text, init.shape, kind)

    def text(self, *results):
        body = "\n".join(f"  {line}" for line in self.lines)
        types = ", ".join(r.type for r in results)
        names = ", ".join(r.name for r in results)
        outputs = ["output", "other"][: len(results)]
        typed = ", ".join(f'{r.type} {{attn.name = "{n}"}}' for r, n in zip(results, outputs))
        return (
            f"func.func @main({', '.join(self.arguments)}) -> ({typed}) {{\n{body}\n"
            f"  return {names} : {types}\n}}\n"
        )


def write(arrays, *, break_at="", **how):
    """The text of a program over q, k, v and perhaps bias or mask, in `arrays`.

    q, k, v are [B, H, S, D], with layout="bshd" [B, S, H, D]; bias is [B, 1, S, Skv]
    and mask [S, Skv] of i1. Options: scale ("scores", "query", "both", "divide"),
    softmax ("split", "named", "fused", "plain", "reciprocal"), compute (type of scores
    and P), p (a type P is rounded to), causal and window (bounds of key - row and row
    - key), hidden (the score of a key that is not seen), added (hidden is added, not
    selected), guard (P is 0 in rows that see nothing), softcap. `break_at` makes it
    something that is no attention, or none that may be raised.
    """
    return _Writer(arrays, break_at, how).write()


class _Writer:
    factor = 0.25

    def __init__(self, arrays, break_at, how):
        self.f = Function()
        self.break_at = break_at
        self.how = how
        self.tensors = {}
        for name, array in arrays.items():
            kind = "i1" if array.dtype == bool else attn_program.element_type(array)
            self.tensors[name] = self.f.argument(name, array.shape, kind)
        self.kind = how.get("compute", self.tensors["q"].kind)

    def number(self, value):
        return self.f.constant(value, self.kind).name

    def write(self):
        f, how = self.f, self.how
        q, k, v = (self.prepare(name) for name in "qkv")
        root = self.factor**0.5
        if how.get("scale") in ("query", "both"):
            number = self.number(self.factor if how["scale"] == "query" else root)
            q = f.unary(q, f"arith.mulf %i0, {number} : {self.kind}")
        if how.get("scale") == "both":
            k = f.unary(k, f"arith.mulf %i0, {self.number(root)} : {self.kind}")
        if self.break_at == "scale a column":
            columns = f.argument("columns", k.shape[-1:], self.kind)
            k = f.map([k, columns], ["0123", "3"], k.shape, k.kind, self.two("mulf"))
        scores = self.product(q, f.transpose(k, [0, 1, 3, 2]))
        weights = self.softmax(self.finish_scores(scores), scores)
        if "p" in how:
            weights = f.cast(f.cast(weights, how["p"]), self.kind)
        if self.break_at == "dropout":
            weights = f.unary(weights, f"arith.mulf %i0, {self.number(2.0)} : {self.kind}")
        if self.break_at == "transposed weights":
            weights = f.transpose(weights, [0, 1, 3, 2])
        output = f.cast(self.product(weights, v), self.tensors["q"].kind)
        if how.get("layout") == "bshd":
            output = f.transpose(output, [0, 2, 1, 3])
        return f.text(output, weights) if self.break_at == "other use" else f.text(output)

    def two(self, op, kind=None):
        return f"%r = arith.{op} %i0, %i1 : {kind or self.kind}"

    def prepare(self, name):
        """q, k or v as [B, Hq, S, D] in the type of computation."""
        f = self.f
        x = f.cast(self.tensors[name], self.kind)
        axis = 1
        if self.how.get("layout") == "bshd":
            x, axis = f.transpose(x, [0, 2, 1, 3]), 2
        repeats = self.tensors["q"].shape[axis] // self.tensors[name].shape[axis]
        if repeats > 1:  # every head `repeats` times
            b, h, s, d = x.shape
            x = f.map([x], ["0134"], (b, h, repeats, s, d), x.kind)
            x = f.reshape(x, "collapse", [[0], [1, 2], [3], [4]], (b, h * repeats, s, d))
        return x

    def product(self, a, b):
        """[B, H, M, N] of [B, H, M, K] and [B, H, K, N], with batch dims collapsed."""
        f = self.f
        result = f.batch_matmul(f.collapse_batch(a), f.collapse_batch(b), self.kind)
        return f.reshape(
            result, "expand", [[0, 1], [2], [3]], (*a.shape[:2], *result.shape[1:])
        )

    def finish_scores(self, scores):
        """Scale, softcap, bias, mask."""
        f, how, kind = self.f, self.how, self.kind
        if how.get("scale", "scores") == "scores":
            scores = f.unary(scores, f"arith.mulf %i0, {self.number(self.factor)} : {kind}")
        elif how["scale"] == "divide":
            scores = f.unary(scores, f"arith.divf %i0, {self.number(1 / self.factor)} : {kind}")
        if "softcap" in how:
            cap = self.number(how["softcap"])
            scores = f.unary(scores, f"arith.divf %i0, {cap} : {kind}")
            scores = f.unary(scores, f"math.tanh %i0 : {kind}")
            scores = f.unary(scores, f"arith.mulf %i0, {cap} : {kind}")
        if "bias" in self.tensors:
            bias = f.cast(self.tensors["bias"], kind)
            for _ in range(2 if self.break_at == "two biases" else 1):
                args = [scores, bias], ["0123", "0.23"], scores.shape, kind
                scores = f.map(*args, self.two("addf"))
            if self.break_at == "scale after bias":
                scores = f.unary(scores, f"arith.mulf %i0, {self.number(2.0)} : {kind}")
        condition = self.condition(scores.shape[2:])
        if condition:
            scores = self.hide(scores, condition)
        return scores

    def condition(self, shape):
        """Which keys a row sees, as i1 of [S, Skv]."""
        f = self.f
        parts = [self.tensors["mask"]] if "mask" in self.tensors else []
        for name in ("causal", "window"):
            if name not in self.how:
                continue
            positions = []
            for dim, axis in ((1, "."), (0, ".")):  # keys, rows
                body = f"%x = linalg.index 0 : index\n    %r = arith.index_cast %x : index to i64"
                init = f.empty(shape[dim : dim + 1], "i64")
                line = f.generic([], ["0"], init, body)
                sizes = [1, 1]
                sizes[dim] = shape[dim]
                positions.append(f.reshape(line, "expand", [[0, 1]], sizes))
            pair = f.map(positions, [".1", "0."], shape, "i64", self.two("subi", "i64"))
            bound = self.how[name] if name == "causal" else -self.how[name]
            order = "sle" if name == "causal" else "sge"
            number = f.constant(bound, "i64").name
            parts.append(f.unary(pair, f"arith.cmpi {order}, %i0, {number} : i64", "i1"))
        while len(parts) > 1:
            a, b, *parts = parts
            parts = [f.map([a, b], ["01", "01"], shape, "i1", self.two("andi", "i1")), *parts]
        return parts[0] if parts else None

    def hide(self, scores, condition):
        f, kind = self.f, self.kind
        hidden = self.number(self.how.get("hidden", -float("inf")))
        if self.how.get("added"):
            zero = self.number(0.0)
            addend = f.unary(condition, f"arith.select %i0, {zero}, {hidden} : {kind}", kind)
            args = [scores, addend], ["0123", "23"], scores.shape, kind
            return f.map(*args, self.two("addf"))
        select = f"%r = arith.select %i0, %i1, {hidden} : {kind}"
        return f.map([condition, scores], ["23", "0123"], scores.shape, kind, select)

    def reduce(self, x, start, op, kind=None, axis=3):
        """Over keys, with a unit dim in their place."""
        kept = "01.3" if axis == 2 else "012."
        shape = [1 if n == axis else s for n, s in enumerate(x.shape)]
        init = self.f.fill(start, shape, kind or x.kind)
        body = f"%r = arith.{op} %i0, %o : {x.kind}"
        return self.f.generic([x], ["0123", kept], init, body, reduction=axis)

    def softmax(self, scores, unscaled):
        f, how, kind = self.f, self.how, self.kind
        axis = 2 if self.break_at == "softmax over rows" else 3
        kept = "01.3" if axis == 2 else "012."
        maps, shape = ["0123", kept], scores.shape
        style = how.get("softmax", "split")
        if style == "named":
            init = f.empty(shape, kind)
            text = f"linalg.softmax dimension({axis}) ins({scores.name} : {scores.type})"
            weights = f.emit(f"{text} outs({init.name} : {init.type}) -> {init.type}", shape, kind)
            return self.guarded(weights, scores)
        shifted, maximum = scores, None
        if style != "plain":
            of = unscaled if self.break_at == "maximum of something else" else scores
            least = -float("inf")
            op = "minimumf" if self.break_at == "minimum" else "maximumf"
            maximum = self.reduce(of, least, op, axis=axis)
        if style == "fused":
            body = [self.two("subf").replace("%r", "%d"), f"%r = math.exp %d : {kind}"]
            weights = f.map([scores, maximum], maps, shape, kind, *body)
        else:
            if maximum:
                shifted = f.map([scores, maximum], maps, shape, kind, self.two("subf"))
            exponential = "exp2" if self.break_at == "exp2" else "exp"
            weights = f.unary(shifted, f"math.{exponential} %i0 : {kind}")
        start = 1.0 if self.break_at == "sum from 1" else 0.0
        total = self.reduce(weights, start, "addf", axis=axis)
        if self.break_at == "other sum":
            total = self.reduce(f.unary(weights, f"math.sqrt %i0 : {kind}"), 0.0, "addf")
        if style == "reciprocal":
            inverse = f.unary(total, f"arith.divf {self.number(1.0)}, %i0 : {kind}")
            weights = f.map([weights, inverse], maps, shape, kind, self.two("mulf"))
        else:
            weights = f.map([weights, total], maps, shape, kind, self.two("divf"))
        return self.guarded(weights, scores)

    def guarded(self, weights, scores):
        """As PyTorch's safe softmax: 0 in rows of which all scores are -inf."""
        if not self.how.get("guard"):
            return weights
        f = self.f
        hidden = self.number(0.0 if self.break_at == "other guard" else -float("inf"))
        finite = f.unary(scores, f"arith.cmpf oeq, %i0, {hidden} : {self.kind}", "i1")
        yes = f.constant("true", "i1").name
        seen = f.unary(finite, f"arith.xori %i0, {yes} : i1")
        seen = self.reduce(seen, "false", "ori", "i1")
        empty = f.unary(seen, f"arith.xori %i0, {yes} : i1")
        select = f"%r = arith.select %i0, {self.number(0.0)}, %i1 : {self.kind}"
        return f.map([empty, weights], ["012.", "0123"], weights.shape, self.kind, select)
