/* SPDX-License-Identifier: Apache-2.0 */
/* A probe that has loaded the library under test and waits: each session is a process that is forked from it, under a
 * guard of its own (harness/sandbox/guard.c), which is forked from it as well. A library that is large takes far longer
 * to load than most cases to run. Linux only.
 *
 *   probe_nest --loader PATH --socket FD --folder SANDBOX
 *
 * The library is loaded as in a session: in the folder of a sandbox and, for root, with a /dev/shm and a place of
 * sandboxes of its own, and without the right to mount, which this process keeps for guards.
 *
 * It says "ready" through the socket, or "not: REASON" where a process that is forked after the library was loaded
 * would not be what one is that loads the library itself: with threads, descriptors, files, shared memory, handlers of
 * signals or forks, or variables that the library has made meanwhile. Then it takes requests, one message each:
 * NUL-terminated words, which are a folder and the guard's command line, and four descriptors, which are that of the
 * guard's status, standard output and standard error, and the conversation. The guard's process writes a byte to its
 * status descriptor, by which the other side learns its number, and reads the number that the program is to have in its
 * namespace.
 *
 * It ends with its socket. Exit codes: 0, 2 for wrong usage.
 */
#define _GNU_SOURCE
#include "application.h"
#include "guard.h"
#include "guard_files.h"
#include "loader.h"
#include "system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { MAX_REQUEST = 1 << 17, MAX_WORDS = 1 << 12, MAX_LINE = 1 << 12 };
enum { STATUS, OUTPUT, ERRORS, CONVERSATION, DESCRIPTORS }; /* that come with a request */
enum { OWN_CONVERSATION = 3 };                              /* the program's descriptor of it */

#define SHARED_SIZE ((uint64_t)1 << 30) /* bytes in a place that is the library's own while it is loaded */

static int descriptors[DESCRIPTORS];
static int fork_handlers;

#ifdef __GLIBC__
/* What pthread_atfork calls, in place of the C library's: not all processes come from here by its fork. */
int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void), void *library)
{
    int (*next)(void (*)(void), void (*)(void), void (*)(void), void *) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "__register_atfork");
    fork_handlers++;
    return next ? next(before, in_parent, in_child, library) : ENOMEM;
}
#endif

/* What a program that starts finds as it is, and a library may change when it is loaded. */
struct surroundings {
    int threads;
    int open_files;
    int shared_mappings;
    int children;
    int fork_handlers;
    int files;        /* in the folder */
    int shared_files; /* in /dev/shm, and in places of its own */
    mode_t mask;
    struct itimerval timer;
    sigset_t blocked;
    char folder[MAX_LINE];
    unsigned long variables; /* a sum of their texts */
    struct sigaction actions[NSIG];
};

/* Entries of a folder but sandboxes, which come and go with other cases. */
static int entries_of(const char *folder)
{
    static const char sandbox[] = "clharness-";
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        count += strncmp(entry->d_name, sandbox, sizeof sandbox - 1) != 0;
    }
    if (entries) {
        closedir(entries);
    }
    return count;
}

/* Those that a write would show to others. */
static int count_shared_mappings(void)
{
    static char line[MAX_LINE];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        char rights[5] = "";
        count += sscanf(line, "%*x-%*x %4s", rights) == 1 && rights[1] == 'w' && rights[3] == 's';
    }
    if (maps) {
        fclose(maps);
    }
    return count;
}

static int count_children(void)
{
    static char line[MAX_LINE];
    FILE *file = fopen("/proc/thread-self/children", "re");
    int count = file && fgets(line, sizeof line, file) ? (int)strlen(line) : 0;
    if (file) {
        fclose(file);
    }
    return count;
}

