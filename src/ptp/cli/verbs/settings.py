"""Verbs for settings, versions and the shell."""

from __future__ import annotations

from ptp.cli.verb import CENTRAL, DATABASE_URL, DRY_RUN, RUNS, Verb, argument, optional_run, switch

FILE = argument("file", metavar="FILE", help="A YAML file of settings.")
TO = argument("--to", metavar="VERSION", help="Version to migrate to (default: the newest).")
CONFIG = (
    Verb("show", "Show the settings that a run with these options would have.", "ptp.cli.config:show", settings="all"),
    Verb("validate", "Validate a YAML file of settings.", "ptp.cli.config:validate", arguments=(FILE,)),
    Verb("migrate", "Migrate a YAML file to another version, keeping comments and order.", "ptp.cli.config:migrate",
         arguments=(FILE, TO, DRY_RUN)),
    Verb("schema", "Print the settings as JSON Schema.", "ptp.cli.config:schema"),
)  # fmt: skip
SCHEMA = (
    Verb("migrate", "Migrate databases to another schema, each in one transaction.", "ptp.cli.schema:migrate",
         arguments=(
             RUNS, argument("--from", dest="start", metavar="VERSION", help="Only databases of this schema."), TO,
             DRY_RUN, switch("--keep-backup", help="Keep a copy of each database as it was."), *CENTRAL,
         )),
    Verb("verify", "Check the version, tables and pages of databases.", "ptp.cli.schema:verify",
         arguments=(RUNS, *CENTRAL)),
    Verb("history", "Show the migrations of a run; without one, every schema.", "ptp.cli.schema:history",
         arguments=(optional_run("every schema"), *CENTRAL)),
)  # fmt: skip
DRIFT = (
    Verb("config", "Compare a config file with the known settings.", "ptp.cli.schema:drift_config", arguments=(FILE,)),
    Verb("schema", "Compare a database with the schema of its version.", "ptp.cli.schema:drift_schema",
         arguments=(optional_run("latest"), *CENTRAL)),
)  # fmt: skip

SETTINGS = (
    Verb("config", "Show, validate, migrate and describe settings.", verbs=CONFIG),
    Verb("schema", "Migrate and verify databases, and show their history.", verbs=SCHEMA,
         about="These work on the databases of runs, or with --central on the central one."),
    Verb("drift", "Show how a config file or database differs from what it should be, and how to fix it.", verbs=DRIFT,
         about="The exit code is 1 when something differs."),
    Verb("version", "Show every version, and whether runs are compatible.", "ptp.cli.version:main",
         about="With --check the recorded runs, or one RUN, are compared with this ptp, and the exit code is 1 when "
               "something is incompatible.",
         examples=("ptp version", "ptp version --check", "ptp version --check latest"),
         arguments=(optional_run("every run"), DATABASE_URL,
                    switch("--check", help="Compare with recorded runs and the central database."))),
    Verb("completion", "Print a completion script for bash or zsh.", "ptp.cli.completion:main",
         examples=("source <(ptp completion bash)                        # in this shell",
                   "ptp completion bash >> ~/.bash_completion            # in every new shell",
                   "ptp completion zsh > ~/.zfunc/_ptp                   # in a folder of your fpath"),
         arguments=(argument("shell", choices=("bash", "zsh"), help="The shell to complete in."),)),
)  # fmt: skip
