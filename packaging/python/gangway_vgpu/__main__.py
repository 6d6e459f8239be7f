"""``python -m gangway_vgpu PROGRAM [ARGUMENT...]`` runs a program on the virtual GPU."""

import os
import shutil
import sys

import gangway_vgpu

USAGE = """\
usage: python -m gangway_vgpu PROGRAM [ARGUMENT...]
       python -m gangway_vgpu [-m MODULE | -c CODE] [ARGUMENT...]
       python -m gangway_vgpu --folder | --version

Runs a program, a Python script or a Python module with Gangway's virtual GPU in the place of
NVIDIA's driver. --folder prints what to put in front of LD_LIBRARY_PATH instead."""


def command(arguments: list) -> list:
    """What to execute: scripts and modules run in this Python."""
    first = arguments[0]
    if first in ("-m", "-c"):
        return [sys.executable, *arguments]
    if first.endswith(".py") and os.path.isfile(first):
        return [sys.executable, *arguments]
    return arguments


def main(arguments: list) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "--folder":
        print(gangway_vgpu.folder())
        return 0
    if arguments[0] == "--version":
        print("gangway-vgpu", gangway_vgpu.__version__)
        return 0
    if arguments[0].startswith("-") and arguments[0] not in ("-m", "-c"):
        print(f"gangway_vgpu: there is no option {arguments[0]}\n\n{USAGE}", file=sys.stderr)
        return 2
    words = command(arguments)
    program = shutil.which(words[0])
    if program is None:
        print(f"gangway_vgpu: no program {words[0]} in the search path or there", file=sys.stderr)
        return 127
    sys.stdout.flush()
    try:
        os.execve(program, words, gangway_vgpu.environment())
    except OSError as error:
        print(f"gangway_vgpu: cannot run {program}: {error.strerror}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
