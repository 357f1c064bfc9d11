/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of guard_calls.h, which compares numbers alone: what a process has in its memory can change after somebody
 * looked at it, so that a call which names another process there is refused.
 */
#define _GNU_SOURCE
#include "guard_calls.h"
#include "guard_processes.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A call's number for the guard's own kind of programs, and for 32-bit ones, which a 64-bit program may make, too. */
#if defined __x86_64__
#define NUMBERS(own, i386, arm) (own), (i386)
static const uint32_t kinds[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386};
#elif defined __aarch64__
#define NUMBERS(own, i386, arm) (own), (arm)
static const uint32_t kinds[] = {AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM};
#endif
enum { KINDS = 2 };

/* What is done about a call. */
enum answer {
    REFUSE, /* EPERM */
    LACK,   /* ENOSYS, as on an older machine: callers have another way */
    ASK,    /* the guard, where the process is another one than the program's first */
};

enum { ANY = -1, NONE = -1 };

struct rule {
    int numbers[KINDS]; /* of the call, or NONE */
    int which;          /* the argument that has to be `value`, or ANY */
    uint32_t value;
    int process; /* the argument that names a process; 0 is the caller or its group */
    enum answer answer;
    bool always; /* also for a program that sees no others */
};

#ifdef NUMBERS

/* Of <fcntl.h>, <sys/ptrace.h>, <sys/resource.h> and <asm/ioctls.h>, and calls that older headers lack. */
enum { SETOWN = 8, SETOWN_EX = 15, FILE_SETOWN = 0x8901, SOCKET_SETOWN = 0x8902, ATTACH = 16, SEIZE = 0x4206 };
enum { ONE_PROCESS = 0, WHOLE_USER = 2, PIDFD_SEND_SIGNAL = 424, PIDFD_GETFD = 438 };

#define KILL(own, i386, arm)                             \
    {                                                    \
        {NUMBERS(own, i386, arm)}, ANY, 0, 0, ASK, false \
    }
#define TERMINAL(command)                                              \
    {                                                                  \
        {NUMBERS(SYS_ioctl, 54, 54)}, 1, (command), NONE, REFUSE, true \
    }

static const struct rule rules[] = {
    /* Who watches a file system decides on every file that anybody opens there, the harness too. */
    {{NUMBERS(SYS_fanotify_init, 338, 367)}, ANY, 0, NONE, REFUSE, true},
    /* signals */
    KILL(SYS_kill, 37, 37),
    KILL(SYS_tkill, 238, 238),
    KILL(SYS_tgkill, 270, 268),
    KILL(SYS_rt_sigqueueinfo, 178, 178),
    KILL(SYS_rt_tgsigqueueinfo, 335, 363),
    {{NUMBERS(PIDFD_SEND_SIGNAL, PIDFD_SEND_SIGNAL, PIDFD_SEND_SIGNAL)}, ANY, 0, NONE, LACK, false},
    /* who gets the signals of a file */
    {{NUMBERS(SYS_fcntl, 55, 55)}, 1, SETOWN, 2, ASK, false},
    {{NUMBERS(SYS_fcntl, 55, 55)}, 1, SETOWN_EX, NONE, REFUSE, false},
    {{NUMBERS(NONE, 221, 221)}, 1, SETOWN, 2, ASK, false},
    {{NUMBERS(NONE, 221, 221)}, 1, SETOWN_EX, NONE, REFUSE, false},
    {{NUMBERS(SYS_ioctl, 54, 54)}, 1, FILE_SETOWN, NONE, REFUSE, false},
    {{NUMBERS(SYS_ioctl, 54, 54)}, 1, SOCKET_SETOWN, NONE, REFUSE, false},
    /* what another process is, has and may; in another namespace, numbers would be those of others */
    {{NUMBERS(SYS_ptrace, 26, 26)}, 0, ATTACH, 1, ASK, false},
    {{NUMBERS(SYS_ptrace, 26, 26)}, 0, SEIZE, 1, ASK, false},
    {{NUMBERS(SYS_process_vm_writev, 348, 377)}, ANY, 0, 0, ASK, false},
    {{NUMBERS(PIDFD_GETFD, PIDFD_GETFD, PIDFD_GETFD)}, ANY, 0, NONE, LACK, false},
    {{NUMBERS(SYS_setns, 346, 375)}, ANY, 0, NONE, REFUSE, false},
    {{NUMBERS(SYS_prlimit64, 340, 369)}, ANY, 0, 0, ASK, false},
    {{NUMBERS(SYS_sched_setparam, 154, 154)}, ANY, 0, 0, ASK, false},
    {{NUMBERS(SYS_sched_setscheduler, 156, 156)}, ANY, 0, 0, ASK, false},
    {{NUMBERS(SYS_sched_setaffinity, 241, 241)}, ANY, 0, 0, ASK, false},
    {{NUMBERS(SYS_sched_setattr, 351, 380)}, ANY, 0, 0, ASK, false},
    {{NUMBERS(SYS_setpriority, 97, 97)}, 0, ONE_PROCESS, 1, ASK, false},
    {{NUMBERS(SYS_setpriority, 97, 97)}, 0, WHOLE_USER, NONE, REFUSE, false},
    /* The terminal of whoever started the harness: what is typed there, whose it is, and how it works. */
    TERMINAL(0x5402), /* TCSETS, TCSETSW, TCSETSF, and the same of older and newer programs */
    TERMINAL(0x5403),
    TERMINAL(0x5404),
    TERMINAL(0x5406),
    TERMINAL(0x5407),
    TERMINAL(0x5408),
    TERMINAL(0x402C542B),
    TERMINAL(0x402C542C),
    TERMINAL(0x402C542D),
    TERMINAL(0x540A), /* TCXONC */
    TERMINAL(0x540B), /* TCFLSH */
    TERMINAL(0x540C), /* TIOCEXCL */
    TERMINAL(0x540E), /* TIOCSCTTY */
    TERMINAL(0x5412), /* TIOCSTI */
    TERMINAL(0x5414), /* TIOCSWINSZ */
    TERMINAL(0x541C), /* TIOCLINUX */
    TERMINAL(0x5423), /* TIOCSETD */
    TERMINAL(0x5437), /* TIOCVHANGUP */
};
enum { RULES = sizeof rules / sizeof *rules };

