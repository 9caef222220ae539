"""Everything that a server can be told: where it lives, how long a session lasts, how much it lets in."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from grater.annotate.store.transaction import Clock, utc_now

MEGABYTE = 1_000_000
TWINS = (("127.0.0.1", "localhost"), ("localhost", "127.0.0.1"))


@dataclass(frozen=True, slots=True)
class Settings:
    """`base_url` is where people reach the server, behind whatever proxy; cookies are secure where it is https.

    `proxies` are the addresses or networks of proxies whose `X-Forwarded-For` is believed, none unless named.
    `logins_a_minute` is for one process, which counts for itself.  The body of a request arrives in `body_seconds`, a
    large one in more.  A request works for `request_seconds`, one that
    takes or makes whole files, or runs a system, for `long_request_seconds`.  A page that asked for long work waits
    `wait_seconds` for it, and then lets it go on in the background.

    A visitor's address, or a rater who came by a link and has no password, has `guest_requests` a minute, and such a
    rater changes of `guest_bytes`; what is more is answered after `refusal_seconds`.

    `check_page` opens "Check my writing" to whoever comes, `editors` LanguageTool's protocol; both check texts by
    `check_systems`, or by the default ones.  An address may have `check_letters` checked at once, and half as many
    again every minute.
    """

    base_url: str = "http://127.0.0.1:8000"
    clock: Clock = utc_now
    seed: int = 0
    session_hours: float = 12.0
    trusted_hosts: tuple[str, ...] = ()
    logins_a_minute: int = 10
    most_body_bytes: int = 2 * MEGABYTE
    most_upload_bytes: int = 50 * MEGABYTE
    most_unpacked_bytes: int = 200 * MEGABYTE
    private_webhooks: bool = False
    proxies: tuple[str, ...] = ()
    wait_seconds: float = 3.0
    request_seconds: float = 30.0
    body_seconds: float = 30.0
    long_request_seconds: float = 600.0
    check_page: bool = False
    editors: bool = False
    check_systems: tuple[str, ...] = ()
    check_letters: int = 20_000
    guest_requests: int = 300
    guest_bytes: int = 50_000
    refusal_seconds: float = 1.0

    @property
    def is_secure(self) -> bool:
        return self.base_url.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """The names, with port where there is one, under which requests may come."""
        own = urlsplit(self.base_url).netloc.lower()
        twins = [own.replace(one, other, 1) for one, other in TWINS if own.partition(":")[0] == one]
        return frozenset((own, *twins, *(host.lower() for host in self.trusted_hosts)))

    @property
    def origins(self) -> frozenset[str]:
        """The origins that may send changes: our own."""
        scheme = "https" if self.is_secure else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    def link(self, path: str) -> str:
        """A path as a whole address, to be sent to somebody."""
        return self.base_url.rstrip("/") + path
