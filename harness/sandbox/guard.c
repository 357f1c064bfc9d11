/* SPDX-License-Identifier: Apache-2.0 */
/* Stands between the harness and a program that it does not trust: starts it where it cannot reach the harness, watches
 * it, and says how it ended.
 *
 *   guard STATUS WAY USER FILE_SIZE NAME=VALUE… -- PROGRAM [ARGUMENT…]
 *
 * STATUS is a descriptor that says "pid NUMBER\n" once the program runs ("error ERRNO\n" where it cannot be), then
 * "exit CODE\n" or "signal NUMBER\n". It is closed without that where the guard was ended. The program gets the
 * environment that is listed and no other, signals as a fresh login has them, a session of its own, no core files, no
 * file larger than FILE_SIZE bytes, and the number USER as user and group unless that is -1; where this machine allows
 * that, a name of the host and shared memory, semaphores and message queues (System V, POSIX) of its own, because these
 * outlive processes. It can neither set the clock, end the machine, nor watch who opens files. WAY is one of
 *
 *   namespaces  the program sees no process but those that come from it, and all of these end with it;
 *   scope       it sees others, but the kernel refuses its signals to them (Landlock); the guard's parent ends the
 * rest; plain       the guard is all there is.
 *
 * A program that is set-uid runs without a scope, which would take its privileges away. Exit codes: 0, 2 for wrong
 * usage.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS "4096" /* processes and threads of a program in namespaces, and the end of their numbers for root */
#define SHARED_PAGES "65536" /* of System V memory, of which only the program's own namespace knows */

#define SHARED_FILES "/dev/shm"
#define SANDBOX "clharness-case-" /* how the names of sandboxes begin (harness/sandbox/sandbox.py) */
enum { MAX_KEPT = 256 };          /* entries of SHARED_FILES */

/* Of <linux/mount.h>, and calls for which older C libraries have no function. */
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, TREE_CLONE = 1, MOVE_FROM_DESCRIPTOR = 4 };
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* Of <linux/landlock.h>, whose older versions lack what is needed, <linux/sched.h> and <linux/capability.h>. */
struct ruleset {
    uint64_t files;
    uint64_t net;
    uint64_t scoped;
};
enum { SCOPE_SIGNAL = 2, CREATE_RULESET = 444, RESTRICT_SELF = 446, CAN_BOOT = 22, CAN_SET_CLOCK = 25 };
struct clone_request {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

static int status_fd;
static long user;
static pid_t init; /* of the namespace, 0 for none; see start_init */
static char **environment;
static char **program;

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, text, strlen(text)) < 0) {
            /* not allowed here: what depends on it fails by itself */
        }
        close(fd);
    }
}

/* What was ignored stays ignored after exec; a harness in the background ignores SIGINT, one under nohup SIGHUP. */
static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* No core files: the hard limit stays, because a sanitizer's runtime reads both and writes them back. A limit of 1 also
 * keeps programs away that collect them. */
static void limit(rlim_t file_size)
{
    struct rlimit core = {0};
    getrlimit(RLIMIT_CORE, &core);
    core.rlim_cur = core.rlim_max < 1 ? core.rlim_max : 1;
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){file_size, file_size});
}

