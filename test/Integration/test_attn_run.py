"""attn-run on bad input: one line, exit code 1, no output file.

Good input is what every other test gives it.
"""

import numpy as np
import pytest
import subprocess

from attn_program import Problem, module_text, save, tool
from cases import unique

SHAPES = {"q_0": (1, 2, 3, 8), "k_0": (1, 2, 5, 8), "v_0": (1, 2, 5, 8)}


class Invocation:
    """A good command line in a scratch folder, to be spoilt by a test."""

    def __init__(self, folder):
        self.folder = folder
        arrays = [unique(shape, "f16", n) for n, shape in enumerate(SHAPES.values())]
        text, self.arrays = module_text([Problem(*arrays)])
        self.source = folder / "program.mlir"
        self.source.write_text(text)
        for name, array in self.arrays.items():
            save(folder / f"{name}.npy", array)
        self.inputs = {name: folder / f"{name}.npy" for name in self.arrays}
        self.outputs = {"output_0": folder / "o.npy", "lse_0": folder / "s.npy"}
        self.flags = ["--device=cpu"]

    def run(self):
        command = [tool("attn-run"), str(self.source), *self.flags]
        for flag, files in (("--in", self.inputs), ("--out", self.outputs)):
            for name, path in files.items():
                command += [flag, f"{name}={path}"]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)

    def expect_error(self, *parts):
        done = self.run()
        assert done.returncode == 1, (done.returncode, done.stderr)
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1, done.stderr
        for part in ("error: ", *parts):
            assert part in lines[0], f"expects {part!r} in {lines[0]!r}"
        for path in self.outputs.values():
            assert not path.exists(), f"{path.name} was written"


@pytest.fixture
def invocation(tmp_path):
    return Invocation(tmp_path)


def test_good_input_writes_both_outputs(invocation):
    done = invocation.run()
    assert done.returncode == 0 and done.stderr == ""
    assert np.load(invocation.outputs["output_0"]).shape == (1, 2, 3, 8)
    assert np.load(invocation.outputs["lse_0"]).dtype == np.float32


def test_f32_file_for_f16_argument_is_rounded(invocation):
    invocation.run()
    expected = np.load(invocation.outputs["output_0"])
    values = np.load(invocation.inputs["q_0"])
    # A quarter of an ulp off, and exactly between two numbers: to even.
    moved = values.astype(np.float32) * np.float32(1 + 2.0**-13)
    np.save(invocation.inputs["q_0"], moved)
    np.testing.assert_array_equal(moved.astype(np.float16), values)
    assert invocation.run().returncode == 0
    np.testing.assert_array_equal(np.load(invocation.outputs["output_0"]), expected)


def test_missing_program(invocation):
    invocation.source.unlink()
    invocation.expect_error("program.mlir")


def test_missing_input_file(invocation):
    invocation.inputs["k_0"].unlink()
    invocation.expect_error("k_0.npy")


def test_input_that_is_not_given(invocation):
    del invocation.inputs["k_0"]
    invocation.expect_error("k_0")


def test_unknown_argument_name(invocation):
    invocation.inputs["bogus"] = invocation.inputs["k_0"]
    invocation.expect_error("bogus")


def test_unknown_output_name(invocation):
    invocation.outputs["bogus"] = invocation.folder / "bogus.npy"
    invocation.expect_error("bogus")


def test_wrong_shape(invocation):
    np.save(invocation.inputs["k_0"], np.zeros((1, 2, 6, 8), np.float16))
    invocation.expect_error("k_0", "1x2x5x8", "1x2x6x8")


def test_wrong_element_type(invocation):
    np.save(invocation.inputs["k_0"], np.zeros((1, 2, 5, 8), np.int32))
    invocation.expect_error("k_0", "f16", "i32")


def test_file_that_is_not_npy(invocation):
    invocation.inputs["k_0"].write_text("not numpy")
    invocation.expect_error("k_0")


def test_truncated_file(invocation):
    path = invocation.inputs["k_0"]
    path.write_bytes(path.read_bytes()[:-3])
    invocation.expect_error("k_0")


def test_truncated_header(invocation):
    path = invocation.inputs["k_0"]
    path.write_bytes(path.read_bytes()[:9])
    invocation.expect_error("k_0")


def test_header_that_claims_to_be_huge(invocation):
    path = invocation.inputs["k_0"]
    path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + path.read_bytes()[10:])
    invocation.expect_error("k_0")


def test_shape_whose_size_overflows(invocation):
    header = b"{'descr': '<f2', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    invocation.inputs["k_0"].write_bytes(content)
    invocation.expect_error("k_0")


def test_unknown_entry(invocation):
    invocation.flags.append("--entry=nothing")
    invocation.expect_error("nothing")


def test_program_that_does_not_parse(invocation):
    # The parser's own diagnostics come before the last line.
    invocation.source.write_text("func.func @main(")
    done = invocation.run()
    assert done.returncode == 1 and "error: " in done.stderr


def test_output_folder_that_does_not_exist(invocation):
    invocation.outputs["lse_0"] = invocation.folder / "nowhere" / "s.npy"
    invocation.expect_error("nowhere")
