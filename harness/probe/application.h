/* SPDX-License-Identifier: Apache-2.0 */
/* The probe as a whole, for programs that begin in different ways. */
#ifndef CLHARNESS_PROBE_APPLICATION_H
#define CLHARNESS_PROBE_APPLICATION_H

/* Does what the command line says (see application.c); gives the exit code. */
int application_main(int count, char **arguments);

#endif
