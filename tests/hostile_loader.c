/* SPDX-License-Identifier: Apache-2.0 */
/* A loader that harms whoever tests it, as the variable HOSTILE says: lines NAME or NAME=VALUE, done one after the
 * other. What begins with "greeting" is done when the library is loaded, before the probe can say anything; all else
 * when clGetPlatformIDs is called.
 */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef ALWAYS
#define ALWAYS ""
#endif

static struct object {
    void *table;
} platform;
static unsigned long long platforms = 1, name_size = sizeof "hostile";

/* What follows --socket on the command line. */
static int probe_socket(void)
{
    static char line[1 << 16];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    for (char *at = line; at < line + length; at += strlen(at) + 1) {
        if (strcmp(at, "--socket") == 0) {
            return (int)strtol(at + strlen(at) + 1, NULL, 10);
        }
    }
    return -1;
}

static void say(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0) {
        _exit(90);
    }
}

static void do_nothing(int number)
{
    (void)number;
}

static int end_code, ends_when_unloaded;

static void end(void)
{
    _exit(end_code);
}

__attribute__((destructor)) static void unloaded(void)
{
    if (ends_when_unloaded) {
        end();
    }
}

static void overwrite_command_line(char with)
{
    static char state[1 << 12];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, state, sizeof state - 1);
    close(fd);
    unsigned long start = 0, end = 0;
    int field = 2;
    for (char *at = length > 0 ? strtok(strrchr(state, ')') + 1, " ") : NULL; at; at = strtok(NULL, " ")) {
        field++;
        start = field == 48 ? strtoul(at, NULL, 10) : start; /* arg_start and arg_end of proc(5) */
        end = field == 49 ? strtoul(at, NULL, 10) : end;
    }
    memset((void *)start, with, end - start); /* NOLINT(performance-no-int-to-ptr) */
}

/* By the way into the kernel that 32-bit programs have; where there is none, the signal of that ends the process. */
static long fanotify_init_of_32_bits(void)
{
    long result = -1;
#ifdef __x86_64__
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(338L), "b"(FAN_CLASS_CONTENT), "c"(O_RDONLY)
                     : "memory", "r8", "r9", "r10", "r11");
#endif
    return (int)result;
}

