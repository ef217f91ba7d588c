"""Several workers at the same time."""

import threading


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
