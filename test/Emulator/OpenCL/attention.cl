// What attention kernels are made of: softmax, fp8, buffers, DMA.
#include "corpus.h"

// One row of 256 columns a wave.
kernel void softmax(global float *out, global float *lse,
                    global const float *in, int rows) {
  int row = GX * (SX / 64) + LX / 64, lane = LX % 64;
  if (row >= rows)
    return;
  float x[4], m = -INFINITY;
  for (int i = 0; i < 4; ++i) {
    x[i] = in[row * 256 + i * 64 + lane];
    m = __builtin_fmaxf(m, x[i]);
  }
  for (int step = 32; step; step >>= 1)
    m = __builtin_fmaxf(m, __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ step) << 2, __builtin_bit_cast(int, m))));
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    x[i] = m == -INFINITY ? 0.0f : __builtin_amdgcn_exp2f((x[i] - m) * 1.44269504f);
    sum += x[i];
  }
  for (int step = 32; step; step >>= 1)
    sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ step) << 2, __builtin_bit_cast(int, sum)));
  float inverse = sum == 0.0f ? 0.0f : __builtin_amdgcn_rcpf(sum);
  for (int i = 0; i < 4; ++i)
    out[row * 256 + i * 64 + lane] = x[i] * inverse;
  if (lane == 0)
    lse[row] = sum == 0.0f ? -INFINITY : m + __builtin_amdgcn_logf(sum) * 0.693147181f;
}

kernel void fp8(global uint *codes, global float *values, global const float *in) {
  int i = ID;
  float x = in[2 * i], y = in[2 * i + 1];
  int packed = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false);
  packed = __builtin_amdgcn_cvt_pk_bf8_f32(x, y, packed, true);
  codes[i] = packed;
  values[4 * i] = __builtin_amdgcn_cvt_f32_fp8(packed, 0);
  values[4 * i + 1] = __builtin_amdgcn_cvt_f32_fp8(packed, 1);
  values[4 * i + 2] = __builtin_amdgcn_cvt_f32_bf8(packed, 2);
  values[4 * i + 3] = __builtin_amdgcn_cvt_f32_bf8(packed, 3);
}

kernel void pkrtz(global half2 *out, global const float *in) {
  out[ID] = __builtin_bit_cast(half2, __builtin_amdgcn_cvt_pkrtz(in[2 * ID], in[2 * ID + 1]));
}

// A bounded descriptor: reads past `bytes` give 0, writes past it vanish.
kernel void bounded(global int *out, global int *in, int bytes) {
  __amdgpu_buffer_rsrc_t source =
      __builtin_amdgcn_make_buffer_rsrc(in, 0, bytes, 0x27000);
  __amdgpu_buffer_rsrc_t target =
      __builtin_amdgcn_make_buffer_rsrc(out, 0, bytes, 0x27000);
  int value = __builtin_amdgcn_raw_buffer_load_b32(source, ID * 4, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b32(value + 1000, target, ID * 4, 0, 0);
}

// Global memory to LDS without registers: a dword a lane, or four on gfx950.
LDS_KERNEL void dma(global int *out, global const int *in) {
  local int tile[4 * 64];
  for (int i = 0; i < 4; ++i)
    __builtin_amdgcn_global_load_lds((global int *)in + i * 64 + (LX ^ i), tile + i * 64, 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0x0f70); // vmcnt(0)
  BARRIER();
  for (int i = 0; i < 4; ++i)
    out[i * 64 + LX] = tile[i * 64 + LX];
}

#ifdef __gfx950__
LDS_KERNEL void dmaWide(global int *out, global const int *in) {
  local int tile[4 * 64];
  __builtin_amdgcn_global_load_lds((global int *)in + 4 * (63 - LX), tile, 16, 0, 0);
  __builtin_amdgcn_s_waitcnt(0x0f70); // vmcnt(0)
  BARRIER();
  for (int i = 0; i < 4; ++i)
    out[i * 64 + LX] = tile[i * 64 + LX];
}
#endif

// Dot products of packed bytes and halves.
kernel void dots(global int *out, global const int *a, global const int *b) {
  int i = ID;
  out[4 * i] = __builtin_amdgcn_sdot4(a[i], b[i], 7, false);
  out[4 * i + 1] = (int)__builtin_amdgcn_udot4(a[i], b[i], 7, false);
  out[4 * i + 2] = __builtin_amdgcn_sdot8(a[i], b[i], -3, false);
  out[4 * i + 3] = __builtin_amdgcn_sdot2(__builtin_bit_cast(short2, a[i]), __builtin_bit_cast(short2, b[i]), 1, false);
}

kernel void specials(global float *out, global const float *in) {
  int i = ID;
  float x = in[i];
  out[8 * i + 0] = __builtin_amdgcn_exp2f(x);
  out[8 * i + 1] = __builtin_amdgcn_logf(__builtin_fabsf(x));
  out[8 * i + 2] = __builtin_amdgcn_rcpf(x);
  out[8 * i + 3] = __builtin_amdgcn_rsqf(__builtin_fabsf(x));
  out[8 * i + 4] = __builtin_amdgcn_sinf(x);
  out[8 * i + 5] = __builtin_amdgcn_fmed3f(x, -1.0f, 1.0f);
  out[8 * i + 6] = __builtin_amdgcn_ldexpf(x, i - 32);
  out[8 * i + 7] = __builtin_amdgcn_fractf(x);
}
