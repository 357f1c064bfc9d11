/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the target icd_negotiation share. */
#ifndef CLHARNESS_FUZZ_ICD_NEGOTIATION_H
#define CLHARNESS_FUZZ_ICD_NEGOTIATION_H

#include "calls.h"

enum { LONGEST = 5000 }; /* texts of platforms */

/* --- vendors.c --- */

extern struct library *libraries[VENDORS];
void make_vendor(int number);

/* --- lessons.c --- */

enum lesson {
    WITHOUT_ICD,   /* platforms are offered that do not list cl_khr_icd */
    ICD_IN_A_WORD, /* and such as list another extension whose name has that in it */
    WITHOUT_INFO,  /* vendors that give no clGetPlatformInfo */
    WITHOUT_ICD2,  /* platforms with the tag of ICD 2, without its functions */
    ONE_TAG,       /* with the tag in one slot */
    LESSONS
};

/* Whether the loader offers such platforms; true while that has not been learned. */
bool accepts(enum lesson which);
/* Whether one is left, which `learn` is. */
bool has_lesson(void);
void learn(void);

/* --- offers.c --- */

extern unsigned vendor_count; /* 0 until it is known which of their platforms are offered */
extern bool is_assumed;       /* OCL_ICD_ASSUME_ICD_EXTENSION is set */
/* Whether all loaders agree on a vendor: nothing is wrong with it, or its list of platforms cannot be had. */
bool is_clear(const struct vendor *vendor);
/* A platform with which nothing is wrong must be offered, whatever its neighbours are like; of so many vendors. */
void check_faultless(const struct offered *offered, unsigned count);
void check_refused(const struct offered *offered);

#endif
