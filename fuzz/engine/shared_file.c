/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that another process reads in a file. */
#define _GNU_SOURCE
#include "internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *shared_file(const char *path, size_t size)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool is_there = file >= 0 && ftruncate(file, (off_t)size) == 0;
    void *shared = is_there ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0) {
        close(file);
    }
    return shared == MAP_FAILED ? NULL : shared;
}
