"""Results kept by content in one SQLite file, and which of them the runs found for which module.

A result is written when it is there, so that a run may end at any time; only the process that starts the run writes.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec

from relax_core.fleet.jobs import Command, Done, FleetError, Result, Task, digest

_FORMAT: Final = 1
_APPLICATION: Final = 0x52785363
"""`RxSc`: by this SQLite files of ours are known."""
_SCHEMA: Final = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
CREATE TABLE results (key TEXT PRIMARY KEY, command TEXT NOT NULL, module TEXT NOT NULL, result TEXT NOT NULL);
CREATE TABLE runs (run INTEGER PRIMARY KEY, began TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE cells (run INTEGER, name TEXT, command TEXT, key TEXT NOT NULL, PRIMARY KEY (run, name, command));
"""
_WAIT_SECONDS: Final = 30.0
_ROWS: Final = 500


class Store:
    """The file; `path` is made if it is not there. An earlier one is only read, and stays as it is."""

    def __init__(self, path: str, *, is_earlier: bool = False) -> None:
        """Open it.

        Raises:
            FleetError: it is no file of results, or cannot be read or written.
        """
        self._path = path
        self._is_earlier = is_earlier
        if is_earlier and not Path(path).is_file():
            raise FleetError(f"there are no results in {path}: no such file")
        try:
            self._connection = sqlite3.connect(
                f"{Path(path).absolute().as_uri()}?mode={'ro' if is_earlier else 'rwc'}",
                uri=True,
                timeout=_WAIT_SECONDS,
                isolation_level=None,
            )
            self._check_format()
            if not is_earlier:
                # Each statement is a transaction, which the end of this process does not take back. One that ends with
                # the machine may be lost: to wait for the disk each time would take longer than many a job.
                self._connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        except sqlite3.Error as error:
            raise FleetError(f"{path} cannot be used as a file of results: {error}") from None

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, which then is one file that can be carried elsewhere, unless another run has it open."""
        if not self._is_earlier:
            with suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def known(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return the results that are there of jobs with these keys."""
        wanted = tuple(keys)
        found: dict[str, Result] = {}
        for start in range(0, len(wanted), _ROWS):
            part = wanted[start : start + _ROWS]
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(f"SELECT key, result FROM results WHERE key IN ({marks})", part)
            found |= {key: _read(text) for key, text in rows}
        return found

    def put(self, task: Task, done: Done) -> None:
        """Keep a result in place of one that may be there."""
        row = (done.key, task.job.command, digest(task.job.program.text.encode()), _written(done.result))
        self._execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", row)

    def begin(self, version: str, cells: Iterable[tuple[str, Command, str]]) -> None:
        """Take note that a run looks at modules: the name of each, the command and the key of the job."""
        began = datetime.now(UTC).isoformat(timespec="seconds")
        run = self._execute("INSERT INTO runs (began, version) VALUES (?, ?)", (began, version)).lastrowid
        rows = ((run, name, command, key) for name, command, key in cells)
        self._execute("BEGIN", ())
        self._connection.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", rows)
        self._execute("COMMIT", ())

    def latest(self) -> Mapping[tuple[str, str], Result]:
        """Return what the latest run has found, by the name of the module and the command."""
        rows = self._connection.execute(
            "SELECT name, cells.command, result FROM cells JOIN results USING (key) "
            "WHERE run = (SELECT max(run) FROM runs)"
        )
        return {(name, command): _read(text) for name, command, text in rows}

    def _execute(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise FleetError(f"{self._path} cannot be written: {error}") from None

    def _check_format(self) -> None:
        application, form = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        is_empty = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if application == 0 and is_empty and not self._is_earlier:
            self._connection.executescript(_SCHEMA)
        elif (application, form) != (_APPLICATION, _FORMAT):
            raise FleetError(f"{self._path} is no file of results of this version")


def _written(result: Result) -> str:
    return msgspec.json.encode(result).decode()


def _read(text: str) -> Result:
    return msgspec.json.decode(text, type=Result)
