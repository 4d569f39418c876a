"""The command `earmark`.

Every other file in this folder is one command: `cli/detect.py` holds a click command called `command`, and its
one-line summary stands here, so that `earmark --help` imports none of them.
"""

from __future__ import annotations

import errno
import importlib
import sys

import click

import earmark

COMMANDS = {
    "demo": "Learn from generated soundscapes, detect, and write a report: see it work.",
    "doctor": "Say what is wrong with your data, before it costs a night.",
    "train": "Train a detector from tagged clips.",
    "compare": "Train every pooling function on the same clips, and say which one to take.",
    "evaluate": "Compare predicted events with reference events.",
    "detect": "Mark events in recordings.",
    "export": "Turn a trained run into one file for detection.",
}


class _Commands(click.Group):
    """A group that imports a command when it is called, and prints a wrong input as one message."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"earmark.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # A shell that completes a line asks too, about whatever stands there so far: it wants no complaint.
        if args and not args[0].startswith("-") and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from earmark.checks import did_you_mean

            raise click.UsageError(
                f"there is no command {args[0]!r} (there are: {', '.join(COMMANDS)}){did_you_mean(args[0], COMMANDS)}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nearmark: stopped", err=True)
            ctx.exit(130)  # what shells call a command that Ctrl-C ended
        except ValueError as error:
            click.echo(f"earmark: {error}", err=True)
        except ModuleNotFoundError as error:
            click.echo(f"earmark: {_missing_extra(error)}", err=True)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read our output has enough of it, as head has: click ends quietly then
            click.echo(f"earmark: {_system_error(error)}", err=True)
        ctx.exit(2)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(earmark.__version__, prog_name="earmark")
def main() -> None:
    """You tag clips with what they contain. earmark learns when it happens.

    Exit codes: 0 done; 1 done, but some files failed (or the doctor found
    something) and are listed; 2 wrong input.
    """


def _system_error(error: OSError) -> str:
    """A full disk, a folder without permission: the system's own words say it best."""
    # Of a rename the second name is the one somebody asked for; the first is our temporary file.
    name = error.filename if error.filename2 is None else error.filename2
    reason = str(error) if error.strerror is None else error.strerror
    return reason if name is None else f"{name}: {reason}"


def _missing_extra(error: ModuleNotFoundError) -> str:
    """Which extra brings the missing package."""
    extras = {"torch": "train", "onnx": "train", "safetensors": "train", "matplotlib": "plot", "av": "av"}
    package = str(error.name).partition(".")[0]
    if package not in extras:
        return f"the package {package!r} is missing - is the installation complete?"
    return f'this needs the package {package!r}, which is not installed: pip install "earmark[{extras[package]}]"'


if __name__ == "__main__":
    sys.exit(main())
