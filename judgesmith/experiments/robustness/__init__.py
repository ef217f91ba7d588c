"""Changed texts, and whether a judge notices what was changed."""
