from judgesmith.metrics.comparing.planning import (
    sample_size_pearson,
    sources_needed,
    sources_to_compare,
)
from judgesmith.metrics.comparing.repeats import Swap
from judgesmith.metrics.comparing.shifts import (
    DistributionShift,
    ShareShift,
    distribution_shift,
    share_shift,
)
from judgesmith.metrics.comparing.significance import (
    Alternative,
    SignificanceTest,
    benjamini_hochberg,
    holm,
    permutation_test,
    williams_of_correlations,
    williams_test,
)

__all__ = [
    "Alternative",
    "DistributionShift",
    "ShareShift",
    "SignificanceTest",
    "Swap",
    "benjamini_hochberg",
    "distribution_shift",
    "holm",
    "permutation_test",
    "sample_size_pearson",
    "share_shift",
    "sources_needed",
    "sources_to_compare",
    "williams_of_correlations",
    "williams_test",
]
