"""Builds the archives of a release and checks them as their users would (utils/release).

From the last commit, in a copy of it: the source, the installed C++ package (tools,
libraries, headers, CMake files) and the Python wheel, with their checksums. The same
commit gives the same bytes: times are the commit's, entries are sorted, no path of the
build is in a file. --twice builds everything again at another path and compares.

The package is then unpacked in a clean Debian 12 (debootstrap, as root; else into
a fresh prefix, and the output says so) that has what docs/Running.md and docs/Embedding.md
name and nothing else, where its tools run and a foreign project builds against
it. The wheel is installed in a fresh virtual environment.
"""

import argparse
import hashlib
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

from version import version

ROOT = pathlib.Path(__file__).resolve().parents[1]

# What the programs of the package need, and what building against it needs.
RUN_PACKAGES = ["libmlir-22", "python3-numpy"]
BUILD_PACKAGES = [
    "clang-22", "lld-22", "cmake", "ninja-build", "llvm-22-dev", "libmlir-22-dev",
    "mlir-22-tools", "liblld-22-dev", "libzstd-dev", "zlib1g-dev",
]  # fmt: skip

# Runs in the clean tree: $1 is the package, $2 the source.
USE_PACKAGE = r"""
set -euo pipefail
package=$1 source=$2
cd "$(mktemp -d)"
cat > inputs.py <<'END'
import numpy as np
np.save("q", np.zeros((1, 8, 128, 64), np.float16))
for name in "kv":
    np.save(name, np.ones((1, 2, 96, 64), np.float16))
END
cat > check.py <<'END'
import numpy as np
seen = np.exp(np.load("lse.npy")[0, 0, [0, 127]]).round(2).tolist()
assert seen == [0.0, 96.0], seen  # the first row sees no key
END
/usr/bin/python3 inputs.py
files="--in q=q.npy --in k=k.npy --in v=v.npy --out o=o.npy --out lse=lse.npy"
program=$source/examples/attention.mlir
"""


def run(command, **options):
    print("+", *[str(part) for part in command], flush=True)
    return subprocess.run([str(part) for part in command], check=True, **options)


def output(command, **options):
    return run(command, stdout=subprocess.PIPE, text=True, **options).stdout


def write_archive(path, folder, name, epoch):
    """`folder` as the tar.xz `path` with everything below `name`.

    The bytes depend on names, contents, links and the executable bit, not on times,
    owners or the order in which the file system lists entries.
    """

    def plain(entry):
        entry.mtime = epoch
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        executable = entry.isdir() or entry.mode & 0o100
        entry.mode = 0o755 if executable else 0o644
        return entry

    with lzma.open(path, "wb", preset=6) as stream, tarfile.open(
        fileobj=stream, mode="w", format=tarfile.GNU_FORMAT
    ) as archive:
        for item in sorted([folder, *folder.rglob("*")], key=lambda p: p.relative_to(folder).parts):
            relative = item.relative_to(folder)
            archive.add(item, arcname=str(pathlib.Path(name) / relative), recursive=False, filter=plain)


