"""The checkout as the tests see it."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*patterns):
    """Tracked files, as absolute paths."""
    command = ["git", "-C", str(ROOT), "ls-files", "--", *patterns]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [ROOT / line for line in listing.splitlines() if (ROOT / line).is_file()]
