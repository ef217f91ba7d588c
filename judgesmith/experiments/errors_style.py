"""How a page of errors looks: on a wide or a narrow screen, light or dark, and on paper.

How bad an error is shows in the line under it, in its tag and in words, and only then in colour.
The page of a served judge has the same style sheet.
"""

from importlib.resources import files

STYLE = (
    files("judgesmith.programs")
    .joinpath("serving", "page", "family.css")
    .read_text(encoding="utf-8")
)
