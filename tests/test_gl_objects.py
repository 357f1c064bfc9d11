# SPDX-License-Identifier: Apache-2.0
"""The helper that makes OpenGL objects for ICDs that share them (harness/probe/gl_objects.c), where there is EGL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.build import build
from harness.check.icd.gl import FILL, RealOpenGl, plain_numbers, real_opengls
from harness.probe.icd_session import IcdSession
from harness.sandbox import Sandbox, Unsupported
from harness.subject.icd import Icd

# What OpenGL has not, or not on every machine.
NOT_EVERYWHERE = {
    ("display", "glx"),
    ("context", "without_buffers"),
    ("context", "foreign"),
    ("context", "without_devices"),
    ("share_group", "usable"),
    ("texture", "border"),
    ("texture", "empty"),
    ("egl_sync", "reusable"),
    ("egl_image", "read_only"),
    ("egl_image", "unmapped"),
}


@pytest.fixture
def session() -> Iterator[IcdSession]:
    """A probe that has opened a mock ICD."""
    sandbox = Sandbox()
    try:
        with Icd(build().mock_icds["icd"]).open(sandbox) as opened:
            yield opened
    finally:
        sandbox.close()


@pytest.fixture
def world(session: IcdSession) -> RealOpenGl:
    """The first OpenGL of this machine."""
    try:
        return next(real_opengls(session))
    except Unsupported as error:
        pytest.skip(error.reason)


def test_objects_of_each_kind(world: RealOpenGl) -> None:
    """All that the mock ICD's OpenGL has under a name, a real one has, too; each is made once."""
    assert world.renderer
    objects = {what: world[what] for what in plain_numbers() if what not in NOT_EVERYWHERE}
    assert len(objects) > 25
    assert {what: world[what] for what in objects} == objects
    for kind in ("buffer", "texture", "renderbuffer", "gl_sync"):
        own = [number for what, number in objects.items() if what[0] == kind]
        assert len(set(own)) == len(own) > 1


def test_what_there_is_not(world: RealOpenGl) -> None:
    """A name that is unknown, and a kind, are unsupported and no number."""
    for what in (("buffer", "nothing"), ("nothing", "plain"), ("display", "glx"), ("context", "foreign")):
        with pytest.raises(Unsupported):
            assert world[what]


def test_data_of_a_buffer(world: RealOpenGl) -> None:
    """OpenGL writes and reads the data of a buffer, be its context current or not."""
    assert world["buffer", "plain"]
    assert world.byte("plain") == 0
    world.do("current")
    world.do("fill buffer plain")
    world.do("release")
    assert world.byte("plain") == FILL
    world.do("delete buffer plain")


def test_deleted_objects(world: RealOpenGl) -> None:
    """What can be deleted is deleted without an error."""
    for what in ("texture plain", "renderbuffer plain", "gl_sync pending"):
        kind, _, name = what.partition(" ")
        assert world[kind, name]
        world.do(f"delete {what}")
    with pytest.raises(Unsupported):
        world.do("delete context usable")


def test_no_display_that_is_not_there(session: IcdSession, world: RealOpenGl) -> None:
    """After the last display there is none, and that is said."""
    assert 1 <= len(list(real_opengls(session))) < 20
    with pytest.raises(Unsupported, match="no more displays"):
        RealOpenGl(session, 1000)
