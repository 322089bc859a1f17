"""attn-compile on shapes that failed elsewhere (F7): within the chip's limits."""

import json
import subprocess

import pytest
from attn_program import tool
from devices import DEVICES

LDS_BYTES = {"gfx942": 65536, "gfx950": 163840}
CHIPS = [device.name for device in DEVICES if device.is_gpu]

# element type, [B, Hq, Hk, Sq, Skv] and the head dim; "?" is dynamic.
SHAPES = {
    "f32 1x1024x128": ("f32", "1 1 1 1024 1024", 128),
    "decode, dynamic keys": ("f16", "1 8 1 1 ?", 128),
    "all dynamic": ("bf16", "? ? ? ? ?", 128),
    "D=256": ("bf16", "1 4 4 512 512", 256),
    "f32 D=256": ("f32", "1 4 4 512 512", 256),
    "one by one": ("f16", "1 1 1 1 1", 64),
    "no keys": ("f16", "1 1 1 3 0", 64),
    "many heads": ("f16", "1 65536 65536 4 4", 64),
    "many batches": ("f16", "65536 8 8 4 4", 64),
}


def program(kind, sizes, d):
    b, hq, hk, sq, skv = sizes.split()
    q, k = f"memref<{b}x{hq}x{sq}x{d}x{kind}>", f"memref<{b}x{hk}x{skv}x{d}x{kind}>"
    lse = f"memref<{b}x{hq}x{sq}xf32>"
    return f"""
func.func @main(%q: {q}, %k: {k}, %v: {k}, %o: {q}, %lse: {lse}) {{
  attn.attention ins(%q, %k, %v : {q}, {k}, {k}) outs(%o, %lse : {q}, {lse}) {{causal}}
  return
}}
"""


def compile_for(chip, text, folder):
    (folder / "program.mlir").write_text(text)
    command = [tool("attn-compile"), folder / "program.mlir", f"--chip={chip}"]
    command += ["-o", folder / "program.hsaco", f"--manifest={folder / 'program.json'}"]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", SHAPES)
def test_F7_shape_compiles_within_the_limits(chip, name, tmp_path):
    done = compile_for(chip, program(*SHAPES[name]), tmp_path)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "program.json").read_text())
    [kernel] = manifest["kernels"]
    assert 0 < kernel["lds_bytes"] <= LDS_BYTES[chip]
    # Some scalars or addresses may go to memory, a fragment of a tile (256 bytes) not.
    assert kernel["scratch_bytes"] <= 64, "registers spill"
    assert kernel["vgprs"] <= 512
    for launch in manifest["launches"]:
        # F8: no dimension but x may pass 65535.
        assert all(isinstance(n, str) or n <= 65535 for n in launch["grid"][1:])


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("page", [16, 48, 96])
def test_pages_leave_registers_for_the_rest(chip, page, tmp_path):
    q, k = "memref<1x8x2048x128xbf16>", f"memref<300x2x{page}x128xbf16>"
    lse, table = "memref<1x8x2048xf32>", f"memref<1x{4096 // page}xi32>"
    text = f"""
func.func @main(%q: {q}, %k: {k}, %v: {k}, %n: i32, %t: {table}, %o: {q}, %lse: {lse}) {{
  attn.attention ins(%q, %k, %v : {q}, {k}, {k}) seqlens_kv(%n : i32) block_table(%t : {table})
      outs(%o, %lse : {q}, {lse}) {{causal, page_size = {page}}}
  return
}}
"""
    done = compile_for(chip, text, tmp_path)
    assert done.returncode == 0, done.stderr
    [kernel] = json.loads((tmp_path / "program.json").read_text())["kernels"]
    assert kernel["scratch_bytes"] == 0, "registers spill"


@pytest.mark.parametrize("chip", CHIPS)
def test_F7_head_beyond_the_limit_is_refused_in_one_line(chip, tmp_path):
    done = compile_for(chip, program("bf16", "1 1 1 64 64", 512), tmp_path)
    assert done.returncode == 1
    assert "expects head dims to be multiples of 8 in 8..256" in done.stderr
    assert not (tmp_path / "program.hsaco").exists()
