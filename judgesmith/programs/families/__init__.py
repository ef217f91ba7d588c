"""The families of judges, one file each, and ensembles."""
