"""utils/release: archives whose bytes depend on their content alone."""

import os
import sys
import tarfile

import pytest
from repository import ROOT

sys.path.insert(0, str(ROOT / "utils"))
import release  # noqa: E402


def make_tree(folder, names, time):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {path.name}\n")
        os.utime(path, (time, time))
    (folder / "bin" / "tool").chmod(0o750 if time % 2 else 0o755)
    (folder / "link").symlink_to("bin/tool")
    return folder


def test_archives_do_not_depend_on_times_order_or_owners(tmp_path):
    names = ["bin/tool", "include/a.h", "include/b/c.h", "README"]
    first = make_tree(tmp_path / "first", names, 1000)
    second = make_tree(tmp_path / "second", names[::-1], 2001)
    archives = [tmp_path / "first.tar.xz", tmp_path / "second.tar.xz"]
    for archive, tree in zip(archives, (first, second), strict=True):
        release.write_archive(archive, tree, "package-1", 500)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as archive:
        members = {member.name: member for member in archive.getmembers()}
    assert {f"package-1/{name}" for name in names} < set(members)
    assert all(member.mtime == 500 and member.uid == 0 for member in members.values())
    assert members["package-1/bin/tool"].mode == 0o755
    assert members["package-1/README"].mode == 0o644
    assert members["package-1/link"].issym()
    (second / "README").write_text("something else")
    release.write_archive(archives[1], second, "package-1", 500)
    assert archives[0].read_bytes() != archives[1].read_bytes()


def test_a_package_that_names_its_build_is_refused(tmp_path):
    made = release.Release.__new__(release.Release)
    made.work = tmp_path / "work"
    package = tmp_path / "package"
    package.mkdir()
    (package / "fine").write_text("/usr/lib")
    made.refuse_paths(package)
    (package / "bad").write_bytes(b"\0" + str(made.work / "source/x.cpp").encode() + b"\0")
    with pytest.raises(SystemExit, match="bad"):
        made.refuse_paths(package)


def test_every_place_has_the_version_of_the_cmake_project():
    number = release.version(ROOT)
    assert f"\n## {number}" in (ROOT / "CHANGELOG.md").read_text()
    assert f'\nversion = "{number}"' in (ROOT / "python/pyproject.toml").read_text()
    assert f'\n__version__ = "{number}"' in (ROOT / "python/attn_mlir/__init__.py").read_text()
