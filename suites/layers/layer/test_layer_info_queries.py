# SPDX-License-Identifier: Apache-2.0
"""clGetLayerInfo of a layer, asked directly (LAY-INF)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    CANARY,
    CL,
    INIT_WITH_PROPERTIES,
    LAYER_INFO,
    Layer,
    LayerSession,
    Sandbox,
    Unsupported,
    requirement,
)

QUERIES = {"version": CL.LAYER_API_VERSION, "name": CL.LAYER_NAME}


def untouched(size: int) -> bytes:
    return bytes([CANARY]) * size


def size_of(session: LayerSession, layer: Layer, query: int) -> int:
    """Bytes of an answer. Layers of before CL_LAYER_NAME came do not know it."""
    size = session.buffer(8, 0)
    result = session.info(query, 0, None, size)
    if query == CL.LAYER_NAME and result == CL.INVALID_VALUE and not layer.has(INIT_WITH_PROPERTIES):
        raise Unsupported("loader", "this layer is of before CL_LAYER_NAME", "CL_LAYER_NAME")
    assert result == CL.SUCCESS
    assert 0 < size.u64() < 1 << 16
    return size.u64()


@requirement("LAY-INF-001")
def test_layer_api_version_is_100_however_often_it_is_asked(layer: Layer, sandbox: Sandbox) -> None:
    """CL_LAYER_API_VERSION is a cl_uint, 100, before and after the initialisation, however often it is asked."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        for _ in range(3):
            version, size = session.buffer(4), session.buffer(8)
            assert session.info(CL.LAYER_API_VERSION, 4, version, size) == CL.SUCCESS
            assert version.u32() == 100
            assert size.u64() == 4
        session.initialize(layer.init)
        version = session.buffer(4)
        assert session.info(CL.LAYER_API_VERSION, 4, version, None) == CL.SUCCESS
        assert version.u32() == 100


@requirement("LAY-INF-002")
def test_layer_name_ends_with_its_only_zero_byte(layer: Layer, sandbox: Sandbox) -> None:
    """CL_LAYER_NAME is a string that ends with its only zero byte."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        size = size_of(session, layer, CL.LAYER_NAME)
        name = session.buffer(size)
        assert session.info(CL.LAYER_NAME, size, name, None) == CL.SUCCESS
        assert name.bytes().find(b"\0") == size - 1, f"the {size} bytes of the name are {name.bytes()!r}"


UNKNOWN = (0, 1, 2, 100, 0x423F, 0x4242, 0x4243, 0x900, 0xFFFFFFFF, 0x80004240)


@requirement("LAY-INF-012")
def test_layer_name_is_the_same_after_the_initialisation(layer: Layer, sandbox: Sandbox) -> None:
    """CL_LAYER_NAME is the same each time, and what it was before the layer was initialised."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        before = session.name()
        assert session.name() == before
        session.initialized(layer)
        assert session.name() == before


