/* SPDX-License-Identifier: Apache-2.0 */
/* A library that asks for one resource of each kind, and says on standard output which calls failed and how. With
 * $LOSE it forgets one block, and keeps another one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *volatile keeps, *volatile forgets;

static int check(const char *name, int succeeded, int error)
{
    if (!succeeded) {
        dprintf(1, "%s: %s\n", name, error ? strerror(error) : "no reason");
    }
    return succeeded;
}

static void *idle(void *argument)
{
    return argument;
}

static void memory(void)
{
    void *block = malloc(10), *zeroed = calloc(2, 10), *grown;
    char *copy = strdup("text");
    check("malloc", block != NULL, errno);
    check("calloc", zeroed != NULL, errno);
    check("strdup", copy != NULL, errno);
    grown = realloc(block, 20);
    check("realloc", grown != NULL, errno);
    free(grown ? grown : block);
    free(zeroed);
    free(copy);
}

static void files(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    FILE *file = fopen("/dev/null", "r");
    DIR *entries = opendir(folder);
    struct dirent **list;
    int count = scandir(folder, &list, NULL, alphasort);
    if (check("open", fd >= 0, errno)) {
        close(fd);
    }
    if (check("fopen", file != NULL, errno)) {
        fclose(file);
    }
    if (check("opendir", entries != NULL, errno)) {
        closedir(entries);
    }
    if (check("scandir", count >= 0, errno)) {
        while (count > 0) {
            free(list[--count]);
        }
        free(list);
    }
}

void go(const char *folder)
{
    pthread_t thread;
    int error;
    memory();
    files(folder);
    void *library = dlopen("libc.so.6", RTLD_NOW);
    if (check("dlopen", library != NULL, 0)) {
        dlclose(library);
    }
    void *mapping = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (check("mmap", mapping != MAP_FAILED, errno)) {
        munmap(mapping, 1);
    }
    error = pthread_create(&thread, NULL, idle, NULL);
    if (check("pthread_create", error == 0, error)) {
        pthread_join(thread, NULL);
    }
    if (getenv("LOSE")) {
        keeps = malloc(1);
        forgets = malloc(1);
        *(void **)&forgets = NULL;
        open(folder, O_RDONLY | O_DIRECTORY);
    }
}
