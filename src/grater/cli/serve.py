"""`grater serve`: the annotation server of one study."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.command import say
from grater.cli.study import StudyName
from grater.errors import MissingExtra

app = typer.Typer()

HOST, PORT = "127.0.0.1", 8000


@app.command()
def serve(
    study: StudyName,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = PORT,
    processes: Annotated[int, typer.Option(min=1, help="Number of processes; more than one needs PostgreSQL.")] = 1,
    private_webhooks: Annotated[
        bool, typer.Option("--private-webhooks", help="Allow webhooks inside the server's own network.")
    ] = False,
    check_page: Annotated[
        bool, typer.Option("--check-page", help="Open 'Check my writing' at /check to everyone, without login.")
    ] = False,
    editors: Annotated[
        bool, typer.Option("--editors", help="Serve LanguageTool's protocol to editors at /v2/check.")
    ] = False,
    url: Annotated[str | None, typer.Option(help="The public address, if behind a proxy: https://...")] = None,
    proxies: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="A trusted proxy, whose X-Forwarded-For is used: an IP address or network.",
        ),
    ] = None,
) -> None:
    """Serve a study in the browser; the first start prints a one-time set-up link."""
    try:
        from grater.annotate.web import serving as server  # the extra may be missing, and then one line says so
        from grater.annotate.web.serving import setup_link
        from grater.annotate.web.settings import Settings
    except ImportError as error:
        raise MissingExtra(f"the server needs {error.name}: pip install 'grater[server]'") from error
    from grater.annotate.study.status import open_study

    address = url or f"http://{HOST if host == '0.0.0.0' else host}:{port}"
    server.require_proxies(proxies or ())
    settings = Settings(
        base_url=address,
        private_webhooks=private_webhooks,
        proxies=tuple(proxies or ()),
        check_page=check_page,
        editors=editors,
    )
    with open_study(study) as store, store.serving():
        server.require_processes(store, processes)
        link = setup_link(settings, store)
        if link:
            say(f"set up the study with this link, which works once and within a day: {link}")
        say(f"{store.name}: serving at {address}; stop with Ctrl-C")
        server.run(study, settings, store, host=host, port=port, processes=processes)
