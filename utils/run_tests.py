"""Builds the project and runs every test: lit, GoogleTest and pytest.

The last line is `N passed, N failed, N skipped`, summed over the three. The
exit code is 0 only when nothing failed and each part ran at least one test.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIT = "/usr/lib/llvm-22/bin/lit"


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
        )

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_report(path):
    """Counts the test cases of a JUnit-style XML report (all three write one)."""
    counts = Counts()
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def collect(name, exit_code, report, may_be_empty=False):
    """Turns one program's exit code and report into counts.

    A program that failed without a failed case (a crash, a bad command line)
    or that ran nothing counts as one failure, with a line that says so, unless
    `may_be_empty`.
    """
    try:
        counts = count_report(report)
    except (OSError, ElementTree.ParseError):
        counts = Counts()
    if exit_code != 0 and counts.failed == 0:
        print(f"{name}: exit code {exit_code} without a failed test in its report")
        counts.failed += 1
    elif counts.passed + counts.failed == 0 and not may_be_empty:
        print(f"{name}: ran no test")
        counts.failed += 1
    return counts


def run_lit(build, reports, quick):
    report = reports / "lit.xml"
    command = [LIT, "-sv", f"--xunit-xml-output={report}", str(build / "test")]
    if quick:
        command.append("--param=quick=1")
    return collect("lit", subprocess.run(command, check=False).returncode, report)


def run_unit_program(program, reports, quick):
    report = reports / f"unit-{program.name}.xml"
    command = [str(program), f"--gtest_output=xml:{report}"]
    if quick:
        command.append("--gtest_filter=-*Slow*")
    done = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        print(done.stdout)
    # A quick run may leave out all tests of a program, but not of all programs.
    return collect(program.name, done.returncode, report, may_be_empty=quick)


def run_unit(build, reports, quick):
    # Written by the build: a stale program in the tree is not run.
    listing = build / "unittests" / "programs.txt"
    programs = [pathlib.Path(line) for line in listing.read_text().split()]
    total = Counts()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for counts in pool.map(lambda p: run_unit_program(p, reports, quick), programs):
            total += counts
    if total.passed + total.failed == 0:
        print("unit: ran no test")
        total.failed += 1
    return total


def run_pytest(build, reports, quick):
    report = reports / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count())]
    command += [f"--junit-xml={report}", "-p", "no:cacheprovider"]
    env = dict(os.environ, ATTN_BUILD_DIR=str(build))
    if quick:
        command += ["-m", "not slow"]
        env.setdefault("ATTN_TEST_OPTIMIZE", "0")  # most of the time is compiling
    done = subprocess.run(command, check=False, cwd=ROOT / "test/Integration", env=env)
    return collect("pytest", done.returncode, report)


PARTS = {"lit": run_lit, "unit": run_unit, "pytest": run_pytest}


def main():
    parser = argparse.ArgumentParser(prog="utils/test", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="leave out tests marked slow (under a minute)"
    )
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="run this part only (may be repeated)"
    )
    parser.add_argument("--preset", default="dev", help="CMake preset (default: dev)")
    args = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # keeps order with the programs' output

    if subprocess.run([ROOT / "utils/build", args.preset], check=False).returncode != 0:
        print("build: failed")
        print(Counts(failed=1))
        return 1
    build = ROOT / ("build" if args.preset == "dev" else f"build-{args.preset}")
    reports = build / "test-reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)

    total = Counts()
    for name in args.only or PARTS:
        start = time.monotonic()
        counts = PARTS[name](build, reports, args.quick)
        ran = counts.passed + counts.failed
        print(f"{name}: {counts.passed} of {ran} pass ({time.monotonic() - start:.1f} s)")
        total += counts
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
