// SPDX-License-Identifier: Apache-2.0
/*
 * Linked into a library that is compiled with -fsanitize-coverage=trace-pc: marks each basic block that runs, in a file
 * that the harness has mapped, too, so that neither a crash nor a kill loses a mark.
 *
 * REACH_FILE is the file's path; its size is the number of bytes of the library from which blocks are marked.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static volatile unsigned char *marks;
static size_t size;

__attribute__((constructor(101))) static void map_marks(void)
{
    struct stat status;
    const int file = open(REACH_FILE, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return; /* such as in a private root: then nothing is known of this process */
    }
    if (fstat(file, &status) == 0) {
        void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) {
            marks = mapped;
            size = (size_t)status.st_size;
        }
    }
    close(file);
    if (marks) {
        marks[0] = 1; /* the ELF header's first byte: the library was loaded and could write */
    }
}

__attribute__((visibility("hidden"))) void __sanitizer_cov_trace_pc(void)
{
    /* One less: the address that is returned to may belong to the next line. */
    const uintptr_t offset = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__ehdr_start - 1;
    if (marks && offset < size) {
        marks[offset] = 1;
    }
}
