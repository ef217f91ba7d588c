"""What a benchmark is built with: sub-aspects, references, errors put in and comparisons."""
