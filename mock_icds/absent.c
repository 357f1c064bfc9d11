/* SPDX-License-Identifier: Apache-2.0 */
/* A library without any OpenCL symbol. */
int clharness_no_opencl_here(void);

int clharness_no_opencl_here(void)
{
    return 0;
}
