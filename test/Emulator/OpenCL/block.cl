// Work-groups: reductions, scans, transposes, histograms, dynamic LDS.
#include "corpus.h"

LDS_KERNEL void reduceTree(global float *out, global const float *in, int n) {
  local float data[256];
  data[LX] = ID < n ? in[ID] : 0.0f;
  BARRIER();
  for (int width = 128; width > 0; width >>= 1) {
    if (LX < width)
      data[LX] += data[LX + width];
    BARRIER();
  }
  if (LX == 0)
    out[GX] = data[0];
}

// One wave by bpermute, then the waves through LDS.
LDS_KERNEL void reduceWaves(global int *out, global const int *in) {
  local int partial[4];
  int value = in[ID];
  for (int step = 1; step < 64; step <<= 1)
    value += __builtin_amdgcn_ds_bpermute(((LANE ^ step) & 63) << 2, value);
  if (LANE == 0)
    partial[LX / 64] = value;
  BARRIER();
  if (LX == 0)
    out[GX] = partial[0] + partial[1] + partial[2] + partial[3];
}

// Maximum of a wave by DPP: row shifts, row broadcasts; result in lane 63.
kernel void maxDpp(global int *out, global const int *in) {
  int value = in[ID];
#define STEP(ctrl, rows)                                                       \
  {                                                                            \
    int other = __builtin_amdgcn_update_dpp(0x80000000, value, ctrl, rows,     \
                                            0xf, false);                       \
    value = other > value ? other : value;                                     \
  }
  STEP(0x111, 0xf) // row_shr:1
  STEP(0x112, 0xf)
  STEP(0x114, 0xf)
  STEP(0x118, 0xf)
  STEP(0x142, 0xa) // row_bcast:15
  STEP(0x143, 0xc) // row_bcast:31
  int total = __builtin_amdgcn_readlane(value, 63);
  out[ID] = total;
}

kernel void dppMoves(global int *out, global const int *in) {
  int x = in[ID];
  out[8 * ID + 0] = __builtin_amdgcn_update_dpp(-1, x, 0x1b, 0xf, 0xf, true);
  out[8 * ID + 1] = __builtin_amdgcn_update_dpp(-1, x, 0x101, 0xf, 0xf, false);
  out[8 * ID + 2] = __builtin_amdgcn_update_dpp(-1, x, 0x123, 0xf, 0xf, false);
  out[8 * ID + 3] = __builtin_amdgcn_update_dpp(-1, x, 0x138, 0xf, 0xf, true);
  out[8 * ID + 4] = __builtin_amdgcn_update_dpp(-1, x, 0x13c, 0xf, 0xf, true);
  out[8 * ID + 5] = __builtin_amdgcn_update_dpp(-1, x, 0x140, 0xf, 0xf, true);
  out[8 * ID + 6] = __builtin_amdgcn_update_dpp(-1, x, 0x141, 0x5, 0x3, false);
  out[8 * ID + 7] = __builtin_amdgcn_ds_swizzle(x, 0x041f); // swap 1: xor
}

kernel void waveOps(global uint *out, global const uint *in) {
  uint x = in[ID];
  ulong ballot = __builtin_amdgcn_uicmp(x, 1000u, 36); // ult
  out[8 * ID + 0] = (uint)ballot;
  out[8 * ID + 1] = (uint)(ballot >> 32);
  out[8 * ID + 2] = __builtin_amdgcn_readfirstlane(x);
  out[8 * ID + 3] = __builtin_amdgcn_mbcnt_hi((uint)(ballot >> 32),
                                              __builtin_amdgcn_mbcnt_lo((uint)ballot, 0));
  out[8 * ID + 4] = __builtin_amdgcn_perm(x, ~x, 0x07020500);
  out[8 * ID + 5] = __builtin_amdgcn_alignbit(x, x * 3u, 7);
  out[8 * ID + 6] = __builtin_amdgcn_ubfe(x, 5, 9);
  out[8 * ID + 7] = __builtin_amdgcn_ds_permute(((LANE * 5 + 3) & 63) << 2, x);
}

