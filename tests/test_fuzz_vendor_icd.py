"""The fuzz target vendor_icd: finds what a vendor's ICD does wrong, and nothing in one that does everything right."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from harness.build import build

pytestmark = pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets")

# An ICD with a platform, a device, contexts, queues and buffers. WRONG names the one thing that it does wrong.
ICD = r"""
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { none, overruns, too_little_room, another_size, wrote_less, wrote_more, no_size, room_refused, positive_code,
       strange_code, object_with_error, success_without_object, no_code, crashes, ends, aborts, outside, reads_list };
#define IS(name) (WRONG == (name))

struct object { struct _cl_icd_dispatch *table; int references; size_t size; char *memory; };
static struct _cl_icd_dispatch table;
static struct object platform = {&table, 1, 0, 0}, device = {&table, 1, 0, 0};

static cl_int answer(const void *what, size_t length, size_t room, void *to, size_t *needed)
{
    static int asked;
    if (to && room < length)
        return IS(too_little_room) ? CL_SUCCESS : CL_INVALID_VALUE;
    if (to && IS(room_refused) && room == length + 1)
        return CL_INVALID_VALUE;
    if (to) {
        memcpy(to, what, IS(wrote_less) && length > 1 ? length - 1 : length);
        if (IS(overruns)) ((volatile char *)to)[length] = 0;
        if (IS(wrote_more) && room > length) ((char *)to)[length] = 0;
    }
    if (needed && !IS(no_size)) *needed = length + (IS(another_size) && to);
    return IS(positive_code) && ++asked > 9 ? 5 : IS(strange_code) && ++asked > 9 ? -500 : CL_SUCCESS;
}

static void *object(size_t size, cl_int *code)
{
    static int made;
    struct object *o = calloc(1, sizeof *o);
    *o = (struct object){&table, 1, size, size ? calloc(1, size) : NULL};
    made++;
    if (code && !IS(no_code)) *code = IS(object_with_error) && made > 9 ? CL_INVALID_VALUE : CL_SUCCESS;
    if (IS(success_without_object) && made > 9 && code) { free(o->memory); free(o); return NULL; }
    return o;
}

static void *refused(cl_int *code, cl_int why) { if (code) *code = why; return NULL; }

static cl_int release(void *of)
{
    struct object *o = of;
    if (--o->references == 0) { free(o->memory); free(o); }
    return CL_SUCCESS;
}

static cl_int retain(void *of) { ((struct object *)of)->references++; return CL_SUCCESS; }

#define TEXT(text) answer(text, sizeof text, room, to, needed)

static cl_int CL_API_CALL get_platform_info(cl_platform_id p, cl_platform_info name, size_t room, void *to, size_t *needed)
{
    (void)p;
    return name == CL_PLATFORM_VERSION ? TEXT("OpenCL 1.1 small") : name == CL_PLATFORM_NAME ? TEXT("small") : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id p, cl_device_type type, cl_uint room, cl_device_id *to, cl_uint *count)
{
    (void)p;
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT))) return type ? CL_DEVICE_NOT_FOUND : CL_INVALID_DEVICE_TYPE;
    if ((to && !room) || (!to && !count)) return CL_INVALID_VALUE;
    if (to) *to = (cl_device_id)&device;
    if (count) *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id d, cl_device_info name, size_t room, void *to, size_t *needed)
{
    cl_ulong most = 65536;
    if (!d) return CL_INVALID_DEVICE;
    if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE) return answer(&most, sizeof most, room, to, needed);
    if (IS(crashes) && name == CL_DEVICE_EXTENSIONS) *(volatile int *)8 = 1;
    if (IS(ends) && name == CL_DEVICE_EXTENSIONS) exit(0);
    if (IS(aborts) && name == CL_DEVICE_EXTENSIONS) abort();
    return name == CL_DEVICE_NAME ? TEXT("one") : CL_INVALID_VALUE;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *list, cl_uint count, const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code)
{
    if (!count || !devices || (!notify && data)) return refused(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++) if (!devices[i]) return refused(code, CL_INVALID_DEVICE);
    for (; list && *list; list += 2) if (*list != CL_CONTEXT_PLATFORM) return refused(code, CL_INVALID_PROPERTY);
    if (list && IS(reads_list)) (void)*(volatile const cl_context_properties *)(list + 1);
    return object(0, code);
}

