"""How utils/test counts: a green line must mean that something ran."""

import os
import subprocess
import sys

import pytest
from repository import ROOT

sys.path.insert(0, str(ROOT / "utils"))
import run_tests  # noqa: E402
from run_tests import Counts, collect  # noqa: E402

REPORT = """<testsuites><testsuite>
  <testcase name="a" status="run" result="completed"/>
  <testcase name="b"><failure message="wrong"/></testcase>
  <testcase name="c"><error message="crash"/></testcase>
  <testcase name="d"><skipped message="no device"/></testcase>
  <testcase name="e" status="notrun"/>
</testsuite></testsuites>"""


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.slow
def test_devices_can_be_chosen():
    """Some tests are for other devices only, and then have none."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", "test_softcap.py"]
    command += ["test_docs.py", "-k", "softcap or running_test"]
    environment = {**os.environ, "ATTN_TEST_DEVICES": "cpu"}
    folder = ROOT / "test/Integration"
    done = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_cases_are_counted(tmp_path):
    assert collect("x", 1, write(tmp_path / "r.xml", REPORT)) == Counts(1, 2, 2)


@pytest.mark.parametrize(
    "exit_code, text, expected",
    [
        (0, "<testsuites/>", Counts(failed=1)),  # ran nothing
        (0, "<testsuites>", Counts(failed=1)),  # a report cut short
        (5, "<testsuites/>", Counts(failed=1)),
        (-11, '<t><testcase name="a"/></t>', Counts(passed=1, failed=1)),  # crashed at exit
        (0, '<t><testcase name="a"/></t>', Counts(passed=1)),
        (0, '<t><testcase name="a"><skipped/></testcase></t>', Counts(failed=1, skipped=1)),
    ],
)
def test_a_part_is_green_only_if_it_ran(tmp_path, exit_code, text, expected, capsys):
    assert collect("x", exit_code, write(tmp_path / "r.xml", text)) == expected
    if expected.failed:
        assert capsys.readouterr().out.startswith("x: ")


def test_a_quick_run_may_leave_out_a_whole_program(tmp_path):
    report = write(tmp_path / "r.xml", "<testsuites/>")
    assert collect("x", 0, report, may_be_empty=True) == Counts()
    assert collect("x", 1, report, may_be_empty=True) == Counts(failed=1)


def test_a_missing_report_is_a_failure(tmp_path):
    assert collect("x", 0, tmp_path / "none.xml") == Counts(failed=1)


def test_sum_is_one_line():
    assert str(Counts(3, 2, 1) + Counts(1, 0, 0)) == "4 passed, 2 failed, 1 skipped"
    assert set(run_tests.PARTS) == {"lit", "unit", "pytest"}