LDS_KERNEL void scanBlock(global int *out, global const int *in) {
  local int data[2][256];
  int from = 0;
  data[0][LX] = in[ID];
  BARRIER();
  for (int step = 1; step < 256; step <<= 1) {
    int value = data[from][LX];
    if (LX >= step)
      value += data[from][LX - step];
    data[1 - from][LX] = value;
    from = 1 - from;
    BARRIER();
  }
  out[ID] = data[from][LX];
}

// 32x32 tiles, 32x8 work-items, padded rows.
LDS_KERNEL void transpose(global float *out, global const float *in, int width,
                      int height) {
  local float tile[32][33];
  int x = GX * 32 + LX, y = GY * 32 + LY;
  for (int row = 0; row < 32; row += 8)
    if (x < width && y + row < height)
      tile[LY + row][LX] = in[(y + row) * width + x];
  BARRIER();
  x = GY * 32 + LX;
  y = GX * 32 + LY;
  for (int row = 0; row < 32; row += 8)
    if (x < height && y + row < width)
      out[(y + row) * height + x] = tile[LX][LY + row];
}

LDS_KERNEL void histogram(global uint *bins, global const uchar *in, int n) {
  local uint counts[256];
  counts[LX] = 0;
  BARRIER();
  for (int i = ID; i < n; i += SX * 4)
    __scoped_atomic_fetch_add(&counts[in[i]], 1u, __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_WRKGRP);
  BARRIER();
  __scoped_atomic_fetch_add(&bins[LX], counts[LX], __ATOMIC_RELAXED,
                            __MEMORY_SCOPE_DEVICE);
}

__attribute__((amdgpu_flat_work_group_size(1, 1024)))
kernel void dynamicLds(global float4 *out, global const float4 *in,
                       local float4 *buffer) {
  buffer[LX] = in[ID];
  BARRIER();
  out[ID] = buffer[SX - 1 - LX].wzyx;
}

// Byte, short, 96- and 128-bit LDS access.
LDS_KERNEL void ldsWidths(global int *out, global const int *in) {
  local uchar bytes[256];
  local short shorts[256];
  local int4 quads[64];
  local long longs[64];
  local int triples[192];
  bytes[LX] = in[ID];
  bytes[LX + 64] = in[ID] >> 8;
  shorts[LX] = in[ID];
  quads[LX] = (int4)(in[ID], 1, 2, LX);
  longs[LX] = (long)in[ID] << 20;
  triples[3 * LX] = LX;
  triples[3 * LX + 1] = in[ID];
  triples[3 * LX + 2] = -LX;
  BARRIER();
  int j = 63 - LX;
  int4 q = quads[j];
  out[4 * ID] = bytes[j] + ((local char *)bytes)[j + 64];
  out[4 * ID + 1] = shorts[j] + ((local ushort *)shorts)[j];
  out[4 * ID + 2] = q.x + q.y + q.z + q.w + (int)(longs[j] >> 20);
  out[4 * ID + 3] = triples[3 * j] + triples[3 * j + 1] + triples[3 * j + 2];
}

// Every id of a 3-D grid.
__attribute__((amdgpu_flat_work_group_size(1, 1024)))
kernel void ids(global int *out) {
  const constant int *implicit =
      (const constant int *)__builtin_amdgcn_implicitarg_ptr();
  int blocks = implicit[0] * implicit[1] * implicit[2];
  int group = (GZ * implicit[1] + GY) * implicit[0] + GX;
  int item = (LZ * SY + LY) * SX + LX;
  int at = group * SX * SY * SZ + item;
  out[4 * at] = GX | GY << 10 | GZ << 20;
  out[4 * at + 1] = LX | LY << 10 | LZ << 20;
  out[4 * at + 2] = SX | SY << 10 | SZ << 20;
  out[4 * at + 3] = blocks;
}
