"""What came of a study: adjudicate, review, evaluate, suggestions and report; and `grater judge`, for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from grater import options as opt
from grater.cli.command import Done, say
from grater.cli.study import JobName, answers_of, opened
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.options import Opt, basis_of, described
from grater.sheet import counted

if TYPE_CHECKING:
    from grater.measure.evaluation.evaluation import Evaluation
    from grater.measure.evaluation.offered import SuggestionEffect
    from grater.reporting.document import Report


@described
def adjudicate(
    study: opt.StudyName,
    table: Annotated[Path | None, Opt("Table of decisions, columns item and label.", "[TABLE]")] = None,
    *,
    job: Annotated[str, Opt("The job to decide in.")] = "",
    accept: Annotated[
        Literal["unanimous", "majority"] | None, Opt("Accept the answer of all raters, or of more than half.")
    ] = None,
    decider: Annotated[str | None, Opt("Who decides; default: the only owner.", flag="--as")] = None,
) -> Done:
    """List undecided units; with a table or --accept, decide them."""
    from grater.annotate import jobs
    from grater.annotate.adjudication import accept as accept_answers
    from grater.annotate.adjudication import decide, waiting

    if not job or (table is not None and accept is not None):
        raise UsageError("expected `job` NAME, and a table or `accept` but not both")
    with opened(study) as store:
        n_decided = 0
        if table is not None:
            n_decided = decide(store, job, table, decider=decider)
        elif accept is not None:
            n_decided = accept_answers(store, job, accept, decider=decider)
        with store.read() as tx:
            undecided = waiting(tx, jobs.named(tx, job))
    shown = []
    for each in undecided:
        for item_id, answers in each.answers.items():
            counts = Counter(answer.label for answer in answers).most_common()
            shown.append(f"{item_id}  {', '.join(f'{label} {n}' for label, n in counts)}")
    n_differ = sum(each.differs for each in undecided)
    message = f"{counted(n_decided, 'unit')} decided; {len(undecided):,} left, raters differ on {n_differ:,}"
    return Done({"decided": n_decided, "waiting": [each.to_dict() for each in undecided]}, [message], shown)


@described
def review_marks(study: opt.StudyName, job: JobName) -> Done:
    """Run `corpus lint` on a job's marks and return the findings to their annotators."""
    from grater.annotate.marks import review

    with opened(study) as store:
        n_new = review(store, job)
    message = f"{job}: {counted(n_new, 'new finding')} for its annotators; they see them on their own page"
    return Done({"job": job, "findings": n_new}, [message])


@described
def evaluate_study(
    study: opt.StudyName,
    *,
    job: opt.JobNames = (),
    kind: opt.KindName = "",
    sample: Annotated[str, Opt("The sample to estimate from; default: the latest that fits.", "NAME")] = "",
    truth: opt.Truth = "majority",
    redundancy: Annotated[int | None, opt.REDUNDANCY] = None,
    with_programs: Annotated[bool, Opt("Also count the votes of programs.")] = False,
    drop_flags: Annotated[Sequence[str], opt.DROP_FLAGS] = (),
    min_confidence: Annotated[float | None, opt.MIN_CONFIDENCE] = None,
    contexts: opt.Flags = (),
    assist: Annotated[str, Opt("A program that judged every item, as a cheap judge.", "PROGRAM")] = "",
    corrected: Annotated[bool, Opt("Also show scores corrected for raters' errors on gold.")] = False,
    **options: Unpack[opt.Generalising],
) -> Evaluation:
    """Score every system: precision, recall and F, from a sample for the whole corpus."""
    from grater.annotate.evaluation import Scheme, evaluate_study
    from grater.annotate.tables import Counting, judged_by_programs

    with opened(study) as store, store.read() as tx:
        programs = {} if with_programs else judged_by_programs(tx, job_names=job)
        for program, n_judged in programs.items():
            say(f"{program}, a program: {counted(n_judged, 'judgment')} not counted; --with-programs counts them")
        return evaluate_study(
            tx,
            study,
            job_names=job,
            kind=kind,
            sample=sample,
            truth=truth,
            redundancy=redundancy,
            with_programs=with_programs,
            scheme=Scheme(Counting(tuple(drop_flags), min_confidence), tuple(contexts)),
            assist=assist,
            corrected=corrected,
            basis=basis_of(options),
        )


@described
def suggestions(study: opt.StudyName, *, job: opt.JobNames = ()) -> SuggestionEffect:
    """Measure the effect of a system's suggestions on marking."""
    from grater.annotate.marks import study_suggestions

    with opened(study) as store, store.read() as tx:
        return study_suggestions(tx, job_names=job)


