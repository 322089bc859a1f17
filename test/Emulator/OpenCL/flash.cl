// Attention with its log-sum-exp for one head of size 64: four waves of 32
// query rows share K and V tiles of 32 keys in LDS; scores are computed
// transposed, so a lane owns one query row.
#include "corpus.h"

#define HEAD 64
#define LOG2E 1.44269504f

static float otherHalf(float x) {
  return __builtin_bit_cast(
      float, __builtin_amdgcn_ds_bpermute((LANE ^ 32) << 2,
                                          __builtin_bit_cast(int, x)));
}

LDS_KERNEL void flash(global half *o, global float *lse, global const half *q,
                      global const half *k, global const half *v, int sq,
                      int skv, float scale, int causal) {
  local half tileK[32][HEAD + 4], tileV[32][HEAD + 4];
  int wave = LX / 64, lane = LX % 64, halfWave = lane / 32;
  int row = GX * 128 + wave * 32 + lane % 32;
  int readRow = row < sq ? row : sq - 1;
  half4v queries[HEAD / 8];
  for (int step = 0; step < HEAD / 8; ++step)
    for (int e = 0; e < 4; ++e)
      queries[step][e] = q[readRow * HEAD + step * 8 + 4 * halfWave + e];

  float16v out[2] = {0, 0};
  float m = -INFINITY, l = 0;
  for (int tile = 0; tile < skv; tile += 32) {
    BARRIER();
    for (int i = LX; i < 32 * HEAD; i += 256) {
      int key = tile + i / HEAD;
      tileK[i / HEAD][i % HEAD] = key < skv ? k[key * HEAD + i % HEAD] : 0;
      tileV[i / HEAD][i % HEAD] = key < skv ? v[key * HEAD + i % HEAD] : 0;
    }
    BARRIER();
    float16v s = 0;
    for (int step = 0; step < HEAD / 8; ++step) {
      half4v keys;
      for (int e = 0; e < 4; ++e)
        keys[e] = tileK[lane % 32][step * 8 + 4 * halfWave + e];
      s = __builtin_amdgcn_mfma_f32_32x32x8f16(keys, queries[step], s, 0, 0, 0);
    }
    float largest = m;
    for (int r = 0; r < 16; ++r) {
      int key = tile + 8 * (r / 4) + 4 * halfWave + r % 4;
      int visible = key < skv && (!causal || key <= row + skv - sq);
      s[r] = visible ? s[r] * (scale * LOG2E) : -INFINITY;
      largest = __builtin_fmaxf(largest, s[r]);
    }
    largest = __builtin_fmaxf(largest, otherHalf(largest));
    float base = largest == -INFINITY ? 0.0f : largest;
    float factor = __builtin_amdgcn_exp2f(m - base);
    m = largest;
    l *= factor;
    for (int block = 0; block < 2; ++block)
      out[block] *= factor;
    half4v p[4];
    for (int r = 0; r < 16; ++r) {
      float x = __builtin_amdgcn_exp2f(s[r] - base);
      l += x;
      p[r / 4][r % 4] = (half)x;
    }
    for (int block = 0; block < 2; ++block)
      for (int step = 0; step < 4; ++step) {
        half4v values;
        for (int e = 0; e < 4; ++e)
          values[e] = tileV[step * 8 + 4 * halfWave + e][block * 32 + lane % 32];
        out[block] = __builtin_amdgcn_mfma_f32_32x32x8f16(values, p[step],
                                                          out[block], 0, 0, 0);
      }
  }
  l += otherHalf(l);
  float inverse = l == 0.0f ? 0.0f : 1.0f / l;
  if (row < sq) {
    for (int block = 0; block < 2; ++block)
      for (int r = 0; r < 16; ++r)
        o[row * HEAD + block * 32 + 8 * (r / 4) + 4 * halfWave + r % 4] =
            (half)(out[block][r] * inverse);
    if (halfWave == 0)
      lse[row] = l == 0.0f ? -INFINITY
                           : (m + __builtin_amdgcn_logf(l)) * 0.693147181f;
  }
}
