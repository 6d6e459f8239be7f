"""Runs numba-cuda's own tests, which its package brings along, and compares with what is known.

scripts/clients.sh suite runs all of them; by hand: python suite.py [FOLDER.MODULE...]

Each module has a process of its own, as a failed kernel takes its context along. Tests that
are known to fail stand in suite-failures.txt with the reason; one of them that passes is a
failure too, so that the list stays true.
"""

import fnmatch
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = "numba.cuda.tests"
FOLDERS = ("cudapy", "cudadrv", "doc_examples")
# Seconds for one module: they compile hundreds of kernels.
LIMIT = 600


def modules():
    import numba.cuda.tests as tests

    root = pathlib.Path(tests.__file__).parent
    return [f"{folder}.{file.stem}" for folder in FOLDERS for file in sorted((root / folder).glob("test_*.py"))]


class Reporter(unittest.TestResult):
    """Writes one line for each test, so that nothing is lost when the process dies."""

    def __init__(self, out):
        super().__init__()
        self.out, self.own = out, []

    def report(self, outcome, error=None):
        self.own.append((outcome, error))

    def startTest(self, test):
        super().startTest(test)
        self.own = []
        print(json.dumps([test.id(), "started", ""]), file=self.out, flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        worst = next((entry for entry in self.own if entry[0] == "failed"), None)
        outcome, error = worst or (self.own or [("passed", None)])[0]
        print(json.dumps([test.id(), outcome, error or ""]), file=self.out, flush=True)

    def wrong(self, error):
        # pytest's way to skip, which unittest does not know.
        skipped = error[0].__name__ == "Skipped"
        self.report("ignored" if skipped else "failed", " ".join(str(error[1]).split())[:300])

    def addFailure(self, test, error):
        self.wrong(error)

    def addError(self, test, error):
        self.wrong(error)
        # A class or module that cannot be set up is no test, but its tests are missing.
        if not isinstance(test, unittest.TestCase):
            print(json.dumps([test.id(), *self.own[-1]]), file=self.out, flush=True)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.wrong(error)

    def addSkip(self, test, reason):
        self.report("ignored", reason)
        if not isinstance(test, unittest.TestCase):
            print(json.dumps([test.id(), "ignored", reason]), file=self.out, flush=True)

    def addExpectedFailure(self, test, error):
        self.report("passed")

    def addUnexpectedSuccess(self, test):
        self.report("failed", "succeeds unexpectedly")


class Function(unittest.FunctionTestCase):
    """A test that is a mere function, as pytest has them."""

    def id(self):
        return f"{self._testFunc.__module__}.{self._testFunc.__name__}"


def run_here(module, path):
    with open(path, "w") as out:
        suite = unittest.defaultTestLoader.loadTestsFromName(f"{PACKAGE}.{module}")
        for name, test in vars(sys.modules.get(f"{PACKAGE}.{module}", object)).items():
            if name.startswith("test_") and inspect.isfunction(test) and not inspect.signature(test).parameters:
                suite.addTest(Function(test))
        suite.run(Reporter(out))


def run_module(module):
    """The outcome of each test of a module, with what was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "outcomes")
        command = [sys.executable, "-W", "ignore", __file__, "--here", module, path]
        try:
            result = subprocess.run(command, cwd=folder, timeout=LIMIT, capture_output=True, text=True)
            end = f"the process ended with {result.returncode}: {result.stderr.strip()[-200:]}"
        except subprocess.TimeoutExpired:
            end = f"not done after {LIMIT} s"
        outcomes = {}
        if os.path.exists(path):
            for line in open(path):
                name, outcome, error = json.loads(line)
                outcomes[name.removeprefix(PACKAGE + ".")] = (outcome, error)
    for name, (outcome, _) in outcomes.items():
        if outcome == "started":
            outcomes[name] = ("failed", end)
    return outcomes or {f"{module}.none": ("failed", end)}


def known_failures():
    known = {}
    for line in open(pathlib.Path(__file__).with_name("suite-failures.txt")):
        pattern, _, reason = line.strip().partition("  ")
        if pattern and not pattern.startswith("#"):
            known[pattern] = reason.strip()
    return known


def main(wanted):
    known, total = known_failures(), {"passed": 0, "failed": 0, "ignored": 0, "known": 0}
    for module in wanted or modules():
        counts = dict.fromkeys(total, 0)
        for name, (outcome, error) in run_module(module).items():
            reason = next((reason for pattern, reason in known.items() if fnmatch.fnmatch(name, pattern)), None)
            if reason is not None and outcome == "failed":
                outcome = "known"
            elif reason is not None and outcome == "passed":
                outcome, error = "failed", f"passes, but suite-failures.txt says: {reason}"
            counts[outcome] += 1
            if outcome == "failed":
                print(f"{name}: {error}")
        for outcome, count in counts.items():
            total[outcome] += count
        print(f"{module:45} " + " ".join(f"{count:4} {outcome}" for outcome, count in counts.items()), flush=True)
    word = "ok" if total["failed"] == 0 and total["passed"] > 0 else "FAILED"
    print(f"\n{total['known']} fail as suite-failures.txt says")
    print(f"test result: {word}. {total['passed']} passed; {total['failed']} failed; {total['ignored']} ignored")
    return word != "ok"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        run_here(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
