"""A hook of MkDocs: add the pages of the root, and keep only the text of links to code."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ADDED = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+)([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the project's root to the site."""
    made = type(next(iter(files)))  # mkdocs is not installed where the checks run
    for name, page in ADDED.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for other, its_page in ADDED.items():
            text = text.replace(f"]({other}", f"]({its_page}")
        files.append(made.generated(config, page, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links out of ``docs`` at the added pages, and keep the text of all others."""
    folder = (Path(config["docs_dir"]) / page.file.src_uri).parent

    def shown(link: re.Match[str]) -> str:
        text, up, path, heading = link.groups()
        target = (folder / up / path).resolve()
        if target.is_relative_to(config["docs_dir"]):
            return link[0]
        added = ADDED.get(str(target.relative_to(ROOT)))
        depth = "../" * page.file.src_uri.count("/")
        return f"[{text}]({depth}{added}{heading or ''})" if added else text

    return LINK.sub(shown, markdown)
