/* SPDX-License-Identifier: Apache-2.0 */
/* Where each call must go, as the catalogue says (harness/api/contract/slots.toml). */
#ifndef CLHARNESS_FUZZ_RULES_H
#define CLHARNESS_FUZZ_RULES_H

#include "clharness_cl.h"

#include <stdbool.h>

enum rule_kind {
    RULE_NONE,       /* no function of the dispatch table */
    RULE_OBJECT,     /* to the vendor of one argument */
    RULE_LIST,       /* to the vendor of the first object of a list, whose length stands before it */
    RULE_PROPERTIES, /* to the vendor of the platform in a property list */
    RULE_LOADER,     /* the loader answers by itself, or by rules of its own */
};

struct rule {
    enum rule_kind kind;
    unsigned argument;      /* the place of the one that belongs to the vendor */
    cl_int null_answer;     /* the error for NULL there (or in the first place there); 0: none */
    bool exported;          /* else it is had by queries only */
    bool here;              /* it is not for Windows only */
    bool empty_is_answered; /* where an ICD 1 vendor lacks it the loader answers CL_INVALID_OPERATION */
};

extern const struct rule rules[FUNCTION_COUNT];

#endif
