"""A program that prints, as JSON, what it can notice of the process that it runs in, and then ends
in every way that leaves work for the interpreter's end.

Left out is what differs on purpose: docs/explanation/the-cell.md, "Like a fresh interpreter".
"""

import asyncio
import atexit
import builtins
import concurrent.futures
import concurrent.futures.thread as pool
import contextlib
import contextvars
import decimal
import faulthandler
import gc
import json
import linecache
import locale
import logging.handlers
import multiprocessing.util
import os
import signal
import sys
import threading
import tracemalloc
import warnings
import weakref

MAIN = threading.main_thread()


def threads():
    return {
        "main": [threading.current_thread() is MAIN, MAIN.is_alive(), MAIN.name, MAIN.daemon],
        "ident": MAIN.ident == threading.get_ident(),
        "all": [[each.name, each.daemon] for each in threading.enumerate()],
        "ending": threading._SHUTTING_DOWN,
        "exits": [getattr(each, "func", each).__module__ for each in threading._threading_atexits],
        "next": threading.Thread().name,
        "stack": threading.stack_size(),
        "watched": [threading.gettrace(), threading.getprofile()],
        "hook": threading.excepthook is threading.__excepthook__,
    }


def exits():
    return {
        "handlers": atexit._ncallbacks(),
        "executors": [
            pool._shutdown,
            pool._global_shutdown_lock.locked(),
            len(pool._threads_queues),
        ],
        "processes": [multiprocessing.util._exiting, len(multiprocessing.util._finalizer_registry)],
        "finalizers": [weakref.finalize._shutdown, len(weakref.finalize._registry)],
    }


def interpreter():
    return {
        "gc": [gc.isenabled(), gc.get_threshold(), gc.garbage, len(gc.callbacks), gc.get_debug()],
        "limits": [sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()],
        "hooks": [
            getattr(sys, name) is getattr(sys, f"__{name}__")
            for name in ("excepthook", "displayhook", "unraisablehook", "breakpointhook")
        ],
        "watched": [sys.gettrace(), sys.getprofile(), *sys.get_asyncgen_hooks()],
        "error": [*sys.exc_info(), hasattr(sys, "last_type"), hasattr(sys, "last_value")],
        "hash": hash("a"),
        "debug": [faulthandler.is_enabled(), tracemalloc.is_tracing()],
        "context": [each.name for each in contextvars.copy_context()],
        "leftovers": [
            name for name in sys.modules if name.split(".")[0] in ("proctor", "rehearsal")
        ],
    }


def libraries():
    root = logging.getLogger()
    return {
        "warnings": [repr(warnings.filters), warnings.defaultaction, warnings.onceregistry],
        "warned": sorted(
            name for name, each in list(sys.modules.items()) if hasattr(each, "__warningregistry__")
        ),
        "decimal": [repr(decimal.getcontext()), repr(decimal.DefaultContext)],
        "locale": [locale.setlocale(locale.LC_ALL), locale.getpreferredencoding()],
        "logging": [root.handlers, root.level, repr(logging.lastResort), len(logging._handlerList)],
        "loggers": sorted(root.manager.loggerDict),
        "asyncio": [
            asyncio._get_running_loop(),
            getattr(asyncio.events, "_event_loop_policy", None),
        ],
    }


def process():
    handlers = {each.name: signal.getsignal(each) for each in signal.Signals}
    return {
        "handlers": {name: getattr(each, "__name__", str(each)) for name, each in handlers.items()},
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "pending": sorted(signal.sigpending()),
        "timers": [signal.getitimer(each) for each in range(3)],
        "umask": os.umask(0o22),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "descriptors": descriptors(),
    }


def descriptors():
    """Return those open, and inheritable or not; but not the one that lists them."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found[name] = os.get_inheritable(int(name))
    return found


def program():
    main = sys.modules["__main__"]
    own = {"__cached__", "__file__", "__loader__", "__annotate__", "__conditional_annotations__"}
    return {
        "names": sorted(name for name in vars(main) if name[:2] == "__" and name not in own),
        "is main": vars(main) is globals(),
        "builtins": sorted(vars(builtins)),
        "streams": [
            [each.name, each.mode, each.encoding, each.errors, each.newlines, each.closed,
             each.fileno(), each.buffer.raw.name, each.buffer.raw.mode, each is getattr(sys, twin)]
            for each, twin in (
                (sys.stdin, "__stdin__"), (sys.stdout, "__stdout__"), (sys.stderr, "__stderr__"),
            )
        ],
        "sources": sorted(set(linecache.cache) - {__file__}),
        "argv": len(sys.argv),
        "finders": [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path],
    }  # fmt: skip


def leave_work():
    """Leave what prints, each thing after the one before: a pool, a thread, exit handlers, a log."""
    log = logging.getLogger("of the program")
    log.addHandler(logging.handlers.MemoryHandler(10, target=logging.StreamHandler(sys.stdout)))
    log.warning("logged")
    atexit.register(print, "at exit")
    weakref.finalize(leave_work, print, "finalized")
    threading.Thread(target=lambda: (MAIN.join(), print("thread"))).start()
    concurrent.futures.ThreadPoolExecutor(1).submit(print, asyncio.run(asyncio.to_thread(abs, -1)))


PARTS = {each.__name__: each for each in (threads, exits, interpreter, libraries, process, program)}
print(json.dumps({name: PARTS[name]() for name in WANTED}, default=repr, sort_keys=True))  # noqa: F821
if LEAVES:  # noqa: F821
    leave_work()
