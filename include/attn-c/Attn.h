/*===- attn-c/Attn.h - All of the C API ----------------------------*- C
-*-===*\
|*
|* Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
|* Exceptions. See LICENSE for license information.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_ATTN_H
#define ATTN_C_ATTN_H

#include "attn-c/Program.h"
#include "attn-c/Runtime.h"
#include "attn-c/Support.h"

#endif /* ATTN_C_ATTN_H */
