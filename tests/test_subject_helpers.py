# SPDX-License-Identifier: Apache-2.0
"""Libraries that a loader needs, wherever its build has them: each kind of process that a case starts finds them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT, build
from harness.sandbox import Sandbox, Unsupported
from harness.subject.loader import Loader
from tests.consumers import Consumer, headers

USE = "int help_loading(void);\n__attribute__((constructor)) static void use(void) { help_loading(); }\n"


@dataclass(frozen=True)
class Place:
    """Where the helper is, and how it is found: options of the linker, and a variable of the environment."""

    folder: str = "helpers"
    options: tuple[str, ...] = ()
    variable: str = ""
    value: str = ""
    elevated: bool = False  # whether an elevated process finds it, too

    @property
    def linked(self) -> bool:
        return self.variable != "LD_PRELOAD"


PLACES = {
    "path of the build": Place(options=("-Wl,-rpath,{helpers}",), elevated=True),
    "older path of the build": Place(options=("-Wl,-rpath,{helpers}", "-Wl,--disable-new-dtags"), elevated=True),
    "beside it": Place(folder="loader", options=("-Wl,-rpath,$ORIGIN",), elevated=True),
    "in a neighbouring folder": Place(options=("-Wl,-rpath,${{ORIGIN}}/../helpers",), elevated=True),
    "LD_LIBRARY_PATH": Place(variable="LD_LIBRARY_PATH", value="/nowhere:{helpers}"),
    "LD_LIBRARY_PATH, relative": Place(variable="LD_LIBRARY_PATH", value="helpers"),
    "LD_LIBRARY_PATH, this folder": Place(folder=".", variable="LD_LIBRARY_PATH", value=":/nowhere"),
    "LD_PRELOAD": Place(variable="LD_PRELOAD", value="{helpers}/libhelper.so"),
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference loader's object files, and one that calls the helper."""
    folder = tmp_path_factory.mktemp("objects")
    Consumer(folder, "").add_loader()
    (folder / "loader" / "use.c").write_text(USE)
    compile = ["gcc", "-c", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-std=gnu11", '-DCLHARNESS_VERSION="1.2.3"']
    compile += [f"-I{headers()}", f"-I{folder / 'loader'}", f"-I{ROOT / 'harness' / 'api' / 'include'}"]
    subprocess.run([*compile, *sorted((folder / "loader").glob("*.c"))], cwd=folder, check=True)
    return folder


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Place:
    return PLACES[request.param]


@pytest.fixture
def loader(place: Place, objects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loader:
    folders = {"helpers": tmp_path / place.folder, "loader": tmp_path / "loader"}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    helper, path = folders["helpers"] / "libhelper.so", folders["loader"] / "libmine.so"
    helper_source = tmp_path / "helper.c"
    helper_source.write_text("int help_loading(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", helper, helper_source, "-Wl,-soname,libhelper.so"], check=True)
    command = ["gcc", "-shared", "-o", str(path), *map(str, objects.glob("*.o")), "-pthread", "-ldl", "-Wl,-Bsymbolic"]
    command += [option.format(**folders) for option in place.options]
    command += [str(helper)] * place.linked
    subprocess.run([*command, "-Wl,-soname,libOpenCL.so.1"], check=True)
    monkeypatch.chdir(tmp_path)
    if place.variable:
        monkeypatch.setenv(place.variable, place.value.format(**folders))
    return Loader(path)


@pytest.fixture
def sandbox(loader: Loader) -> Iterator[Sandbox]:
    box = Sandbox(loader.path)
    box.vendor("a")
    yield box
    box.close()


@pytest.mark.parametrize("how", ["dlopen", "linked", "system", "linked, system", "guarded_heap", "counted_heap"])
def test_helper_is_found(how: str, loader: Loader, sandbox: Sandbox) -> None:
    options: dict[str, Any] = {name: True for name in how.split(", ") if name != "dlopen"}
    with loader.start(sandbox, **options) as cl:
        assert cl.platform_names() == ["a"]


def test_case_that_sets_folders_of_libraries_finds_its_own_and_the_helper(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    named = sandbox.icd("named")
    sandbox.vendor_file("named.icd", f"{named.path.name}\n")
    for linked in (False, True):
        with loader.start(sandbox, linked=linked) as cl:
            assert set(cl.platform_names()) == {"a", "named"}


def test_elevated_process_that_cannot_find_it_is_unsupported(loader: Loader, sandbox: Sandbox, place: Place) -> None:
    if not place.elevated:
        with pytest.raises(Unsupported, match="elevated"):
            loader.start(sandbox, elevated=True)
        return
    with loader.start(sandbox, elevated=True) as cl:
        cl.platform_names()


@pytest.fixture(params=["libhelper.so", ""])
def linked_elsewhere(objects: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A link to a loader, beside which is the helper: $ORIGIN is the folder of the name by which a library is opened.
    Or the loader names the helper by its whole path, as linkers do where a library has no name in itself.
    """
    real, here = tmp_path / "real", tmp_path / "here"
    for folder in (real, here):
        folder.mkdir()
    (tmp_path / "helper.c").write_text("int help_loading(void) { return 1; }\n")
    library: list[str | Path] = ["gcc", "-shared", "-fPIC", "-o"]
    name = [f"-Wl,-soname,{request.param}"] if request.param else []
    subprocess.run([*library, here / "libhelper.so", tmp_path / "helper.c", *name], check=True)
    command = [*library, real / "libmine.so", *objects.glob("*.o"), here / "libhelper.so", "-pthread", "-ldl"]
    options = ["-Wl,-Bsymbolic", "-Wl,-rpath,$ORIGIN", "-Wl,-soname,libOpenCL.so.1"]
    subprocess.run([*command, *options], check=True)
    (here / "libOpenCL.so.1").symlink_to(real / "libmine.so")
    return here / "libOpenCL.so.1"


@pytest.mark.parametrize("how", ["dlopen", "linked", "system", "linked, system", "guarded_heap", "elevated"])
def test_helper_beside_a_link_to_the_loader_is_found(how: str, linked_elsewhere: Path) -> None:
    subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(linked_elsewhere)!r})"], check=True)
    options: dict[str, Any] = {name: True for name in how.split(", ") if name != "dlopen"}
    box = Sandbox(linked_elsewhere)
    try:
        box.vendor("a")
        with Loader(linked_elsewhere).start(box, **options) as cl:
            if how != "elevated":
                assert cl.platform_names() == ["a"]
    finally:
        box.close()


def test_sanitizer_that_is_preloaded_is_that_of_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/nowhere/libother.so /usr/lib/libasan.so.8")
    assert Loader(build().reference_loader).facts.sanitizer == "/usr/lib/libasan.so.8"


def test_library_to_preload_that_the_subject_does_not_need_stays_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Such as those of a desktop, or of the program that builds a package."""
    monkeypatch.setenv("LD_PRELOAD", str(build().late_caller))
    sandbox = Sandbox(build().reference_loader)
    with Loader(build().reference_loader).start(sandbox) as cl:
        assert not cl.maps(str(build().late_caller))
    sandbox.close()
