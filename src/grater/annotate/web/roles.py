"""Who may call which route: one table, and what is not in it is denied to everybody.

A test walks every route of the application and holds it against this table, with every role.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

PUBLIC = "public"
"""Not a role: whoever comes, logged in or not."""

OWNER, MANAGER, ADJUDICATOR, ANNOTATOR, WORKER = "owner", "manager", "adjudicator", "annotator", "worker"

EVERYBODY = frozenset((OWNER, MANAGER, ADJUDICATOR, ANNOTATOR, WORKER))
ANYBODY = EVERYBODY | {PUBLIC}
ADJUDICATORS = frozenset((OWNER, MANAGER, ADJUDICATOR))
MANAGERS = frozenset((OWNER, MANAGER))
OWNERS = frozenset((OWNER,))

API = "/api/v1"

EDITORS = "/v2"
"""Where editors ask for LanguageTool's protocol; like the API, it knows no cookies."""

FACTOR_PATH = "/me/second-factor"

Table: TypeAlias = Mapping[tuple[str, str], frozenset[str]]


def _table(rows: Mapping[frozenset[str], str], *, under: str = "") -> Table:
    """The roles by method and path, of rows such as `GET,POST /login`, separated by spaces."""
    found = [(roles, *row) for roles, text in rows.items() for row in re.findall(r"([A-Z,]+) (/\S*)", text)]
    return {(method, under + path): roles for roles, methods, path in found for method in methods.split(",")}


PAGES = _table({
    ANYBODY: """
        GET /  GET /healthz  GET,POST /login  POST /login/code  GET,POST /setup/{token}
        GET,POST /join/{token}  GET,POST /p/{panel_id}  GET /out/{person_id}/{lease_id}/{signature}
        GET,POST /check  POST /check/keep
    """,
    EVERYBODY: """
        POST /logout  GET /jobs  GET /jobs/{job_id}  GET /jobs/{job_id}/done  POST /jobs/{job_id}/next
        GET,POST /leases/{lease_id}  POST /leases/{lease_id}/return  POST /leases/{lease_id}/skip
        POST /leases/{lease_id}/undo  PUT /leases/{lease_id}/draft  GET /leases/{lease_id}/feedback
        GET /jobs/{job_id}/talk  POST /jobs/{job_id}/about  POST /jobs/{job_id}/disputes
        POST /jobs/{job_id}/messages  POST /jobs/{job_id}/reviews  GET /me  POST /me/password  POST /me/tokens
        POST /me/tokens/{token_id}/end  POST /me/seats/{person_id}  GET,POST /me/second-factor
        POST /me/second-factor/confirm  POST /me/second-factor/off  GET /reviews  POST /reviews/{finding_id}/keep
        POST /reviews/units/{unit_id}/mend  GET /api
    """,
    ADJUDICATORS: """
        GET /adjudicate  GET /adjudicate/jobs/{job_id}  GET,POST /adjudicate/{unit_id}
        GET /mining  GET /mining/{job_id}  GET /mining/{job_id}/verdicts.csv  GET,POST /mining/{job_id}/{place}
    """,
    MANAGERS: """
        GET /manage  GET,POST /manage/start  GET /manage/jobs/new  POST /manage/jobs  POST /manage/jobs/preview
        POST /manage/name  POST /manage/jobs/{job_id}/rename  POST /manage/jobs/{job_id}/archive
        POST /manage/jobs/{job_id}/delete  POST /manage/units/{unit_id}/work
        POST /manage/essays/delete  GET,POST,PUT /manage/jobs/{job_id}/try  GET /manage/jobs/{job_id}
        POST /manage/jobs/{job_id}/state  POST /manage/jobs/{job_id}/hand-over
        GET,POST /manage/jobs/{job_id}/guidelines  GET /manage/jobs/{job_id}/agreement
        GET /manage/jobs/{job_id}/units  GET /manage/units/{unit_id}  POST /manage/units/{unit_id}/look
        POST /manage/units/{unit_id}/known  POST /manage/jobs/{job_id}/review  GET /manage/jobs/{job_id}/crowd
        GET,POST /manage/jobs/{job_id}/terms  GET,POST /manage/jobs/{job_id}/gold
        GET,POST /manage/jobs/{job_id}/gold/studio  POST /manage/jobs/{job_id}/gold/rule
        POST /manage/gold/{unit_id}/state  POST /manage/gold/{unit_id}/reason
        POST /manage/disputes/{dispute_id}  GET,POST /manage/jobs/{job_id}/raters
        GET,POST /manage/jobs/{job_id}/raters/{person_id}  GET,POST /manage/jobs/{job_id}/money
        GET /manage/jobs/{job_id}/payments.csv  GET,POST /manage/jobs/{job_id}/panels
        POST /manage/panels/{panel_id}/links
        POST /manage/panels/{panel_id}/places  GET /manage/essays  GET /manage/items
        GET,POST /manage/import  GET /manage/people  POST /manage/invitations
        POST /manage/invitations/{invitation_id}/end  POST /manage/seats
        POST /manage/people/{person_id}/back  GET,POST /manage/export
        POST /manage/report  POST /manage/class-report  GET /manage/runs  GET /manage/runs/{run_id}/file
        GET,POST /manage/systems  POST /manage/samples  GET /manage/audit
        GET /manage/audit.csv  GET /manage/audit.jsonl  POST /mining  POST /mining/{job_id}/balanced
    """,
    OWNERS: """
        POST /manage/people/{person_id}/role  POST /manage/people/{person_id}/state
        POST /manage/people/{person_id}/second-factor  POST /manage/second-factor
        GET,POST /manage/public  GET,POST /manage/webhooks  POST /manage/webhooks/{webhook_id}/state
    """,
})  # fmt: skip

