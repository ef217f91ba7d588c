"""Several workers at the same time."""

import itertools
import signal
import threading
import time


def at_the_same_time(*functions):
    """Run functions in threads; return what each returned or raised."""
    found = [None] * len(functions)

    def run(place, function):
        try:
            found[place] = function()
        except Exception as fault:
            found[place] = fault

    threads = [
        threading.Thread(target=run, args=(place, function))
        for place, function in enumerate(functions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def wait_for(condition, seconds=120):
    """Return as soon as a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def stopped(process, server, *then, number=signal.SIGINT):
    """Ask a command to stop, have the server answer then; return what the command printed."""
    process.send_signal(number)
    said = ""
    for line in process.stderr:
        said += line
        if line.startswith("stopping"):
            break
    server.forget(*then)
    out, err = process.communicate(timeout=120)
    return out, said + err


def once_all_have_begun(function, barrier):
    """Return a function whose first call waits for those of others at the same barrier."""
    calls = itertools.count()

    def called(*arguments):
        if next(calls) == 0:
            barrier.wait(timeout=120)
        return function(*arguments)

    return called
