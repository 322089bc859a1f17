"""The disk cache of attn_mlir: processes at the same time, damage, limits."""

import concurrent.futures
import os
import subprocess
import sys

import attn_mlir
import numpy as np
import pytest
from attn_mlir import _cache, _native, _program
from repository import ROOT

Q = np.zeros((1, 2, 5, 8), np.float32)
# Row i averages the values of keys 0 to i.
V = np.broadcast_to(np.arange(5, dtype=np.float32)[:, None], Q.shape)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache; programs in memory are forgotten."""
    monkeypatch.setenv("ATTN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_program, "_programs", {})
    return tmp_path / "cache"


def forget():
    _program._programs.clear()


def compute(**options):
    return attn_mlir.attention(Q, Q, V, causal=True, **options)


def count_compilations(monkeypatch):
    compiled = []
    original = _native.Program.compile
    monkeypatch.setattr(
        _native.Program, "compile", lambda *a: compiled.append(a) or original(*a)
    )
    return compiled


def test_the_second_process_compiles_nothing(folder, monkeypatch):
    first = compute()
    (entry,) = folder.iterdir()
    assert entry.suffix == ".attn"
    forget()
    compiled = count_compilations(monkeypatch)
    np.testing.assert_array_equal(compute(), first)
    assert not compiled
    compute(scale=0.5)
    assert len(compiled) == 1 and len(list(folder.iterdir())) == 2


@pytest.mark.slow
def test_another_level_or_library_is_another_entry(folder, monkeypatch):
    compute()
    monkeypatch.setenv("ATTN_OPT_LEVEL", "1")
    compute()
    assert len(list(folder.iterdir())) == 2
    forget()
    monkeypatch.setattr(_native, "build_id", lambda: "another")
    compute()
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: data[:99] + b"?" + data[100:]], ids=["empty", "cut off", "changed"])
def test_a_damaged_entry_is_compiled_again(folder, monkeypatch, damage):
    first = compute()
    (entry,) = folder.iterdir()
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    forget()
    compiled = count_compilations(monkeypatch)
    np.testing.assert_array_equal(compute(), first)
    assert len(compiled) == 1
    assert entry.read_bytes() == good


def test_what_was_used_longest_ago_goes_first(folder, monkeypatch):
    compute()
    (first,) = folder.iterdir()
    compute(scale=0.5)
    (second,) = set(folder.iterdir()) - {first}
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    forget()
    compute()  # used again
    monkeypatch.setenv("ATTN_CACHE_BYTES", str(first.stat().st_size * 5 // 2))
    compute(scale=0.25)
    assert first.exists() and not second.exists()
    monkeypatch.setenv("ATTN_CACHE_BYTES", "10")
    compute(scale=0.125)
    assert first.exists(), "an entry larger than the cache is not kept and removes nothing"
    monkeypatch.setenv("ATTN_CACHE_BYTES", "much")
    with pytest.raises(ValueError, match="ATTN_CACHE_BYTES: expects a number, but got 'much'"):
        compute(scale=2.0)


def test_files_of_writers_that_died_are_removed(folder):
    folder.mkdir()
    stale, fresh = folder / "a.tmp", folder / "b.tmp"
    for path in (stale, fresh):
        path.write_bytes(b"x")
    os.utime(stale, (1, 1))
    compute()
    assert fresh.exists() and not stale.exists()


def test_a_cache_that_cannot_be_written_is_no_error(folder, monkeypatch):
    folder.write_bytes(b"a file where the folder should be")
    compute()
    monkeypatch.setenv("ATTN_CACHE_DIR", "off")
    assert _cache.directory() is None
    forget()
    compute()


PROGRAM = """
import numpy as np, attn_mlir
q = np.zeros((1, 2, 5, 8), np.float32)
v = np.broadcast_to(np.arange(5, dtype=np.float32)[:, None], q.shape)
for scale in (1.0, 2.0, 1.0):
    o = attn_mlir.attention(q, q, v, causal=True, scale=scale)
    assert np.allclose(o[0, :, :, 0], [0, 0.5, 1, 1.5, 2]), o
"""


def test_processes_at_the_same_time(folder):
    """Also with a limit that lets each remove what the others write."""
    env = dict(os.environ, PYTHONPATH=str(ROOT / "python"))

    def run(limit):
        command = [sys.executable, "-c", PROGRAM]
        limited = dict(env, ATTN_CACHE_BYTES=limit)
        return subprocess.run(command, check=False, capture_output=True, text=True, env=limited)

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in pool.map(run, ["1000000", "15000"] * 3):
            assert done.returncode == 0, done.stderr
    assert not list(folder.glob("*.tmp"))


def test_threads_at_the_same_time(folder):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda scale: compute(scale=scale), [1.0, 2.0, 3.0] * 8))
    for result in results:
        np.testing.assert_allclose(result[0, :, :, 0], [[0, 0.5, 1, 1.5, 2]] * 2, rtol=1e-6)
