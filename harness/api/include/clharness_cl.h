/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL-Headers with every declaration switched on, and names that older headers lack. */
#ifndef CLHARNESS_CL_H
#define CLHARNESS_CL_H

#include "clharness_functions.h" /* CL_TARGET_OPENCL_VERSION, before the headers */

#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_USE_DEPRECATED_OPENCL_3_0_APIS
#define CL_ENABLE_BETA_EXTENSIONS 1

#include <CL/cl.h>
#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

/* cl_khr_icd 2.0.0 and cl_khr_icd_unloadable 1.0.0 (OpenCL-Docs, api/) */
#ifndef CL_ICD2_TAG_KHR
#if INTPTR_MAX == INT64_MAX
#define CL_ICD2_TAG_KHR ((intptr_t)0x4F50454E434C3331) /* "OPENCL31" */
#else
#define CL_ICD2_TAG_KHR ((intptr_t)0x434C3331) /* "CL31" */
#endif
#endif
#ifndef CL_PLATFORM_UNLOADABLE_KHR
#define CL_PLATFORM_UNLOADABLE_KHR 0x0921
#endif
#ifndef CL_PLATFORM_ICD_SUFFIX_KHR
#define CL_PLATFORM_ICD_SUFFIX_KHR 0x0920
#endif
/* cl_khr_external_memory 1.0.1 and cl_khr_external_semaphore 1.0.1 (OpenCL-Docs, api/) */
#ifndef CL_MEM_DEVICE_HANDLE_LIST_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_KHR 0x2051
#endif
#ifndef CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
#define CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR 0x2052
#endif
#ifndef CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
#define CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR 0x2053
#endif
#ifndef CL_SEMAPHORE_EXPORTABLE_KHR
#define CL_SEMAPHORE_EXPORTABLE_KHR 0x2054
#endif
#ifndef CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR
#define CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR 0x2069
#endif
#ifndef CL_PLATFORM_NOT_FOUND_KHR
#define CL_PLATFORM_NOT_FOUND_KHR (-1001)
#endif

#endif
