"""Whether scores and inputs are still like those that a judge was made with."""