CALLS = _table({
    ANYBODY: """
        GET /openapi.json
    """,
    EVERYBODY: """
        GET /me  GET,POST /me/tokens  POST /me/tokens/{token_id}/end  GET /tasks
        GET /jobs  GET /jobs/{job_id}  POST /jobs/{job_id}/next  GET,POST /leases/{lease_id}
        POST /leases/{lease_id}/return  POST /leases/{lease_id}/skip  POST /leases/{lease_id}/undo
        GET /leases/{lease_id}/feedback  GET,PUT /leases/{lease_id}/draft
        GET /findings  POST /findings/{finding_id}  POST /units/{unit_id}/mend
        GET /jobs/{job_id}/missed  POST /jobs/{job_id}/disputes  GET,POST /jobs/{job_id}/messages
        POST /jobs/{job_id}/reviews  POST /jobs/{job_id}/about
    """,
    ADJUDICATORS: """
        GET /mining  GET /mining/{job_id}  POST /mining/{job_id}/verdicts
        GET /jobs/{job_id}/undecided  GET /jobs/{job_id}/finished  GET,POST /units/{unit_id}/decision
    """,
    MANAGERS: """
        GET,POST /study  POST /essay/delete  GET /essays  GET /essay  GET /items
        POST /import  GET /imports  GET /export  GET /report  GET,POST /runs  GET /runs/{run_id}
        GET /runs/{run_id}/file  GET /evaluation  GET,POST /systems  GET,POST /samples
        POST /mining/import  POST /mining  POST /mining/{job_id}/balanced
        GET /people  GET,POST /invitations  POST /invitations/{invitation_id}/end
        POST /people/{person_id}/back  POST /seats  POST /jobs  POST /jobs/{job_id}/state
        POST /jobs/{job_id}/hand-over  POST /jobs/preview  POST /jobs/{job_id}/rename  POST /jobs/{job_id}/archive
        POST /jobs/{job_id}/delete  POST /units/{unit_id}/work  GET,POST /jobs/{job_id}/guidelines
        GET /jobs/{job_id}/progress  GET /jobs/{job_id}/agreement  GET /jobs/{job_id}/units
        GET /units/{unit_id}  GET /jobs/{job_id}/judgments  POST /jobs/{job_id}/look  POST /jobs/{job_id}/review
        GET,POST /jobs/{job_id}/terms  GET /jobs/{job_id}/crowd  POST /jobs/{job_id}/programs
        GET,POST /jobs/{job_id}/gold  GET /jobs/{job_id}/gold/candidates  POST /jobs/{job_id}/gold/rule
        POST /units/{unit_id}/known  POST /gold/{unit_id}/state  POST /gold/{unit_id}/reason
        GET /jobs/{job_id}/disputes  POST /disputes/{dispute_id}  GET /jobs/{job_id}/raters
        GET /jobs/{job_id}/raters/{person_id}  POST /jobs/{job_id}/raters/messages
        POST /jobs/{job_id}/raters/{person_id}/messages  POST /jobs/{job_id}/raters/{person_id}/standing
        POST /jobs/{job_id}/raters/{person_id}/bonus  GET /jobs/{job_id}/payments
        POST /jobs/{job_id}/payments/settle  POST /jobs/{job_id}/payments/paid  GET,POST /jobs/{job_id}/panels
        POST /panels/{panel_id}/links  POST /panels/{panel_id}/places  GET /events  GET /audit
    """,
    OWNERS: """
        POST /people/{person_id}/role  POST /people/{person_id}/state  POST /people/{person_id}/second-factor/reset
        GET,POST /second-factor  GET,POST /public  GET,POST /webhooks  POST /webhooks/{webhook_id}/state
    """,
}, under=API)  # fmt: skip

OF_EDITORS = _table({ANYBODY: "GET,POST /check  GET /languages"}, under=EDITORS)

WITHOUT_FACTOR = frozenset((FACTOR_PATH, f"{FACTOR_PATH}/confirm", "/logout", "/login", "/login/code", "/healthz"))
"""What is open to somebody who must set up a second factor first."""

ROLES_OF: Table = {**PAGES, **CALLS, **OF_EDITORS}


SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""

READ, WORK, MANAGE = "read", "work", "manage"
"""Scopes of tokens (`grater.annotate.credentials`)."""

OF_TOKENS = f"{API}/me/tokens"


def scope_allows(scope: str, method: str, path: str) -> bool:
    """Whether a token of this scope may call a route, by its template, that its person may call.

    `read` changes nothing; `work` is for what raters and adjudicators do, and sees nothing that only managers see.
    Only `manage` makes and ends tokens.
    """
    if scope == READ:
        return method in SAFE
    if scope == WORK:
        is_safe = method in SAFE or not path.startswith(OF_TOKENS)
        return is_safe and not roles_of(method, path) <= MANAGERS
    return scope == MANAGE


def roles_of(method: str, path: str) -> frozenset[str]:
    """Who may call a route, by its template; nobody where the table does not name it."""
    return ROLES_OF.get((method, path), frozenset())
