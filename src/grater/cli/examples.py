"""One example per command, shown at the end of its help and in the reference.

Files under `demo/` are those that `grater demo` writes, so that an example can be tried as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXAMPLES: Mapping[str, str] = {
    "demo": "--out demo",
    "check": "essay.txt --show html --out feedback",
    "learners": "class/*.txt --out class.html",
    "systems": "context prep-maxent",
    "corpus stats": "demo/essays.m2 --split-tags",
    "corpus convert": "demo/essays.jsonl essays.m2 --losses losses.jsonl",
    "corpus compare": "demo/essays.m2 --engine grater",
    "corpus check": "demo/essays.sgml --ignore whitespace",
    "corpus judgments": "demo/essays.jsonl --decisions demo/decisions.csv --tags Wcip --out judged.csv",
    "agree": "demo/judgments.csv --items demo/items.csv",
    "raters": "demo/crowd.csv --gold demo/gold.csv",
    "raters-needed": "demo/crowd.csv --experts demo/judgments.csv",
    "difficulty": "demo/crowd.csv --items demo/items.csv --essays demo/essays.jsonl",
    "aggregate": "demo/crowd.csv --method dawid-skene --out answers.csv",
    "simulate": "--n-items 200 --n-raters 20 --skill 0.85 --out simulated.csv",
    "plan": "--flag-rate 0.1 --precision 0.8 --recall 0.5 --width 0.1 --wage 20",
    "sample": "demo/decisions.csv --system prep-maxent --n 200 --out my-sample.csv",
    "estimate": "--decisions demo/decisions.csv --sample demo/sample.csv --judgments demo/judgments.csv",
    "evaluate": "--decisions demo/decisions.csv --judgments demo/crowd.csv --weighted",
    "verify": "--decisions demo/decisions.csv --judgments demo/judgments.csv",
    "compare": "--decisions demo/decisions.csv --judgments demo/crowd.csv --score f0.5",
    "decide": "demo/essays.jsonl --system context --out decisions.csv",
    "count": "news.txt.gz --hold-out --out counts",
    "scale shard": "corpus.jsonl --out shards",
    "select": "news.txt --system prep-maxent",
    "nouns entropy": "news.txt --noun dog",
    "nouns select": "news.txt --out nouns.csv",
    "nouns agree": "demo/constructions.csv --items demo/nouns.csv",
    "mine extraneous": "demo/essays.jsonl --out suspects.csv",
    "cloze": "demo/cloze.csv --decisions demo/cloze-words.csv",
    "choice": "demo/choice.csv --accuracy 0.7 --n-items 500",
    "score": "reference.m2 ours=ours.txt theirs=theirs.txt --metric errant",
    "score compare": "ours.json theirs.json",
    "combine": "a.txt b.txt c.txt --source source.txt --at-least 2 --out combined.txt",
    "ceiling": "reference.m2 --hyp ours=ours.txt",
    "report": "--decisions demo/decisions.csv --judgments demo/crowd.csv --out report",
    "study new": "study.db --name 'Learner essays'",
    "study import": "study.db demo/essays.jsonl --decisions demo/decisions.csv",
    "study decide": "study.db --system context",
    "study sample": "study.db --system context --n 500",
    "study design": "study.db sampling --system context --n 500",
    "study mine": "study.db --name suspects",
    "study job": "study.db --task error --sample sample --judgments-per-item 3",
    "study change": "study.db --job error --state paused",
    "study gold": "study.db --job error --min-experts 2 --n 50",
    "study crowd": "study.db --job error --pay amounts.csv",
    "study invite": "study.db --role annotator --note Ann",
    "study token": "study.db Ann --scope read",
    "study second-factor": "study.db --require both",
    "study audit": "study.db --person Ann --out events.csv",
    "study hand-over": "study.db Ann Bob --job error",
    "study seat": "study.db Ann Bob",
    "study status": "demo/study.db",
    "study check": "demo/study.db",
    "study adjudicate": "study.db --job error --accept unanimous",
    "study review": "study.db --job marking",
    "study evaluate": "study.db --sample sample --corrected",
    "study suggestions": "demo/study.db",
    "study report": "demo/study.db --out study-report",
    "study export": "demo/study.db export",
    "study backup": "study.db monday.backup",
    "study restore": "monday.backup restored.db",
    "study import-archive": "copy.db export",
    "judge": "study.db --job error --endpoint https://HOST/v1 --model-name NAME",
    "serve": "study.db --port 8000",
}
"""By command: what follows its name."""


def example(path: str) -> str:
    """The example of a command, ready to be typed."""
    return f"grater {path} {EXAMPLES[path]}"


def add_examples(command: Any, path: str) -> None:
    """End the help of a command, or of every command of a group, with its example."""
    if path in EXAMPLES:
        command.epilog = f"Example: {example(path)}"
    for name, child in getattr(command, "commands", {}).items():
        add_examples(child, f"{path} {name}")
