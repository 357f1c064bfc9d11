/* SPDX-License-Identifier: Apache-2.0 */
/* The guard, started as a program. */
#include "guard.h"

#include <stddef.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    if (count < 6) {
        fprintf(stderr, "usage: guard STATUS WAY USER FILE_SIZE NAME=VALUE... -- PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    guard_main(arguments, NULL, 0);
}
