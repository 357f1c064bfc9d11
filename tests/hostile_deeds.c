/* SPDX-License-Identifier: Apache-2.0 */
/* A loader that does one DEED when clGetPlatformIDs is called, and then answers that there is no platform. Where a deed
 * reaches what is not the loader's own (the processes WORKER and HARNESS, the terminal TERMINAL), it ends with REACHED.
 */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { REACHED = 96, MANY = 200 };

static pid_t number(const char *name)
{
    return (pid_t)atoi(getenv(name));
}

/* Ends where something could be done to a process that is not the loader's. */
static void require(int refused)
{
    if (!refused) {
        _exit(REACHED);
    }
}

/* --- what it does to the worker, and to the process above that --- */

static void of_each(void (*act)(pid_t))
{
    act(number("WORKER"));
    act(number("HARNESS"));
}

static void signal_in_every_way(pid_t whom)
{
    siginfo_t about = {.si_code = SI_QUEUE};
    require(kill(whom, SIGSTOP) < 0);
    require(kill(-whom, SIGSTOP) < 0);
    require(syscall(SYS_tkill, whom, SIGSTOP) < 0);
    require(syscall(SYS_tgkill, whom, whom, SIGSTOP) < 0);
    require(syscall(SYS_rt_sigqueueinfo, whom, SIGTERM, &about) < 0);
    require(syscall(SYS_rt_tgsigqueueinfo, whom, whom, SIGTERM, &about) < 0);
    int descriptor = (int)syscall(SYS_pidfd_open, whom, 0);
    require(descriptor < 0 || syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0) < 0);
}

/* The kernel sends the signal, when there is something to read. */
static void signal_by_a_file(pid_t whom)
{
    int ends[2];
    struct f_owner_ex owner = {F_OWNER_PID, whom};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
        fcntl(ends[0], F_SETOWN, whom);
        fcntl(ends[0], F_SETOWN_EX, &owner);
        ioctl(ends[0], FIOSETOWN, &whom);
        fcntl(ends[0], F_SETSIG, SIGKILL);
        fcntl(ends[0], F_SETFL, O_ASYNC);
        if (write(ends[1], "x", 1) < 0) {
            abort();
        }
    }
}

static void trace(pid_t whom)
{
    require(ptrace(PTRACE_SEIZE, whom, NULL, NULL) < 0);
    require(ptrace(PTRACE_ATTACH, whom, NULL, NULL) < 0);
}

static void limit(pid_t whom)
{
    struct rlimit none = {0, 0};
    require(prlimit(whom, RLIMIT_NOFILE, &none, NULL) < 0);
    require(prlimit(whom, RLIMIT_CPU, &none, NULL) < 0);
}

static void slow_down(pid_t whom)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    struct sched_param nothing = {0};
    require(sched_setaffinity(whom, sizeof first, &first) < 0);
    require(sched_setscheduler(whom, SCHED_IDLE, &nothing) < 0);
    require(setpriority(PRIO_PROCESS, (id_t)whom, 19) < 0);
}

static void open_its_memory(pid_t whom)
{
    char path[64];
    char byte = 0;
    struct iovec part = {&byte, 1};
    snprintf(path, sizeof path, "/proc/%d/mem", whom);
    require(open(path, O_RDWR) < 0);
    require(process_vm_writev(whom, &part, 1, &part, 1, 0) < 0);
}

static void open_its_files(pid_t whom)
{
    char path[64];
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", whom, fd);
        require(open(path, O_RDWR | O_NONBLOCK) < 0);
    }
    int descriptor = (int)syscall(SYS_pidfd_open, whom, 0);
    require(descriptor < 0 || syscall(SYS_pidfd_getfd, descriptor, 1, 0) < 0);
}

static void enter_its_namespaces(pid_t whom)
{
    int descriptor = (int)syscall(SYS_pidfd_open, whom, 0);
    require(descriptor < 0 || setns(descriptor, CLONE_NEWPID) < 0);
}

static void signals(void)
{
    of_each(signal_in_every_way);
}
static void signals_by_files(void)
{
    of_each(signal_by_a_file);
}
static void traces(void)
{
    of_each(trace);
}
static void limits(void)
{
    of_each(limit);
}
static void slows_down(void)
{
    of_each(slow_down);
}
static void opens_memory(void)
{
    of_each(open_its_memory);
}
static void opens_files(void)
{
    of_each(open_its_files);
}
static void enters_namespaces(void)
{
    of_each(enter_its_namespaces);
}

/* The other end of each of its sockets names a process. */
static void signals_its_peers(void)
{
    for (int fd = 0; fd < 64; fd++) {
        int peer = -1;
        socklen_t size = sizeof peer;
        if (getsockopt(fd, SOL_SOCKET, 77 /* SO_PEERPIDFD */, &peer, &size) == 0) {
            require(syscall(SYS_pidfd_send_signal, peer, SIGKILL, NULL, 0) < 0);
        }
    }
}

