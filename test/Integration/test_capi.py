"""The C API, from programs that are compiled as C11."""

import os
import subprocess

import attn_program
import pytest
from repository import ROOT

LIBRARY = attn_program.BUILD / "lib" / "libAttnC.so"
FLAGS = "-std=c11 -Wall -Wextra -Werror -pedantic".split()


@pytest.fixture(scope="module")
def run_c(tmp_path_factory):
    """Compiles a C file once and runs it, to fail with `message` if there is one."""
    folder = tmp_path_factory.mktemp("capi")

    def run(name, *arguments, message=None):
        source = ROOT / name
        program = folder / source.stem
        if not program.exists():
            command = ["clang-22", *FLAGS, f"-I{ROOT / 'include'}", source, "-o", program]
            subprocess.run([*command, LIBRARY, "-lm", "-pthread"], check=True)
        env = dict(os.environ, LD_LIBRARY_PATH=str(LIBRARY.parent))
        done = subprocess.run(
            [program, *arguments], check=False, capture_output=True, text=True, env=env
        )
        if message is not None:
            assert (done.returncode, done.stderr) == (1, message)
        else:
            assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("where", ["cpu", "hip", "emulator gfx942", "emulator gfx950"])
def test_attention_with_lse_from_c(run_c, where, monkeypatch):
    # In place of a GPU; the files of test/HIP test it.
    monkeypatch.setenv("ATTN_HIP_LIBRARY", str(attn_program.BUILD / "test/HIP/lib/libamdhip64.so"))
    assert run_c("examples/capi/attention.c", *where.split()) == "LSE of row 0: 1.09861\n"


def test_the_example_refuses_an_unknown_device(run_c):
    for name in ("CPU", "gfx942", ""):
        message = f"error: expects cpu, emulator or hip, but got '{name}'\n"
        assert run_c("examples/capi/attention.c", name, message=message) == ""


def test_wrong_inputs_from_c(run_c):
    assert run_c("test/CAPI/errors.c") == ""


def test_threads_from_c(run_c):
    assert run_c("test/CAPI/threads.c") == ""


def test_only_attn_symbols_are_exported():
    command = ["nm", "-D", "--defined-only", LIBRARY]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in listing.splitlines()]
    assert "attnKernelLaunch" in names
    assert [name for name in names if not name.startswith("attn")] == []


@pytest.mark.parametrize("header", sorted((ROOT / "include/attn-c").glob("*.h")), ids=lambda p: p.name)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_header_stands_alone(header, language):
    standard = {"c": "-std=c11", "c++": "-std=c++17"}[language]
    command = ["clang-22", "-x", language, standard, *FLAGS[1:], "-fsyntax-only"]
    subprocess.run([*command, f"-I{ROOT / 'include'}", header], check=True)
