# SPDX-License-Identifier: Apache-2.0
"""Coverage by breakpoints: where harness/fuzz/blocks.py puts them, and what fuzz/engine/blocks.c does with them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.fuzz.blocks import Blocks, blocks_file, find_blocks, reached

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "fuzz" / "engine"
# What a program needs that watches blocks.
WATCHING = (f"-I{ENGINE}", ENGINE / "blocks.c", ENGINE / "trap.c", "-rdynamic")

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="breakpoints are for x86-64")

SUBJECT = """\
int straight(int x) { return x * 3 + 1; }

int either(int x) { if (x > 10) return straight(x) ^ 5; return -x; }

int loop(int x) { int sum = 0; for (volatile int i = 0; i < x; i++) sum += i & 1 ? i : -i; return sum; }

int choose(int x)
{
    switch (x) {
    case 0: return either(x);
    case 1: return loop(7);
    case 2: return straight(11);
    case 3: return either(99) + 4;
    case 4: return loop(3) - 9;
    case 5: return straight(2) * loop(2);
    case 6: return either(x) / 2;
    default: return -1;
    }
}

static int (*const table[])(int) = {straight, either, loop, choose};

int call(int which, int x) { return table[which](x); }

/* Data among the code, as hand-written assembly has it, and a jump past a prefix. */
__asm__(".text\\n.globl with_data\\n.type with_data, @function\\nwith_data:\\n.cfi_startproc\\n"
        "mov $42, %eax\\nret\\n.byte 0x06, 0x07, 0xff, 0xff\\n.cfi_endproc\\n.size with_data, .-with_data\\n"
        ".globl prefixed\\n.type prefixed, @function\\nprefixed:\\n.cfi_startproc\\n"
        "push %rdi\\ntest %edi, %edi\\nje 1f\\n.byte 0xf0\\n1: addl $1, (%rsp)\\n"
        "pop %rax\\nret\\n.cfi_endproc\\n.size prefixed, .-prefixed\\n");
"""

DRIVER = """\
#define _GNU_SOURCE
#include "blocks.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*call)(int, int);
static int strange;

static void *run(void *argument)
{
    long sum = 0;
    for (int which = 0; which < 4; which++) {
        for (int x = -3; x < 20; x++) {
            sum = sum * 31 + call(which, x);
        }
    }
    *(long *)argument = sum;
    return NULL;
}

static void on_strange(int number) { (void)number; strange++; }

