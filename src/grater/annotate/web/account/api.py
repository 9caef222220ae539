"""Yourself through the API: who you are, your tokens, the joint seats that you share."""

from __future__ import annotations

from typing import Annotated, Literal

from grater.annotate.store import credentials, people, revisions
from grater.annotate.study import people as study_people
from grater.annotate.web.calls import Body, Person, Shape, When, at_most, calls_about, example, within
from grater.annotate.web.context import Context, passed_on

router = calls_about("me")


class Me(Person):
    """`findings` counts marks of yours to be looked at again; `seats` are the joint seats that you share."""

    findings: int
    seats: list[Person]


Scope = Literal["read", "work", "manage"]


class NewToken(Body):
    """`days` until it ends, 90 if not given.

    `scope`: `read` changes nothing, `work` is for raters and adjudicators, `manage` is all that you may.
    """

    model_config = example(name="nightly export", days=90, scope="manage")
    name: Annotated[str, at_most("name")] = ""
    days: Annotated[float, within("token.days")] | None = None
    scope: Scope = "manage"


class Token(Shape):
    """`used_at` is exact to five minutes, null before the first use."""

    token_id: str
    name: str
    scope: Scope
    made_at: When
    expires_at: When | None
    used_at: When | None


class MadeToken(Token):
    """Send `token` as `Authorization: Bearer TOKEN`."""

    token: str


class Tokens(Shape):
    tokens: list[Token]


class Ended(Shape):
    token_id: str
    ended: bool


@router.get("/me")
def me(context: Context) -> Me:
    """Whose token this is."""
    with context.server.store.read() as tx:
        n_findings = len(revisions.open_findings(tx, context.person.person_id))
        seats = [Person.of(seat) for seat in people.seats(tx, context.person.person_id) if seat.state == "active"]
    return Me(**Person.of(context.person).model_dump(), findings=n_findings, seats=seats)


@router.get("/me/tokens")
def my_tokens(context: Context) -> Tokens:
    """Your valid tokens, without their secrets."""
    with context.server.store.read() as tx:
        tokens = credentials.tokens_of_person(tx, context.person.person_id)
    return Tokens(tokens=[Token.of(token) for token in tokens])


@router.post("/me/tokens")
def make_token(context: Context, sent: NewToken) -> MadeToken:
    """Create another token, which expires no later than this one; it is shown only once."""
    with context.changing() as tx:
        secret = study_people.make_token(tx, context.person.person_id, **sent.model_dump(), **passed_on(context))
        made = Token.of(credentials.token_by_secret(tx, secret))
    return MadeToken(**made.model_dump(), token=secret)


@router.post("/me/tokens/{token_id}/end")
def end_token(context: Context, token_id: str) -> Ended:
    """Revoke one of your tokens, including this one."""
    with context.changing() as tx:
        study_people.end_token(tx, token_id, person_id=context.person.person_id)
    return Ended(token_id=token_id, ended=True)
