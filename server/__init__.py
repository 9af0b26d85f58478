"""Everything but the screen. A call goes down, events come up, nothing points sideways.

    cli, commands                    the command line
    core                             opens, owns and closes everything below
    web, protocols                   HTTP, and the APIs we speak as data
    conversation, dashboard          a run: from a question to its one end
    plugins, flows                   tools and steps of others
    asking, data                     bound questions to the model; tables and documents
    engine, models                   who answers, and the files it needs
    egress                           the one door out
    schemas, language, system        what all of them use
    face                             what a screen may see and do
    artifacts, chat, errors, events, observe, settings, sizes, sse, tasks    the nouns of all

The contracts in pyproject.toml hold it; docs/architecture.md explains it.
"""

VERSION = "0.1.0"