int main(int argc, char **argv)
{
    signal(SIGTRAP, on_strange);
    void *library = dlopen(argv[1], RTLD_NOW);
    struct link_map *map;
    dlinfo(library, RTLD_DI_LINKMAP, &map);
    call = (int (*)(int, int))dlsym(library, "call");
    int (*with_data)(void) = (int (*)(void))dlsym(library, "with_data");
    int (*prefixed)(int) = (int (*)(int))dlsym(library, "prefixed");
    if (argc > 2) {
        blocks_watch(argv[2], argv[1], map->l_addr);
    }
    long sums[4];
    for (int round = 0; round < 3; round++) {
        size_t before = blocks_hit();
        blocks_new_input();
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) { pthread_create(&threads[i], NULL, run, &sums[i]); }
        for (int i = 0; i < 4; i++) { pthread_join(threads[i], NULL); }
        printf("%ld %ld %ld %ld new %zu\\n", sums[0], sums[1], sums[2], sums[3], blocks_hit() - before);
    }
    printf("%d %d %d\\n", with_data(), prefixed(0), prefixed(5));
    __asm__ volatile("int3");
    printf("strange %d hit %zu of %zu\\n", strange, blocks_hit(), blocks_total());
    return argc > 3 && (blocks_dump(argv[3]) || blocks_dump(argv[3]));
}
"""


def compiled(source: str, output: Path, *options: str | Path) -> Path:
    file = output.with_suffix(".c")
    file.write_text(source)
    subprocess.run(["cc", "-g", "-std=gnu11", "-Wall", file, *options, "-o", output, "-lpthread", "-ldl"], check=True)
    return output


@pytest.fixture(params=["-O0", "-O2"])
def subject(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return compiled(SUBJECT, tmp_path / "libsubject.so", request.param, "-shared", "-fPIC")


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    return compiled(DRIVER, tmp_path / "driver", "-O1", *WATCHING)


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def starts_in(blocks: Blocks, name: str) -> list[int]:
    (function,) = [f for f in blocks.functions if f.name == name]
    return [start for start in blocks.starts if function.start <= start < function.end]


def test_each_start_is_an_instruction_of_the_function_that_it_is_listed_for(subject: Path) -> None:
    blocks = find_blocks(subject)
    disassembly = run("objdump", "-d", "--no-show-raw-insn", subject).stdout
    instructions = {int(m[1], 16): m[2] for m in re.finditer(r"^ +([0-9a-f]+):\t(.*)$", disassembly, re.M)}
    assert blocks.starts == sorted(set(blocks.starts))
    for start in blocks.starts:
        assert not instructions[start].startswith(("nop", "endbr", "data16", "cs nop", "(bad)"))
    targets = {int(m[1], 16) for m in re.finditer(r"\tj\w+ +([0-9a-f]+) <", disassembly)}
    inside = {t for t in targets & set(instructions) if any(f.start <= t < f.end for f in blocks.functions)}
    assert inside, "no branch leads anywhere: the expression reads nothing"
    assert inside <= set(blocks.starts)
    for name in ("straight", "either", "loop", "choose", "call"):
        place = run("addr2line", "-fe", subject, *(hex(a) for a in starts_in(blocks, name))).stdout.split("\n")[::2]
        assert set(place) >= {name}


def test_straight_code_is_one_block_and_a_switch_is_many(subject: Path) -> None:
    blocks = find_blocks(subject)
    assert len(starts_in(blocks, "straight")) == 1
    assert len(starts_in(blocks, "either")) >= 2
    assert len(starts_in(blocks, "choose")) >= 8


def test_targets_of_a_jump_table_are_found_where_nothing_falls_through_before_them(tmp_path: Path) -> None:
    """Behind a call that does not return, only the table says that another block begins."""
    source = """
        extern void other(int) __attribute__((noreturn));
        void f(int x) { switch (x) { case 0: other(5); case 1: other(77); case 2: other(8); case 3: other(1);
                                     case 4: other(50); case 5: other(33); } }
    """
    library = compiled(source, tmp_path / "libtable.so", "-O1", "-shared", "-fPIC", "-fno-tree-switch-conversion")
    assert re.search(r"jmp +\*%", run("objdump", "-d", library).stdout), "the compiler made no table of this switch"
    calls = run("objdump", "-d", "--no-show-raw-insn", library).stdout.count("<other@plt>\n")
    assert calls == 6
    assert len(starts_in(find_blocks(library), "f")) >= calls + 1


def test_data_in_a_function_keeps_breakpoints_out_of_it(subject: Path) -> None:
    blocks = find_blocks(subject)
    assert [f.name for f in blocks.left_out] == ["with_data"]
    (data,) = blocks.left_out
    assert not any(data.start <= start < data.end for start in blocks.starts)


def test_no_breakpoint_inside_an_instruction(subject: Path) -> None:
    """The function jumps past the prefix of an instruction: a breakpoint there would cut it in two."""
    blocks = find_blocks(subject)
    (function,) = [f for f in blocks.functions if f.name == "prefixed"]
    code = run("objdump", "-d", "--no-show-raw-insn", "--disassemble=prefixed", subject).stdout
    (locked,) = [int(m[1], 16) for m in re.finditer(r"([0-9a-f]+):\tlock addl", code)]
    starts = starts_in(blocks, "prefixed")
    assert locked in starts
    assert locked + 1 not in starts
    assert function.start in starts


def test_a_stripped_library_has_the_same_blocks(subject: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "libstripped.so"
    subprocess.run(["strip", "-o", stripped, subject], check=True)
    assert find_blocks(stripped).starts == find_blocks(subject).starts


def test_a_program_does_the_same_under_breakpoints(subject: Path, driver: Path, tmp_path: Path) -> None:
    """Also in four threads that run into the same breakpoints; a trap of the program's own stays its own."""
    plain = run(driver, subject)
    assert plain.returncode == 0
    watched = run(driver, subject, blocks_file(subject, tmp_path), tmp_path / "hits")
    assert watched.returncode == 0, watched.stderr
    without_counts = re.compile(r" (new \d+|hit .*)$", re.M)
    assert without_counts.sub("", watched.stdout) == without_counts.sub("", plain.stdout)

    total = len(find_blocks(subject).starts)
    rows = {row.function.name: row for row in reached(find_blocks(subject), tmp_path / "hits")}
    counted = re.search(r"strange 1 hit (\d+) of (\d+)$", watched.stdout)
    assert counted
    assert int(counted[2]) == total
    assert int(counted[1]) == sum(row.hit for row in rows.values())
    for name in ("straight", "either", "loop", "choose", "call", "prefixed"):
        assert rows[name].hit == rows[name].blocks > 0, name
    lines = (tmp_path / "hits").read_text().split()
    assert len(lines) == len(set(lines)), "a block is written once, also when asked twice"


