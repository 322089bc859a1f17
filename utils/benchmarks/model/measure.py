"""Times programs on the emulator's timing model."""

import concurrent.futures
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
CHIPS = ("gfx950", "gfx942")


def run(*command):
    result = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if result.returncode:
        raise RuntimeError(result.stderr.strip() or f"{command[0]} failed")
    return result.stdout


def module(query, key, value, output, lse=None, arguments=None, clauses="", options=""):
    """One op on memrefs of these types; `arguments` are further ones, name to type."""
    types = {"query": query, "key": key, "value": value, "output": output, "lse": lse}
    types = {name: type_ for name, type_ in types.items() if type_} | (arguments or {})
    signature = ", ".join(f'%{name}: {type_} {{attn.name = "{name}"}}' for name, type_ in types.items())
    return f"""
func.func @main({signature}) {{
  attn.attention ins(%query, %key, %value : {query}, {key}, {value}) {clauses}
      outs(%output{", %lse" if lse else ""} : {output}{f", {lse}" if lse else ""}){f" {{{options}}}" if options else ""}
  return
}}
"""


def program(shape, dv, dtype, lse, options="", keys=None, **more):
    """The same, contiguous; `keys` is the length of K and V, that of Q by default."""
    b, s, h, hkv, d = shape
    keys = keys or s
    return module(
        f"memref<{b}x{h}x{s}x{d}x{dtype}>",
        f"memref<{b}x{hkv}x{keys}x{d}x{dtype}>",
        f"memref<{b}x{hkv}x{keys}x{dv}x{dtype}>",
        f"memref<{b}x{h}x{s}x{dv}x{dtype}>",
        f"memref<{b}x{h}x{s}xf32>" if lse else None,
        options=options,
        **more,
    )


@dataclasses.dataclass(frozen=True)
class Timing:
    # What attn-run --timing says of each launch, and of all.
    launches: list
    us: float
    # Instructions of the main loop in the order they execute; empty without one.
    loop: list

    @property
    def longest(self):
        return longest(self.launches)


def longest(launches):
    """The launch that does the work."""
    return max(launches, key=lambda item: item["clocks"])


def time_program(text, chip, arrays=None, timeline=None):
    """Compiles the module `text` and times it; `arrays` by argument, others are drawn."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, code, manifest = (folder / name for name in ("k.mlir", "k.hsaco", "k.json"))
        source.write_text(text)
        compiler, runner = ROOT / "build/bin/attn-compile", ROOT / "build/bin/attn-run"
        run(compiler, source, f"--chip={chip}", "-o", code, f"--manifest={manifest}")
        extra = [f"--timeline={timeline}"] if timeline else []
        for name, array in (arrays or {}).items():
            np.save(folder / f"{name}.npy", array)
            extra.append(f"--in={name}={folder / name}.npy")
        report = json.loads(run(runner, code, f"--manifest={manifest}", "--timing=json", *extra))
        instructions = {}
        for line in run(runner, code, "--disassemble").splitlines():
            if match := re.match(r"\s*([0-9a-f]+)  (?:[0-9A-F]{8} )+\s*(.*)", line):
                instructions[int(match[1], 16)] = match[2]
        addresses = longest(report["launches"])["loop_addresses"]
        loop = [instructions[address] for address in addresses]
        return Timing(report["launches"], report["projected_us"], loop)


def run_all(tasks, workers):
    """Calls `tasks`, {key: (function, arguments...)}, side by side. Of one that fails the
    result is its error's last line."""

    def attempt(function, *arguments):
        try:
            return function(*arguments)
        except RuntimeError as error:
            return str(error).splitlines()[-1]

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        jobs = {key: pool.submit(attempt, *task) for key, task in tasks.items()}
        if sys.stderr.isatty():
            for count, _ in enumerate(concurrent.futures.as_completed(jobs.values()), 1):
                print(f"\r{count} of {len(jobs)}", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        return {key: job.result() for key, job in jobs.items()}
