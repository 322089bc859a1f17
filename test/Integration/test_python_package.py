"""The package as a stranger gets it: a wheel in a fresh environment."""

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

import attn_program
import pytest
from repository import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip_wheel(folder)
    (path,) = folder.glob("*.whl")
    return path


def pip_wheel(folder):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "-q"]
    subprocess.run([*command, "-w", folder, ROOT / "python"], check=True)


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a new environment with the wheel, and NumPy from this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "-q"]
    subprocess.run([*command, "--target", site, wheel], check=True)
    numpy = os.path.dirname(os.path.dirname(sys.modules["numpy"].__file__))
    for name in ("numpy", "numpy.libs"):
        (site / name).symlink_to(os.path.join(numpy, name))
    return folder / "bin" / "python"


def run(python, code, tmp_path, **environment):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **environment}
    done = subprocess.run(
        [python, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path, env=env
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_wheel_has_the_package_and_the_library(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        library = archive.read("attn_mlir/libAttnC.so")
        metadata = archive.read("attn_mlir-0.1.0.dist-info/METADATA").decode()
    assert {"attn_mlir/__init__.py", "attn_mlir/py.typed"} <= set(names)
    assert library == (attn_program.BUILD / "lib/libAttnC.so").read_bytes()
    assert "Requires-Dist: numpy" in metadata and "Provides-Extra: torch" in metadata


@pytest.mark.slow
def test_wheel_is_reproducible(wheel, tmp_path):
    pip_wheel(tmp_path)
    (again,) = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


def python_fences(page):
    text = (ROOT / page).read_text()
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S))


@pytest.mark.slow
def test_readme_runs_in_a_fresh_environment(python, tmp_path):
    printed = run(python, python_fences("README.md"), tmp_path)
    assert printed.startswith("attention for gfx950: q ?x8x?x64xf16")


@pytest.mark.slow
def test_the_page_runs_in_a_fresh_environment(python, tmp_path):
    code = python_fences("docs/Python.md")
    assert "merge_states" in code and ".stages" in code
    check = "\nassert np.allclose(o, o2, atol=1e-3) and np.allclose(lse, lse2, atol=1e-4)"
    printed = run(python, code + check, tmp_path)
    assert printed.startswith("[129. 256.]\nattention for gfx950: q ?x8x?x64xf16")
    assert printed.splitlines()[-1] == "[ 1.  2.  3.  4. 33.]"
    assert list((tmp_path / ".cache/attn-mlir").glob("*.attn"))


@pytest.mark.slow
def test_the_fresh_environment_uses_its_own_library(python, tmp_path):
    where = run(python, "import attn_mlir; print(attn_mlir.__file__)", tmp_path).strip()
    assert where.startswith(str(python.parent.parent)) and str(ROOT) not in where


@pytest.mark.slow
def test_without_a_library_the_message_says_what_to_do(python, tmp_path):
    code = "import attn_mlir\ntry: attn_mlir.capabilities()\nexcept ImportError as e: print(e)"
    printed = run(python, code, tmp_path, ATTN_LIBRARY="/nowhere/libAttnC.so")
    assert "cannot load /nowhere/libAttnC.so" in printed


def test_versions_agree():
    text = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(AttnMLIR VERSION (\S+)", text).group(1)
    assert f'version = "{version}"' in (ROOT / "python/pyproject.toml").read_text()
    assert f'__version__ = "{version}"' in (ROOT / "python/attn_mlir/__init__.py").read_text()