static cl_context CL_API_CALL create_context_from_type(const cl_context_properties *list, cl_device_type type,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code)
{
    cl_device_id one = (cl_device_id)&device;
    return type & CL_DEVICE_TYPE_GPU ? create_context(list, 1, &one, notify, data, code) : refused(code, CL_DEVICE_NOT_FOUND);
}

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id d, cl_command_queue_properties flags, cl_int *code)
{
    (void)c;
    return !d ? refused(code, CL_INVALID_DEVICE) : flags > 3 ? refused(code, CL_INVALID_VALUE) : object(0, code);
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    (void)c;
    if (!size || size > 65536) return refused(code, CL_INVALID_BUFFER_SIZE);
    if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR))) return refused(code, CL_INVALID_HOST_PTR);
    struct object *o = object(size, code);
    if (o && host) memcpy(o->memory, host, size);
    return (cl_mem)o;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem mem, cl_bool blocks, size_t offset, size_t size, void *to,
                                      cl_uint waits, const cl_event *list, cl_event *event)
{
    struct object *o = (struct object *)mem;
    (void)q; (void)blocks; (void)waits; (void)list; (void)event;
    if (event || waits || list) return CL_OUT_OF_RESOURCES; /* it has no events */
    if (!to || !size || (IS(outside) ? offset + size > o->size : offset > o->size || size > o->size - offset)) return CL_INVALID_VALUE;
    memcpy(to, o->memory + offset, size);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL flush(cl_command_queue q) { (void)q; return CL_SUCCESS; }

static cl_int CL_API_CALL list_platforms(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    if (to && room) *to = (cl_platform_id)&platform;
    if (count) *count = 1;
    return CL_SUCCESS;
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    table.clGetPlatformInfo = get_platform_info;
    table.clGetDeviceIDs = get_device_ids;
    table.clGetDeviceInfo = get_device_info;
    table.clCreateContext = create_context;
    table.clCreateContextFromType = create_context_from_type;
    table.clRetainContext = (void *)retain;
    table.clReleaseContext = (void *)release;
    table.clCreateCommandQueue = create_queue;
    table.clRetainCommandQueue = (void *)retain;
    table.clReleaseCommandQueue = (void *)release;
    table.clCreateBuffer = create_buffer;
    table.clRetainMemObject = (void *)retain;
    table.clReleaseMemObject = (void *)release;
    table.clEnqueueReadBuffer = read_buffer;
    table.clFlush = flush;
    table.clFinish = flush;
    return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : (void *)list_platforms;
}
"""

INPUTS, LONGEST = 4000, 300

FAULTS = {
    "overruns": r"crash memory@",
    "too_little_room": r"wrong too-little-room-0x[0-9a-f]+-clGet\w+Info",
    "another_size": r"wrong another-size-0x[0-9a-f]+-clGet\w+Info",
    "wrote_less": r"wrong wrote-less-0x[0-9a-f]+-clGet\w+Info",
    "wrote_more": r"wrong wrote-more-0x[0-9a-f]+-clGet\w+Info",
    "no_size": r"wrong no-size-0x[0-9a-f]+-clGet\w+Info",
    "room_refused": r"wrong room-refused-0x[0-9a-f]+-clGet\w+Info",
    "positive_code": r"wrong positive-code-5-clGet\w+Info",
    "strange_code": r"wrong no-code--500-clGet\w+Info",
    "object_with_error": r"wrong object-with-error-clCreate\w+",
    "success_without_object": r"wrong success-without-object-clCreate\w+",
    "no_code": r"wrong no-code-clCreate\w+",
    "crashes": r"crash memory@",
    "ends": r"crash exit@clGetDeviceInfo",
    "aborts": r"crash abort@clGetDeviceInfo",
    "outside": r"crash memory@",
    "reads_list": r"crash memory@",
}


def icd(folder: Path, wrong: str) -> Path:
    source, library = folder / f"{wrong}.c", folder / f"lib{wrong}.so"
    source.write_text(ICD)
    cache = (build().folder / "CMakeCache.txt").read_text()
    headers = [f"-I{path}" for path in re.findall(r"^CLHARNESS_OPENCL_HEADERS:PATH=(.+)$", cache, re.M)]
    command = [build().compiler, "-shared", "-fPIC", "-g", "-DCL_TARGET_OPENCL_VERSION=120", f"-DWRONG={wrong}", "-w"]
    subprocess.run([*command, *headers, source, "-o", library], check=True)
    return library


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same at each run."""
    folder = tmp_path_factory.mktemp("inputs")
    draw = random.Random(6)
    for i in range(INPUTS):
        (folder / f"{i:04}").write_bytes(draw.randbytes(draw.randrange(LONGEST)))
    return folder


def replay(library: Path | str, *arguments: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    program = build().folder / "fuzz" / "replay_vendor_icd"
    environment = {**os.environ, "CLHARNESS_FUZZ_LOADER": str(library), **variables}
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment, timeout=120)


def findings(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"^clharness-fuzz: finding: (.*)$", done.stderr, re.M)


def test_nothing_is_found_in_an_icd_that_does_everything_right(tmp_path: Path, inputs: Path) -> None:
    done = replay(icd(tmp_path, "none"), inputs)
    assert (done.returncode, findings(done)) == (0, []), done.stderr
    assert f"vendor_icd: read {INPUTS} inputs" in done.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_what_an_icd_does_wrong_is_found(fault: str, tmp_path: Path, inputs: Path) -> None:
    found = findings(replay(icd(tmp_path, fault), inputs))
    assert len(found) == 1, found
    assert re.match(FAULTS[fault], found[0]), found


def test_a_known_finding_is_passed_over(tmp_path: Path, inputs: Path) -> None:
    library = icd(tmp_path, "strange_code")
    known = tmp_path / "known"
    known.write_text("")
    for _ in range(50):
        done = replay(library, inputs, CLHARNESS_FUZZ_KNOWN=str(known))
        if not (found := findings(done)):
            break
        with known.open("a") as file:
            file.write(found[0].split()[1].rstrip(":") + "\n")
    assert done.returncode == 0
    assert 2 <= len(known.read_text().split()) < 50


def test_an_input_is_described_in_words(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(bytes(40))
    done = replay(icd(tmp_path, "none"), "--describe", tmp_path / "input")
    assert re.search(r"^clharness-fuzz: input: clCreateContext\(.*\)$", done.stderr, re.M)


@pytest.mark.parametrize(
    ("library", "sentence"),
    [("libc.so.6", "has no clGetExtensionFunctionAddress: give the library of an OpenCL ICD"),
     ("/nowhere/libnothing.so", "the ICD cannot be loaded: /nowhere/libnothing.so")],
)  # fmt: skip
def test_what_is_no_icd_is_refused(library: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"1")
    done = replay(library, tmp_path / "input")
    assert done.returncode == 2
    assert sentence in done.stderr
