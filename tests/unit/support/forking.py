"""Commands in processes of their own, forked from one that has imported what they need.

A process that starts Python and imports all of it takes more than a second, most commands in tests
much less. ``Nursery`` starts such a process and asks it for a child for every command. What a
command imports when it is started is tested by tests that start it from nothing.
"""

import array
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading

NEEDED = (
    "judgesmith.cli.judge.compile",
    "judgesmith.cli.use.score",
    "judgesmith.experiments.compile.compiling",
    "judgesmith.experiments.compile.estimate",
    "judgesmith.experiments.evaluate.judged_rows",
    "judgesmith.experiments.evaluate.label_summary",
    "judgesmith.experiments.robustness.discerning",
    "judgesmith.experiments.scoring.scoring",
    "judgesmith.programs.lm.engines",
    "judgesmith.programs.offline",
    "rich.console",
)


class Nursery:
    """The process whose children commands are; ends with it."""

    def __init__(self):
        self.door, theirs = socket.socketpair()
        call = [sys.executable, "-W", "error", __file__, str(theirs.fileno())]
        self.process = subprocess.Popen(
            call, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        theirs.close()

    def close(self):
        self.door.close()
        self.process.wait(60)

    def child(self, arguments, *, cwd, env=None):
        """Start a command in a folder."""
        return Child(self.door, [*map(str, arguments)], str(cwd), dict(env or os.environ))


class Child:
    """A command in a session of its own, with what ``subprocess.Popen`` has that tests need."""

    def __init__(self, door, arguments, cwd, env):
        self.returncode = None
        self.line, theirs = socket.socketpair()
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        told = json.dumps([arguments, cwd, env]).encode() + b"\n"
        socket.send_fds(door, [told], [theirs.fileno(), its_out, its_err])
        theirs.close()
        os.close(its_out)
        os.close(its_err)
        self.stdout, self.stderr = (os.fdopen(one, encoding="utf-8") for one in (out, err))
        (self.pid,) = struct.unpack("i", self.line.recv(4))

    def poll(self):
        return self._status(0)

    def wait(self, timeout=None):
        if self._status(timeout) is None:
            raise subprocess.TimeoutExpired("judgesmith", timeout)
        return self.returncode

    def _status(self, timeout):
        if self.returncode is None and select.select([self.line], [], [], timeout)[0]:
            (status,) = struct.unpack("i", self.line.recv(4))
            self.returncode = os.waitstatus_to_exitcode(status)
            self.line.close()
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        """Return what else it says on both of its streams, when it has ended."""
        said = {}
        streams = [one for one in (self.stdout, self.stderr) if one is not None]
        streams = [one for one in streams if not one.closed]

        def read(stream):
            said[stream] = stream.read()
            stream.close()

        readers = [threading.Thread(target=read, args=(one,)) for one in streams]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return said.get(self.stdout), said.get(self.stderr)


def received(door):
    """Return what the next child is to do, and its descriptors; None when nobody asks any more."""
    told, descriptors, _, _ = socket.recv_fds(door, 65536, 3)
    while told and not told.endswith(b"\n"):
        told += door.recv(65536)
    return (json.loads(told), list(array.array("i", descriptors))) if told else None


def nurse(door):
    """Start children until nobody asks for one, and tell how each ended; return in a child."""
    for name in NEEDED:
        importlib.import_module(name)
    heard, wake = os.pipe()
    for one in (heard, wake):
        os.set_blocking(one, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines = {}
    while True:
        ready, _, _ = select.select([door, heard], [], [])
        if heard in ready:
            os.read(heard, 65536)
            lines = told_ends(lines)
        if door not in ready:
            continue
        if (asked := received(door)) is None:
            sys.exit()
        (arguments, cwd, env), (line, out, err) = asked
        child = os.fork()
        if child:
            os.write(line, struct.pack("i", child))
            os.close(out)
            os.close(err)
            lines[child] = line
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        for place, one in enumerate((nowhere, out, err)):
            os.dup2(one, place)
        for one in (nowhere, out, err, line, heard, wake, *lines.values()):
            os.close(one)
        door.close()
        os.setsid()
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.argv[1:] = arguments
        return


def told_ends(lines):
    """Tell of each child that has ended how; return the lines to the others."""
    left = dict(lines)
    while left:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            break
        line = left.pop(child)
        os.write(line, struct.pack("i", status))
        os.close(line)
    return left


if __name__ == "__main__":
    nurse(socket.socket(fileno=int(sys.argv[1])))
    sys.path.pop(0)
    runpy.run_module("judgesmith", run_name="__main__", alter_sys=True)
