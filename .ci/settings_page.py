"""Write docs/reference/settings.md from ``CompileSettings``: run this after a change."""

from pathlib import Path

from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.signatures.plain_data import DeclaredField, declared_fields

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "settings.md"
HEAD = """# Settings of a compilation

The fields of `judgesmith.CompileSettings`. Those with an option are also options of
`judgesmith compile`, and fields
of the same name in [experiment specifications](../how-to/experiments.md).
[Compiling](../explanation/compiling.md#defaults) says why the defaults are what they are.

<!-- Written by .ci/settings_page.py. -->

| setting | option | values | default | meaning |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page."""
    fields = declared_fields(CompileSettings, *CompileSettings.model_fields)
    return HEAD + "".join(f"{_row(one)}\n" for one in fields)


def _row(field: DeclaredField) -> str:
    option = f"`--{field.option.replace('_', '-')}`" if field.group else ""
    plain = isinstance(field.default, str | int | float | tuple) and field.default not in ("", ())
    default = field.default_text or (f"`{field.default}`" if plain else "")
    cells = (f"`{field.name}`", option, _values(field), default, field.help)
    return "| " + " | ".join(one.replace("|", "\\|") for one in cells) + " |"


def _values(field: DeclaredField) -> str:
    if isinstance(field.kind, tuple):
        return ", ".join(f"`{one}`" for one in field.kind)
    low, below = field.bounds.get("ge"), field.bounds.get("lt")
    ends = [] if low is None else [f"{low} or more"]
    ends += [] if below is None else [f"below {below}"]
    names = {tuple: "names", dict: "names by role", str: "text", bool: "true or false"}
    name = names.get(field.kind, getattr(field.kind, "__name__", ""))
    return ", ".join([name, *ends])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
