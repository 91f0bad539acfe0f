"""A private PostgreSQL server for tests: in a directory of its own, gone with its test.

It listens at a socket in that directory and at no port. PostgreSQL does not run as root: then it
runs as nobody, whom the directory belongs to. The child dies with its parent.
"""

import os
import pwd
import shutil
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from patience import PATIENCE, wait_until

USER, PASSWORD = "owner", "p@ss/w%rd"
ESCAPED = "p%40ss%2Fw%25rd"


def postgres_program(name):
    """Return the path of one of PostgreSQL's programs. Raises FileNotFoundError."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=_version)
    program = found[-1] if found else shutil.which(name)  # Debian has them in no PATH
    if program is None:
        raise FileNotFoundError(f"{name} is not there (on Debian: apt-get install postgresql)")
    return str(program)


def _version(program):
    return int(program.parts[4])


class PostgresServer:
    """One server; `with PostgresServer() as server:` starts it and ends it."""

    def __init__(self):
        self._opened = ExitStack()
        self.folder = Path(self._opened.enter_context(TemporaryDirectory(prefix="postgres-")))
        self._process = None

    def __enter__(self):
        (self.folder / "password").write_text(PASSWORD)
        self._options = {}
        if os.geteuid() == 0:
            _, _, user, group, *_ = pwd.getpwnam("nobody")
            self._options = {"user": user, "group": group, "extra_groups": []}
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, user, group)
        self._run(
            *(postgres_program("initdb"), "-D", str(self.folder / "data"), "-U", USER),
            *("--pwfile", str(self.folder / "password"), "-A", "scram-sha-256"),
            *("-E", "UTF8", "--locale=C", "--no-sync"),
        )
        self.start()
        return self

    def __exit__(self, *_):
        self.end(signal.SIGQUIT)
        self._opened.close()

    def url(self, database="postgres", password=ESCAPED):
        """Return an address with user and password."""
        return f"postgresql://{USER}:{password}@/{database}?host={self.folder}"

    def database(self, name):
        """Make a database, in place of one of this name; return the name."""
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def connect(self, database="postgres"):
        """Return a new connection, in which each statement is a transaction."""
        return psycopg.connect(self.url(database), autocommit=True)

    def start(self):
        """Start it and wait until it answers."""
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off"}
        command = [postgres_program("postgres"), "-D", str(self.folder / "data")]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        if guard := shutil.which("setpriv"):  # a killed test run leaves no server behind
            command = [guard, "--pdeathsig", "QUIT", *command]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                **self._options,
            )
        wait_until(self._answers, "an answer of PostgreSQL")

    def end(self, how=signal.SIGINT):
        """End it, by default after it has sent away all clients."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)

    def _run(self, *command):
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._options)

    def _answers(self):
        if self._process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True