class Release:
    """One build of everything, below `work`."""

    def __init__(self, work, commit):
        self.work = work
        self.source, self.build, self.dist = work / "source", work / "build", work / "dist"
        shutil.rmtree(work, ignore_errors=True)
        self.source.mkdir(parents=True)
        self.dist.mkdir()
        archive = run(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE).stdout
        run(["tar", "-x", "-C", self.source], input=archive)
        epoch = output(["git", "-C", ROOT, "log", "-1", "--format=%ct", commit])
        self.epoch = int(os.environ.get("SOURCE_DATE_EPOCH", epoch))
        self.version = version(self.source)
        self.env = dict(os.environ, SOURCE_DATE_EPOCH=str(self.epoch))

    def make_source(self):
        name = f"attn-mlir-{self.version}"
        write_archive(self.dist / f"{name}-source.tar.xz", self.source, name, self.epoch)

    def make_package(self, jobs):
        # Neither the sources' nor the build's place may be in what is compiled.
        flags = f"-ffile-prefix-map={self.source}=. -ffile-prefix-map={self.build}=build"
        command = ["cmake", "--preset", "dev", "-S", self.source, "-B", self.build]
        command += ["-DATTN_ENABLE_ASSERTIONS=OFF"]
        command += [f"-DCMAKE_{language}_FLAGS={flags}" for language in ("C", "CXX")]
        run(command, cwd=self.source, env=self.env, stdout=subprocess.DEVNULL)
        run(["cmake", "--build", self.build, "--parallel", str(jobs)], env=self.env, stdout=subprocess.DEVNULL)
        name = f"attn-mlir-{self.version}-linux-{os.uname().machine}"
        prefix = self.work / "package" / name
        install = ["cmake", "--install", self.build, "--prefix", prefix, "--strip"]
        run(install, env=self.env, stdout=subprocess.DEVNULL)
        for file in ("LICENSE", "README.md", "CHANGELOG.md"):
            shutil.copy(self.source / file, prefix / file)
        self.refuse_paths(prefix)
        write_archive(self.dist / f"{name}.tar.xz", prefix, name, self.epoch)
        self.package = self.dist / f"{name}.tar.xz"
        self.prefix = prefix

    def make_wheel(self):
        """The Python package, with the library of the C++ package."""
        (library,) = self.prefix.glob("lib/**/libAttnC.so")
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--quiet"]
        command += ["--wheel-dir", self.dist, self.source / "python"]
        run(command, env=dict(self.env, ATTN_LIBRARY=str(library.resolve())))
        (self.wheel,) = self.dist.glob("*.whl")

    def refuse_paths(self, prefix):
        """Fails if a file of the package names the place it was built at."""
        found = [
            str(file.relative_to(prefix))
            for file in sorted(prefix.rglob("*"))
            if file.is_file() and str(self.work).encode() in file.read_bytes()
        ]
        if found:
            sys.exit(f"error: the build's path is in {', '.join(found)}")

    def sum(self):
        lines = []
        for file in sorted(self.dist.iterdir()):
            lines.append(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
        (self.dist / "SHA256SUMS").write_text("".join(lines))
        return "".join(lines)


# ---- Checks -----------------------------------------------------------------


def make_clean_tree(chroot, packages):
    """A Debian 12 with `packages` and what they depend on."""
    shutil.rmtree(chroot, ignore_errors=True)
    run(["debootstrap", "--variant=minbase", "bookworm", chroot], stdout=subprocess.DEVNULL)
    # The sources and settings of this machine, as far as they are Debian's.
    listing = pathlib.Path("/etc/apt/sources.list.d/debian.sources")
    if listing.exists():
        shutil.copy(listing, chroot / "etc/apt/sources.list.d")
        (chroot / "etc/apt/sources.list").write_text("")
    for settings in pathlib.Path("/etc/apt/apt.conf.d").glob("*proxy*"):
        shutil.copy(settings, chroot / "etc/apt/apt.conf.d")
    if pathlib.Path("/etc/resolv.conf").exists():
        shutil.copy("/etc/resolv.conf", chroot / "etc/resolv.conf")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    inside = ["chroot", chroot]
    run([*inside, "apt-get", "update", "-qq"], env=environment)
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    run([*inside, *install], env=environment, stdout=subprocess.DEVNULL)


def check_package(release, folder):
    """Uses the package in a clean tree; says so if there can be none."""
    clean = os.geteuid() == 0 and shutil.which("debootstrap")
    if clean:
        place, inside = folder / "clean", ["chroot", folder / "clean"]
        make_clean_tree(place, RUN_PACKAGES)
    else:
        print("utils/release: not root, or no debootstrap: checking on this system instead of a clean one")
        place, inside = folder / "prefix", []
        shutil.rmtree(place, ignore_errors=True)
    (place / "opt").mkdir(parents=True, exist_ok=True)
    for archive in (release.package, release.dist / f"attn-mlir-{release.version}-source.tar.xz"):
        run(["tar", "-xf", archive, "-C", place / "opt"])
    outside = "/opt" if clean else str(place / "opt")
    package = f"{outside}/{release.package.name.removesuffix('.tar.xz')}"
    source = f"{outside}/attn-mlir-{release.version}"

    def script(name, text):
        (place / "opt" / name).write_text(USE_PACKAGE + text)
        run([*inside, "bash", f"{outside}/{name}", package, source])

    script("run.sh", RUN_TOOLS)
    if clean:
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *BUILD_PACKAGES]
        run([*inside, *install], env=environment, stdout=subprocess.DEVNULL)
    script("build.sh", BUILD_AGAINST)
    print("utils/release: the package works in " + ("a clean Debian 12" if clean else "a fresh prefix"))


