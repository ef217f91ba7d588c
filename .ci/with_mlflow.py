"""Run a command of this Python with an MLflow server of its own at $JUDGESMITH_MLFLOW.

``python with_mlflow.py -m pytest …`` runs ``python -m pytest …``. The server listens on loopback
alone, at a free port, and keeps everything in a temporary folder. Standard library only.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PATIENCE = 120.0  # seconds for a server to come up on a busy machine


def main(arguments: list[str]) -> int:
    """Start the server, run the command, and stop the server whatever comes of it."""
    with tempfile.TemporaryDirectory() as name, socket.socket() as found:
        folder = Path(name)
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
        found.close()
        address = f"http://127.0.0.1:{port}"
        server = started(folder, port)
        try:
            if not came_up(server, f"{address}/health"):
                print((folder / "log").read_text(errors="replace")[-2000:], file=sys.stderr)
                print("the MLflow server did not start", file=sys.stderr)
                return 1
            own = {**os.environ, "JUDGESMITH_MLFLOW": address}
            return subprocess.run([sys.executable, *arguments], env=own).returncode
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def started(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    """Return the process of the server, which leads a group of its own."""
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--workers", "1"]
    command += ["--port", str(port), "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
    command += ["--artifacts-destination", str(folder / "artifacts")]
    alone = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=folder, env=alone, stdout=log, stderr=log, start_new_session=True
        )


def came_up(server: "subprocess.Popen[bytes]", address: str) -> bool:
    """Wait until the server answers; say whether it does."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            with urlopen(address, timeout=5):  # noqa: S310 - the address is our own
                return True
        except (URLError, OSError):
            time.sleep(0.2)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
