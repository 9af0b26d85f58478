"""moat completion: prints the shell code that completes moat's commands, made from their parser."""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

HELP = """Writes what the shell needs to complete moat's commands and options:

  bash   moat completion bash > ~/.local/share/bash-completion/completions/moat
  zsh    moat completion zsh > ~/.zfunc/_moat          (with ~/.zfunc in fpath)
  fish   moat completion fish > ~/.config/fish/completions/moat.fish
"""


@dataclass(frozen=True, slots=True)
class Word:
    """A command or an option."""

    names: tuple[str, ...]
    help: str = ""
    takes_value: bool = False
    choices: tuple[str, ...] = ()
    """The values that may follow it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position on the command line: after `moat`, `moat models` or `moat models pull`."""

    path: tuple[str, ...]
    commands: list[Word] = field(default_factory=list)
    options: list[Word] = field(default_factory=list)
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " ".join(self.path)

    @property
    def takes_files(self) -> bool:
        """Whether the shell shall complete file names, because nothing else is expected."""
        return not self.commands and not self.choices


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "completion",
        help="completion for bash, zsh or fish",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=tuple(SHELLS))
    parser.set_defaults(run=lambda options: _write(commands, options.shell))


def _write(commands: Any, shell: str) -> int:
    whole = Place((), _words_of(commands), [Word(("-h", "--help")), Word(("--version",))])
    places = [whole, *(place for found in _parsers(commands) for place in walk(*found))]
    known = " ".join(f"'{place.name}'" for place in places if place.path)
    sys.stdout.write(SHELLS[shell](places, known))
    return 0


def _parsers(action: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    for name, parser in action.choices.items():
        yield parser, (*path, name)


def _words_of(action: Any) -> list[Word]:
    return [Word((choice.dest,), _plain(choice.help)) for choice in action._choices_actions]


def walk(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[Place]:
    """Yields this position and all below it."""
    place = Place(path)
    below: list[Place] = []
    choices: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            place.commands.extend(_words_of(action))
            below += [held for found in _parsers(action, path) for held in walk(*found)]
        elif action.help == argparse.SUPPRESS:
            continue  # what only our own programs use
        elif action.option_strings:
            taken = tuple(map(str, action.choices or ()))
            names, about = tuple(action.option_strings), _plain(action.help)
            place.options.append(Word(names, about, action.nargs != 0, taken))
        else:
            choices += map(str, action.choices or ())
    yield Place(path, place.commands, place.options, tuple(choices))
    yield from below


def _plain(text: str | None) -> str:
    """Returns a help text without the characters that are special in a shell's quotes."""
    kept = (text or "").replace("%%", "%")
    return "".join(letter for letter in kept if letter not in "'\"`$\\[]:")


def _bash(places: list[Place], known: str) -> str:
    cases, valued = [], []
    for place in places:
        words = [name for word in (*place.commands, *place.options) for name in word.names]
        offered = " ".join([*words, *place.choices])
        cases.append(f"        '{place.name}') words='{offered}'; files={place.takes_files:d} ;;")
        for word in place.options:
            names = "|".join(f"'{place.name} {name}'" for name in word.names)
            choices = " ".join(word.choices)
            if word.takes_value:
                valued.append(f"        {names}) words='{choices}'; files={not choices:d} ;;")
    return _BASH.format(cases="\n".join(cases), valued="\n".join(valued), known=known)


_BASH = """\
# Completion of moat for bash, made by: moat completion bash
_moat() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    local path='' word words='' files=1 place
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        for place in {known}; do
            if [[ $place == "${{path:+$path }}$word" ]]; then path=$place; break; fi
        done
    done
    case $path in
{cases}
    esac
    case "$path $before" in
{valued}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ $files == 1 && $current != -* ]]; then
        COMPREPLY+=($(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _moat moat
"""


def _zsh(places: list[Place], known: str) -> str:
    """Offers commands and options with their help, and files if nothing else is expected."""
    cases = []
    for place in places:
        words = [
            f"'{name}:{word.help}'"
            for word in (*place.commands, *place.options)
            for name in word.names
        ]
        words += [f"'{choice}:'" for choice in place.choices]
        cases.append(
            f"        '{place.name}') found=({' '.join(words)}); files={place.takes_files:d} ;;"
        )
    return _ZSH.format(cases="\n".join(cases), known=known)


_ZSH = """\
#compdef moat
# Completion of moat for zsh, made by: moat completion zsh
_moat() {{
    local path_='' word place files=1
    local -a found known
    known=({known})
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        for place in "${{known[@]}}"; do
            if [[ $place == "${{path_:+$path_ }}$word" ]]; then path_=$place; break; fi
        done
    done
    case $path_ in
{cases}
    esac
    _describe 'moat' found
    if [[ $files == 1 && $PREFIX != -* ]]; then _files; fi
}}
if [ "$funcstack[1]" = "_moat" ]; then _moat "$@"; else compdef _moat moat; fi
"""


def _fish(places: list[Place], known: str) -> str:
    lines = ["# Completion of moat for fish, made by: moat completion fish", _FISH]
    for place in places:
        here = f"complete -c moat -n \"__moat_at '{place.name}'\""
        for word in place.commands:
            lines.append(f"{here} -f -a '{word.names[0]}' -d '{word.help}'")
        for choice in place.choices:
            lines.append(f"{here} -f -a '{choice}'")
        for word in place.options:
            flags = [
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in word.names
            ]
            takes = (
                f" -x -a '{' '.join(word.choices)}'" if word.choices else " -r" * word.takes_value
            )
            lines.append(f"{here} {' '.join(flags)}{takes} -d '{word.help}'")
    return "\n".join(lines).replace("@KNOWN@", known) + "\n"


_FISH = """\
function __moat_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim "$path $word")
        if contains -- $next @KNOWN@
            set path $next
        end
    end
    test "$path" = "$argv[1]"
end"""
SHELLS: dict[str, Callable[[list[Place], str], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
