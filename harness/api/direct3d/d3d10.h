/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of Windows' own header: the types that the OpenCL-Headers use of it. */
#ifndef CLHARNESS_D3D10_H
#define CLHARNESS_D3D10_H

#include <d3d11.h>

typedef struct ID3D10Buffer ID3D10Buffer;
typedef struct ID3D10Texture2D ID3D10Texture2D;
typedef struct ID3D10Texture3D ID3D10Texture3D;

#endif