def test_a_breakpoint_is_hit_once(subject: Path, driver: Path, tmp_path: Path) -> None:
    watched = run(driver, subject, blocks_file(subject, tmp_path))
    new = [int(n) for n in re.findall(r" new (\d+)", watched.stdout)]
    assert new[0] > 10
    assert new[1:] == [0, 0]


def test_breakpoints_come_back_with_each_input_where_that_is_asked(tmp_path: Path) -> None:
    """Seen through the fuzzer's counters, which it clears for each input."""
    source = """
        #define _GNU_SOURCE
        #include "blocks.h"
        #include <dlfcn.h>
        #include <link.h>
        #include <stdio.h>
        #include <string.h>
        static char *counters, *end;
        void __sanitizer_cov_8bit_counters_init(char *start, char *stop) { counters = start; end = stop; }
        void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop)
        { printf("addresses %td\\n", (stop - start) / 2); }
        int main(int argc, char **argv)
        {
            void *library = dlopen(argv[1], RTLD_NOW);
            struct link_map *map;
            dlinfo(library, RTLD_DI_LINKMAP, &map);
            int (*call)(int, int) = (int (*)(int, int))dlsym(library, "call");
            blocks_watch(argv[2], argv[1], map->l_addr);
            for (int input = -1; input < 3; input++) {
                memset(counters, 0, (size_t)(end - counters));
                blocks_new_input();
                int sum = call(1, 3) + call(3, input < 0 ? 0 : input);
                int hit = 0;
                for (char *c = counters; c < end; c++) hit += *c;
                printf("%d: %d of %td\\n", sum, hit, end - counters);
            }
            return argc < 2;
        }
    """
    program = compiled(source, tmp_path / "program", *WATCHING)
    library = compiled(SUBJECT, tmp_path / "libsubject.so", "-O1", "-shared", "-fPIC")
    file = blocks_file(library, tmp_path)
    once = run(program, library, file).stdout
    again = run(program, library, file, CLHARNESS_FUZZ_REARM="1").stdout
    assert f"addresses {len(find_blocks(library).starts)}\n" in once
    hits = [[int(n) for n in re.findall(r": (\d+) of", output)] for output in (once, again)]
    assert hits[0][:2] == hits[1][:2]
    assert hits[0][0] == hits[0][1] > 3, "a fuzzer does not look at what the first input reached"
    assert hits[0][2] < hits[1][2]
    assert re.sub(r": \d+", "", once) == re.sub(r": \d+", "", again)


# A library that wants SIGTRAP for itself, as LLVM does: its handler puts back what was there, and raises the signal.
TAKES_OVER = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sigaction previous;

static void on_crash(int number) { sigaction(number, &previous, NULL); raise(number); }

__attribute__((noinline)) int after(int x) { return x > 3 ? x * 7 : -x; }

static void with_sigaction(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)(SA_NODEFER | SA_RESETHAND | SA_ONSTACK)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTRAP, &action, &previous);
}

static void with_signal(void) { signal(SIGTRAP, on_crash); }

static void with_system_call(void)
{
    struct { void (*handler)(int); unsigned long flags; void *restorer; unsigned long mask; } action = {SIG_IGN, 0};
    syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, sizeof action.mask);
}

static void with_dependency(void)
{
    void *library = dlopen(DEPENDENCY, RTLD_NOW);
    void (*enable)(void) = (void (*)(void))dlsym(library, "enable");
    enable();
}

