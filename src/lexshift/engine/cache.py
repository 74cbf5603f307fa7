"""Cache intermediate results of a run on disk, under keys made from everything that they depend on."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from lexshift.utils.files import disk_faults, write_whole

_DIGEST = hashlib.sha256().digest_size


class Cache:
    """A folder of tables, each with a key and a checksum; a damaged table counts as missing.

    Parameters
    ----------
    folder : path
        It is created when the first table is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, key: str, table: pa.Table) -> None:
        """Write a table under a key, atomically."""
        sink = pa.BufferOutputStream()
        with ipc.new_file(sink, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        data = sink.getvalue()
        with disk_faults(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(key), lambda file: file.writelines((data, hashlib.sha256(data).digest())))

    def get(self, key: str) -> pa.Table | None:
        """Return the table of a key, or None if it is missing or damaged."""
        try:
            data = self._path(key).read_bytes()
        except OSError:
            return None
        body, digest = data[:-_DIGEST], data[-_DIGEST:]
        if hashlib.sha256(body).digest() != digest:
            return None
        return ipc.open_file(body).read_all()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def remove(self, key: str) -> None:
        """Delete the table of a key, if there is one."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.arrow"
