"""Who may call which route: one table, and what is not in it is denied to everybody.

A test walks every route of the application and holds it against this table, with every role.
"""

from __future__ import annotations

from collections.abc import Mapping

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

PAGES: Mapping[tuple[str, str], frozenset[str]] = {
    ("GET", "/"): ANYBODY,
    ("GET", "/healthz"): ANYBODY,
    ("GET", "/login"): ANYBODY,
    ("POST", "/login"): ANYBODY,
    ("POST", "/login/code"): ANYBODY,
    ("POST", "/logout"): EVERYBODY,
    ("GET", "/setup/{token}"): ANYBODY,
    ("POST", "/setup/{token}"): ANYBODY,
    ("GET", "/join/{token}"): ANYBODY,
    ("POST", "/join/{token}"): ANYBODY,
    ("GET", "/jobs"): EVERYBODY,
    ("GET", "/jobs/{job_id}"): EVERYBODY,
    ("GET", "/jobs/{job_id}/done"): EVERYBODY,
    ("POST", "/jobs/{job_id}/next"): EVERYBODY,
    ("GET", "/leases/{lease_id}"): EVERYBODY,
    ("POST", "/leases/{lease_id}"): EVERYBODY,
    ("POST", "/leases/{lease_id}/return"): EVERYBODY,
    ("POST", "/leases/{lease_id}/skip"): EVERYBODY,
    ("POST", "/leases/{lease_id}/undo"): EVERYBODY,
    ("PUT", "/leases/{lease_id}/draft"): EVERYBODY,
    ("GET", "/leases/{lease_id}/feedback"): EVERYBODY,
    ("GET", "/jobs/{job_id}/talk"): EVERYBODY,
    ("POST", "/jobs/{job_id}/about"): EVERYBODY,
    ("POST", "/jobs/{job_id}/disputes"): EVERYBODY,
    ("POST", "/jobs/{job_id}/messages"): EVERYBODY,
    ("POST", "/jobs/{job_id}/reviews"): EVERYBODY,
    ("GET", "/p/{panel_id}"): ANYBODY,
    ("POST", "/p/{panel_id}"): ANYBODY,
    ("GET", "/out/{person_id}/{lease_id}/{signature}"): ANYBODY,
    ("GET", "/me"): EVERYBODY,
    ("POST", "/me/password"): EVERYBODY,
    ("POST", "/me/tokens"): EVERYBODY,
    ("POST", "/me/tokens/{token_id}/end"): EVERYBODY,
    ("POST", "/me/seats/{person_id}"): EVERYBODY,
    ("GET", FACTOR_PATH): EVERYBODY,
    ("POST", FACTOR_PATH): EVERYBODY,
    ("POST", f"{FACTOR_PATH}/confirm"): EVERYBODY,
    ("POST", f"{FACTOR_PATH}/off"): EVERYBODY,
    ("GET", "/reviews"): EVERYBODY,
    ("POST", "/reviews/{finding_id}/keep"): EVERYBODY,
    ("POST", "/reviews/units/{unit_id}/mend"): EVERYBODY,
    ("GET", "/manage"): MANAGERS,
    ("GET", "/manage/start"): MANAGERS,
    ("POST", "/manage/start"): MANAGERS,
    ("GET", "/manage/jobs/new"): MANAGERS,
    ("POST", "/manage/jobs"): MANAGERS,
    ("POST", "/manage/jobs/preview"): MANAGERS,
    ("POST", "/manage/name"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/rename"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/archive"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/delete"): MANAGERS,
    ("POST", "/manage/units/{unit_id}/work"): MANAGERS,
    ("POST", "/manage/essays/delete"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/try"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/try"): MANAGERS,
    ("PUT", "/manage/jobs/{job_id}/try"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/state"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/hand-over"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/guidelines"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/guidelines"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/agreement"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/units"): MANAGERS,
    ("GET", "/manage/units/{unit_id}"): MANAGERS,
    ("POST", "/manage/units/{unit_id}/look"): MANAGERS,
    ("POST", "/manage/units/{unit_id}/known"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/review"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/crowd"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/terms"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/terms"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/gold"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/gold"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/gold/studio"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/gold/studio"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/gold/rule"): MANAGERS,
    ("POST", "/manage/gold/{unit_id}/state"): MANAGERS,
    ("POST", "/manage/gold/{unit_id}/reason"): MANAGERS,
    ("POST", "/manage/disputes/{dispute_id}"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/raters"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/raters"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/raters/{person_id}"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/raters/{person_id}"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/money"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/money"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/payments.csv"): MANAGERS,
    ("GET", "/manage/jobs/{job_id}/panels"): MANAGERS,
    ("POST", "/manage/jobs/{job_id}/panels"): MANAGERS,
    ("POST", "/manage/panels/{panel_id}/places"): MANAGERS,
    ("GET", "/manage/essays"): MANAGERS,
    ("GET", "/manage/items"): MANAGERS,
    ("GET", "/manage/import"): MANAGERS,
    ("POST", "/manage/import"): MANAGERS,
    ("GET", "/manage/people"): MANAGERS,
    ("POST", "/manage/invitations"): MANAGERS,
    ("POST", "/manage/invitations/{invitation_id}/end"): MANAGERS,
    ("POST", "/manage/seats"): MANAGERS,
    ("POST", "/manage/people/{person_id}/back"): MANAGERS,
    ("POST", "/manage/people/{person_id}/role"): OWNERS,
    ("POST", "/manage/people/{person_id}/state"): OWNERS,
    ("POST", "/manage/people/{person_id}/second-factor"): OWNERS,
    ("POST", "/manage/second-factor"): OWNERS,
    ("GET", "/manage/export"): MANAGERS,
    ("POST", "/manage/export"): MANAGERS,
    ("POST", "/manage/report"): MANAGERS,
    ("POST", "/manage/class-report"): MANAGERS,
    ("GET", "/manage/runs"): MANAGERS,
    ("GET", "/manage/runs/{run_id}/file"): MANAGERS,
    ("GET", "/manage/systems"): MANAGERS,
    ("POST", "/manage/systems"): MANAGERS,
    ("POST", "/manage/samples"): MANAGERS,
    ("GET", "/manage/audit"): MANAGERS,
    ("GET", "/manage/audit.csv"): MANAGERS,
    ("GET", "/manage/audit.jsonl"): MANAGERS,
    ("GET", "/manage/public"): OWNERS,
    ("POST", "/manage/public"): OWNERS,
    ("GET", "/manage/webhooks"): OWNERS,
    ("POST", "/manage/webhooks"): OWNERS,
    ("POST", "/manage/webhooks/{webhook_id}/state"): OWNERS,
    ("GET", "/adjudicate"): ADJUDICATORS,
    ("GET", "/adjudicate/jobs/{job_id}"): ADJUDICATORS,
    ("GET", "/adjudicate/{unit_id}"): ADJUDICATORS,
    ("POST", "/adjudicate/{unit_id}"): ADJUDICATORS,
    ("GET", "/mining"): ADJUDICATORS,
    ("POST", "/mining"): MANAGERS,
    ("GET", "/mining/{job_id}"): ADJUDICATORS,
    ("GET", "/mining/{job_id}/verdicts.csv"): ADJUDICATORS,
    ("POST", "/mining/{job_id}/balanced"): MANAGERS,
    ("GET", "/mining/{job_id}/{place}"): ADJUDICATORS,
    ("POST", "/mining/{job_id}/{place}"): ADJUDICATORS,
    ("GET", "/api"): EVERYBODY,
    ("GET", "/check"): ANYBODY,
    ("POST", "/check"): ANYBODY,
    ("POST", "/check/keep"): ANYBODY,
}

CALLS: Mapping[tuple[str, str], frozenset[str]] = {
    ("GET", f"{API}/openapi.json"): ANYBODY,
    ("GET", f"{API}/me"): EVERYBODY,
    ("GET", f"{API}/me/tokens"): EVERYBODY,
    ("POST", f"{API}/me/tokens"): EVERYBODY,
    ("POST", f"{API}/me/tokens/{{token_id}}/end"): EVERYBODY,
    ("GET", f"{API}/study"): MANAGERS,
    ("POST", f"{API}/study"): MANAGERS,
    ("POST", f"{API}/essay/delete"): MANAGERS,
    ("GET", f"{API}/tasks"): EVERYBODY,
    ("GET", f"{API}/essays"): MANAGERS,
    ("GET", f"{API}/essay"): MANAGERS,
    ("GET", f"{API}/items"): MANAGERS,
    ("POST", f"{API}/import"): MANAGERS,
    ("GET", f"{API}/imports"): MANAGERS,
    ("GET", f"{API}/export"): MANAGERS,
    ("GET", f"{API}/report"): MANAGERS,
    ("GET", f"{API}/runs"): MANAGERS,
    ("POST", f"{API}/runs"): MANAGERS,
    ("GET", f"{API}/runs/{{run_id}}"): MANAGERS,
    ("GET", f"{API}/runs/{{run_id}}/file"): MANAGERS,
    ("GET", f"{API}/evaluation"): MANAGERS,
    ("GET", f"{API}/systems"): MANAGERS,
    ("POST", f"{API}/systems"): MANAGERS,
    ("GET", f"{API}/samples"): MANAGERS,
    ("POST", f"{API}/samples"): MANAGERS,
    ("GET", f"{API}/mining"): ADJUDICATORS,
    ("GET", f"{API}/mining/{{job_id}}"): ADJUDICATORS,
    ("POST", f"{API}/mining/import"): MANAGERS,
    ("POST", f"{API}/mining"): MANAGERS,
    ("POST", f"{API}/mining/{{job_id}}/verdicts"): ADJUDICATORS,
    ("POST", f"{API}/mining/{{job_id}}/balanced"): MANAGERS,
    ("GET", f"{API}/people"): MANAGERS,
    ("GET", f"{API}/invitations"): MANAGERS,
    ("POST", f"{API}/invitations"): MANAGERS,
    ("POST", f"{API}/invitations/{{invitation_id}}/end"): MANAGERS,
    ("POST", f"{API}/people/{{person_id}}/back"): MANAGERS,
    ("POST", f"{API}/seats"): MANAGERS,
    ("POST", f"{API}/people/{{person_id}}/role"): OWNERS,
    ("POST", f"{API}/people/{{person_id}}/state"): OWNERS,
    ("POST", f"{API}/people/{{person_id}}/second-factor/reset"): OWNERS,
    ("GET", f"{API}/second-factor"): OWNERS,
    ("POST", f"{API}/second-factor"): OWNERS,
    ("GET", f"{API}/jobs"): EVERYBODY,
    ("POST", f"{API}/jobs"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}"): EVERYBODY,
    ("POST", f"{API}/jobs/{{job_id}}/state"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/hand-over"): MANAGERS,
    ("POST", f"{API}/jobs/preview"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/rename"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/archive"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/delete"): MANAGERS,
    ("POST", f"{API}/units/{{unit_id}}/work"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/guidelines"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/guidelines"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/progress"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/agreement"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/units"): MANAGERS,
    ("GET", f"{API}/units/{{unit_id}}"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/judgments"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/look"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/next"): EVERYBODY,
    ("GET", f"{API}/leases/{{lease_id}}"): EVERYBODY,
    ("POST", f"{API}/leases/{{lease_id}}"): EVERYBODY,
    ("POST", f"{API}/leases/{{lease_id}}/return"): EVERYBODY,
    ("POST", f"{API}/leases/{{lease_id}}/skip"): EVERYBODY,
    ("POST", f"{API}/leases/{{lease_id}}/undo"): EVERYBODY,
    ("GET", f"{API}/leases/{{lease_id}}/feedback"): EVERYBODY,
    ("GET", f"{API}/leases/{{lease_id}}/draft"): EVERYBODY,
    ("PUT", f"{API}/leases/{{lease_id}}/draft"): EVERYBODY,
    ("POST", f"{API}/jobs/{{job_id}}/review"): MANAGERS,
    ("GET", f"{API}/findings"): EVERYBODY,
    ("POST", f"{API}/findings/{{finding_id}}"): EVERYBODY,
    ("POST", f"{API}/units/{{unit_id}}/mend"): EVERYBODY,
    ("GET", f"{API}/jobs/{{job_id}}/undecided"): ADJUDICATORS,
    ("GET", f"{API}/jobs/{{job_id}}/finished"): ADJUDICATORS,
    ("GET", f"{API}/units/{{unit_id}}/decision"): ADJUDICATORS,
    ("POST", f"{API}/units/{{unit_id}}/decision"): ADJUDICATORS,
    ("GET", f"{API}/jobs/{{job_id}}/missed"): EVERYBODY,
    ("POST", f"{API}/jobs/{{job_id}}/disputes"): EVERYBODY,
    ("GET", f"{API}/jobs/{{job_id}}/messages"): EVERYBODY,
    ("POST", f"{API}/jobs/{{job_id}}/messages"): EVERYBODY,
    ("POST", f"{API}/jobs/{{job_id}}/reviews"): EVERYBODY,
    ("POST", f"{API}/jobs/{{job_id}}/about"): EVERYBODY,
    ("GET", f"{API}/jobs/{{job_id}}/terms"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/terms"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/crowd"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/programs"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/gold"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/gold"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/gold/candidates"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/gold/rule"): MANAGERS,
    ("POST", f"{API}/units/{{unit_id}}/known"): MANAGERS,
    ("POST", f"{API}/gold/{{unit_id}}/state"): MANAGERS,
    ("POST", f"{API}/gold/{{unit_id}}/reason"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/disputes"): MANAGERS,
    ("POST", f"{API}/disputes/{{dispute_id}}"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/raters"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/raters/{{person_id}}"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/raters/messages"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/raters/{{person_id}}/messages"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/raters/{{person_id}}/standing"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/raters/{{person_id}}/bonus"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/payments"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/payments/settle"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/payments/paid"): MANAGERS,
    ("GET", f"{API}/jobs/{{job_id}}/panels"): MANAGERS,
    ("POST", f"{API}/jobs/{{job_id}}/panels"): MANAGERS,
    ("POST", f"{API}/panels/{{panel_id}}/places"): MANAGERS,
    ("GET", f"{API}/events"): MANAGERS,
    ("GET", f"{API}/audit"): MANAGERS,
    ("GET", f"{API}/public"): OWNERS,
    ("POST", f"{API}/public"): OWNERS,
    ("GET", f"{API}/webhooks"): OWNERS,
    ("POST", f"{API}/webhooks"): OWNERS,
    ("POST", f"{API}/webhooks/{{webhook_id}}/state"): OWNERS,
}

OF_EDITORS: Mapping[tuple[str, str], frozenset[str]] = {
    ("GET", f"{EDITORS}/check"): ANYBODY,
    ("POST", f"{EDITORS}/check"): ANYBODY,
    ("GET", f"{EDITORS}/languages"): ANYBODY,
}

WITHOUT_FACTOR = frozenset((FACTOR_PATH, f"{FACTOR_PATH}/confirm", "/logout", "/login", "/login/code", "/healthz"))
"""What is open to somebody who must set up a second factor first."""

ROLES_OF: Mapping[tuple[str, str], frozenset[str]] = {**PAGES, **CALLS, **OF_EDITORS}


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