@described
def write_report(
    study: opt.StudyName,
    *,
    out: Annotated[Path | None, Opt("The folder for the report.", "FOLDER", writes="folder")] = None,
    title: Annotated[str, Opt("The title.")] = "",
    job: opt.JobNames = (),
    kind: opt.KindName = "",
    names: Annotated[bool, Opt("Name raters instead of using pseudonyms.")] = False,
    author: Annotated[str, Opt("The author, shown under the title.", "NAME")] = "",
    earlier: opt.Earlier = None,
    headline: opt.Headline = None,
    drop_flags: Annotated[Sequence[str], opt.DROP_FLAGS] = (),
    min_confidence: Annotated[float | None, opt.MIN_CONFIDENCE] = None,
    figures: opt.FigureTypes = (),
) -> Report:
    """Write the report of a study to a folder, `report` by default.

    Its title is the study's name by default.
    """
    from grater.annotate.reporting import study_inputs
    from grater.annotate.tables import Counting
    from grater.reporting.save import built

    with opened(study) as store, store.read() as tx:
        inputs = study_inputs(
            tx,
            title=title,
            author=author,
            job_names=job,
            kind=kind,
            counting=Counting(tuple(drop_flags), min_confidence),
            earlier=earlier or {},
            names=names,
        )
    return built(inputs, out or (None if headline else Path("report")), headline, figures)


@described
def ask(
    study: opt.StudyName,
    *,
    job: Annotated[str, Opt("The job to judge; default: the only one.")] = "",
    command: Annotated[str, Opt("A program that reads and writes one JSON line per unit.")] = "",
    endpoint: Annotated[str, Opt("A chat endpoint, as in https://HOST/v1.", "URL")] = "",
    model_name: Annotated[str, Opt("The model to ask at the endpoint.", "NAME")] = "",
    name: Annotated[str, Opt("The name of the rater; default: the model's name.")] = "",
    samples: Annotated[int, Opt("Answers per unit; several give a share.", min=1, max=100)] = 1,
    temperature: Annotated[float | None, Opt("0 for one answer per unit, 0.7 for several.", min=0, max=2)] = None,
    **chatting: Unpack[opt.Chatting],
) -> Done:
    """Let a program or a language model judge the units of a job.

    Answered units are not asked again, so an interrupted run resumes.

    A program (--command) reads one line per unit, with its "fields", and writes {"unit": ID, "fields": {...}}. For
    the task error these are {"label": ["ok"]}; docs/tasks.md lists them all.
    """
    from grater.annotate.programs import judge, judge_by_model, program_job, the_job, through
    from grater.chat import Cache, Chat, endpoint_of

    if bool(command) == bool(endpoint) or bool(endpoint) != bool(model_name):
        raise UsageError("expected `command` LINE for a program, or `endpoint` URL and `model_name` NAME for a model")
    chat, rater = None, name or model_name or "program"
    if endpoint:
        cache, settings = answers_of(study, chatting)
        warmth = (0.7 if samples > 1 else 0.0) if temperature is None else temperature
        asked = endpoint_of(endpoint, model_name, temperature=warmth, **settings)
        chat = Chat(asked, Cache(cache), tell=say)
    with opened(study) as store:
        with store.write() as tx:
            own, person = program_job(tx, the_job(tx, job), rater, model=model_name)
        if chat is None:
            done = judge(store, own, person, partial(through, command))
        else:
            done = judge_by_model(store, own, person, chat, n_samples=samples)
    value: dict[str, JsonValue] = {"job": own.name, "rater": person.pseudonym, **done.to_dict()}
    lines = [f"unit {unit_id}: {why}" for unit_id, why in done.refused]
    lines.append(f"{own.name}: {counted(done.n_done, 'unit')} judged by {rater}")
    if chat is not None:
        spent = chat.cache.spent
        value |= {"requests": spent.requests, "tokens": spent.tokens, "cost": chat.cost}
        lines[-1] += f"; {spent.tokens:,} tokens so far{f', cost {chat.cost:.4f}' if chat.cost else ''}"
    if done.refused:
        left = f"{counted(len(done.refused), 'unit')} {'is' if len(done.refused) == 1 else 'are'} left open"
        lines.append(f"{left}; to get other answers, change the guidelines, --temperature or the model")
    if done.stopped:
        lines.append(f"stopped: {done.stopped}; run the same command again to continue")
    return Done(value, lines, status=1 if done.stopped or done.refused else 0)
