/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of Windows' own header, which takes long to compile: the types that the OpenCL-Headers use of it. */
#ifndef CLHARNESS_D3D11_H
#define CLHARNESS_D3D11_H

typedef unsigned int UINT;
typedef int DXGI_FORMAT;
typedef struct ID3D11Buffer ID3D11Buffer;
typedef struct ID3D11Texture2D ID3D11Texture2D;
typedef struct ID3D11Texture3D ID3D11Texture3D;

#endif
