"""What the documentation shows runs, links resolve, tables match the tests.

In Markdown files a fence ```mlir holds a module that attn-opt accepts; when its
first line is `// NAME.mlir` it is also a file for the commands below it. A fence
```sh holds commands, run in order in one scratch folder a page, where `build` is
the build tree; a line `# prints: TEXT` asks that the command before prints TEXT. A
fence ```text after it is an excerpt of what the last command printed: its parts
between `...` and line ends occur there in this order.
"""

import re
import subprocess
import sys

import pytest
from attn_program import BUILD, tool
from devices import DEVICES
from repository import ROOT, tracked

sys.path.insert(0, str(ROOT / "utils"))
import generate_docs  # noqa: E402
import support_table  # noqa: E402

PAGES = [path for path in tracked() if path.suffix == ".md"]
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]


def fences(path):
    """(language, text) of each fenced block."""
    pattern = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.M | re.S)
    return pattern.findall(path.read_text())


# Generated pages show fragments, which the tests of the dialect hold in full.
PAGES_WITH_CODE = [
    page
    for page in PAGES
    if any(k in ("mlir", "sh") for k, _ in fences(page))
    and not page.read_text().startswith(generate_docs.HEADER)
    # test_embedding.py runs the one, test_release.py what the other describes.
    and page.name not in ("Embedding.md", "Releasing.md")
]


# They compile many kernels.
SLOW_PAGES = ("Debugging.md", "Tuning.md")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in SLOW_PAGES))
        for page in PAGES_WITH_CODE
    ],
)
def test_snippets_run(path, tmp_path):
    run_page(path, tmp_path)


def run_page(path, folder, **environment):
    """Runs a page's fences in a folder."""
    (folder / "build").symlink_to(BUILD)
    (folder / ".venv").symlink_to(sys.prefix)
    for name in ("examples", "include"):
        (folder / name).symlink_to(ROOT / name)
    printed = ""
    for language, text in fences(path):
        if language == "mlir":
            name = re.match(r"// (\S+\.mlir)\n", text)
            file = folder / (name.group(1) if name else "snippet.mlir")
            file.write_text(text)
            command = [tool("attn-opt"), "--verify-roundtrip", str(file)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            assert done.returncode == 0, f"{text}\n{done.stderr}"
        elif language == "sh":
            printed = run_commands(text, folder, environment)
        elif language == "text" and printed:
            check_excerpt(text, printed)


def check_excerpt(text, printed):
    at = 0
    for part in re.split(r"\.\.\.|\n", text):
        found = printed.find(part.strip(), at)
        assert found >= 0, f"{part.strip()!r} is not in the rest of\n{printed[at:]}"
        at = found + len(part.strip())


def run_commands(text, folder, environment):
    """Runs a fence of commands; what the last ones printed."""
    printed = ""
    steps = re.split(r"^# prints: (.*)\n?", text, flags=re.M)
    for commands, expected in zip(steps[::2], [*steps[1::2], None]):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout[-2000:]}\n{done.stderr}"
        if expected is not None:
            assert expected in done.stdout, f"{commands}\nexpects {expected!r} in\n{done.stdout}"
        printed = done.stdout or printed
    return printed


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_filters_choose_tests(path):
    for name, chosen in re.findall(r"build/(unittests/\S+) --gtest_filter='(.*)'", path.read_text()):
        command = [BUILD / name, f"--gtest_filter={chosen}", "--gtest_list_tests"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        tests = re.findall(r"^  \S", done.stdout, re.M)
        assert tests, f"{chosen} is no test of {name}"


def test_demo_shows_right_results():
    command = [sys.executable, ROOT / "utils" / "demo.py"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("results are right") == 3, done.stdout
    assert done.stdout.count("sees none     LSE     -inf") == 3, done.stdout


@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_links_resolve(path):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), f"{target} is missing"


def test_generated_pages_are_current():
    stale = [path.name for path in generate_docs.stale()]
    assert not stale, f"run utils/generate_docs.py --write for {stale}"


def test_support_table_is_the_generated_one():
    assert support_table.is_current(), "run utils/support_table.py --write"


# Prints the device and the id of every test that is not skipped there by a mark.
COLLECT = """
import pytest, sys
sys.path.insert(0, "test/Integration")
from devices import Device

class Collector:
    def pytest_collection_finish(self, session):
        for item in session.items:
            device = getattr(item, "callspec", None) and item.callspec.params.get("device")
            needed = [name for mark in item.iter_markers("needs") for name in mark.args]
            if isinstance(device, Device) and not device.lacks(*needed) and not item.get_closest_marker("skip"):
                print("RUNS", device, item.nodeid.partition("[")[0])

sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]], [Collector()]))
"""


@pytest.fixture(scope="module")
def running_tests():
    """(device, file::function) of the tests in the files that the table names."""
    files = {name.partition("::")[0] for row in support_table.rows() for name in row["tests"]}
    command = [sys.executable, "-c", COLLECT, *sorted(files)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(re.findall(r"^RUNS (\S+) (?:test/Integration/)?(\S+)$", done.stdout, re.M))


def untested(row, running):
    """The devices of a row on which none of its tests runs, and tests that run on none."""
    names = [name.removeprefix("test/Integration/") for name in row["tests"]]
    missing = [d for d in row["devices"] if not any((d, name) in running for name in names)]
    return missing + [name for name in names if not any(name == test for _, test in running)]


@pytest.mark.parametrize("row", support_table.rows(), ids=lambda row: row["feature"])
def test_supported_features_have_tests(row, running_tests):
    names = {str(device) for device in DEVICES}
    chosen = [device for device in row["devices"] if device in names]
    found = untested({**row, "devices": chosen}, running_tests)
    if chosen != row["devices"]:  # tests may be for the other devices only
        found = [x for x in found if x in chosen]
    assert found == []


def test_a_feature_without_a_running_test_is_found(running_tests):
    tests = ["test/Integration/test_d_shapes.py::test_D6_odd_head_sizes"]  # cpu only
    made_up = {"devices": ["cpu", "gfx942"], "tests": [*tests, "test/Integration/test_x.py::test_y"]}
    assert untested(made_up, {*running_tests, ("gfx942", "another")}) == ["gfx942", "test_x.py::test_y"]
