/* SPDX-License-Identifier: Apache-2.0 */
/* What mocks and probe use of POSIX and mingw does not have; included before everything else. The headers beside this
 * file stand for those of the same name. */
#ifndef CLHARNESS_WINDOWS_POSIX_H
#define CLHARNESS_WINDOWS_POSIX_H

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
#define O_NONBLOCK 0
#define F_GETFD 1
#define F_DUPFD_CLOEXEC 1030
#define F_GETFL 3
#define _SC_PAGESIZE 30
#define SIGPIPE 13
#define SIG_BLOCK 0
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP PTHREAD_RECURSIVE_MUTEX_INITIALIZER

/* No signals are blocked here. */
typedef int clharness_sigset;
#define sigset_t clharness_sigset
#define sigemptyset(set) (*(set) = 0)
#define sigaddset(set, number) (*(set) |= 1 << (number))
#undef pthread_sigmask
#define pthread_sigmask(how, set, before) ((void)(set))

#define flockfile _lock_file
#define funlockfile _unlock_file

/* SIGSEGV is what a fault of the processor is here: an exception. */
int raise_signal(int number);
#define raise raise_signal

int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
char *strsep(char **text, const char *ends);
char *stpcpy(char *to, const char *from);
char *strndup(const char *text, size_t length);
long sysconf(int name);
/* Whether this process is ending: what was told so may still be called by what is told after it. */
int process_is_ending(void);
/* Of descriptors nothing but whether there is one. */
int fcntl(int fd, int command, ...);
/* `real` has room for PATH_MAX bytes. */
char *realpath(const char *path, char *real);
ssize_t getline(char **line, size_t *room, FILE *from);

#endif
