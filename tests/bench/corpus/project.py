"""One project of the corpus."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Project:
    files: dict[str, str]
    check: str
    fix: str
    settings: str = ""
    ignored: str = ""
    # The folder of `tests/tools/runners.sh` that holds its `node_modules`.
    modules: str = ""
    more_criteria: tuple[str, ...] = field(default=())
    # The whole `PROMPT.md`, in place of one with the check; empty: the files hold the task.
    document: str | None = None
    # Arguments of `loopkeeper run`.
    arguments: tuple[str, ...] = ()