static void do_one(const char *name, const char *value)
{
    if (strcmp(name, "greeting") == 0 || strcmp(name, "says") == 0) {
        say(probe_socket(), value);
        say(probe_socket(), "\n");
    } else if (strcmp(name, "says_without_end") == 0) {
        for (;;) {
            say(probe_socket(), value);
        }
    } else if (strcmp(name, "writes") == 0) {
        say(STDERR_FILENO, value);
        say(STDERR_FILENO, "\n");
    } else if (strcmp(name, "writes_without_end") == 0) {
        for (;;) {
            say(STDERR_FILENO, value);
        }
    } else if (strcmp(name, "shell") == 0) {
        if (system(value) < 0) {
            _exit(91);
        }
    } else if (strcmp(name, "kills") == 0) { /* a number, "parent", or "all" where its parent is out of reach */
        pid_t whom = strcmp(value, "parent") == 0 ? getppid() : (pid_t)strtol(value, NULL, 10);
        if (strcmp(value, "all") == 0) {
            whom = getppid() == 0 || kill(getppid(), 0) != 0 ? -1 : getpid();
        }
        if (kill(whom, SIGKILL) != 0) {
            _exit(93);
        }
    } else if (strcmp(name, "traces") == 0) {
        if (ptrace(PTRACE_SEIZE, (pid_t)strtol(value, NULL, 10), NULL, PTRACE_O_EXITKILL) != 0) {
            _exit(94);
        }
    } else if (strcmp(name, "is_traced") == 0) { /* by its parent */
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    } else if (strcmp(name, "gets") == 0) { /* a signal that is handled where it is SIGALRM */
        sigaction(SIGALRM, &(struct sigaction){.sa_handler = do_nothing}, NULL);
        raise((int)strtol(value, NULL, 10));
    } else if (strcmp(name, "executes") == 0) { /* after that, another program is the process */
        execl("/bin/sh", "sh", "-c", value, (char *)NULL);
        _exit(98);
    } else if (strcmp(name, "forks") == 0) {
        for (long i = strtol(value, NULL, 10); i > 0; i--) {
            if (fork() == 0) {
                pause();
            }
        }
    } else if (strcmp(name, "forks_a_sibling") == 0) { /* a child of this process's parent */
        if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
            pause();
        }
    } else if (strcmp(name, "allocates") == 0) { /* MiB, each of them used */
        for (long i = strtol(value, NULL, 10); i > 0; i--) {
            char *memory = malloc(1 << 20);
            if (memory) {
                memset(memory, (int)i, 1 << 20);
            }
        }
    } else if (strcmp(name, "allocates_shared") == 0) { /* the same, of which no process has a private page */
        size_t size = (size_t)strtol(value, NULL, 10) << 20;
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) {
            memset(memory, 1, size);
        }
    } else if (strcmp(name, "allocates_file") == 0) { /* the same, in a file that has no name */
        int fd = memfd_create("hostile", 0);
        if (fd < 0 || posix_fallocate(fd, 0, (off_t)strtol(value, NULL, 10) << 20) != 0) {
            _exit(95);
        }
    } else if (strcmp(name, "greeting_interrupts") == 0) { /* whatever waits, without end */
        sigaction(SIGALRM, &(struct sigaction){.sa_handler = do_nothing}, NULL);
        setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);
    } else if (strcmp(name, "greeting_renames_itself") == 0) { /* over its command line, as daemons do */
        overwrite_command_line(*value);
    } else if (strcmp(name, "watches") == 0) {
        if (fanotify_init(FAN_CLASS_CONTENT, O_RDONLY) < 0) {
            _exit(97);
        }
    } else if (strcmp(name, "watches_as_32_bits") == 0) {
        if (fanotify_init_of_32_bits() < 0) {
            _exit(97);
        }
    } else if (strcmp(name, "opens") == 0) { /* so many pipes */
        for (long i = strtol(value, NULL, 10); i > 0; i--) {
            int ends[2];
            if (pipe(ends) != 0) {
                _exit(96);
            }
        }
    } else if (strcmp(name, "aborts") == 0) {
        abort();
    } else if (strcmp(name, "exits") == 0 || strcmp(name, "greeting_exits") == 0) {
        _exit((int)strtol(value, NULL, 10));
    } else if (strcmp(name, "exits_at_exit") == 0) {
        end_code = (int)strtol(value, NULL, 10);
        atexit(end);
    } else if (strcmp(name, "exits_at_unloading") == 0) {
        end_code = (int)strtol(value, NULL, 10);
        ends_when_unloaded = 1;
    } else if (strcmp(name, "hangs") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(name, "spins") == 0) {
        for (volatile unsigned turns = 0;; turns++) {
        }
    } else if (strcmp(name, "sleeps") == 0) { /* milliseconds */
        usleep((useconds_t)(1000 * strtol(value, NULL, 10)));
    } else if (strcmp(name, "burns") == 0) { /* milliseconds of a processor */
        while (clock() < strtol(value, NULL, 10) * (CLOCKS_PER_SEC / 1000)) {
        }
    } else if (strcmp(name, "burns_in_turn") == 0) { /* the same, by one process after the other */
        for (long i = strtol(value, NULL, 10) / 10; i > 0; i--) {
            pid_t child = fork();
            if (child == 0) {
                while (clock() < CLOCKS_PER_SEC / 100) {
                }
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
    } else if (strcmp(name, "platforms") == 0) {
        platforms = strtoull(value, NULL, 0);
    } else if (strcmp(name, "name_size") == 0) {
        name_size = strtoull(value, NULL, 0);
    } else {
        _exit(92);
    }
}

static void do_all(int at_greeting)
{
    char *all = strdup(getenv("HOSTILE") ? getenv("HOSTILE") : ALWAYS);
    for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
        char *value = strchr(line, '=');
        if (value) {
            *value++ = '\0';
        }
        if ((strncmp(line, "greeting", 8) == 0) == at_greeting) {
            do_one(line, value ? value : "");
        }
    }
    free(all);
}

__attribute__((constructor)) static void loaded(void)
{
    do_all(1);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id *list, cl_uint *count)
{
    do_all(0);
    for (cl_uint i = 0; list && i < room; i++) {
        list[i] = (cl_platform_id)&platform;
    }
    if (count) {
        *count = (cl_uint)platforms;
    }
    return CL_SUCCESS;
}

#ifndef WITHOUT_PLATFORM_INFO
CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id of, cl_platform_info what, size_t room, void *to,
                                                  size_t *size)
{
    (void)of;
    (void)what;
    if (to) {
        strncpy(to, "hostile", room);
    }
    if (size) {
        *size = name_size;
    }
    return CL_SUCCESS;
}
#endif