@requirement("LAY-INF-003")
def test_layer_info_of_an_unknown_name_is_invalid_value(layer: Layer, sandbox: Sandbox) -> None:
    """A name that is none of a layer's gives CL_INVALID_VALUE."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        for name in UNKNOWN:
            value, size = session.buffer(256), session.buffer(8)
            assert session.info(name, 256, value, size) == CL.INVALID_VALUE, f"name {name:#x}"
            assert session.info(name, 0, None, size) == CL.INVALID_VALUE, f"name {name:#x}"
            assert session.info(CL.LAYER_API_VERSION, 256, value, size) == CL.SUCCESS


@requirement("LAY-INF-004")
@pytest.mark.parametrize("query", QUERIES)
def test_layer_info_in_too_little_memory_is_invalid_value(layer: Layer, sandbox: Sandbox, query: str) -> None:
    """Memory of any smaller size gives CL_INVALID_VALUE; the right size is enough; nothing past it is written."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        needed = size_of(session, layer, QUERIES[query])
        for size in sorted({0, 1, 2, 3, needed // 2, needed - 1} & set(range(needed))):
            value = session.buffer(needed)
            assert session.info(QUERIES[query], size, value, session.buffer(8)) == CL.INVALID_VALUE
            assert session.info(QUERIES[query], size, value, None) == CL.INVALID_VALUE
            assert value[size:] == untouched(needed - size)
            assert session.info(QUERIES[query], size, session.buffer(size), None) == CL.INVALID_VALUE
        value = session.buffer(needed + 4)
        assert session.info(QUERIES[query], needed, value, None) == CL.SUCCESS
        assert value[needed:] == untouched(4)
        assert session.info(QUERIES[query], needed + 4, value, None) == CL.SUCCESS


@requirement("LAY-INF-011")
@pytest.mark.parametrize("query", QUERIES)
def test_layer_info_leaves_memory_that_is_too_small(layer: Layer, sandbox: Sandbox, query: str) -> None:
    """Memory that has no room for the answer gets no part of it."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        needed = size_of(session, layer, QUERIES[query])
        for size in sorted({1, 2, needed - 1} & set(range(needed))):
            value = session.buffer(needed)
            assert session.info(QUERIES[query], size, value, None) == CL.INVALID_VALUE
            assert value.bytes() == untouched(needed)


@requirement("LAY-INF-011")
@pytest.mark.parametrize("query", QUERIES)
def test_layer_info_in_larger_memory_leaves_the_rest_untouched(layer: Layer, sandbox: Sandbox, query: str) -> None:
    """Of larger memory no byte past the answer is written; the size is the answer's."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        needed = size_of(session, layer, QUERIES[query])
        for more in (1, 4, 100):
            value, size = session.buffer(needed + more), session.buffer(8)
            assert session.info(QUERIES[query], needed + more, value, size) == CL.SUCCESS
            assert value[needed:] == untouched(more)
            assert size.u64() == needed


@requirement("LAY-INF-005")
@pytest.mark.parametrize("query", QUERIES)
def test_layer_info_size_without_a_value_is_the_same(layer: Layer, sandbox: Sandbox, query: str) -> None:
    """Without memory for the value the size is given, the same as with it."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        needed = size_of(session, layer, QUERIES[query])
        both = session.buffer(8)
        assert session.info(QUERIES[query], needed, session.buffer(needed), both) == CL.SUCCESS
        assert both.u64() == needed


@requirement("LAY-INF-005")
def test_layer_info_size_of_no_memory_is_ignored_or_refused(
    layer: Layer, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """A size beside a NULL value is ignored, as the text has it, or refused, as the Khronos loader's example does."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        size = session.buffer(8)
        result = session.info(CL.LAYER_API_VERSION, 4, None, size)
        assert result in (0, CL.INVALID_VALUE)
        assert result or size.u64() == 4
    record("refused" if result else "ignored")


@requirement("LAY-INF-006")
@pytest.mark.parametrize("query", QUERIES)
def test_layer_info_value_without_a_size_is_the_same(layer: Layer, sandbox: Sandbox, query: str) -> None:
    """Without an output for the size the value is given, the same as with it."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        needed = size_of(session, layer, QUERIES[query])
        alone, both = session.buffer(needed), session.buffer(needed)
        assert session.info(QUERIES[query], needed, alone, None) == CL.SUCCESS
        assert session.info(QUERIES[query], needed, both, session.buffer(8)) == CL.SUCCESS
        assert alone.bytes() == both.bytes()


@requirement("LAY-INF-007")
def test_layer_info_without_outputs_succeeds_or_is_invalid_value(
    layer: Layer, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """A query without any output succeeds, or gives CL_INVALID_VALUE."""
    layer.require(LAYER_INFO)
    with layer.open(sandbox) as session:
        result = session.info(CL.LAYER_API_VERSION, 0, None, None)
    assert result in (0, CL.INVALID_VALUE)
    record("refused" if result else "accepted")
