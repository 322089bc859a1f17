"""Compiled programs on disk, shared by processes without locks.

A file is written under a name of its own and moved into place, so a reader
sees all of it or nothing; programs carry a checksum, and one that does not
read back is compiled again. Keys are hashes of everything that decides the
code, so an entry is never out of date, only unused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import tempfile
import time

_SUFFIX = ".attn"
_DEFAULT_BYTES = 256 << 20
# A writer that died leaves its file; nobody writes for this long.
_STALE_SECONDS = 3600


def directory() -> pathlib.Path | None:
    """ATTN_CACHE_DIR, else attn-mlir in the user's cache; None if that is "off"."""
    given = os.environ.get("ATTN_CACHE_DIR")
    if given == "off":
        return None
    if given:
        return pathlib.Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(base) if base else pathlib.Path.home() / ".cache") / "attn-mlir"


def limit() -> int:
    """ATTN_CACHE_BYTES: how much the files may take, 256 MiB by default."""
    text = os.environ.get("ATTN_CACHE_BYTES", str(_DEFAULT_BYTES))
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"ATTN_CACHE_BYTES: expects a number, but got '{text}'") from None


def key(*parts: str) -> str:
    """A file name for a program; parts may hold anything."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read(name: str) -> bytes | None:
    """The entry, or None. What cannot be read is not there."""
    folder = directory()
    if folder is None:
        return None
    path = folder / (name + _SUFFIX)
    try:
        data = path.read_bytes()
        os.utime(path)  # what was used last goes last
        return data
    except OSError:
        return None


def discard(name: str) -> None:
    """Removes a damaged entry."""
    folder = directory()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / (name + _SUFFIX)).unlink()


def write(name: str, data: bytes) -> None:
    """Adds an entry and makes room. A cache that cannot be written is no error."""
    folder = directory()
    if folder is None or len(data) > limit():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, folder / (name + _SUFFIX))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _make_room(folder)
    except OSError:
        return


def _make_room(folder: pathlib.Path) -> None:
    """Removes stale temporary files, then the entries used longest ago."""
    entries = []
    for path in folder.iterdir():
        # Another process may have removed it by now.
        with contextlib.suppress(OSError):
            status = path.stat()
            if path.suffix == _SUFFIX:
                entries.append((status.st_mtime, status.st_size, path))
            elif path.suffix == ".tmp" and status.st_mtime < time.time() - _STALE_SECONDS:
                path.unlink()
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit():
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
