"""`ptp completion`: words that a shell can complete, as a script for it.

The script is made once and holds every word, so that completing starts no Python.
"""

from __future__ import annotations

import contextlib
import io
import re
from importlib import import_module

from ptp.cli.common import parse_common
from ptp.cli.output import print_json, say
from ptp.cli.parser import Parser

DESCRIPTION = """Print a script that lets your shell complete verbs and flags.

examples:
  source <(ptp completion bash)                        # now, in this shell
  ptp completion bash >> ~/.bash_completion            # from the next shell on
  ptp completion zsh > ~/.zfunc/_ptp                   # a folder in your fpath"""

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")

BASH = """_ptp() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]}} in
{cases}
    *) words="{verbs}" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{verbs}"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _ptp ptp
"""

ZSH = """#compdef ptp
_ptp() {{
  local words_of
  case ${{words[2]}} in
{cases}
    *) words_of="{verbs}" ;;
  esac
  (( CURRENT == 2 )) && words_of="{verbs}"
  compadd -- ${{=words_of}}
  _files
}}
compdef _ptp ptp
"""


def main(argv: list[str]) -> int:
    """Print the script."""
    parser = Parser("ptp completion", DESCRIPTION)
    parser.add_argument("shell", choices=["bash", "zsh"], help="The shell that the script is for.")
    options, _ = parse_common(parser, argv)
    script = make_script(options.shell)
    if options.json:
        print_json({"shell": options.shell, "script": script})
    else:
        say(script.rstrip())
    return 0


def make_script(shell: str) -> str:
    """Return the script for a shell."""
    from ptp.cli.main import VERBS

    form, variable = (BASH, "words") if shell == "bash" else (ZSH, "words_of")
    cases = [f'    {verb}) {variable}="{" ".join(words_of(verb))}" ;;' for verb in VERBS]
    return form.format(cases="\n".join(cases), verbs=" ".join([*VERBS, "help"]))


def words_of(verb: str) -> list[str]:
    """Return the flags and fixed words of a verb, as its help tells them."""
    text = _help_of(verb, [])
    inner = [] if text.startswith("usage:") else sorted(set(re.findall(rf"^  ptp {verb} ([a-z]+)\b", text, re.M)))
    text += "".join(_help_of(verb, [word]) for word in inner)
    run = ["latest"] if re.search(r"\bRUN\b", text) else []
    return [*inner, *run, *sorted(set(FLAG.findall(text)))]


def _help_of(verb: str, words: list[str]) -> str:
    from ptp.cli.main import VERBS

    module, _, function = VERBS[verb]
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        getattr(import_module(module), function)([*words, "--help"])
    return told.getvalue()
