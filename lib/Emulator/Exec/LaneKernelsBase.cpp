//===- LaneKernelsBase.cpp - Vector loops for one x86-64 level
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//---------------===//

#define ATTN_LANE_TABLES getLaneTablesBase
#include "LaneKernels.inc"
