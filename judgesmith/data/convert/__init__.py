"""Convert published datasets, in their published file formats, into rated data.

``convert`` writes any of ``CONVERSIONS`` into the one form that everything here reads.
"""

from judgesmith.data.convert.catalogue import CONVERSIONS, Converted, conversion_named, convert
from judgesmith.data.convert.records import Conversion

__all__ = ["CONVERSIONS", "Conversion", "Converted", "conversion_named", "convert"]
