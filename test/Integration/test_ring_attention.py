"""examples/ring_attention.py: four processes with gloo give what one gives."""

import importlib.util
import os
import subprocess
import sys

import attn_mlir
import pytest
from repository import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")
SCRIPT = ROOT / "examples/ring_attention.py"


@pytest.fixture(scope="module")
def ring():
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    spec = importlib.util.spec_from_file_location("ring_attention", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments):
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python"), OMP_NUM_THREADS="1")
    command = [sys.executable, SCRIPT, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow  # five processes that import torch
def test_both_placements_equal_one_process():
    printed = run("--length", "64", "--dtype", "bfloat16")
    assert printed.count(": equal\n") == 2
    assert "step 4 of 4: keys of process 1" in printed
    # Blocks at and below the diagonal; with two chunks a process the work is even.
    assert "blocks of each process: [1, 2, 3, 4]" in printed
    assert "blocks of each process: [9, 9, 9, 9]" in printed


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--length", "130"], "--length: expects a multiple of 8 from 8, got 130"),
        (["--length", "0"], "--length: expects a multiple of 8 from 8, got 0"),
        (["--processes", "0"], "--processes: expects a number from 1, got 0"),
        (["--heads", "3"], "--heads: expects a multiple of --kv-heads, 2, got 3"),
    ],
)
def test_wrong_arguments(ring, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["ring_attention.py", *arguments])
    with pytest.raises(SystemExit):
        ring.main()
    assert capsys.readouterr().err.endswith(f"error: {message}\n")


def test_without_causal_mask(ring, tmp_path):
    """One process: its two chunks see each other."""
    q, k, v = (torch.randn(1, heads, 8, 4) for heads in (4, 2, 2))
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        out, lse = ring.ring_attention(q, k, v, causal=False)
    finally:
        dist.destroy_process_group()
    expected, expected_lse = attn_mlir.attention(q, k, v, return_lse=True)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(lse, expected_lse)


@pytest.mark.parametrize("placement", ["contiguous", "zigzag"])
def test_shards_make_up_the_whole(ring, placement):
    x = torch.arange(2 * 24 * 3.0).reshape(1, 2, 24, 3)
    shards = [ring.shard(x, rank, 3, placement) for rank in range(3)]
    assert {tuple(s.shape) for s in shards} == {(1, 2, 8, 3)}
    assert torch.equal(ring.unshard(shards, placement), x)
    if placement == "zigzag":
        assert ring.chunks_of(0, 3, 24, placement) == [(0, 4), (20, 24)]
    with pytest.raises(ValueError, match="length: expects a multiple of"):
        ring.chunks_of(0, 3, 25, placement)