/* Namespaces for what is forked from now on; for an ordinary user in a namespace of users, with the same number. */
static bool enter_namespaces(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (uid == 0 && unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) {
        return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) {
        return false;
    }
    snprintf(map, sizeof map, "%u %u 1", uid, uid);
    write_file("/proc/self/uid_map", map);
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", gid, gid);
    write_file("/proc/self/gid_map", map);
    rlim_t tasks = strtoul(TASKS, NULL, 10);
    setrlimit(RLIMIT_NPROC, &(struct rlimit){tasks, tasks}); /* they are counted for each namespace of users */
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

/* Away from the machine's: what is left in these stays for ever, or is the same for everybody. */
static void leave_shared_state(void)
{
    prctl(PR_CAPBSET_DROP, CAN_BOOT, 0, 0, 0);
    prctl(PR_CAPBSET_DROP, CAN_SET_CLOCK, 0, 0, 0);
    unshare(CLONE_NEWUTS);
    if (unshare(CLONE_NEWIPC) == 0) {
        write_file("/proc/sys/kernel/shmall", SHARED_PAGES);
    }
}

/* A file or a folder that stays what it is in a place that becomes the program's own. */
struct kept {
    char name[NAME_MAX + 1];
    bool is_folder;
    int tree; /* descriptor of its mount */
};

/* Whether a library that is tested lies there, as in the self-test: the harness names such sandboxes, with a / after
 * each. */
static bool is_shared(const char *sandbox)
{
    const char *names = getenv("CLHARNESS_SHARED");
    for (size_t length = strcspn(names ? names : "", "/"); names && *names; length = strcspn(names, "/")) {
        if (length == strlen(sandbox) && strncmp(names, sandbox, length) == 0) {
            return true;
        }
        names += length + 1;
    }
    return false;
}

/* Reads what stays: all but the sandboxes of others. Gives the number, or -1 where there is too much. */
static int read_kept(int place, const char *own, struct kept *kept)
{
    int count = 0;
    struct stat state;
    DIR *entries = fdopendir(dup(place));
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        const char *name = entry->d_name;
        bool of_others = strncmp(name, SANDBOX, strlen(SANDBOX)) == 0 && strcmp(name, own) != 0 && !is_shared(name);
        if (of_others || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            fstatat(place, name, &state, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(state.st_mode)) {
            continue;
        }
        if (count == MAX_KEPT) {
            count = -1;
            break;
        }
        int tree = (int)syscall(OPEN_TREE, place, name, TREE_CLONE | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | O_CLOEXEC);
        if (tree >= 0) {
            snprintf(kept[count].name, sizeof kept->name, "%s", name);
            kept[count].is_folder = S_ISDIR(state.st_mode);
            kept[count++].tree = tree;
        }
    }
    if (entries) {
        closedir(entries);
    }
    return count;
}

/* Whether it is again where it was, in the new place. */
static bool put_back(int place, const struct kept *kept)
{
    int file =
        kept->is_folder ? mkdirat(place, kept->name, 0700) : openat(place, kept->name, O_CREAT | O_CLOEXEC, 0600);
    if (file > 0) {
        close(file);
    }
    return file >= 0 && syscall(MOVE_MOUNT, kept->tree, "", place, kept->name, MOVE_FROM_DESCRIPTOR) == 0;
}

/* What a program puts into /dev/shm (shared memory and semaphores of POSIX) outlives it, and it could reach the
 * sandboxes of others there: in namespaces, it has a /dev/shm of its own with all that others have there but those. For
 * a program that is in a sandbox there: the sandboxes that others need are unknown. */
static void leave_shared_files(void)
{
    static struct kept kept[MAX_KEPT];
    char here[PATH_MAX];
    size_t length = strlen(SHARED_FILES);
    if (!getcwd(here, sizeof here) || strncmp(here, SHARED_FILES "/" SANDBOX, length + 1 + strlen(SANDBOX)) != 0) {
        return;
    }
    char *own = strndup(here + length + 1, strcspn(here + length + 1, "/"));
    int place = open(SHARED_FILES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = own && place >= 0 ? read_kept(place, own, kept) : -1;
    bool is_new = count > 0 && mount("clharness", SHARED_FILES, "tmpfs", 0, "mode=1777,size=25%") == 0;
    close(place);
    place = is_new ? open(SHARED_FILES, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool whole = place >= 0;
    for (int i = 0; i < count; i++) {
        whole = whole && put_back(place, &kept[i]);
        close(kept[i].tree);
    }
    close(place);
    if (is_new && (!whole || chdir(here) != 0)) {
        umount2(SHARED_FILES, MNT_DETACH);
    }
    free(own);
}

/* The first process of the namespace: takes in what loses its parent. When it ends, the kernel ends all others. */
static bool start_init(void)
{
    init = fork();
    if (init == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        signal(SIGCHLD, SIG_IGN);
        for (int fd = 0; fd < 3; fd++) {
            close(fd);
        }
        syscall(SYS_close_range, 3U, ~0U, 0U);
        for (;;) {
            pause();
        }
    }
    return init > 0;
}

/* A child whose number in the new namespace is one that no other case has at this time, where that can be had: programs
 * name files by it. */
static pid_t fork_with_own_number(bool in_namespace)
{
    pid_t wanted = getpid();
    struct clone_request request = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&wanted, .set_tid_size = 1};
    long child = in_namespace ? syscall(SYS_clone3, &request, sizeof request) : -1;
    return child >= 0 ? (pid_t)child : fork();
}

static void restrict_signals(void)
{
    struct stat state;
    struct ruleset rules = {.scoped = SCOPE_SIGNAL};
    int fd = (int)syscall(CREATE_RULESET, &rules, sizeof rules, 0);
    if (fd < 0 || (stat(program[0], &state) == 0 && (state.st_mode & S_ISUID))) {
        return;
    }
    if (syscall(RESTRICT_SELF, fd, 0) != 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        syscall(RESTRICT_SELF, fd, 0);
    }
    close(fd);
}

/* Who watches a file system with fanotify decides on every file that anybody opens there, the harness too, and it waits
 * for that. Only root may. A 64-bit program may make the system calls of 32-bit ones, too, which have other numbers. */
static void refuse_to_watch_others(void)
{
#if defined __x86_64__ || defined __aarch64__
#ifdef __x86_64__
    enum { OWN_32 = SYS_fanotify_init | 0x40000000, OTHER = 338 }; /* x32's, i386's */
    const uint32_t own = AUDIT_ARCH_X86_64, other = AUDIT_ARCH_I386;
#else
    enum { OWN_32 = SYS_fanotify_init, OTHER = 367 };
    const uint32_t own = AUDIT_ARCH_AARCH64, other = AUDIT_ARCH_ARM;
#endif
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fanotify_init, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_32, 3, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OTHER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (geteuid() == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    }
#endif
}

/* RLIMIT_NPROC does not hold root. Since Linux 6.14 each namespace of processes has a largest number of its own;
 * before, this would be the whole machine's. */
static void limit_processes_of_root(void)
{
    struct utsname kernel;
    if (geteuid() != 0 || uname(&kernel) != 0) {
        return;
    }
    char *minor = kernel.release;
    unsigned long major = strtoul(minor, &minor, 10);
    if (major > 6 || (major == 6 && *minor == '.' && strtoul(minor + 1, NULL, 10) >= 14)) {
        write_file("/proc/sys/kernel/pid_max", TASKS);
    }
}

/* Its own view of processes: /proc of the namespace that it is in. */
static bool enter_proc(void)
{
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        return false;
    }
    limit_processes_of_root();
    return true;
}

static _Noreturn void become_program(const char *way, int trouble)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* as far as the program's rights do not change */
    setsid();
    write_file("/proc/self/oom_score_adj", "1000"); /* the first to go where memory ends: before the harness */
    bool ready = strcmp(way, "namespaces") != 0 || enter_proc();
    refuse_to_watch_others();
    if (user >= 0) {
        ready = ready && setgroups(0, NULL) == 0;
        ready = ready && setresgid((gid_t)user, (gid_t)user, (gid_t)user) == 0;
        ready = ready && setresuid((uid_t)user, (uid_t)user, (uid_t)user) == 0;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if (strcmp(way, "scope") == 0) {
        restrict_signals();
    }
    if (ready) {
        execvpe(program[0], program, environment);
    }
    if (write(trouble, &errno, sizeof errno) < 0) {
        _exit(126);
    }
    _exit(127);
}

static void say(const char *what, int number)
{
    char line[32];
    int length = snprintf(line, sizeof line, "%s %d\n", what, number);
    if (write(status_fd, line, (size_t)length) < 0) {
        _exit(0); /* nobody wants to know */
    }
}

/* Leaves open what the status needs alone: the program's socket is its own. */
static void close_others(void)
{
    for (int fd = 0; fd < 3; fd++) {
        close(fd);
    }
    dup3(status_fd, 0, O_CLOEXEC);
    status_fd = 0;
    syscall(SYS_close_range, 3U, ~0U, 0U);
}

/* A child that asked to be traced (PTRACE_TRACEME), as libraries do to keep debuggers away, has stopped for a signal:
 * it gets that, and is traced no more. The signal of an exec is the tracer's alone. */
static void let_go(pid_t child, int signal)
{
    siginfo_t about = {0};
    bool from_exec =
        signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, child, NULL, &about) == 0 && about.si_code == SI_USER;
    ptrace(PTRACE_DETACH, child, NULL, from_exec ? 0 : signal);
}

