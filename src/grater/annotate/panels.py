"""Panels of raters that join by an external link: an id comes in with the link, a code or an address goes out.

The generic provider needs two things from the requester: the name of the parameter that carries the panel's id of the
rater, and, for each way to end (completed, screened out, failed the quiz), a code or a return address.  Addresses may
hold `{id}` and `{code}`.  Templates know the parameter names of three panels, as these document them: Prolific
(PROLIFIC_PID, STUDY_ID, SESSION_ID), CloudResearch Connect (participantId, projectId, assignmentId) and SONA
(survey_code, filled in for %SURVEY_CODE% in the study URL).  Addresses differ by account, so requesters paste their
own.  SONA shows a completion URL that ends in survey_code=XXXX; pasted as it is, it gets the rater's code for XXXX.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, TypeAlias
from urllib.parse import quote, urlsplit

from grater.errors import UsageError

Ending: TypeAlias = Literal["completed", "screened-out", "failed"]
ENDINGS: tuple[Ending, ...] = ("completed", "screened-out", "failed")
ENDING_WORDS: dict[str, str] = {
    "completed": "completed",
    "screened-out": "screened out",
    "failed": "failed the quiz",
}
SIGNATURE = "signature"
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Provider:
    """`id_parameter` carries the rater's id; `also` are parameters that are kept with it.

    `blank` is how a link says where the panel is to put a value; `{}` is the name of the parameter.  It is empty
    where the panel adds its parameters to any link.  `returned` is what the panel writes for the id in the return
    address that it shows.
    """

    name: str
    id_parameter: str
    also: tuple[str, ...] = ()
    blank: str = "ID"
    returned: str = ""

    @property
    def query(self) -> str:
        """What follows the question mark in the link that is pasted at the panel."""
        names = (self.id_parameter, *self.also) if self.id_parameter and self.blank else ()
        return "&".join(f"{name}={self.blank.format(name)}" for name in names)

    def is_blank(self, value: str) -> bool:
        """Whether the panel left a value as it stands in the link that was pasted there."""
        return bool(self.blank) and value == self.blank.format(self.id_parameter)


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("generic", "id"),
        Provider("prolific", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID"), blank="{{{{%{}%}}}}"),
        Provider("connect", "participantId", ("projectId", "assignmentId"), blank=""),
        Provider("sona", "survey_code", blank="%SURVEY_CODE%", returned="XXXX"),
    )
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of a job: codes and return addresses by ending; with a `secret` links must be signed."""

    provider: Provider
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)
    addresses: Mapping[str, str] = field(default_factory=dict, hash=False)
    secret: str = ""

    def __post_init__(self) -> None:
        for ending, address in self.addresses.items():
            if ending not in ENDINGS or urlsplit(address).scheme not in ("http", "https"):
                raise UsageError(f"expected http(s) addresses for {', '.join(ENDINGS)}, found {ending}: {address!r}")


def id_from(panel: Panel, parameters: Mapping[str, str]) -> str:
    """The panel's id of the rater who came by the link, checked against its signature where links are signed."""
    name = panel.provider.id_parameter
    external_id = parameters.get(name, "")
    if not external_id or len(external_id) > LONGEST_ID or not external_id.isprintable():
        raise UsageError(f"this link lacks {name}: open the study from your panel's own page")
    if panel.provider.is_blank(external_id):
        raise UsageError(f"the panel did not fill in {name}: open the study from your panel's own page")
    if panel.secret and not hmac.compare_digest(sign(panel.secret, external_id), parameters.get(SIGNATURE, "")):
        raise UsageError("this link was changed: open the study from your panel's own page")
    return external_id


def sign(secret: str, external_id: str) -> str:
    """The signature that a panel adds to a link beside the id."""
    return hmac.new(secret.encode(), external_id.encode(), sha256).hexdigest()


def way_out(panel: Panel, ending: Ending, external_id: str) -> tuple[str, str]:
    """The code to show and the address to go to; either may be empty."""
    code = panel.codes.get(ending, "")
    address = panel.addresses.get(ending, "")
    if panel.provider.returned:
        name = panel.provider.id_parameter
        address = address.replace(f"{name}={panel.provider.returned}", f"{name}={{id}}")
    for name, value in (("{id}", external_id), ("{code}", code)):
        address = address.replace(name, quote(value, safe=""))
    return code, address
