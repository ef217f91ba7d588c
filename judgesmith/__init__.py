"""Judgesmith compiles LLM judges that agree with people, and says how far to trust them.

Names are loaded when they are first used, so that importing the package costs nothing. What takes
plain arrays is in ``judgesmith.metrics``: ``judgesmith.metrics.pearson_difference(human, a, b)``.

Examples
--------
>>> import judgesmith
>>> data = judgesmith.read("sample")
>>> settings = judgesmith.CompileSettings(n_rounds=2)
>>> compiled = judgesmith.compile(data, settings)
>>> judge = compiled.saved.program()
>>> verdict = judge(source=data[0].source, response=data[0].response)
>>> 1 <= verdict.score <= 5, verdict.problem
(True, None)
"""

import sys

from judgesmith.front_door import stub_door

if sys.platform == "win32":
    raise ImportError(
        "Judgesmith needs the file locks of Linux or macOS; on Windows, install and run it in WSL."
    )

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