static void by_blocking(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

void enable(void) { HOW(); }

void also(void)
{
    void *volatile unused[] = {(void *)with_sigaction, (void *)with_signal, (void *)with_system_call,
                               (void *)with_dependency, (void *)by_blocking};
    (void)unused;
}
"""

TAKEN_DRIVER = """\
#define _GNU_SOURCE
#include "blocks.h"
#include "trap.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW);
    struct link_map *map;
    dlinfo(library, RTLD_DI_LINKMAP, &map);
    void (*enable)(void) = (void (*)(void))dlsym(library, "enable");
    int (*after)(int) = (int (*)(int))dlsym(library, "after");
    blocks_watch(argv[2], argv[1], map->l_addr);
    enable();
    trap_check();
    printf("%d %d hit %d\\n", after(5), after(1), blocks_hit() > 1);
    return argc < 2;
}
"""


@pytest.mark.parametrize("how", ["with_sigaction", "with_signal", "with_system_call", "with_dependency", "by_blocking"])
def test_breakpoints_go_on_where_a_library_wants_their_signal(how: str, tmp_path: Path) -> None:
    dependency = tmp_path / "libdependency.so"
    options = ("-O1", "-shared", "-fPIC", f'-DDEPENDENCY="{dependency}"')
    compiled(TAKES_OVER, dependency, *options, "-DHOW=with_sigaction")
    library = compiled(TAKES_OVER, tmp_path / "libtakes.so", *options, f"-DHOW={how}")
    program = compiled(TAKEN_DRIVER, tmp_path / "taken", *WATCHING)
    done = run(program, library, blocks_file(library, tmp_path))
    assert (done.returncode, done.stdout) == (0, "35 -1 hit 1\n"), done.stderr


def test_blocks_of_another_build_are_refused(subject: Path, driver: Path, tmp_path: Path) -> None:
    """The two differ in their build ID alone; the right file is accepted."""
    blocks = blocks_file(subject, tmp_path)
    other = tmp_path / "libother.so"
    build_id = find_blocks(subject).build_id
    other.write_bytes(subject.read_bytes().replace(bytes.fromhex(build_id), bytes.fromhex(build_id)[::-1]))
    assert find_blocks(other).build_id != build_id
    assert find_blocks(other).starts == find_blocks(subject).starts

    refused = run(driver, other, blocks)
    assert refused.returncode == 2
    assert f"{blocks} was made for another build of {other}" in refused.stderr
    assert run(driver, subject, blocks).returncode == 0


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text[:-20], "damaged at block"),
        (lambda text: "", "no line 'clharness-blocks'"),
        (lambda text: text.replace("blocks 1\n", "blocks 2\n", 1), "another version"),
        (lambda text: re.sub(r"\nblocks \d+", "\nblocks 99999999", text), "is damaged: 99999999 blocks"),
        (lambda text: re.sub(r"\n[0-9a-f]+\n$", "\n1\n", text), "damaged at block"),
    ],
    ids=["cut short", "empty", "version", "count", "order"],
)
def test_a_damaged_file_is_refused(driver: Path, tmp_path: Path, damage: object, sentence: str) -> None:
    library = compiled(SUBJECT, tmp_path / "libsubject.so", "-O1", "-shared", "-fPIC")
    assert callable(damage)
    good = blocks_file(library, tmp_path)
    bad = tmp_path / "bad.blocks"
    bad.write_text(damage(good.read_text()))
    refused = run(driver, library, bad)
    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert run(driver, library, good).returncode == 0


def test_blocks_of_a_library_for_another_machine_are_refused(subject: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "libforeign.so"
    content = bytearray(subject.read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # e_machine: AArch64
    foreign.write_bytes(content)
    with pytest.raises(UsageError, match="64-bit library for AARCH64: breakpoints are for x86-64 only"):
        find_blocks(foreign)


def test_a_library_that_does_not_say_where_its_code_is(tmp_path: Path) -> None:
    library = compiled("int f(void) { return 1; }", tmp_path / "libbare.so", "-shared", "-fPIC", "-nostdlib",
                       "-fno-asynchronous-unwind-tables", "-fvisibility=hidden", "-s")  # fmt: skip
    with pytest.raises(UsageError, match=r"neither \.eh_frame nor symbols"):
        find_blocks(library)


def test_a_file_is_made_once_for_each_build(subject: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    first = blocks_file(subject, folder)
    written = first.stat().st_mtime_ns
    assert blocks_file(subject, folder) == first
    assert first.stat().st_mtime_ns == written
    changed = tmp_path / "changed" / subject.name
    changed.parent.mkdir()
    shutil.copy(subject, changed)
    with changed.open("ab") as file:
        file.write(b"\0")
    assert blocks_file(changed, folder) != first


def test_hits_of_another_library_are_refused(subject: Path, tmp_path: Path) -> None:
    hits = tmp_path / "hits"
    hits.write_text("3\n")
    with pytest.raises(UsageError, match="is of another library: no block starts at 0x3"):
        reached(find_blocks(subject), hits)
