"""A stand-in for Ray in one process: actors are objects, and workers are lost when a test says so.

Only what ``judgesmith.experiments.scoring.clusters`` uses of Ray is there.
"""

import asyncio
import random
from types import SimpleNamespace


class RayError(Exception):
    """What Ray raises."""


class RayTaskError(RayError):
    """A fault of the code that Ray ran."""


class Ref:
    """The answer to a call, once there is one."""

    def __init__(self, answer):
        self.answer = answer


class Method:
    """A method of an actor."""

    def __init__(self, actor, name):
        self.actor, self.name = actor, name

    def options(self, **options):
        return self

    def remote(self, *arguments):
        return self.actor.call(self.name, arguments)


class Actor:
    """An actor, which dies when the dice say so, and is then another one."""

    def __init__(self, ray, kind, settings):
        self.ray, self.kind, self.settings = ray, kind, settings
        self.born()

    def born(self):
        self.worker = self.kind(**self.settings)
        self.ray.n_born += 1

    def __getattr__(self, name):
        return Method(self, name)

    def call(self, name, arguments):
        dies = name == "judged" and self.ray.rng.random() < self.ray.losses
        if dies and self.ray.rng.random() < 0.5:
            self.born()  # before it began
            return Ref(RayError("the worker died"))
        answer = self.ray.runner.run(getattr(self.worker, name)(*arguments))
        if dies:
            self.born()  # before it could say what came of it
            return Ref(RayError("the worker died"))
        return Ref(answer)


class LossyRay:
    """The module."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, *, seed=0, losses=0.0):
        self.rng = random.Random(seed)
        self.losses = losses
        self.n_born = 0
        self.runner = asyncio.Runner()

    def close(self):
        self.runner.close()

    def put(self, value):
        return value

    def remote(self, kind):
        options = SimpleNamespace(remote=lambda **settings: Actor(self, kind, settings))
        return SimpleNamespace(options=lambda **_: options)

    def wait(self, refs, *, num_returns, timeout):
        ready = self.rng.sample(refs, min(num_returns, len(refs)))
        return ready, [one for one in refs if one not in ready]

    def get(self, ref):
        if isinstance(ref.answer, Exception):
            raise ref.answer
        return ref.answer

    def cancel(self, ref):
        pass

    def kill(self, actor):
        pass