pid_t process_of_call(const struct seccomp_data *call)
{
    for (int i = 0; i < RULES; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            const struct rule *rule = &rules[i];
            bool fits = call->arch == kinds[kind] && call->nr == rule->numbers[kind] && rule->answer == ASK;
            if (fits && (rule->which == ANY || (uint32_t)call->args[rule->which] == rule->value)) {
                return (pid_t)call->args[rule->process];
            }
        }
    }
    return getpid(); /* the guard itself: out of reach */
}

enum { MAX_CODE = BPF_MAXINSNS, MAX_ABOVE = 32 };

static struct sock_filter code[MAX_CODE];
static unsigned short length;

static struct sock_filter *emit(uint16_t what, uint32_t value, uint8_t if_not)
{
    code[length] = (struct sock_filter){what, 0, if_not, value};
    return &code[length++];
}

static void load(size_t offset)
{
    emit(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0);
}

/* The lower half of an argument: all that a number of a process or a command has. */
static void load_argument(int number)
{
    load(offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)number);
}

static void give(uint32_t answer)
{
    emit(BPF_RET | BPF_K, answer, 0);
}

static void give_if(uint32_t value, uint32_t answer)
{
    emit(BPF_JMP | BPF_JEQ | BPF_K, value, 1);
    give(answer);
}

/* The processes above this one and, below 0, their groups. */
static int read_above(uint32_t *above)
{
    int count = 0;
    for (pid_t at = getppid(); at > 0 && count < MAX_ABOVE; at = parent_of(at)) {
        above[count++] = (uint32_t)at;
        above[count++] = (uint32_t)-getpgid(at);
    }
    return count;
}

static const uint32_t refusal = SECCOMP_RET_ERRNO | EPERM;

/* What is done about another process than the first one. */
static void decide(bool asks)
{
    uint32_t above[MAX_ABOVE];
    give_if(0, SECCOMP_RET_ALLOW);
    give_if((uint32_t)getpid(), SECCOMP_RET_ALLOW);
    if (asks) {
        give(SECCOMP_RET_USER_NOTIF);
        return;
    }
    for (int left = read_above(above); left > 0; left--) {
        give_if(above[left - 1], refusal);
    }
    give_if((uint32_t)-1, refusal);
    give(SECCOMP_RET_ALLOW);
}

static void write_rule(const struct rule *rule, int number, bool asks)
{
    load(offsetof(struct seccomp_data, nr));
    struct sock_filter *is_call = emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0);
    struct sock_filter *is_value = is_call;
    if (rule->which != ANY) {
        load_argument(rule->which);
        is_value = emit(BPF_JMP | BPF_JEQ | BPF_K, rule->value, 0);
    }
    if (rule->answer == ASK) {
        load_argument(rule->process);
        decide(asks);
    } else {
        give(rule->answer == LACK ? SECCOMP_RET_ERRNO | ENOSYS : refusal);
    }
    is_call->jf = (uint8_t)(&code[length] - is_call - 1);
    is_value->jf = (uint8_t)(&code[length] - is_value - 1);
}

static void write_filter(bool sees_others, bool asks)
{
    length = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        load(offsetof(struct seccomp_data, arch));
        emit(BPF_JMP | BPF_JEQ | BPF_K, kinds[kind], 0)->jt = 1;
        struct sock_filter *is_other = emit(BPF_JMP | BPF_JA, 0, 0);
#ifdef __x86_64__
        if (kind == 0) { /* x32, which most machines lack: numbers of its own again */
            load(offsetof(struct seccomp_data, nr));
            emit(BPF_JMP | BPF_JSET | BPF_K, 0x40000000, 1);
            give(SECCOMP_RET_ERRNO | ENOSYS);
        }
#endif
        for (int i = 0; i < RULES; i++) {
            if (rules[i].numbers[kind] != NONE && (sees_others || rules[i].always)) {
                write_rule(&rules[i], rules[i].numbers[kind], asks);
            }
        }
        give(SECCOMP_RET_ALLOW);
        is_other->k = (uint32_t)(&code[length] - is_other - 1);
    }
    give(SECCOMP_RET_ALLOW);
}

static int install(unsigned flags, bool keeps_rights)
{
    struct sock_fprog filter = {length, code};
    int result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    if (result < 0 && errno == EACCES && !keeps_rights && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    }
    return result;
}

int restrict_calls(bool sees_others, bool keeps_rights)
{
    enum { WAIT_KILLABLE = 1 << 5 }; /* newer than some headers */
    if (sees_others) {
        write_filter(true, true);
        int calls = install(SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE, keeps_rights);
        calls = calls < 0 ? install(SECCOMP_FILTER_FLAG_NEW_LISTENER, keeps_rights) : calls;
        if (calls >= 0) {
            return calls;
        }
    }
    write_filter(sees_others, false);
    install(0, keeps_rights);
    return NO_CALLS;
}

#else

pid_t process_of_call(const struct seccomp_data *call)
{
    (void)call;
    return getpid();
}

int restrict_calls(bool sees_others, bool keeps_rights)
{
    (void)sees_others;
    (void)keeps_rights;
    return NO_CALLS;
}

#endif