static void look(struct surroundings *found)
{
    memset(found, 0, sizeof *found);
    found->threads = entries_of("/proc/self/task");
    found->open_files = entries_of("/proc/self/fd");
    found->shared_mappings = count_shared_mappings();
    found->children = count_children();
    found->fork_handlers = fork_handlers;
    found->files = entries_of(".");
    found->shared_files = entries_of("/dev/shm") + (shared_files_are_own() ? entries_of("..") : 0);
    found->mask = umask(0);
    umask(found->mask);
    getitimer(ITIMER_REAL, &found->timer);
    sigprocmask(SIG_BLOCK, NULL, &found->blocked);
    if (!getcwd(found->folder, sizeof found->folder)) {
        found->folder[0] = 0;
    }
    for (char **variable = environ; *variable; variable++) {
        for (const char *at = *variable; *at; at++) {
            found->variables = found->variables * 31 + (unsigned char)*at;
        }
    }
    for (int number = 1; number < NSIG; number++) {
        sigaction(number, NULL, &found->actions[number]);
    }
}

/* What the library has made, in words; NULL for nothing. */
static const char *difference(const struct surroundings *before, const struct surroundings *after)
{
    if (before->threads != after->threads) {
        return "threads";
    }
    if (before->open_files != after->open_files) {
        return "descriptors";
    }
    if (before->shared_mappings != after->shared_mappings) {
        return "shared memory";
    }
    if (before->children != after->children) {
        return "processes";
    }
    if (before->fork_handlers != after->fork_handlers) {
        return "handlers of forks";
    }
    if (before->mask != after->mask || strcmp(before->folder, after->folder) != 0) {
        return "another folder or mask of files";
    }
    if (before->files != after->files || before->shared_files != after->shared_files) {
        return "files";
    }
    if (after->timer.it_value.tv_sec || after->timer.it_value.tv_usec) {
        return "timers";
    }
    if (memcmp(&before->blocked, &after->blocked, sizeof before->blocked) != 0) {
        return "blocked signals";
    }
    if (before->variables != after->variables) {
        return "variables";
    }
    for (int number = 1; number < NSIG; number++) {
        if (before->actions[number].sa_handler != after->actions[number].sa_handler) {
            return "handlers of signals";
        }
    }
    return NULL;
}

/* Whether a path is in a folder. */
static bool is_in(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Has places of its own in which nothing of the machine's is changed; not where the library lies in one of them, whose
 * files would have other paths afterwards. */
static void enter_own_places(void)
{
    static char here[MAX_LINE];
    char *end = getcwd(here, sizeof here) ? strrchr(here, '/') : NULL;
    if (!end) {
        return;
    }
    *end = 0;
    if (geteuid() == 0 && !is_in(loader_options.path, "/dev/shm") && !is_in(loader_options.path, here)) {
        leave_shared_files(SHARED_SIZE);
    }
}

/* Uses all rights that this process has, or all but the one to mount. */
static void use_rights(bool to_mount)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2] = {{0}};
    if (syscall(SYS_capget, &head, rights) != 0) {
        return;
    }
    for (int half = 0; half < 2; half++) {
        rights[half].effective = rights[half].permitted;
    }
    if (!to_mount) {
        rights[0].effective &= ~(1U << CAP_SYS_ADMIN);
    }
    syscall(SYS_capset, &head, rights);
}

/* Loads the library; gives why nothing is to be forked from this process, NULL for no reason. */
static const char *load(const char *folder)
{
    static struct surroundings before;
    static struct surroundings after;
    if (chdir(folder) != 0) {
        return "its folder is not there";
    }
    enter_own_places();
    use_rights(false);
    look(&before);
    const char *problem = loader_open();
    look(&after);
    use_rights(true);
    problem = problem ? problem : difference(&before, &after);
    if (!return_to_shared_files() || chdir("/") != 0) {
        return problem ? problem : "its places cannot be left";
    }
    return problem;
}

