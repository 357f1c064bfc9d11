/* SPDX-License-Identifier: Apache-2.0 */
/* What is learned of the loader: once, in a machine with one vendor. */
#include "internal.h"
#include "parts.h"

static bool learned[LESSONS][2], accepted[LESSONS][2]; /* of each loader */
static enum lesson lesson;                             /* the next one */

bool accepts(enum lesson which)
{
    return !learned[which][subject - subjects] || accepted[which][subject - subjects];
}

bool has_lesson(void)
{
    for (int i = 0; i < LESSONS; i++) {
        if (!learned[i][subject - subjects]) {
            lesson = (enum lesson)i;
            return true;
        }
    }
    return false;
}

void learn(void)
{
    struct vendor *vendor = vendor_plain(0);
    struct platform *platform = &vendor->platform[0];
    pass_over_findings();
    learned[lesson][subject - subjects] = accepted[lesson][subject - subjects] = true; /* also where it is left */
    if (lesson == WITHOUT_ICD || lesson == ICD_IN_A_WORD) {
        platform->extensions = lesson == WITHOUT_ICD ? "cl_other" : "cl_khr_icd_unloadable";
    }
    vendor->hides_info = vendor->query_hides_info = lesson == WITHOUT_INFO;
    vendor->query_hides_icd2 = lesson == WITHOUT_ICD2;
    platform->icd2 = lesson >= WITHOUT_ICD2;
    platform->half_tagged = lesson == ONE_TAG;
    vendor_make(vendor);
    vendor_library(vendor, "/lib/liba.so");
    world_file("/etc/OpenCL/vendors/a.icd", FILE_REGULAR, "/lib/liba.so", 12);
    cl_uint count = 0;
    CALL(clGetPlatformIDs, 0, 0, AT(&count));
    accepted[lesson][subject - subjects] = count > 0;
}
