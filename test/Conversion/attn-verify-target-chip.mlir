// RUN: not attn-opt %s --attn-verify-target=chip=gfx90a 2>&1 | FileCheck %s
// CHECK: error: expects chip to be one of gfx942, gfx950, but got 'gfx90a'
module {}