/* The guarded process: it has what a program has that was started, and nothing more. */
static void run(char **arguments, char **variables)
{
    int count = 0;
    int nothing = open("/dev/null", O_RDONLY);
    const int places[] = {descriptors[OUTPUT], descriptors[ERRORS], descriptors[CONVERSATION]};
    bool done = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0;
    int kept[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++) { /* out of the way first: one may have the number of another's place */
        kept[i] = fcntl(places[i], F_DUPFD, OWN_CONVERSATION + 1);
    }
    for (int i = 0; i < 3; i++) {
        done = done && kept[i] >= 0 && dup2(kept[i], STDOUT_FILENO + i) >= 0;
    }
    if (!done) {
        _exit(126);
    }
    syscall(SYS_close_range, OWN_CONVERSATION + 1U, ~0U, 0U);
    const char *name = strrchr(arguments[0], '/');
    prctl(PR_SET_NAME, name ? name + 1 : arguments[0]);
    environ = variables;
    system_program = arguments[0];
    while (arguments[count]) {
        count++;
    }
    exit(application_main(count, arguments));
}

/* The number that the program is to have. */
static long ask_for_number(void)
{
    char text[32] = "";
    if (write(descriptors[STATUS], ".", 1) != 1) {
        _exit(0); /* nobody wants to know */
    }
    ssize_t length = read(descriptors[STATUS], text, sizeof text - 1);
    if (length <= 0) {
        _exit(0);
    }
    return strtol(text, NULL, 10);
}

/* The guard's process. */
static _Noreturn void serve(char *words, size_t length)
{
    static char *arguments[MAX_WORDS + 1];
    static char status[16];
    int count = 0;
    for (char *at = words; at < words + length && count < MAX_WORDS; at += strlen(at) + 1) {
        arguments[count++] = at;
    }
    arguments[count] = NULL;
    if (count < 7 || chdir(arguments[0]) != 0) { /* a folder, and the guard's least command line */
        _exit(2);
    }
    snprintf(status, sizeof status, "%d", descriptors[STATUS]);
    arguments[1] = "guard";
    arguments[2] = status;
    guard_main(arguments + 1, run, ask_for_number());
}

/* Receives a request; gives its length, 0 at the end of the conversation. */
static size_t receive(int socket, char *words, size_t size)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof descriptors)];
    } control;
    struct iovec part = {words, size - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *with = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!with || with->cmsg_len != CMSG_LEN(sizeof descriptors) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        return 0;
    }
    memcpy(descriptors, CMSG_DATA(with), sizeof descriptors);
    words[length] = 0;
    return (size_t)length;
}

static void say(int socket, const char *text)
{
    if (send(socket, text, strlen(text), MSG_NOSIGNAL) < 0) {
        _exit(0);
    }
}

int main(int count, char **arguments)
{
    static char words[MAX_REQUEST];
    static char said[MAX_LINE];
    if (count != 7 || strcmp(arguments[1], "--loader") != 0 || strcmp(arguments[3], "--socket") != 0 ||
        strcmp(arguments[5], "--folder") != 0) {
        fprintf(stderr, "usage: %s --loader PATH --socket FD --folder SANDBOX\n", arguments[0]);
        return 2;
    }
    loader_options.path = arguments[2];
    int socket = (int)strtol(arguments[4], NULL, 10);
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    const char *problem = load(arguments[6]);
    snprintf(said, sizeof said, problem ? "not: %s" : "ready%s", problem ? problem : "");
    say(socket, said);
    if (problem) {
        _exit(0);
    }
    signal(SIGCHLD, SIG_IGN); /* nobody waits for the guards */
    for (size_t length = receive(socket, words, sizeof words); length > 0;
         length = receive(socket, words, sizeof words)) {
        pid_t child = fork();
        if (child == 0) {
            close(socket);
            serve(words, length);
        }
        for (int i = 0; i < DESCRIPTORS; i++) {
            close(descriptors[i]); /* where there is no child, the other side reads the end of the status */
        }
    }
    _exit(0);
}
