"""The loopback server with models that differ: what people said, with more or less noise.

Run or start it like ``loopback.py``, which it extends. A response that speaks of ``quality 73`` is
scored 73 by the model ``good``, and by any other model with noise that depends on its name.
"""

import hashlib
import json
import re
from typing import Any

import loopback

NOISE = {"good": 0.1, "cheap": 0.6, "bad": 1.0}


def points(model: str, response: str) -> int:
    """Return the score that a model gives, from 0 to 100."""
    quality = int(re.findall(r"quality (\d+)", response)[-1])
    drawn = hashlib.blake2b(f"{model} {response}".encode(), digest_size=4).digest()
    noise = NOISE[model]
    return round((1 - noise) * quality + noise * (int.from_bytes(drawn) % 101))


class Models(loopback.Server):
    """Answers the question of a vanilla judge on 0 to 100."""

    def behaviour(self, body: bytes) -> dict[str, Any]:
        asked = json.loads(body)
        response = asked["messages"][-1]["content"].split("[[ ## response ## ]]")[-1]
        score = points(asked["model"], response)
        return {"answer": f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]"}


if __name__ == "__main__":
    loopback.main(Models)
