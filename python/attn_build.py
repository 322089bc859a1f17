"""Builds the wheel of attn_mlir: the package and libAttnC.so.

A build backend of its own (PEP 517), so that `pip install ./python` needs nothing from
the network. The library is the one that ATTN_LIBRARY names, or that of the checkout's
build directory, which is built first if it is not there. Wheels are reproducible: equal
inputs make equal bytes.
"""

import base64
import hashlib
import os
import pathlib
import subprocess
import sysconfig
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# The first time stamp that a zip file can hold.
DATE = (1980, 1, 1, 0, 0, 0)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    files = {
        f"attn_mlir/{path.name}": path.read_bytes()
        for path in sorted((HERE / "attn_mlir").iterdir())
        if path.suffix in (".py", ".typed")
    }
    files["attn_mlir/libAttnC.so"] = _find_library().read_bytes()
    return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The checkout itself; the library is looked up in its build directory."""
    del config_settings, metadata_directory
    _find_library()
    return _write_wheel(wheel_directory, {"attn_mlir.pth": f"{HERE}\n".encode()})


def _find_library():
    given = os.environ.get("ATTN_LIBRARY")
    library = pathlib.Path(given) if given else ROOT / "build/lib/libAttnC.so"
    if not library.is_file():
        if given:
            raise FileNotFoundError(f"ATTN_LIBRARY: expects a file, but got '{given}'")
        subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", "build", "--target", "AttnC"], cwd=ROOT, check=True)
    return library


def _metadata(project):
    lines = [
        "Metadata-Version: 2.4",
        "Name: attn-mlir",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {name}; extra == '{extra}'" for name in names]
    return "\n".join(lines) + "\n"


def _write_wheel(folder, files):
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    base = f"attn_mlir-{project['version']}"
    info = f"{base}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: attn_build\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files |= {
        f"{info}/METADATA": _metadata(project).encode(),
        f"{info}/WHEEL": wheel.encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    record_name = f"{info}/RECORD"
    files[record_name] = (record + f"{record_name},,\n").encode()

    name = f"{base}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return name
