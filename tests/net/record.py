"""Record what version 0.2 says and writes: the net under parts 17, 18 and 20.

Scaffolding: this folder goes when part 19 is done; what must last becomes a golden test.

`python -m tests.net.record OUT.json.xz` with PYTHONPATH at the tree to be recorded.  It makes the demo, runs every
line of `commands.txt`, serves the demo and reads every page and call, and stores status, text, JSON and files.  The
clock stands still and randomness has a seed, so ids and times are the same in each run; paths, ports,
today's date and the version are replaced.  Of the real data (CoNLL-2014) no sentence is stored: a text with four
words in a row that the data has becomes its hash, and large results become counts, sums and hashes.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import lzma
import os
import random
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = Path(os.environ.get("GRATER_DATA") or HERE.parents[2] / "shared" / "data") / "conll14"
BEGIN = 1_795_000_000
LARGE = 12_000
"""Characters from which a result is stored as counts, sums and hashes."""
BINARY = (".db", ".model", ".backup", ".lock", ".zip", ".npz")
ENVIRONMENT = {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "PYTHONHASHSEED": "0"}
ENVIRONMENT |= {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}


def still(seed: str, minute: int = 0) -> None:
    """Stop the clock, and draw what is random from a stream that the seed determines."""
    draw = random.Random(seed).randbytes
    os.urandom = random._urandom = draw  # type: ignore[attr-defined]
    uuid.uuid4 = lambda: uuid.UUID(bytes=draw(16), version=4)  # type: ignore[assignment]
    now = BEGIN + 60 * minute
    time.time = lambda: float(now)
    time.time_ns = lambda: now * 1_000_000_000


def sha(text: str) -> str:
    return "#" + hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """Makes results stable; `words` are four words in a row of texts that must not be stored."""

    def __init__(self, folder: Path, words: frozenset[str]) -> None:
        self.folder, self.words = str(folder), words

    def text(self, text: str) -> str:
        text = text.replace(self.folder, "FOLDER").replace(str(datetime.now(UTC).date()), "TODAY")
        text = re.sub(r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT", text)
        text = re.sub(r"(grater[ :\"/]+|version[\": ]+)0\.\d+\.\d+\w*", r"\1VERSION", text)
        return re.sub(r"/tmp/[\w./-]+", "TEMPORARY", text.replace("\r\n", "\n"))

    def private(self, text: str) -> str:
        """The text, line by line, or the hash of a line with words of the real data."""
        lines = self.text(text).split("\n")
        return "\n".join(line if self.words.isdisjoint(fours(line)) else sha(line) for line in lines)

    def of_text(self, text: str) -> Any:
        kept = self.private(text)
        return kept if len(kept) < 10 * LARGE else {"lines": kept.count("\n"), "sha": sha(kept)}

    def of_json(self, value: Any) -> Any:
        if len(json.dumps(value)) > LARGE:
            found: dict[str, list[Any]] = {}
            leaves(value, "", found)
            return {self.private(path): self.summary(values) for path, values in found.items()}
        return self.small_json(value)

    def small_json(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.private(key): self.small_json(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.small_json(each) for each in value]
        return self.private(value) if isinstance(value, str) else value

    def summary(self, values: list[Any]) -> Any:
        """Few values as they are; of many, the hash of words, the sums of numbers that are not whole."""
        if len(values) <= 3:
            return self.small_json(values)
        numbers = [each for each in values if isinstance(each, float) and each == each]
        rest = [self.text(str(each)) if not isinstance(each, float) else "number" for each in values]
        sums = [sum(map(abs, numbers)), sum(abs(x) * (1 + k % 97) for k, x in enumerate(numbers))]
        return [len(values), sha("\n".join(rest)), sum(x < 0 for x in numbers), *sums]

    def of_columns(self, columns: dict[str, list[Any]]) -> Any:
        is_large = sum(map(len, columns.values())) > LARGE / 10
        return (
            {name: self.summary(values) for name, values in columns.items()} if is_large else self.small_json(columns)
        )

    def of_file(self, path: Path) -> Any:
        import openpyxl
        import polars as pl

        if path.suffix == ".parquet":
            return self.of_columns(pl.read_parquet(path).to_dict(as_series=False))
        if path.suffix == ".xlsx":
            sheet = openpyxl.load_workbook(path).worksheets[0]
            return self.of_columns({str(k): list(row) for k, row in enumerate(sheet.iter_rows(values_only=True))})
        if path.suffix in BINARY or b"\0" in path.read_bytes()[:1000]:
            return "binary"
        found = self.of_content(path.suffix, path.read_text("utf-8"))
        return {"lines": found.count("\n"), "sha": sha(found)} if self.words and isinstance(found, str) else found

    def of_content(self, kind: str, text: str) -> Any:
        for parse in (
            (json.loads, json_lines) if kind == ".jsonl" or (kind == ".json" and text[:1] in ("{", "[")) else ()
        ):
            with suppress(ValueError):
                return self.of_json(parse(text))
        if kind == ".csv":
            names, *rows = list(csv.reader(io.StringIO(text))) or [[]]
            return self.of_columns({name: [number(row[k]) for row in rows] for k, name in enumerate(names)})
        if kind == ".svg":
            numbers = [float(each) for each in re.findall(r"-?\d+\.\d+", text)]
            return {"text": self.of_text(visible(text)), "numbers": self.summary(numbers)}
        return self.of_text(visible(text) if kind == ".html" else text)


def json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def number(cell: str) -> Any:
    return float(cell) if re.fullmatch(r"-?\d*\.\d+(e[-+]?\d+)?", cell) else cell


def leaves(value: Any, path: str, found: dict[str, list[Any]]) -> None:
    """All values by their path, whatever their place in a list or under keys that are many."""
    if isinstance(value, dict):
        many = len(value) > 40
        if many:
            found.setdefault(path + "/keys", []).extend(sorted(value))
        for key, each in sorted(value.items()) if many else value.items():
            leaves(each, f"{path}/*" if many else f"{path}/{key}", found)
    elif isinstance(value, list):
        found.setdefault(path + "/n", []).append(len(value))
        for each in value:
            leaves(each, path + "[]", found)
    else:
        found.setdefault(path, []).append(value)


def visible(page: str) -> str:
    """What a person sees of a page, one element a line."""
    page = re.sub(r"(?s)<(script|style|head)\b.*?</\1>|<!--.*?-->", " ", page)
    fields = r'<(input|button|option|textarea|select|a)\b[^>]*?\b(value|placeholder|aria-label|title)="([^"]*)"[^>]*>'
    page = re.sub(fields, r"\n[\1 \3] ", page)
    page = re.sub(r"<(?!/?(b|i|em|strong|span|code|mark|a|small|sub|sup|kbd)\b)[^>]*>", "\n", page)
    lines = (" ".join(line.split()) for line in html.unescape(re.sub(r"<[^>]*>", "", page)).split("\n"))
    return "\n".join(line for line in lines if line)


def fours(text: str) -> Iterator[str]:
    words = re.findall(r"\w+", text.lower())
    return (" ".join(words[k : k + 4]) for k in range(len(words) - 3))


def words_of_data() -> frozenset[str]:
    files = [*DATA.glob("systems/*.txt"), *DATA.glob("official/*.m2")]
    return frozenset(four for path in files for line in path.open(encoding="utf-8") for four in fours(line))


def scenes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"demo": ["demo --out demo --resamples 20 --figures svg --json"]}
    for line in (HERE / "commands.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            current = found.setdefault(line[3:], [])
        elif line and not line.startswith("#"):
            current.append(line)
    return found


def variants(line: str) -> list[list[str]]:
    mark, _, rest = line.partition(" ")
    if mark not in ("J", "T"):
        return [shlex.split(line)]
    args = shlex.split(rest)
    tables = [["--table", name] for name in ("markdown", "latex", "csv")] if mark == "T" else []
    return [[*args, *more] for more in ([], ["--json"], *tables)]


def leaf_commands() -> list[tuple[str, ...]]:
    import typer

    from grater.cli import app

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        command = command.load() if hasattr(command, "load") else command
        under = getattr(command, "commands", None)
        if not under:
            yield tuple(" ".join(path).split())
        for name, each in (under or {}).items():
            yield from walk(each, (*path, name))

    return sorted(walk(typer.main.get_command(app), ()))


RENAMED = {
    **{f"lab {name}": name for name in ("raters-needed", "difficulty", "simulate", "cloze", "choice", "select")},
    "lab count": "count", "lab combine": "combine", "lab shard": "scale shard", "lab mine": "mine extraneous",
    "corpus lint": "corpus check", "study verify": "study check",
    "score": "score compare", "job new": "study job",
    **{f"people {name}": f"study {name}" for name in ("invite", "token", "seat", "hand-over", "second-factor")},
}  # fmt: skip
BY_JOB = {"gold": "gold", "review": "review", "crowd": "terms", "change": ""}
STATES = {"open": "open", "paused": "pause", "closed": "close"}


def renamed(args: list[str]) -> list[str]:
    """A command of 0.2 as it is called now."""
    words = list(args)
    for new, old in RENAMED.items():
        if words[: len(old.split())] == old.split():
            return [*new.split(), *words[len(old.split()) :]]
    if words[:1] == ["nouns"]:
        return ["agree", *words[2:], "--constructions"] if words[1] == "agree" else ["lab", "nouns", *words[2:]]
    if words[:2] == ["study", "design"]:
        return ["job", "new", words[2], "--design", *words[3:]]
    if words[:2] == ["study", "import-archive"]:
        return ["study", "restore", words[3], words[2], *words[4:]]
    if words[:1] == ["study"] and words[1] in BY_JOB and "--job" in words:
        place = words.index("--job")
        job, rest = words[place + 1], [*words[3:place], *words[place + 2 :]]
        if words[1] == "change" and "--state" in rest:
            place = rest.index("--state")
            return ["job", STATES[rest[place + 1]], words[2], job, *rest[:place], *rest[place + 2 :]]
        rest = ["--change" if each == "--terms" else each for each in rest]
        return ["job", BY_JOB[words[1]], words[2], job, *rest]
    return words


def ran(args: list[str], seed: str, minute: int = 0) -> tuple[Any, str, str]:
    """One command in this process: its exit status, what it printed, what it said."""
    from grater.cli import run

    still(seed, minute)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status: Any = run(renamed(args))
        except BaseException as error:  # a traceback is a result too
            status = f"raised {error!r}"
    return status, *(stream.buffer.getvalue().decode() for stream in (out, err))


def play(name: str, root: Path) -> dict[str, Any]:
    """All results of a scene, by command line."""
    folder = root / name
    folder.mkdir()
    for link, target in (("demo", root / "demo" / "demo"), ("conll14", DATA)) if name != "demo" else ():
        (folder / link).symlink_to(target)
    os.chdir(folder)
    store = Store(folder, words_of_data() if name == "conll" else frozenset())
    if name in ("pages", "usage"):
        return play_pages(store) if name == "pages" else play_usage(store)
    told: dict[str, Any] = {}
    for n, line in enumerate(scenes()[name]):
        if line.startswith("$ "):
            subprocess.run(["bash", "-ec", line[2:]], check=True)
            continue
        for args in variants(line):
            before = stamps(folder)
            key = f"{name}: {shlex.join(args)}"
            key = key if key not in told else f"{key} (at line {n})"
            told[key] = result(store, args, f"{name} {n}", n)
            changed = [each for each, stamp in sorted(stamps(folder).items()) if before.get(each) != stamp]
            if changed:
                told[key]["files"] = {store.text(each): store.of_file(folder / each) for each in changed}
    return told


def result(store: Store, args: list[str], seed: str, minute: int = 0) -> dict[str, Any]:
    status, out, err = ran(args, seed, minute)
    return {"status": status, "out": store.of_content(".json", out), "err": store.of_text(err)}


def stamps(folder: Path) -> dict[str, int]:
    """The files below a folder, but none behind its links, with the time of their last change."""
    paths = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in paths}


def play_usage(store: Store) -> dict[str, Any]:
    """The help of every command, and what each says without arguments, with a wrong option, with a missing file."""
    commands = leaf_commands()
    told: dict[str, Any] = {"commands": [" ".join(each) for each in commands]}
    for command in [(), *commands]:
        calls = [["--help"]] + ([["--no-such-option"], ["missing.file"]] if command else [])
        calls += [[]] if command and command not in (("demo",), ("plan",), ("systems",), ("report",)) else []
        for more in calls:
            told[f"usage: {' '.join([*command, *more])}"] = result(store, [*command, *more], "usage")
    return told


ROLES = ("Rosa Lindqvist", "Teo Marchetti", "Ngozi Eze", "Ingrid Solheim", "Aisha Bello")
START = "import sys; from tests.net.record import still; still('serve'); from grater.cli import main; main()"
EACH = 4
"""Pages and calls recorded of each kind, whatever ids are in their addresses."""


def play_pages(store: Store) -> dict[str, Any]:
    import httpx

    from tests.ports import free_port

    Path("study.db").write_bytes(Path("demo/study.db").read_bytes())
    ran(["study", "mine", "study.db", "--name", "suspects"], "pages mine")
    token = json.loads(ran(["study", "token", "study.db", ROLES[0], "--json"], "pages token")[1])["token"]
    invitation = ran(["study", "invite", "study.db", "--json"], "pages invite")[1]
    port = free_port()
    command = [sys.executable, "-c", START, "serve", "study.db", "--port", str(port), "--check-page", "--editors"]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while server.poll() is None and socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.5)
    told: dict[str, Any] = {}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, follow_redirects=True) as client:
            told["page: invitation"] = page_of(store, client.get(re.search(r"/join/[\w-]+", invitation)[0]))
            told["page: wrong password"] = page_of(store, send(client, "/login", name=ROLES[0], password="wrong"))
            crawl(store, client, "nobody", told)
            sent = {"text": "He depends of his aunt. I am agree with she.", "language": "en-US"}
            told["call: /v2/check"] = page_of(store, client.post("/v2/check", data=sent))
            walk_calls(store, client, token, told)
        password = re.search(r"everyone: (\w+)", Path("demo/login.txt").read_text())[1]
        for role in ROLES:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, follow_redirects=True) as client:
                send(client, "/login", name=role, password=password)
                crawl(store, client, role, told)
    finally:
        server.terminate()
        server.wait()
    return told


def send(client: Any, path: str, page: str = "/login", **fields: str) -> Any:
    csrf = re.search(r'name="csrf" (?:content|value)="([^"]+)"', client.get(page).text)
    origin = str(client.base_url).rstrip("/")
    return client.post(path, data={"csrf": csrf[1] if csrf else "", **fields}, headers={"origin": origin})


def page_of(store: Store, reply: Any) -> Any:
    kind = reply.headers.get("content-type", "")
    suffix = next((f".{word}" for word in ("html", "csv", "json") if word in kind), ".txt")
    return {"status": reply.status_code, "text": unnamed(store.of_content(suffix, reply.text))}


IDS = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{22}(?:[\w-]{21})?(?![\w-])")
SKIPPED = re.compile(r"/(logout|static|api/v1)|.*/(file|export)$")


def unnamed(value: Any) -> Any:
    """Ids numbered as they come, so that a page with another id is the same page."""
    text, names = json.dumps(value, ensure_ascii=False), {}
    for found in IDS.finditer(text):
        names.setdefault(found[0], f"ID{len(names) + 1}")
    for name, number_ in names.items():
        text = text.replace(name, number_)
    return json.loads(text)


def pattern(path: str) -> str:
    path = re.sub(r"(?<=[/=])[\w-]{22,}", "ID", path)
    return re.sub(r"(?<=[/=])(\d+|[^/=&]*-\d+)(?=$|[/&?])", "N", path)


def crawl(store: Store, client: Any, who: str, told: dict[str, Any]) -> None:
    """Every kind of page that somebody can reach by links, and the first unit of each job."""
    queue, seen, counts = ["/", "/check", "/me", "/api", "/jobs", "/reviews", "/adjudicate", "/mining"], set(), {}
    queue += ["/manage", "/manage/start", "/manage/public", "/manage/webhooks", "/nowhere"]
    while queue:
        path = queue.pop(0)
        kind = pattern(path)
        if path in seen or counts.get(kind, 0) >= EACH or SKIPPED.match(path):
            continue
        seen.add(path)
        counts[kind] = counts.get(kind, 0) + 1
        reply = client.get(path)
        told[f"page: {who} {kind} {counts[kind]}"] = page_of(store, reply)
        if "html" not in reply.headers.get("content-type", ""):
            continue
        queue += [html.unescape(each) for each in re.findall(r'href="(/[^"#]*)', reply.text)]
        for action in re.findall(r'<form[^>]*action="(/jobs/[\w-]+/next)"', reply.text)[:1]:
            told[f"page: {who} next unit {len(counts)}"] = page_of(store, send(client, action, path))


def walk_calls(store: Store, client: Any, token: str, told: dict[str, Any]) -> None:
    """The description of the API, and every call that only reads, with ids that earlier calls gave."""
    headers = {"authorization": f"Bearer {token}"}
    described = client.get("/api/v1/openapi.json", headers=headers).json()
    for path, calls in described["paths"].items():
        told[f"openapi: {path}"] = store.small_json(calls)
    for name, schema in described.get("components", {}).get("schemas", {}).items():
        told[f"openapi: schema {name}"] = schema
    told["openapi: rest"] = {key: value for key, value in described.items() if key not in ("paths", "components")}
    told["openapi: rest"] = store.small_json(told["openapi: rest"])
    known: dict[str, list[str]] = {}
    left = [path for path, calls in described["paths"].items() if "get" in calls]
    for _ in range(4):
        for path in list(left):
            needed = re.findall(r"\{(\w+)\}", path)
            parameters = described["paths"][path]["get"].get("parameters", [])
            query = [each["name"] for each in parameters if each["in"] == "query" and each.get("required")]
            if any(name not in known for name in (*needed, *query)) or path.endswith(("/export", "/report")):
                continue
            left.remove(path)
            for k in range(EACH if needed or query else 1):
                value = {name: known[name][min(k, len(known[name]) - 1)] for name in (*needed, *query)}
                params = {name: value[name] for name in query}
                reply = client.get(path.format_map(value), params=params, headers=headers)
                told[f"call: {path} {k + 1}"] = page_of(store, reply)
                if "json" in reply.headers.get("content-type", ""):
                    remember(reply.json(), known)
    told["call: not made"] = left
    jobs = client.get("/api/v1/jobs", headers=headers).json()["jobs"]
    job_id = next(job["job_id"] for job in jobs if job["title"] == "Is this preposition right?")
    wish = {"provider": "prolific", "places": 3, "codes": {"completed": "C0FFEE"}}
    panel = client.post(f"/api/v1/jobs/{job_id}/panels", json=wish, headers=headers)
    told["call: new panel"] = page_of(store, panel)
    door = client.get(f"/p/{panel.json()['panel_id']}", params={"PROLIFIC_PID": "5f1b"})
    told["page: door of a panel"] = page_of(store, door)


def remember(value: Any, known: dict[str, list[str]]) -> None:
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        remember(each, known)
    if isinstance(value, dict):
        for key, each in value.items():
            if key.endswith("_id") and isinstance(each, str) and each not in known.setdefault(key, []):
                known[key].append(each)


def record(only: list[str]) -> dict[str, Any]:
    os.environ.update(ENVIRONMENT)
    os.environ.pop("FORCE_COLOR", None)
    if not DATA.exists():
        raise SystemExit(f"{DATA}: missing; set GRATER_DATA to the folder that holds conll14")
    names = [name for name in dict.fromkeys(("conll", "usage", "pages", *scenes())) if not only or name in only]
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"), max_tasks_per_child=1)
    with tempfile.TemporaryDirectory(prefix="grater-net-") as root, pool:
        demo = pool.submit(timed, "demo", Path(root))
        played = [pool.submit(timed, name, Path(root)) for name in names if name in ("conll", "usage")]
        told = demo.result()
        names = [name for name in names if name not in ("demo", "conll", "usage")]
        played += [pool.submit(timed, name, Path(root)) for name in names]
        return {key: each for future in played for key, each in future.result().items()} | told


def timed(name: str, root: Path) -> dict[str, Any]:
    begin = time.monotonic()
    try:
        told = play(name, root)
    except Exception as error:  # the other scenes are worth having
        told = {f"{name}: broken": traceback.format_exc()}
        sys.stderr.write(f"{name}: {error!r}\n")
    spent = sum(os.times()[:4])
    sys.stderr.write(f"{name}: {len(told)} results, {time.monotonic() - begin:.0f} s, CPU {spent:.0f} s\n")
    return told


if __name__ == "__main__":
    whole = json.dumps(record(sys.argv[2:]), ensure_ascii=False, sort_keys=True)
    Path(sys.argv[1]).write_bytes(lzma.compress(whole.encode(), preset=9))
