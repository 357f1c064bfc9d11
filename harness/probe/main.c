/* SPDX-License-Identifier: Apache-2.0 */
/* The probe, started as a program. */
#include "application.h"

int main(int count, char **arguments)
{
    return application_main(count, arguments);
}
