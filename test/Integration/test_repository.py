"""Rules of the house that a machine can check."""

import os
import re
import subprocess

from repository import ROOT, tracked

# Spelled in parts, so that this file does not find itself.
UNFINISHED = re.compile("TO" + "DO|FIX" + "ME|XX" + "X")
SCRIPTS = [ROOT / "utils" / n for n in ("setup", "build", "test", "demo", "bench", "docs", "release")]


def read(path):
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""


def test_nothing_is_left_unfinished():
    found = [
        f"{path.relative_to(ROOT)}:{n}"
        for path in tracked()
        for n, line in enumerate(read(path).splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert not found, found


def test_cpp_is_formatted():
    files = tracked("*.cpp", "*.h")
    command = ["clang-format-22", "--dry-run", "-Werror", *map(str, files)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


def test_scripts_parse_and_may_be_run():
    for script in [*SCRIPTS, ROOT / ".ci" / "run"]:
        assert os.access(script, os.X_OK), f"{script.name} is not executable"
        subprocess.run(["bash", "-n", script], check=True)


def test_ci_runs_the_command_of_the_readme():
    commands = [x for x in (ROOT / ".ci/run").read_text().splitlines() if x and x[0] != "#"]
    assert len(commands) == 1 and commands[0].endswith('/../utils/test"')
    assert "utils/test " in (ROOT / "README.md").read_text()


def test_setup_has_nothing_to_do_after_setup():
    done = subprocess.run(
        [ROOT / "utils/setup"], check=True, cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == ""
