"""HTML of which every text is escaped, unless it was made here.

Whatever a text holds, a browser shows it and does nothing else: no markup of its own, and no
control or direction character that would turn what stands beside it.
"""

from __future__ import annotations

import html

from judgesmith.signatures.fences import unix_lines

# Joiners shape words in many scripts and do nothing else.
_HARMLESS = frozenset("\n\t\u200c\u200d")
_LINE_ENDS = frozenset("\x85\u2028\u2029")
_VOID = frozenset({"input", "meta"})


class Markup(str):
    """HTML as it is to stand in a page."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    r"""Return a text as HTML that shows it; what is already HTML stays as it is.

    All lines end in ``\n``.

    Examples
    --------
    >>> escaped("a < b\u202e\x00")
    'a &lt; b\\u202e\\x00'
    >>> escaped(element("b", "&"))
    '<b>&amp;</b>'
    """
    if isinstance(text, Markup):
        return text
    plain = text if text.isprintable() else "".join(map(_shown, unix_lines(text)))
    return Markup(html.escape(plain))


def _shown(character: str) -> str:
    if character.isprintable() or character in _HARMLESS:
        return character
    if character.isspace() and character > "\x1f" and character not in _LINE_ENDS:
        return character
    return character.encode("unicode_escape").decode()


def joined(*parts: str) -> Markup:
    """Return parts one after the other, each escaped."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """Return an element with its children and attributes, all of them escaped.

    Parameters
    ----------
    tag : str
        Such as ``p``; nothing that comes from a text.
    *children : str
        Texts, or elements.
    **attributes : str
        By name; ``class_`` is ``class``, and ``aria_label`` is ``aria-label``.

    Examples
    --------
    >>> element("a", "1 > 0", href='#"', class_="n")
    '<a href="#&quot;" class="n">1 &gt; 0</a>'
    """
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
    )
    if tag in _VOID:
        return Markup(f"<{tag}{told}>")
    return Markup(f"<{tag}{told}>{joined(*children)}</{tag}>")