def check_wheel(release, folder):
    """Installs the wheel as a user does, and computes with it."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = folder / "environment"
    shutil.rmtree(environment, ignore_errors=True)
    run([sys.executable, "-m", "venv", environment])
    python = environment / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*install, release.wheel])
    # Nothing of the checkout is in reach.
    run([python, "-I", "-c", USE_WHEEL], cwd=folder, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)})
    print("utils/release: the wheel works in a fresh virtual environment")


USE_WHEEL = r"""
import attn_mlir, numpy as np
q = np.zeros((1, 8, 128, 64), np.float16)
k = v = np.ones((1, 2, 96, 64), np.float16)
for where in ({"device": "cpu"}, {"device": "emulator", "chip": "gfx942"}):
    o, lse = attn_mlir.attention(q, k, v, causal=True, return_lse=True, **where)
    seen = np.exp(lse[0, 0, [0, 127]]).round(2).tolist()
    assert seen == [0.0, 96.0] and o[0, 0, 127, 0] == 1, (where, seen)
"""

RUN_TOOLS = r"""
"$package/bin/attn-run" $program --device=cpu $files
/usr/bin/python3 check.py
"$package/bin/attn-compile" $program --chip=gfx950 -o a.hsaco --manifest=a.json
"$package/bin/attn-run" a.hsaco --manifest=a.json --device=emulator --check=all $files
/usr/bin/python3 check.py
"$package/bin/attn-report" $program --chip=gfx942 -o report.html
test -s report.html
"""

BUILD_AGAINST = r"""
export CC=clang-22 CXX=clang++-22
cmake -S "$source/examples/toy-compiler" -B toy -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$package" > configure.txt || { cat configure.txt; exit 1; }
cmake --build toy > build.txt || { cat build.txt; exit 1; }
toy/toyc "$source/examples/toy-compiler/program.mlir" --parts=1 | grep -q attn.attention
"""


def main():
    parser = argparse.ArgumentParser(
        prog="utils/release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commit", default="HEAD", help="what to release (default: HEAD)")
    parser.add_argument("--twice", action="store_true", help="build again elsewhere and compare")
    parser.add_argument("--no-checks", action="store_true", help="build the archives only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel compilations")
    args = parser.parse_args()
    work = ROOT / "build-release"
    releases = []
    for name in ["first", "second"] if args.twice else ["first"]:
        release = Release(work / name, args.commit)
        release.make_source()
        release.make_package(args.jobs)
        release.make_wheel()
        release.sums = release.sum()
        releases.append(release)
    if args.twice and releases[0].sums != releases[1].sums:
        sys.exit(f"error: two builds differ:\n{releases[0].sums}{releases[1].sums}")
    release = releases[0]
    if not args.no_checks:
        check_wheel(release, work / "check")
        check_package(release, work / "check")
    dist = work / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    shutil.copytree(release.dist, dist)
    print(release.sums, end="")
    print(f"utils/release: {dist}" + (" (two builds, the same bytes)" if args.twice else ""))


if __name__ == "__main__":
    main()
