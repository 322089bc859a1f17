//===- LaneKernelsBase.cpp - Vector loops for one x86-64 level
//---------------===//

#define ATTN_LANE_TABLES getLaneTablesBase
#include "LaneKernels.inc"
