"""Gate of a warm interpreter: waits before the script of a hook starts.

Python imports this module at the end of its own start. It imports standard modules, waits for one control message on standard
input, applies it and removes every trace of itself. Python then runs the script as always. The hook's payload follows the control
message on the same pipe, so the gate reads exactly the bytes of the message.
"""

import os
import sys

# Each of these sets no attribute of another package and reads no variable at import. A test checks the first condition.
MODULES = (
    "argparse", "base64", "collections", "contextlib", "copy", "datetime", "enum", "fnmatch", "functools", "glob", "hashlib",
    "io", "itertools", "json", "locale", "math", "operator", "pathlib", "random", "re", "select", "selectors", "shlex", "shutil",
    "signal", "string", "subprocess", "tempfile", "textwrap", "threading", "time", "traceback", "types", "typing", "warnings",
)  # fmt: skip


def forget_gate():
    """Removes the gate's directory from the search path, and imports the module that the gate replaces."""
    here = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.path_importer_cache.pop(here, None)
    sys.modules.pop("sitecustomize", None)
    import sitecustomize  # noqa: F401, the module of the system


def read(length):
    parts = []
    while length:
        part = os.read(0, min(length, 1 << 16))
        if not part:
            # The process that started this one has ended.
            os._exit(0)
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def is_shadowed(script, names):
    """Returns true if a file beside the script, or in PYTHONPATH, has the name of a module that the gate has imported."""
    standard = os.path.dirname(os.__file__)
    directories = [os.path.dirname(os.path.realpath(script))]
    for entry in sys.path:
        if entry == standard or entry.endswith(".zip"):
            break
        directories.append(entry)
    for directory in directories:
        try:
            files = os.listdir(directory)
        except OSError:
            continue
        if any(name.partition(".")[0] in names for name in files):
            return True
    return False


def wait():
    before = set(sys.modules)
    for name in MODULES:
        try:
            __import__(name)
        except Exception:
            pass
    import gc
    import json
    import posix

    # The first collection is done while nothing waits for it. No `gc.freeze`: it would keep the end of the process from deleting
    # the objects of the script.
    gc.collect()
    names = {name.partition(".")[0] for name in sys.modules if name not in before}
    message = json.loads(read(int.from_bytes(read(4), "little")))
    os.chdir(message["cwd"])
    os.umask(message["umask"])
    variables = {os.fsencode(name): os.fsencode(value) for name, value in message["env"]}
    if is_shadowed(message["script"], names):
        os.execve(message["program"], message["argv"], variables)
    os.environb.clear()
    os.environb.update(variables)
    posix.environ.clear()
    posix.environ.update(variables)
    sys.modules["time"].tzset()
    for finder in list(sys.path_importer_cache.values()):
        if hasattr(finder, "invalidate_caches"):
            finder.invalidate_caches()


failure = None
try:
    forget_gate()
except BaseException as error:
    failure = error
try:
    wait()
except BaseException:
    # Nothing of the script has run. The hook fails.
    os.kill(os.getpid(), 9)
if failure is not None:
    # Without a module of the system, Python ignores this error as it does without the gate.
    raise failure
