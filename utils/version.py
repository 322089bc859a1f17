"""The project's version, which stands in one place: the CMake project."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]


def version(root=ROOT):
    """That of the checkout `root`, as "1.2.3"."""
    text = (root / "CMakeLists.txt").read_text()
    return re.search(r"project\(AttnMLIR VERSION ([\d.]+)", text)[1]


if __name__ == "__main__":
    print(version())
