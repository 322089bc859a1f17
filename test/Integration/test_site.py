"""The documentation site builds without a warning and stands alone."""

import re
import subprocess
import sys

import pytest
from repository import ROOT, tracked

sys.path.insert(0, str(ROOT / "utils" / "site"))
import build  # noqa: E402
import cpp_reference  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "utils/site/build.py", "--output", folder / "site"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.slow
def test_every_page_and_public_header_is_there(site):
    pages = [p.relative_to(ROOT / "docs") for p in tracked("docs/*.md")]
    assert pages
    for page in pages:
        assert (site / page.with_suffix(".html")).exists(), page
    headers = [p.relative_to(ROOT / "include/attn") for p in tracked("include/attn/*.h")]
    for header in headers:
        text = (site / "api/cpp" / header.with_suffix(".html")).read_text()
        assert f"attn/{header}" in text
    front = (site / "index.html").read_text()
    assert f"AttnMLIR {build.version()}" in front
    for title in build.SECTIONS:
        assert title == "More" or f">{title}</span>" in front, title


@pytest.mark.slow
def test_nothing_comes_from_outside(site):
    for page in site.rglob("*.html"):
        text = re.sub(r"<(pre|code).*?</\1>", "", page.read_text(), flags=re.S)
        assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//", text), page


@pytest.mark.slow
def test_a_broken_link_is_an_error(tmp_path):
    root = tmp_path / "checkout"
    (root / "docs").mkdir(parents=True)
    (root / "CMakeLists.txt").write_text("project(AttnMLIR VERSION 1.2.3)\n")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (root / name).write_text(f"# {name}\n\n[a page](docs/Page.md)\n")
    (root / "docs" / "Page.md").write_text("# Page\n\n[back](../README.md)\n")
    command = [sys.executable, "-c", "import build, pathlib, sys;"]
    command[-1] += "sys.exit(build.build(*map(pathlib.Path, sys.argv[1:])))"
    command += [root, tmp_path / "site"]

    def run():
        return subprocess.run(
            command, check=False, cwd=ROOT / "utils/site", capture_output=True, text=True
        )

    done = run()
    assert done.returncode == 0, done.stderr
    broken = ["Missing.md", "Page.md#nowhere", "../nothing.txt"]
    for n, target in enumerate(broken):
        (root / "docs" / f"Broken{n}.md").write_text(f"# Broken\n\n[x]({target})\n")
    done = run()
    assert done.returncode != 0
    for n in range(len(broken)):
        assert f"Broken{n}.md" in done.stderr, done.stderr


def test_reference_shows_what_is_public(tmp_path):
    header = tmp_path / "Example.h"
    header.write_text(
        """//===- Example.h - An example ------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===-----===//
//
// What it is for.
//
//===-----===//

namespace attn {
class Other;

/// Adds \\p a, a vector<f32>.
int add(int a);

class Thing {
public:
  /// A getter.
  int get() const { return value; }
  void run() {
    hidden();
  }

private:
  int value;
};
} // namespace attn
"""
    )
    text, count = cpp_reference.page(header, "attn/Example.h")
    assert count == 2 and "What it is for." in text and "LLVM-exception" not in text
    assert "Adds `a`, a vector&lt;f32>." in text
    assert "int get() const;" in text and "void run();" in text
    assert "hidden" not in text and "int value" not in text and "class Other" not in text
