//===- LaneKernelsV4.cpp - Vector loops for one x86-64 level
//---------------===//

#define ATTN_LANE_TABLES getLaneTablesV4
#include "LaneKernels.inc"
