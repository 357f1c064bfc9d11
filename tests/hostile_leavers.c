/* SPDX-License-Identifier: Apache-2.0 */
/* A library that leaves the state that it was started in, or crashes in some rare way. Where it reaches what is not its
 * case's own, it ends with REACHED.
 */
#define _GNU_SOURCE
#include "hostile_front.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { REACHED = 96, PART = 1 << 20 };

static void require(int refused)
{
    if (!refused) {
        _exit(REACHED);
    }
}

static void spin(void)
{
    volatile unsigned turns = 0;
    for (;;) {
        turns = turns + 1;
    }
}

static void wait_for_ever(void)
{
    for (;;) {
        pause();
    }
}

static void raises_its_limits(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    for (int what = 0; what < 16; what++) {
        setrlimit(what, &all);
        prlimit(getppid(), what, &all, NULL);
    }
}

static void replaces_its_descriptors(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 64; fd++) {
        dup2(null, fd);
    }
}

static void renames_itself(void)
{
    prctl(PR_SET_NAME, ") R 1 1 (\n\xff");
    prctl(PR_SET_DUMPABLE, 0);
}

static void masks_all_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_IGN);
    }
    sigprocmask(SIG_BLOCK, &all, NULL);
    spin();
}

static void sets_up_rings(void)
{
    char parameters[256];
    for (int i = 0; i < 50; i++) {
        memset(parameters, 0, sizeof parameters);
        syscall(425 /* io_uring_setup */, 64, parameters);
    }
}

static void becomes_a_program_in_memory(void)
{
    static char part[PART];
    char *const arguments[] = {"sh", "-c", "exit 0", NULL};
    char *const environment[] = {NULL};
    int from = open("/bin/sh", O_RDONLY);
    int to = (int)syscall(SYS_memfd_create, "sh", 0);
    for (ssize_t got = read(from, part, sizeof part); got > 0; got = read(from, part, sizeof part)) {
        if (write(to, part, (size_t)got) != got) {
            abort();
        }
    }
    syscall(SYS_execveat, to, "", arguments, environment, AT_EMPTY_PATH);
    abort();
}

static void faults_for_ever(void)
{
    long size = sysconf(_SC_PAGESIZE);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    char *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(unsigned long)page, (unsigned long)size},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0) {
        *(volatile char *)page = 1;
    }
    wait_for_ever();
}

static void is_traced_by_its_child(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    int ends[2];
    char byte;
    if (pipe(ends) != 0) {
        abort();
    }
    if (fork() == 0) {
        ptrace(PTRACE_SEIZE, getppid(), NULL, PTRACE_O_EXITKILL);
        if (write(ends[1], "x", 1) != 1) {
            abort();
        }
        wait_for_ever();
    }
    if (read(ends[0], &byte, 1) != 1) {
        abort();
    }
}

static void is_stuck_in_vfork(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    if (vfork() == 0) {
        wait_for_ever();
    }
#pragma GCC diagnostic pop
}

/* Mounts over its sandbox, where it may. */
static void covers_its_sandbox(void)
{
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) && mount("x", here, "tmpfs", 0, "") == 0) {
        close(open("covered", O_CREAT | O_WRONLY, 0600));
    }
}

/* Whether there is another case's sandbox in a folder. */
static int sees_others(const char *folder, const char *own)
{
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        count += strncmp(entry->d_name, "clharness-case-", 15) == 0 && strcmp(entry->d_name, own) != 0;
    }
    if (entries) {
        closedir(entries);
    }
    return count;
}

static void looks_for_sandboxes(void)
{
    char here[PATH_MAX];
    char above[PATH_MAX];
    if (!getcwd(here, sizeof here)) {
        abort();
    }
    snprintf(above, sizeof above, "%s", here);
    const char *place = dirname(above);
    const char *own = basename(here);
    for (int turn = 0; turn < 4; turn++) {
        require(!sees_others(place, own) && !sees_others("/dev/shm", own));
        umount2(place, MNT_DETACH);
        umount2("/dev/shm", MNT_DETACH);
    }
}

static void leaves_its_namespaces(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWPID) == 0) {
        looks_for_sandboxes();
    }
    covers_its_sandbox();
}

static void changes_the_machine(void)
{
    struct timespec then = {1, 1};
    struct timeval seconds = {1, 1};
    struct sched_param most = {99};
    require(clock_settime(CLOCK_REALTIME, &then) < 0 && settimeofday(&seconds, NULL) < 0);
    require(setpriority(PRIO_PROCESS, 0, -20) < 0);
    require(sched_setscheduler(0, SCHED_FIFO, &most) < 0);
    if (sethostname("evil", 4) != 0 || setdomainname("evil", 4) != 0) {
        errno = 0;
    }
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
}

/* A process of the same user that has nothing to do with the harness. */
static void opens_memory_of_others(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/mem", getenv("OTHER"));
    require(open(path, O_RDWR) < 0);
}

/* --- it crashes --- */

static int deeper = 1;

static int recurse(const volatile char *above)
{
    volatile char room[4096];
    room[0] = above ? above[0] : 0;
    return deeper ? recurse(room) + room[0] : 0;
}

static void overflow(int number)
{
    recurse(NULL);
    (void)number;
}

static void overflows_its_other_stack(void)
{
    static char room[1 << 16];
    stack_t other = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = overflow, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    recurse(NULL);
}

static void nothing(int number)
{
    (void)number;
}

static void faults_again_and_again(void)
{
    signal(SIGSEGV, nothing);
    *(volatile int *)8 = 1;
}

static void is_trapped(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    getppid();
}

static void reads_past_the_end_of_a_file(void)
{
    int fd = open("short", O_CREAT | O_RDWR, 0600);
    if (ftruncate(fd, 4096) != 0) {
        abort();
    }
    char *content = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ftruncate(fd, 0) != 0 || content == MAP_FAILED) {
        abort();
    }
    *(volatile char *)content = 1;
}

static void truncates_the_log(void)
{
    if (truncate("calllog", 0) != 0) {
        abort();
    }
}

const struct deed deeds[] = {
    DEED(raises_its_limits),
    DEED(replaces_its_descriptors),
    DEED(renames_itself),
    DEED(masks_all_signals),
    DEED(sets_up_rings),
    DEED(becomes_a_program_in_memory),
    DEED(faults_for_ever),
    DEED(is_traced_by_its_child),
    DEED(is_stuck_in_vfork),
    DEED(covers_its_sandbox),
    DEED(looks_for_sandboxes),
    DEED(leaves_its_namespaces),
    DEED(changes_the_machine),
    DEED(opens_memory_of_others),
    DEED(overflows_its_other_stack),
    DEED(faults_again_and_again),
    DEED(is_trapped),
    DEED(reads_past_the_end_of_a_file),
    DEED(truncates_the_log),
    {NULL, NULL},
};
