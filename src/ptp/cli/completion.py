"""`ptp completion`: a script that holds every verb and option, so that completing starts no Python."""

from __future__ import annotations

from ptp.cli.output import show
from ptp.cli.parser import Options, make_parser
from ptp.cli.verb import Verb, walk
from ptp.cli.verbs import VERBS

BASH = """_ptp() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  case "${{COMP_WORDS[*]:1:COMP_CWORD-1}} " in
{cases}
    *) words="{verbs}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _ptp ptp
"""

ZSH = """#compdef ptp
_ptp() {{
  local offered
  case "${{words[2,CURRENT-1]}} " in
{cases}
    *) offered="{verbs}" ;;
  esac
  compadd -- ${{=offered}}
  _files
}}
compdef _ptp ptp
"""


def main(options: Options) -> int:
    """Print the script."""
    script = make_script(options.shell)
    return show(options, {"shell": options.shell, "script": script}, script.rstrip())


def make_script(shell: str) -> str:
    """Return the script for a shell; the verb with the longest name that fits comes first."""
    form, variable = (BASH, "words") if shell == "bash" else (ZSH, "offered")
    verbs = sorted(walk(VERBS), key=lambda named: -len(named[0].split()))
    cases = [f'    "{name} "*) {variable}="{" ".join(offered(name, verb))}" ;;' for name, verb in verbs]
    return form.format(cases="\n".join(cases), verbs=" ".join([*(verb.name for verb in VERBS), "help"]))


def offered(name: str, verb: Verb) -> list[str]:
    """Return what can follow a verb: its own verbs, or its options and the fixed values of its arguments."""
    if verb.verbs:
        return [each.name for each in verb.verbs]
    parser = make_parser(name, verb)
    fixed = [choice for action in parser._get_positional_actions() for choice in action.choices or ()]
    runs = ["latest"] if any(action.metavar == "RUN" for action in parser._actions) else []
    return [*fixed, *runs, *sorted(option for option in parser._option_string_actions if option.startswith("--"))]
