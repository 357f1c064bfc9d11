/* SPDX-License-Identifier: Apache-2.0 */
/* Stands between the harness and a program that it does not trust: starts it where it cannot reach the harness, watches
 * it, and says how it ended.
 *
 *   guard STATUS WAY USER FILE_SIZE NAME=VALUE… -- PROGRAM [ARGUMENT…]
 *
 * STATUS is a descriptor that says "pid NUMBER\n" once the program runs ("exposed NUMBER\n" where it can reach the
 * sandboxes of others, "error ERRNO\n" where it cannot be), then "exit CODE\n" or "signal NUMBER\n". It is closed
 * without that where the guard was ended. The program gets the environment that is listed and no other (the guard's own
 * where none is listed: others on the machine can read a list of arguments), signals as a
 * fresh login has them, a session of its own, no core files, no file larger than FILE_SIZE bytes, and the number USER
 * as user and group unless that is -1; where this machine allows that, a name of the host and shared memory, semaphores
 * and message queues (System V, POSIX) of its own, because these outlive processes. It can neither set the clock, end
 * the machine, watch who opens files, nor change how terminals work. WAY is one of
 *
 *   namespaces  the program sees no process but those that come from it, and all of these end with it;
 *   scope       it sees others, but the kernel refuses its signals to them (Landlock), and so does the guard;
 *   plain       it sees others, and the guard refuses what it does to them (guard_calls.h).
 *
 * In the last two, the guard's parent ends what the program leaves behind.
 *
 * A program that is set-uid runs without a scope and, where this machine wants that, without the guard's refusals:
 * these would take its privileges away. Exit codes: 0, 2 for wrong usage.
 */
#define _GNU_SOURCE
#include "guard.h"
#include "guard_answers.h"
#include "guard_calls.h"
#include "guard_files.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS "2400" /* processes and threads of a program in namespaces, and the end of their numbers for root */
#define MAX_FILES 4  /* of the largest size that a program may have in /dev/shm */
#define SHARED_PAGES "65536" /* of System V memory, of which only the program's own namespace knows */