static void kills_from_many(void)
{
    for (int i = 0; i < MANY; i++) {
        if (fork() == 0) {
            kill(getppid() == number("WORKER") ? 0 : getpid(), SIGTERM);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
}

/* --- what it does to a terminal --- */

static void takes_the_terminal(void)
{
    struct winsize size = {.ws_row = 1, .ws_col = 1};
    struct termios modes;
    int fd = open(getenv("TERMINAL"), O_RDWR | O_NOCTTY);
    if (fd < 0 || tcgetattr(fd, &modes) != 0) {
        abort();
    }
    cfmakeraw(&modes);
    require(tcsetattr(fd, TCSANOW, &modes) < 0);
    require(ioctl(fd, TIOCSCTTY, 1) < 0);
    require(ioctl(fd, TIOCSTI, "x") < 0);
    require(ioctl(fd, TIOCSWINSZ, &size) < 0);
    require(ioctl(fd, TIOCEXCL) < 0);
    require(tcflow(fd, TCOOFF) < 0);
}

/* --- what it does to itself --- */

static void closes_all(void)
{
    syscall(SYS_close_range, 0U, ~0U, 0U);
}

static void stops_its_group(void)
{
    kill(0, SIGSTOP);
}

static void daemons(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; i < MANY; i++) {
        if (fork() == 0) {
            setsid();
            prctl(PR_SET_PDEATHSIG, 0);
            for (int ignored = 1; ignored < NSIG; ignored++) {
                signal(ignored, SIG_IGN);
            }
            if (fork() == 0) {
                pause();
            }
            _exit(0);
        }
    }
}

static void limits_itself(void)
{
    struct rlimit none = {0, 0};
    for (int what = 0; what < 16; what++) {
        setrlimit(what, &none);
    }
    volatile unsigned turns = 0;
    for (;;) {
        turns = turns + 1;
    }
}

static void becomes_another_user(void)
{
    if (setresgid(64999, 64999, 64999) != 0 || setresuid(64999, 64999, 64999) != 0) {
        errno = 0;
    }
}

static void refuses_itself_to_write(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    if (write(STDERR_FILENO, "x", 1) < 0) {
        abort();
    }
}

/* Whoever opens the new file waits, and whoever locks what is there. */
static void locks_its_files(void)
{
    signal(SIGIO, SIG_IGN);
    fcntl(open("new", O_CREAT | O_RDWR, 0600), F_SETLEASE, F_WRLCK);
    for (int fd = 0; fd < 64; fd++) {
        flock(fd, LOCK_EX | LOCK_NB);
        fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK});
    }
}

static void leaves_timers(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
    pause();
}

static void has_no_root(void)
{
    mkdir("empty", 0700);
    if (chroot("empty") != 0 || chdir("/") != 0) {
        errno = 0;
    }
    umask(0777);
}

static void kills_in_a_namespace(void)
{
    if (unshare(CLONE_NEWPID) == 0 && fork() == 0) {
        if (fork() == 0) {
            pause();
        }
        kill(-1, SIGKILL);
        _exit(0);
    }
}

/* Only where it has mounts of its own. */
static void unmounts(void)
{
    char own[64] = "";
    if (readlink("/proc/self/ns/mnt", own, sizeof own - 1) < 0 || strcmp(own, getenv("MOUNTS")) == 0) {
        return;
    }
    const char *places[] = {"/dev/shm", "/dev/pts", "/tmp", "/sys", "/proc"};
    for (int i = 0; i < 5; i++) {
        umount2(places[i], MNT_DETACH);
    }
    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
}

#define DEED(name)  \
    {               \
#name, name \
    }
static const struct {
    const char *name;
    void (*act)(void);
} deeds[] = {
    DEED(signals),
    DEED(signals_by_files),
    DEED(signals_its_peers),
    DEED(traces),
    DEED(limits),
    DEED(slows_down),
    DEED(opens_memory),
    DEED(opens_files),
    DEED(enters_namespaces),
    DEED(kills_from_many),
    DEED(takes_the_terminal),
    DEED(closes_all),
    DEED(stops_its_group),
    DEED(daemons),
    DEED(limits_itself),
    DEED(becomes_another_user),
    DEED(refuses_itself_to_write),
    DEED(locks_its_files),
    DEED(leaves_timers),
    DEED(has_no_root),
    DEED(kills_in_a_namespace),
    DEED(unmounts),
};

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    const char *wanted = getenv("DEED");
    (void)count;
    (void)platforms;
    for (size_t i = 0; wanted && i < sizeof deeds / sizeof *deeds; i++) {
        if (strcmp(deeds[i].name, wanted) == 0) {
            deeds[i].act();
        }
    }
    if (found) {
        *found = 0;
    }
    return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}
