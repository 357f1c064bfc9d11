/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of Windows' own header: the types that the OpenCL-Headers use of it. */
#ifndef CLHARNESS_D3D9_H
#define CLHARNESS_D3D9_H

typedef struct IDirect3DSurface9 IDirect3DSurface9;
typedef void *HANDLE;
typedef int D3DFORMAT;

#endif
