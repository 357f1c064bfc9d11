/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of the process that the vendor brings about: a call of exit, and an assertion. */
#define _GNU_SOURCE
#include "icd.h"

#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static struct sigaction before_abort;
static bool with_fuzzer;

/* Says that the vendor ended the process in the function that it was called for. */
static void report_end(const char *how)
{
    const char *in = icd_calling;
    const char *key = keep_text("%s@%s", how, in);
    icd_calling = NULL;
    if (is_known(key)) {
        end_as_known();
    }
    say_finding("crash", key, "the ICD ended the process with %s in %s", how, in);
}

static void on_exit_of_vendor(void)
{
    if (icd_calling && !signals_reported) {
        report_end("exit");
        abort();
    }
}

/* An assertion of the vendor. Whoever kept the input for other signals keeps it for this one, too. */
static void on_abort(int number)
{
    if (icd_calling && !signals_reported) {
        report_end("abort");
    }
    sigaction(number, with_fuzzer ? &before_abort : &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(number);
}

void watch_ends(bool fuzzer)
{
    static bool watched;
    if (!watched) {
        with_fuzzer = fuzzer;
        struct sigaction action = {.sa_handler = on_abort, .sa_flags = SA_ONSTACK};
        sigaction(SIGABRT, &action, &before_abort);
        atexit(on_exit_of_vendor);
        watched = true;
    }
}
