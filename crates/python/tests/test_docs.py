"""The documentation and the types hold: docstrings, the cells of docs/python.md, the stubs."""

import ast
import doctest
import importlib.metadata
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import docvalues as dv
import pytest
from conftest import ROOT

PACKAGE = Path(dv.__file__).parent
STUBS = ast.parse((PACKAGE / "_docvalues.pyi").read_text())


def docstrings():
    """Those of the module at work and of the stubs, by name."""
    yield "docvalues", dv.__doc__
    for name in dv.__all__:
        yield name, inspect.getdoc(getattr(dv, name))
    for node in ast.walk(STUBS):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield f"{node.name} of the stubs", ast.get_docstring(node)


def test_examples_of_docstrings():
    examples = 0
    for name, text in docstrings():
        found = doctest.DocTestParser().get_doctest(text or "", {"dv": dv}, name, None, 0)
        report, runner = [], doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        examples += len(found.examples)
        assert runner.run(found, out=report.append).failed == 0, "".join(report)
    assert examples >= 35
    # `help` shows those of the module, editors those of the stubs.
    without = {"scan_polars", "__version__"} | {name for name in dv.__all__ if name.endswith("Error")}
    assert [name for name in dv.__all__ if name not in without and ">>>" not in inspect.getdoc(getattr(dv, name))] == []


def test_the_stubs_have_what_the_module_has():
    functions = [(dv, node) for node in STUBS.body if isinstance(node, ast.FunctionDef) and hasattr(dv, node.name)]
    for node in STUBS.body:
        if isinstance(node, ast.ClassDef) and hasattr(dv, node.name):
            class_ = getattr(dv, node.name)
            assert "final" in map(ast.unparse, node.decorator_list)
            with pytest.raises(TypeError):
                type("Sub", (class_,), {})
            methods = [child for child in node.body if isinstance(child, ast.FunctionDef) and child.name[0] != "_"]
            assert {name for name in vars(class_) if name[0] != "_"} == {method.name for method in methods}, node.name
            properties = [method for method in methods if "property" in map(ast.unparse, method.decorator_list)]
            functions += [(class_, method) for method in methods if method not in properties]
    assert len(functions) >= 30
    for owner, stub in functions:
        found = inspect.signature(getattr(owner, stub.name)).parameters.values()
        assert [argument(parameter) for parameter in found] == arguments(stub.args, found), stub.name


def argument(parameter):
    default = None if parameter.default is parameter.empty else parameter.default
    return parameter.name, parameter.kind is parameter.KEYWORD_ONLY, default


def arguments(stub, found):
    """Those of a function of the stubs. A default that `found` has no text for is taken to be the same."""
    names = [(part.arg, False) for part in stub.args] + [(part.arg, True) for part in stub.kwonlyargs]
    defaults = [None] * (len(stub.args) - len(stub.defaults)) + stub.defaults + stub.kw_defaults
    values = [default and ast.literal_eval(default) for default in defaults]
    values = [... if parameter.default is ... and default else value for parameter, default, value in zip(found, defaults, values)]
    return [(name, keyword, value) for (name, keyword), value in zip(names, values, strict=True)]


def test_types(in_a_folder_of_its_own):
    """mypy takes the package, and a program with each kind of call; and refuses a wrong one."""
    pytest.importorskip("mypy")
    program = in_a_folder_of_its_own / "program.py"
    lines = [
        "import docvalues as dv",
        "import numpy as np",
        "import polars as pl",
        'docs: int = dv.write("a.dv", pl.DataFrame({"n": [1]}), sort_by="-n")',
        'with dv.open(["a.dv"]) as hits:',
        '    table: dv.Table = hits.facet("n", top=3, order="value")',
        '    frame: pl.DataFrame = pl.DataFrame(hits.scan(["n"], strings="views"))',
        '    hits.take([0], ["n"]).to_pydict()["n"]',
        '    hits.take(np.array([0]), {"n": 1}.keys()), hits.lookup(pl.Series(["a"]))',
        '    hits.histogram("n", np.array([0, 2])), hits.percentiles("n", 99)',
        'dv.write("a.dv", {"n": np.array([1]), "s": pl.Series(["a"])})',
        'dv.open(name for name in ["a.dv"])',
        'lazy: pl.LazyFrame = dv.scan_polars("a.dv")',
        'with dv.Store.create("s", {"id": "string"}, id_field="id", durability=0.5) as store:',
        '    added: int = store.upsert({"id": ["a"]})["added"]',
    ]
    program.write_text("\n".join(lines) + "\n")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "cache"]

    def errors(*what):
        return subprocess.run([*mypy, *what], capture_output=True, text=True).stdout

    modules = ["docvalues", "docvalues.__main__", "docvalues.polars"]
    modules += ["docvalues.spark"] if importlib.util.find_spec("pyspark") else []
    assert errors(*(word for module in modules for word in ("-m", module))) == ""
    assert errors("program.py") == ""
    wrong = ['hits.facet("n", order="values")', 'hits.take("20")', "hits.lookup([1])"]
    program.write_text("\n".join([*lines, *wrong]) + "\n")
    found = re.findall(r"^program.py:(\d+): error:", errors("program.py"), re.M)
    assert found == [str(len(lines) + at) for at in (1, 2, 3)]


def check_cells(text):
    """Runs each block of Python, from top to bottom, and compares what the next block says that it prints. Returns their number."""
    cells = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.S)
    program = "".join(f"print('%%')\n{code}\n" for code, _ in cells)
    Path("cells.py").write_text(program)
    done = subprocess.run([sys.executable, "cells.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split("%%\n")[1:]
    for (code, expected), found in zip(cells, printed, strict=True):
        assert found.strip() == expected.strip(), code
    return len(cells)


def test_cells_of_the_page():
    """docs/python.md, without what others do."""
    Path("examples").symlink_to(ROOT / "examples")
    own = (ROOT / "docs/python.md").read_text().split("## Beside")[0]
    assert check_cells(own) >= 8
    assert Path("sections.png").read_bytes().startswith(b"\x89PNG")


def test_cells_of_the_readme():
    assert check_cells((ROOT / "crates/python/README.md").read_text()) == 1


def test_the_package_has_its_licences_and_its_readme():
    package = importlib.metadata.distribution("docvalues")
    licences = {name.name for name in package.files if "licenses" in name.parts}
    assert {"LICENSE-APACHE", "LICENSE-MIT"} <= licences
    assert package.metadata.get_payload().startswith("# docvalues for Python")
