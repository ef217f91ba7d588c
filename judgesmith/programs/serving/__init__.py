"""Judges over HTTP: one application for any ASGI server, and a runner that stops well."""

from judgesmith.programs.serving.application import address_of, app, bound_socket, run
from judgesmith.programs.serving.requests import ServingLimits
from judgesmith.programs.serving.served import ServedJudge

__all__ = ["ServedJudge", "ServingLimits", "address_of", "app", "bound_socket", "run"]
