// Matrix instructions, checked against products on the host. One wave a tile:
// D (row major) = A (row major) * B (row major).
#include "corpus.h"

kernel void gemmF16_32x32(global float *d, global const half *a,
                          global const half *b, int depth) {
  int column = LX % 32, halfWave = LX / 32;
  float16v acc = 0;
  for (int k = 0; k < depth; k += 8) {
    half4v x, y;
    for (int e = 0; e < 4; ++e) {
      int kk = k + 4 * halfWave + e;
      x[e] = a[column * depth + kk];
      y[e] = b[kk * 32 + column];
    }
    acc = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 16; ++r)
    d[(8 * (r / 4) + 4 * halfWave + r % 4) * 32 + column] = acc[r];
}

kernel void gemmBF16_16x16(global float *d, global const ushort *a,
                           global const ushort *b, int depth) {
  int column = LX % 16, group = LX / 16;
  float4v acc = 0;
  for (int k = 0; k < depth; k += 16) {
    short4v x, y;
    for (int e = 0; e < 4; ++e) {
      int kk = k + 4 * group + e;
      x[e] = a[column * depth + kk];
      y[e] = b[kk * 16 + column];
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 4; ++r)
    d[(4 * group + r) * 16 + column] = acc[r];
}

kernel void gemmF32_16x16(global float *d, global const float *a,
                          global const float *b, int depth) {
  int column = LX % 16, group = LX / 16;
  float4v acc = 0;
  for (int k = 0; k < depth; k += 4)
    acc = __builtin_amdgcn_mfma_f32_16x16x4f32(a[column * depth + k + group],
                                               b[(k + group) * 16 + column],
                                               acc, 0, 0, 0);
  for (int r = 0; r < 4; ++r)
    d[(4 * group + r) * 16 + column] = acc[r];
}

kernel void gemmF64_16x16(global double *d, global const double *a,
                          global const double *b, int depth) {
  int column = LX % 16, group = LX / 16;
  double4v acc = 0;
  for (int k = 0; k < depth; k += 4)
    acc = __builtin_amdgcn_mfma_f64_16x16x4f64(a[column * depth + k + group],
                                               b[(k + group) * 16 + column],
                                               acc, 0, 0, 0);
  for (int r = 0; r < 4; ++r)
    d[(4 * r + group) * 16 + column] = acc[r];
}

kernel void gemmI8_32x32(global int *d, global const char *a,
                         global const char *b, int depth) {
  int column = LX % 32, halfWave = LX / 32;
  int16v acc = 0;
  for (int k = 0; k < depth; k += 16) {
    long x = 0, y = 0;
    for (int e = 0; e < 8; ++e) {
      int kk = k + 8 * halfWave + e;
      x |= (long)(uchar)a[column * depth + kk] << (8 * e);
      y |= (long)(uchar)b[kk * 32 + column] << (8 * e);
    }
    acc = __builtin_amdgcn_mfma_i32_32x32x16_i8(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 16; ++r)
    d[(8 * (r / 4) + 4 * halfWave + r % 4) * 32 + column] = acc[r];
}

kernel void gemmFP8_16x16(global float *d, global const uchar *a,
                          global const uchar *b, int depth) {
  int column = LX % 16, group = LX / 16;
  float4v acc = 0;
  for (int k = 0; k < depth; k += 32) {
    long x = 0, y = 0;
    for (int e = 0; e < 8; ++e) {
      int kk = k + 8 * group + e;
      x |= (long)a[column * depth + kk] << (8 * e);
      y |= (long)b[kk * 16 + column] << (8 * e);
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 4; ++r)
    d[(4 * group + r) * 16 + column] = acc[r];
}

// 4 blocks of 16x16x4: blocks share A by broadcast (cbsz = 2, abid = 1).
kernel void broadcastF16(global float *d, global const half *a,
                         global const half *b) {
  half4v x, y;
  for (int e = 0; e < 4; ++e) {
    x[e] = a[LX * 4 + e];
    y[e] = b[LX * 4 + e];
  }
  float16v acc = 0;
  acc = __builtin_amdgcn_mfma_f32_16x16x4f16(x, y, acc, 2, 1, 0);
  for (int r = 0; r < 16; ++r)
    d[r * 64 + LX] = acc[r];
}

kernel void sparseF16(global float *d, global const half *a,
                      global const half *b, global const int *index) {
  half4v x;
  half8v y;
  for (int e = 0; e < 4; ++e)
    x[e] = a[LX * 4 + e];
  for (int e = 0; e < 8; ++e)
    y[e] = b[LX * 8 + e];
  float4v acc = 1;
  acc = __builtin_amdgcn_smfmac_f32_16x16x32_f16(x, y, acc, index[LX], 0, 0);
  for (int r = 0; r < 4; ++r)
    d[r * 64 + LX] = acc[r];
}

// A work-group of four waves computes a 64x64 tile from LDS, 16-deep slices,
// double buffered.
LDS_KERNEL void gemmTiled(global float *d, global const half *a,
                      global const half *b, int m, int n, int depth) {
  local half tileA[2][64][20], tileB[2][64][20];
  int wave = LX / 64, lane = LX % 64;
  int rowBase = GY * 64, columnBase = GX * 64;
  int waveRow = (wave / 2) * 32, waveColumn = (wave % 2) * 32;
  float16v acc = 0;
  int slices = depth / 16;
  int loadRow = LX / 4, loadK = (LX % 4) * 4;
  for (int slice = 0; slice <= slices; ++slice) {
    int buffer = slice & 1;
    if (slice < slices) {
      for (int e = 0; e < 4; ++e) {
        int k = slice * 16 + loadK + e;
        tileA[buffer][loadRow][loadK + e] = a[(rowBase + loadRow) * depth + k];
        tileB[buffer][loadRow][loadK + e] = b[k * n + columnBase + loadRow];
      }
    }
    if (slice > 0) {
      for (int step = 0; step < 2; ++step) {
        half4v x, y;
        for (int e = 0; e < 4; ++e) {
          int k = step * 8 + 4 * (lane / 32) + e;
          x[e] = tileA[1 - buffer][waveRow + lane % 32][k];
          y[e] = tileB[1 - buffer][waveColumn + lane % 32][k];
        }
        acc = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, acc, 0, 0, 0);
      }
    }
    BARRIER();
  }
  for (int r = 0; r < 16; ++r) {
    int row = rowBase + waveRow + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
    d[row * n + columnBase + waveColumn + lane % 32] = acc[r];
  }
}

#ifdef __gfx950__
kernel void gemmF16_32x32x16(global float *d, global const half *a,
                             global const half *b, int depth) {
  int column = LX % 32, halfWave = LX / 32;
  float16v acc = 0;
  for (int k = 0; k < depth; k += 16) {
    half8v x, y;
    for (int e = 0; e < 8; ++e) {
      int kk = k + 8 * halfWave + e;
      x[e] = a[column * depth + kk];
      y[e] = b[kk * 32 + column];
    }
    acc = __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 16; ++r)
    d[(8 * (r / 4) + 4 * halfWave + r % 4) * 32 + column] = acc[r];
}

kernel void gemmBF16_16x16x32(global float *d, global const ushort *a,
                              global const ushort *b, int depth) {
  int column = LX % 16, group = LX / 16;
  float4v acc = 0;
  for (int k = 0; k < depth; k += 32) {
    bf8v x, y;
    for (int e = 0; e < 8; ++e) {
      int kk = k + 8 * group + e;
      x[e] = __builtin_bit_cast(__bf16, a[column * depth + kk]);
      y[e] = __builtin_bit_cast(__bf16, b[kk * 16 + column]);
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(x, y, acc, 0, 0, 0);
  }
  for (int r = 0; r < 4; ++r)
    d[(4 * group + r) * 16 + column] = acc[r];
}

// MXFP4: 32 consecutive codes a lane and one E8M0 scale for them.
kernel void gemmMXFP4(global float *d, global const uchar *a,
                      global const uchar *b, global const uchar *scaleA,
                      global const uchar *scaleB) {
  int row = LX % 16, group = LX / 16;
  int8v x = 0, y = 0;
  for (int w = 0; w < 4; ++w)
    for (int byte = 0; byte < 4; ++byte) {
      int at = row * 64 + group * 16 + w * 4 + byte;
      x[w] |= (int)a[at] << (8 * byte);
      y[w] |= (int)b[at] << (8 * byte);
    }
  int sa = scaleA[row * 4 + group], sb = scaleB[row * 4 + group] << 8;
  float4v acc = 0;
  acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, acc, 4, 4, 0, sa,
                                                         1, sb);
  for (int r = 0; r < 4; ++r)
    d[(4 * group + r) * 16 + row] = acc[r];
}

// A 16x16 tile of 16-bit values through the transposing LDS read.
LDS_KERNEL void transposedRead(global short *out, global const short *in) {
  local short tile[4 * 64];
  for (int e = 0; e < 4; ++e)
    tile[LX * 4 + e] = in[LX * 4 + e];
  BARRIER();
  short4v value = __builtin_amdgcn_ds_read_tr16_b64_v4i16(
      (local short4v *)(tile + LX * 4));
  for (int e = 0; e < 4; ++e)
    out[LX * 4 + e] = value[e];
}

kernel void laneSwaps(global int *out, global const int *in) {
  typedef uint uint2v __attribute__((ext_vector_type(2)));
  uint2v a = __builtin_amdgcn_permlane32_swap(in[LX], in[64 + LX], false, false);
  uint2v b = __builtin_amdgcn_permlane16_swap(in[LX], in[64 + LX], false, false);
  out[4 * LX] = a.x;
  out[4 * LX + 1] = a.y;
  out[4 * LX + 2] = b.x;
  out[4 * LX + 3] = b.y;
}
#endif
