"""A hook of MkDocs: the site also shows pages that lie at the root, where people look first, and examples."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=_seen_from_docs((ROOT / name).read_text(encoding="utf-8"))))
    for path in (ROOT / "examples").rglob("*"):
        if path.suffix in (".c", ".py", ".yaml"):
            files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """The site has the examples inside, the repository beside its pages."""
    return markdown.replace("](../../examples/", "](../examples/")


def _seen_from_docs(text: str) -> str:
    """A page of the root with links as they are inside the folder of pages."""
    for name, page in PAGES.items():
        text = text.replace(f"]({name})", f"]({page})")
    return text.replace("](docs/", "](")
