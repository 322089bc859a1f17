"""docs/Embedding.md, followed to the letter by a project outside of this tree."""

import os
import pathlib
import re
import subprocess

import pytest
from attn_program import BUILD
from repository import ROOT
from test_docs import run_page


def mentions(folder, path):
    """Files below a folder that name something below a path."""
    command = ["grep", "-rlF", "--", f"{path}/", str(folder)]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    assert found.returncode <= 1, found.stderr
    return found.stdout.split()


def configure(folder, version, prefix="moved", target="attn-opt"):
    """A project that asks for a version of the package in a prefix."""
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p C CXX)\n"
        f"find_package(AttnMLIR {version} REQUIRED CONFIG)\n"
        f"get_target_property(at AttnMLIR::{target} LOCATION)\n"
        f'message(STATUS "{target} is ${{at}}, MLIR ${{MLIR_VERSION}}")\n'
    )
    command = ["cmake", "-S", folder, "-B", folder / f"{prefix}-{version}"]
    command += [f"-DCMAKE_PREFIX_PATH={folder}/{prefix}"]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.slow
def test_the_page_runs_and_its_prefix_stands_alone(tmp_path):
    if "ATTN_ENABLE_SANITIZERS:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("users of sanitized libraries need their flags")
    # One test: the page takes most of the time. Its commands install to attnmlir
    # and build a user in toy. Same files at another path: let ccache know.
    cache = os.environ.get("CCACHE_DIR", str(pathlib.Path.home() / ".cache/ccache"))
    run_page(
        ROOT / "docs/Embedding.md",
        tmp_path,
        CMAKE_CXX_COMPILER_LAUNCHER="ccache",
        CCACHE_DIR=cache,
        CCACHE_BASEDIR=str(tmp_path),
        CCACHE_NOHASHDIR="1",
    )
    prefix = tmp_path / "attnmlir"
    for tree in (BUILD, ROOT / "include", ROOT / "lib", ROOT / "tools"):
        assert mentions(prefix, tree) == []
    assert mentions(tmp_path / "toy", BUILD) == []

    prefix.rename(tmp_path / "moved")
    versions = (tmp_path / "moved/lib/cmake/AttnMLIR/AttnMLIRConfigVersion.cmake").read_text()
    version = re.search(r'PACKAGE_VERSION "([\d.]+)"', versions).group(1)
    major, minor = map(int, version.split(".")[:2])
    done = configure(tmp_path, f"{major}.{minor}")
    assert f"attn-opt is {tmp_path}/moved/bin/attn-opt, MLIR 22." in done.stdout, done.stderr
    done = configure(tmp_path, f"{major}.{minor + 1}")
    assert done.returncode != 0 and f"AttnMLIRConfig.cmake, version: {version}" in done.stderr

    # One component is enough for a user of the libraries.
    command = ["cmake", "--install", BUILD, "--component", "Development", "--prefix"]
    subprocess.run([*command, tmp_path / "part"], check=True, capture_output=True)
    done = configure(tmp_path, f"{major}.{minor}", "part", "AttnDialect")
    assert f"AttnDialect is {tmp_path}/part/lib/libAttnDialect.a" in done.stdout, done.stderr
    assert not (tmp_path / "part/bin").exists()
