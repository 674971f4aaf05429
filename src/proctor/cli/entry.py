"""Running a command line to its end: errors become sentences, and every end has its exit code.

0 and 1 are up to the command; 2 is wrong usage or input, 125 proctor's or the machine's own
failure, 130 an interruption, and 141 output that nobody reads any more.
"""

import os
import signal
import sqlite3
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any

import typer
from click import ClickException, Command, Context, NoSuchOption, UsageError
from click.exceptions import Abort, Exit

from proctor.cli import terminal
from proctor.errors import CompileFailed, InputError, ProctorError

NAME = "proctor"
INTERRUPTED, FAILED, NOBODY_READS = 130, 125, 141
_COMPLETING = "_PROCTOR_COMPLETE"


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Do what the arguments say; return the exit code."""
    _heed_signals()
    warnings.showwarning = _show_warning
    try:
        try:
            return _run(app, list(arguments))
        except KeyboardInterrupt:
            terminal.note("interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            raise
        except OSError as error:
            terminal.note(_said(error))
            if error.filename is not None:
                return UsageError.exit_code
            _write_no_more()  # Python's last flush would fail, too, and end with 120
            return FAILED
    except BrokenPipeError:
        _write_no_more()
        return NOBODY_READS


def _run(app: typer.Typer, arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    if _COMPLETING in os.environ:  # a shell asks for completions
        command.main(arguments, prog_name=NAME)
    try:
        # Not command.main(), which hides interruptions and broken pipes.
        with command.make_context(NAME, arguments) as context:
            _log_sentences()
            command.invoke(context)
    except Exit as end:
        return end.exit_code
    except (Abort, EOFError) as error:
        raise KeyboardInterrupt from error
    except ClickException as error:
        _show_usage_error(error)
        return error.exit_code
    except ProctorError as error:
        if isinstance(error, CompileFailed) and error.output:
            terminal.write(error.output.rstrip(), stderr=True, end="\n")
        terminal.note(str(_of_option(error, command, arguments)))
        return error.exit_code
    except OSError:
        raise
    except sqlite3.Error as error:  # of a run that is damaged, or was changed
        terminal.note(f"the database of a run cannot be read: {error}")
        return UsageError.exit_code
    except Exception:  # noqa: BLE001 - nothing is hidden: these are the command's last words
        import traceback

        terminal.write(traceback.format_exc(), stderr=True)
        terminal.note("this is a mistake of proctor's own: please report it")
        return FAILED
    return 0


def _show_usage_error(error: ClickException) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":  # rich has shown it already
        return
    context = getattr(error, "ctx", None)
    misplaced = "" if context is None else _misplaced(error, context)
    # For an unknown command, both Typer and click suggest a similar one.
    told = error.message if misplaced or "Did you mean" in error.message else error.format_message()
    ends = "" if told.endswith((".", "?", ")")) else "."
    help_ = "" if context is None else f" Try '{context.command_path} --help'."
    terminal.note(f"{' '.join(told.split())}{ends}{misplaced or help_}")


def _misplaced(error: ClickException, context: Context) -> str:
    """Return a hint on where a misplaced option belongs; "" if there is none."""
    if not isinstance(error, NoSuchOption):
        return ""
    command, path = context.command, context.command_path
    below = getattr(command, "commands", {}).values()
    if any(error.option_name in each.opts for one in below for each in one.params):
        what = "benchmark" if command.name == "eval" else "command"
        return f" Put options after the {what}: '{path} {what.upper()} {error.option_name}'."
    if command.name == "run" and not error.possibilities:
        return f" Put the program's own arguments after '--'. Try '{path} --help'."
    return ""


def _of_option(error: ProctorError, command: Command, arguments: list[str]) -> ProctorError:
    """Return an error about a field with the name of the option that sets it, if there is one."""
    if not isinstance(error, InputError) or error.field is None or error.file is not None:
        return error
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    typed = f"--{error.field.removeprefix('limits.').replace('_', '-')}"
    for each in command.params:
        if typed in each.opts:
            return InputError(error.message, field=each.opts[0])
    return error


def _said(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"cannot write: {reason}" if error.filename is None else f"{error.filename}: {reason}"


def _heed_signals() -> None:
    """Treat SIGTERM as Ctrl-C, and SIGHUP, the end of the terminal, as SIGTERM."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has it ignored
        # The handler at that time: servers, and commands that keep what they have made, set one.
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _write_no_more() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())


def _log_sentences() -> None:
    """Write warnings that libraries and proctor log in the way in which commands write notes."""
    import logging

    class Sentences(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            terminal.note(self.format(record))

    logging.lastResort = Sentences(logging.WARNING)


def _show_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    terminal.note(str(message))