/* Waits for the end of a child, whatever else becomes one of this process (CLONE_PARENT) or asks it to trace. */
static int wait_for(pid_t child)
{
    int status = 0;
    for (pid_t changed = 0; changed != child || WIFSTOPPED(status);) {
        changed = waitpid(-1, &status, __WALL);
        if (changed > 0 && WIFSTOPPED(status)) {
            let_go(changed, WSTOPSIG(status));
        }
        if (changed > 0 && changed == init && !WIFSTOPPED(status)) {
            init = 0;
        }
    }
    return status;
}

static int guard(const char *way)
{
    int trouble[2];
    int error = 0;
    bool in_namespace = strcmp(way, "namespaces") == 0;
    if (in_namespace && !enter_namespaces()) {
        say("error", errno);
        return 0;
    }
    leave_shared_state();
    if (in_namespace) {
        leave_shared_files();
    }
    if ((in_namespace && !start_init()) || pipe2(trouble, O_CLOEXEC) != 0) {
        say("error", errno);
        return 0;
    }
    pid_t child = fork_with_own_number(in_namespace);
    if (child == 0) {
        become_program(way, trouble[1]);
    }
    error = child < 0 ? errno : 0;
    close(trouble[1]);
    if (error || read(trouble[0], &error, sizeof error) > 0) {
        say("error", error);
    } else {
        say("pid", child);
        close_others();
        int status = wait_for(child);
        say(WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    if (init > 0) {
        kill(init, SIGKILL);
        /* With it, all that is in the namespace has ended; but first all of it is waited for, and a process of the
         * program's may be a child of this one (CLONE_PARENT). */
        for (pid_t ended = 0; ended != init && (ended >= 0 || errno == EINTR);) {
            ended = waitpid(-1, NULL, 0);
        }
    }
    return 0;
}

int main(int count, char **arguments)
{
    int end = 5;
    while (end < count && strcmp(arguments[end], "--") != 0) {
        end++;
    }
    if (end + 1 >= count) {
        fprintf(stderr, "usage: guard STATUS WAY USER FILE_SIZE NAME=VALUE... -- PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    status_fd = (int)strtol(arguments[1], NULL, 10);
    fcntl(status_fd, F_SETFD, FD_CLOEXEC);
    user = strtol(arguments[3], NULL, 10);
    arguments[end] = NULL;
    environment = arguments + 5;
    program = arguments + end + 1;
    reset_signals();
    limit((rlim_t)strtoull(arguments[4], NULL, 10));
    _exit(guard(arguments[2]));
}
