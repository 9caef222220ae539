"""`grater judge`: a program or a language model as a rater, in a job of its own (docs/howto/judge-by-a-model.md)."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.annotate.study.programs import Cache, Chat, Endpoint, judge, judge_by_model, program_job, the_job, through
from grater.annotate.study.status import open_study
from grater.cli.command import Json, print_json, say
from grater.cli.study import StudyName
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sheet import counted

judge_app = typer.Typer()

KeyVariable: TypeAlias = Annotated[
    str, typer.Option("--key-env", metavar="VAR", help="The environment variable that holds the endpoint's key.")
]


@judge_app.command()
def ask(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job to judge; default: the only one.")] = "",
    command: Annotated[str, typer.Option(help="A program that reads and writes one JSON line per unit.")] = "",
    endpoint: Annotated[str, typer.Option(metavar="URL", help="A chat endpoint, as in https://HOST/v1.")] = "",
    model: Annotated[
        str, typer.Option("--model-name", metavar="NAME", help="The model to ask at the endpoint.")
    ] = "",
    name: Annotated[str, typer.Option(help="The name of the rater; default: the model's name.")] = "",
    key_env: KeyVariable = "",
    samples: Annotated[int, typer.Option(min=1, max=100, help="Answers per unit; several give a share.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="0 for one answer per unit, 0.7 for several.")
    ] = None,
    per_minute: Annotated[float | None, typer.Option(min=0.01, help="Maximum requests per minute.")] = None,
    most_tokens: Annotated[int | None, typer.Option(min=1, help="Maximum tokens to use.")] = None,
    most_cost: Annotated[float | None, typer.Option(min=0, help="Maximum cost.")] = None,
    price_in: Annotated[float, typer.Option(min=0, help="Price per million input tokens.")] = 0.0,
    price_out: Annotated[float, typer.Option(min=0, help="Price per million output tokens.")] = 0.0,
    answer_tokens: Annotated[int, typer.Option(min=8, help="Maximum length of an answer, in tokens.")] = 300,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")] = 60.0,
    retries: Annotated[int, typer.Option(min=0, help="Retries after a failure.")] = 5,
    cache: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file that caches answers; default: STUDY.answers.jsonl.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a program or a language model judge the units of a job, in a separate job marked as a program's.

    Answered units are not asked again, so an interrupted run resumes.

    A program (--command) reads one line per unit, {"unit": ID, "task": ..., "before": ..., "pieces": [...],
    "after": ..., "fields": [...]}, and writes {"unit": ID, "fields": {...}}, in any order. For the task error these
    fields are {"label": ["ok"]}, for usage {"label": ["1"], "better": ["at"], "confidence": ["high"]}; the
    documentation of tasks has them all.
    """
    if bool(command) == bool(endpoint) or bool(endpoint) != bool(model):
        raise UsageError("expected --command LINE for a program, or --endpoint URL and --model-name NAME for a model")
    if command:
        _ask_program(study, job, command, name or "program", as_json=as_json)
        return
    asked = Endpoint(
        url=endpoint,
        model=model,
        key=_key(key_env),
        temperature=(0.7 if samples > 1 else 0.0) if temperature is None else temperature,
        max_tokens=answer_tokens,
        timeout=timeout,
        retries=retries,
        per_minute=per_minute,
        most_tokens=most_tokens,
        most_cost=most_cost,
        price_in=price_in,
        price_out=price_out,
    )
    kept = cache or Path(f"{study if '://' not in study else 'study'}.answers.jsonl")
    _ask_model(study, job, asked, kept, name or model, samples, as_json=as_json)


def _key(variable: str) -> str:
    if variable and not os.environ.get(variable):
        raise UsageError(f"expected a key in the environment variable {variable}, found none")
    return os.environ.get(variable, "") if variable else ""


def _ask_program(study: str, job: str, command: str, name: str, *, as_json: bool) -> None:
    with open_study(study) as store:
        with store.write() as tx:
            own, person = program_job(tx, the_job(tx, job), name)
        n_done = judge(store, own, person, partial(through, command), tick=lambda: None)
    if as_json:
        print_json({"job": own.name, "judged": n_done, "rater": person.pseudonym})
    else:
        say(f"{own.name}: {counted(n_done, 'unit')} judged by the program {name}")


def _ask_model(
    study: str, job: str, endpoint: Endpoint, cache: Path, name: str, n_samples: int, *, as_json: bool
) -> None:
    chat = Chat(endpoint, Cache(cache), tell=say)
    with open_study(study) as store:
        with store.write() as tx:
            own, person = program_job(tx, the_job(tx, job), name)
        done = judge_by_model(store, own, person, chat, n_samples=n_samples)
    spent = chat.cache.spent
    if as_json:
        used: dict[str, JsonValue] = {"requests": spent.requests, "tokens": spent.tokens, "cost": chat.cost}
        print_json({"job": own.name, "rater": person.pseudonym, **done.to_dict(), **used})
    else:
        for unit_id, why in done.refused:
            say(f"unit {unit_id}: {why}")
        money = f", cost {chat.cost:.4f}" if chat.cost else ""
        say(f"{own.name}: {counted(done.n_done, 'unit')} judged by {name}; {spent.tokens:,} tokens so far{money}")
    if done.refused and not as_json:
        left = counted(len(done.refused), "unit")
        verb, change = "is" if len(done.refused) == 1 else "are", "change the guidelines, --temperature or the model"
        say(f"{left} {verb} left open; to get other answers, {change}")
    if done.stopped:
        say(f"stopped: {done.stopped}; run the same command again to continue")
    if done.stopped or done.refused:
        raise typer.Exit(1)
