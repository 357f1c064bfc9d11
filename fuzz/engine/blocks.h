/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage of a library without source: a breakpoint on the start of each basic block, taken away when it is first hit.
 *
 * The blocks come from a file that harness/fuzz/blocks.py writes. Hits are registered with the fuzzer as the counters
 * of an instrumented module would be (__sanitizer_cov_8bit_counters_init), one for each block, with a table of
 * addresses: libFuzzer's "cov" then counts blocks. Extra counters would do for libFuzzer alone, and their number would
 * be fixed at build time.
 */
#ifndef CLHARNESS_FUZZ_BLOCKS_H
#define CLHARNESS_FUZZ_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Puts the breakpoints into the library, which is loaded at `base` (the difference between its addresses in memory and
 * in its file: link_map's l_addr). To be called before the fuzzer starts and before other threads run in the library.
 * Ends the process with a sentence and exit code 2 where the file is damaged or was made for another build of the
 * library.
 *
 * With CLHARNESS_FUZZ_REARM=1 in the environment breakpoints come back with each input, for fuzzers that want the whole
 * coverage of each input and not only what is new in it (AFL++ judges stability by it).
 */
void blocks_watch(const char *block_file, const char *library_path, uintptr_t base);

/*
 * To be called before each input. Breakpoints come back after the first one, whatever is asked for: libFuzzer tries an
 * empty input first, to see whether it crashes, and does not look at what it reached.
 */
void blocks_new_input(void);

/* How many blocks were hit since blocks_watch, and how many there are; 0 and 0 before it. */
size_t blocks_hit(void);
size_t blocks_total(void);

/*
 * Appends the blocks that were hit since the last call, one hexadecimal address in the library's file a line: what
 * `python -m harness.fuzz.blocks LIBRARY --hits FILE` reads. Several processes may append to the same file.
 * Returns 0, or -1 with errno set where the file cannot be written.
 */
int blocks_dump(const char *file);

#endif