/* Of <linux/landlock.h>, whose older versions lack what is needed, <linux/sched.h> and <linux/capability.h>. */
struct ruleset {
    uint64_t files;
    uint64_t net;
    uint64_t scoped;
};
struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t folder;
};
enum { SCOPE_SIGNAL = 2, MAKE_BLOCK = 1 << 11, REFER = 1 << 13, PATH_RULE = 1, VERSION_ONLY = 1 };
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { CAN_TRACE = 19, CAN_MOUNT = 21, CAN_BOOT = 22, CAN_RAISE_PRIORITY = 23, CAN_SET_CLOCK = 25 };
struct clone_request {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

static int status_fd;
static long user;
static rlim_t file_size; /* bytes */
static pid_t init;       /* of the namespace, 0 for none; see start_init */
static char **environment;
static char **program;
static guard_application *application; /* what runs in place of the program; NULL for the program itself */
static pid_t wanted;                   /* the program's number in its namespace */

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
static void limit(void)
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

/* bubblewrap has to, and takes that right away from the program that it starts (harness/sandbox/machine.py); so does
 * the guard in a nest (harness/probe/nest.c). */
static bool is_named(const char *expected)
{
    const char *name = strrchr(program[0], '/');
    return strcmp(name ? name + 1 : program[0], expected) == 0;
}

static bool is_nest(void)
{
    return is_named("clharness_probe_nest");
}

static bool mounts(void)
{
    return is_named("bwrap") || is_nest();
}

/* Away from the machine's: what is left in these stays for ever, or is the same for everybody. What root may do is what
 * the program has when it starts: it can neither uncover what the guard has covered nor be more urgent than the
 * harness.
 */
static void leave_shared_state(void)
{
    prctl(PR_CAPBSET_DROP, CAN_BOOT, 0, 0, 0);
    prctl(PR_CAPBSET_DROP, CAN_SET_CLOCK, 0, 0, 0);
    prctl(PR_CAPBSET_DROP, CAN_RAISE_PRIORITY, 0, 0, 0);
    if (!mounts()) {
        prctl(PR_CAPBSET_DROP, CAN_MOUNT, 0, 0, 0);
    }
    unshare(CLONE_NEWUTS);
    if (unshare(CLONE_NEWIPC) == 0) {
        write_file("/proc/sys/kernel/shmall", SHARED_PAGES);
    }
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

/* What the C library knows of its one thread, which a fork of its own would renew: where its number is, and the list of
 * what it holds. */
struct thread {
    int *number;
    void *held;
    size_t held_size;
};

static bool find_thread(struct thread *own)
{
    return prctl(PR_GET_TID_ADDRESS, &own->number, 0, 0, 0) == 0 &&
           syscall(SYS_get_robust_list, 0, &own->held, &own->held_size) == 0;
}

/* A child whose number in the new namespace is one that no other case has at this time, where that can be had: programs
 * name files by it. */
static pid_t fork_with_own_number(bool in_namespace)
{
    struct clone_request request = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&wanted, .set_tid_size = 1};
    struct thread own = {0};
    if (application) { /* it goes on in this program */
        in_namespace = in_namespace && find_thread(&own);
        request.flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
        request.child_tid = (uint64_t)(uintptr_t)own.number;
    }
    long child = in_namespace ? syscall(SYS_clone3, &request, sizeof request) : -1;
    if (child == 0 && own.held) {
        syscall(SYS_set_robust_list, own.held, own.held_size);
    }
    return child >= 0 ? (pid_t)child : fork();
}

static bool is_set_uid(void)
{
    struct stat state;
    return stat(program[0], &state) == 0 && (state.st_mode & S_ISUID);
}

/* Landlock closes the memory of all processes that are not the program's to it (/proc/PID/mem, too); in a scope, it
 * keeps its signals in. Rules that are about files forbid mounts, and links and renames between folders where these are
 * not allowed in so many words, which the oldest version cannot do. */
static void restrict_reach(bool in_scope)
{
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION_ONLY);
    struct ruleset rules = {.files = in_scope ? 0 : MAKE_BLOCK | REFER, .scoped = in_scope ? SCOPE_SIGNAL : 0};
    if (is_set_uid() || (!in_scope && (version < 2 || mounts()))) {
        return;
    }
    int fd = (int)syscall(CREATE_RULESET, &rules, sizeof rules, 0);
    if (fd < 0) {
        return;
    }
    if (!in_scope) {
        struct path_rule all = {REFER, open("/", O_PATH | O_CLOEXEC)};
        syscall(ADD_RULE, fd, PATH_RULE, &all, 0);
        close(all.folder);
    }
    if (syscall(RESTRICT_SELF, fd, 0) != 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        syscall(RESTRICT_SELF, fd, 0);
    }
    close(fd);
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

/* Hands the guard what it has to answer. */
static void send_calls(int guard, int calls)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof calls)];
    } control = {.head = {CMSG_LEN(sizeof calls), SOL_SOCKET, SCM_RIGHTS}};
    char byte = 0;
    struct iovec part = {&byte, sizeof byte};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.head), &calls, sizeof calls);
    if (sendmsg(guard, &message, 0) < 0) {
        _exit(126);
    }
}

/* The same for the guard: gives NO_CALLS and the number of an error, 0 for none, where there is nothing to answer. */
static int receive_calls(int program_end, int *error)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    int number = 0;
    struct iovec part = {&number, sizeof number};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *error = recvmsg(program_end, &message, MSG_CMSG_CLOEXEC) == sizeof number ? number : 0;
    if (!CMSG_FIRSTHDR(&message)) {
        return NO_CALLS;
    }
    memcpy(&number, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof number);
    return number;
}

/* The rights that a program would have once it was started. */
static void keep_rights_of_programs(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2] = {{0}};
    if (syscall(SYS_capget, &head, rights) != 0) {
        _exit(126);
    }
    for (unsigned number = 0; number < 64; number++) {
        if (geteuid() != 0 || prctl(PR_CAPBSET_READ, number, 0, 0, 0) != 1) {
            rights[number / 32].permitted &= ~(1U << (number % 32));
        }
    }
    for (int half = 0; half < 2; half++) {
        rights[half].effective = rights[half].permitted;
        rights[half].inheritable = 0;
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &head, rights) != 0) {
        _exit(126);
    }
}

