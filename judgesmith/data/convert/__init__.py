"""Published data sets, in the file forms in which they are published, as rated texts.

``convert`` writes any of ``CONVERSIONS`` into the one form that everything here reads.
"""

from judgesmith.data.convert.catalogue import CONVERSIONS, Converted, conversion_named, convert
from judgesmith.data.convert.records import Conversion

__all__ = ["CONVERSIONS", "Conversion", "Converted", "conversion_named", "convert"]
