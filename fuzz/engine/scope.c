/* SPDX-License-Identifier: Apache-2.0 */
/* What the subject sends to all processes reaches its own alone: for root, where the kernel can do that (Landlock,
 * Linux 6.12 and newer). Nothing else is kept from it: it runs as it does in a program of the user. */
#define _GNU_SOURCE
#include "internal.h"

#include <unistd.h>

enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, SCOPE_SIGNAL = 2 };

void scope_keep_signals_in(void)
{
    /* struct landlock_ruleset_attr, whose older versions lack the last */
    const uint64_t rules[] = {0, 0, SCOPE_SIGNAL};
    long ruleset = syscall(CREATE_RULESET, rules, sizeof rules, 0);
    if (ruleset >= 0) {
        syscall(RESTRICT_SELF, ruleset, 0);
        close((int)ruleset);
    }
}