static _Noreturn void become_program(const char *way, int trouble)
{
    bool sees_others = strcmp(way, "namespaces") != 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* as far as the program's rights do not change */
    prctl(PR_SET_DUMPABLE, 1);        /* else its files of /proc are root's */
    reset_signals();
    setsid();
    if (!is_nest()) {                                   /* from which guards come */
        write_file("/proc/self/oom_score_adj", "1000"); /* the first to go where memory ends: before the harness */
    }
    bool ready = sees_others || enter_proc();
    int calls = restrict_calls(sees_others, is_set_uid());
    if (calls != NO_CALLS) {
        send_calls(trouble, calls);
    }
    if (user >= 0) {
        ready = ready && setgroups(0, NULL) == 0;
        ready = ready && setresgid((gid_t)user, (gid_t)user, (gid_t)user) == 0;
        ready = ready && setresuid((uid_t)user, (uid_t)user, (uid_t)user) == 0;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if (sees_others) {
        restrict_reach(strcmp(way, "scope") == 0);
    }
    if (ready && application) {
        keep_rights_of_programs();
        application(program, environment);
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

enum { STATUS, CALLS, ENDS }; /* the guard's descriptors */

/* Leaves open what the guard needs alone: the program's socket is its own. */
static void close_others(int calls, int ends)
{
    int kept[] = {[STATUS] = status_fd, [CALLS] = calls, [ENDS] = ends};
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = kept[fd] >= 0 ? fcntl(kept[fd], F_DUPFD_CLOEXEC, 3) : -1;
    }
    for (int fd = 0; fd < 3; fd++) {
        if (kept[fd] < 0 || dup3(kept[fd], fd, O_CLOEXEC) < 0) {
            close(fd);
        }
    }
    status_fd = STATUS;
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

/* Looks after those that changed; gives whether the child has ended, and how. */
static bool look_after(pid_t child, int *status)
{
    int other = 0;
    for (pid_t changed = waitpid(-1, &other, __WALL | WNOHANG); changed > 0;
         changed = waitpid(-1, &other, __WALL | WNOHANG)) {
        if (WIFSTOPPED(other)) {
            let_go(changed, WSTOPSIG(other));
        } else if (changed == child) {
            *status = other;
            return true;
        } else if (changed == init) {
            init = 0;
        }
    }
    return false;
}

/* Waits for the end of a child, whatever else becomes one of this process (CLONE_PARENT, orphans) or asks it to trace,
 * and answers the program's calls. */
static int wait_for(pid_t child)
{
    int status = 0;
    struct pollfd watched[] = {{.fd = CALLS, .events = POLLIN}, {.fd = ENDS, .events = POLLIN}};
    while (!look_after(child, &status)) {
        struct signalfd_siginfo about;
        poll(watched, 2, -1);
        if (watched[0].revents & POLLIN) {
            answer_call(CALLS);
        } else if (watched[0].revents) {
            watched[0].fd = -1; /* nobody has the filter any more, or there is none */
        }
        if ((watched[1].revents & POLLIN) && read(ENDS, &about, sizeof about) < 0) {
            continue;
        }
    }
    return status;
}

/* From the end of a process on, until it is read, the descriptor that this gives is readable. */
static int notice_ends(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Before there is a program that can see this process: keeps the memory and the descriptors of processes of the same
 * user closed to it, and its orphans below this one. */
static void hide(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_CAPBSET_DROP, CAN_TRACE, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
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
    bool has_mounts = in_namespace;
    if (!in_namespace) {
        hide();
        has_mounts = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
    }
    bool is_hidden = has_mounts && leave_shared_files(MAX_FILES * (uint64_t)file_size);
    if (has_mounts) {
        hide_own_vendors();
        keep_folder();
    }
    int ends = notice_ends();
    if ((in_namespace && !start_init()) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, trouble) != 0) {
        say("error", errno);
        return 0;
    }
    pid_t child = fork_with_own_number(in_namespace);
    if (child == 0) {
        become_program(way, trouble[1]);
    }
    error = child < 0 ? errno : 0;
    close(trouble[1]);
    int calls = error ? NO_CALLS : receive_calls(trouble[0], &error);
    if (error || (calls != NO_CALLS && read(trouble[0], &error, sizeof error) > 0)) {
        say("error", error);
    } else {
        say(is_hidden ? "pid" : "exposed", child);
        close_others(calls, ends);
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

void guard_main(char **arguments, guard_application *in_its_place, long number)
{
    char **end = arguments + 5;
    while (*end && strcmp(*end, "--") != 0) {
        end++;
    }
    if (!*end || !end[1]) {
        fprintf(stderr, "usage: guard STATUS WAY USER FILE_SIZE NAME=VALUE... -- PROGRAM [ARGUMENT...]\n");
        _exit(2);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    status_fd = (int)strtol(arguments[1], NULL, 10);
    fcntl(status_fd, F_SETFD, FD_CLOEXEC);
    user = strtol(arguments[3], NULL, 10);
    *end = NULL;
    environment = arguments[5] ? arguments + 5 : environ;
    program = end + 1;
    application = in_its_place;
    wanted = number ? (pid_t)number : getpid();
    reset_signals();
    file_size = (rlim_t)strtoull(arguments[4], NULL, 10);
    limit();
    _exit(guard(arguments[2]));
}
