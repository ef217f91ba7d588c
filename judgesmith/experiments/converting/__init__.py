"""Published data sets, in the file forms in which they are published, as rated texts.

``convert`` writes any of ``CONVERSIONS`` into the one form that everything here reads.
"""

from judgesmith.experiments.converting.catalogue import CONVERSIONS, conversion_named
from judgesmith.experiments.converting.conversion import Conversion
from judgesmith.experiments.converting.writing import Converted, convert

__all__ = ["CONVERSIONS", "Conversion", "Converted", "conversion_named", "convert"]
