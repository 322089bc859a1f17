"""What features cost over plain dense attention, in modelled clocks.

A row is the longest workgroup of a problem with the feature beside that of the
same work without it, so that the clocks of a launch's order do not count.
"""

import dataclasses
import json
import pathlib
import sys
import tempfile
from typing import Callable

import kernels
import numpy as np

B, S, H, D = 2, 4096, 16, 128
QUERY = f"memref<{B}x{H}x{S}x{D}xbf16>"


@dataclasses.dataclass(frozen=True)
class Feature:
    name: str
    # Options of both -> the module with the feature, and arrays by argument.
    build: Callable
    limit: float  # clocks at most, times those of the dense problem
    options: str = ""


def module(arguments, clauses, options, lse="memref<2x16x4096xf32>", query=QUERY, key=QUERY):
    """One op on memrefs with more arguments {name: type}."""
    extra = "".join(f', %{name}: {type} {{attn.name = "{name}"}}' for name, type in arguments.items())
    return f"""
func.func @main(%query: {query}, %key: {key}, %value: {key}, %output: {query}, %lse: {lse}{extra}) {{
  attn.attention ins(%query, %key, %value : {query}, {key}, {key}) {clauses}
      outs(%output, %lse : {query}, {lse}) {{{options}}}
  return
}}
"""


def paged(page):
    def build(options):
        pages = B * S // page
        pool = f"memref<{pages}x{H}x{page}x{D}xbf16>"
        types = {"lengths": f"memref<{B}xi32>", "table": f"memref<{B}x{S // page}xi32>"}
        clauses = (
            f"seqlens_kv(%lengths : {types['lengths']}) block_table(%table : {types['table']})"
        )
        order = np.random.default_rng(0).permutation(pages).astype(np.int32)
        arrays = {"lengths": np.full(B, S, np.int32), "table": order.reshape(B, -1)}
        options = ", ".join(filter(None, (f"page_size = {page}", options)))
        return module(types, clauses, options, key=pool), arrays

    return build


def padded(options):
    types = {"lengths": f"memref<{B}xi32>"}
    clauses = f"seqlens_q(%lengths : {types['lengths']}) seqlens_kv(%lengths : {types['lengths']})"
    return module(types, clauses, options), {"lengths": np.full(B, S, np.int32)}


def packed(options):
    packed_type = f"memref<{B * S}x{H}x{D}xbf16>"
    types = {"starts": f"memref<{B + 1}xi32>"}
    clauses = " ".join(f"cu_seqlens_{x}(%starts : {types['starts']})" for x in ("q", "kv"))
    options = ", ".join(filter(None, ("layout = thd", options)))
    text = module(
        types, clauses, options, f"memref<{H}x{B * S}xf32>", query=packed_type, key=packed_type
    )
    return text, {"starts": np.arange(B + 1, dtype=np.int32) * S}


FEATURES = (
    Feature("packed sequences", packed, 1.05),
    Feature("packed sequences", packed, 1.05, "causal"),
    Feature("padded batch", padded, 1.05, "causal"),
    *(Feature(f"pages of {page}", paged(page), 1.05) for page in (16, 32, 64, 128)),
    Feature("pages of 16", paged(16), 1.05, "causal"),
)


def measure(text, chip, arrays):
    """Clocks of the longest workgroup, and its kernel's VGPRs."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, code, manifest = (folder / name for name in ("k.mlir", "k.hsaco", "k.json"))
        source.write_text(text)
        bin = kernels.ROOT / "build/bin"
        kernels.run(bin / "attn-compile", source, f"--chip={chip}", "-o", code, f"--manifest={manifest}")
        inputs = []
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
            inputs += ["--in", f"{name}={folder / name}.npy"]
        report = kernels.run(bin / "attn-run", code, f"--manifest={manifest}", "--timing=json", *inputs)
        launch = max(json.loads(report)["launches"], key=lambda item: item["clocks"])
        return launch["clocks"], launch["vgprs"]


def table(chips):
    yield "| chip | feature | causal | clocks | VGPRs | dense | times | target | |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for chip in chips:
        dense = {
            options: measure(module({}, "", options), chip, {})[0]
            for options in {feature.options for feature in FEATURES}
        }
        for feature in FEATURES:
            text, arrays = feature.build(feature.options)
            clocks, vgprs = measure(text, chip, arrays)
            times = clocks / dense[feature.options]
            yield (
                f"| {chip} | {feature.name} | {'yes' if feature.options else 'no'} | {clocks:.0f} | "
                f"{vgprs} | {dense[feature.options]:.0f} | {times:.3f} | <= {feature.limit} | "
                f"{'met' if times <= feature.limit else 'missed'} |"
            )


def main(chips):
    for line in table(chips):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(kernels.CHIPS))
