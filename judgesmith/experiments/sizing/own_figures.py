"""What our own work takes by the row and by the call, as benchmarks found it on one machine.

Two cores of a small cloud machine, CPython 3.11. Other machines differ by their speed per core;
the share between the figures stays about the same.
"""

from __future__ import annotations

CPU_PER_CALL = 0.33e-3
"""Seconds: rendering, sending, keeping and reading an answer.

``python -m benchmarks run throughput -- --without litellm``, a judge of one call.
"""

CPU_PER_ROW = 0.37e-3
"""Seconds: a row of 2,400 characters, read, judged from answers on record, and written.

``python -m benchmarks run row_sizes``.
"""

CPU_PER_OFFLINE_CALL = 0.48e-3
"""Seconds that the offline model takes to answer about texts of 2,400 characters.

``python -m benchmarks run row_sizes``.
"""

LEDGER_BYTES_PER_ANSWER = 215
"""Bytes on disk beside the text of an answer, index included.

``python -m benchmarks run row_sizes``.
"""

OUTPUT_BYTES_PER_ROW = 520
"""Bytes of a row of JSON Lines beside what the model wrote: ids, key, marks, names of fields.

``python -m benchmarks run row_sizes``.
"""
