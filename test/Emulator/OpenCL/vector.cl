// Element-wise arithmetic of all widths.
#include "corpus.h"

kernel void saxpy(global float *y, global const float *x, float a, int n) {
  if (ID < n)
    y[ID] = a * x[ID] + y[ID];
}

kernel void int32(global int *out, global const int *a, global const int *b) {
  int i = ID, x = a[i], y = b[i];
  uint ux = x, uy = y;
  out[16 * i + 0] = x * y;
  out[16 * i + 1] = (int)(((long)x * y) >> 32);
  out[16 * i + 2] = (int)(((ulong)ux * uy) >> 32);
  out[16 * i + 3] = y ? x / (y | 1) : 0;
  out[16 * i + 4] = x % ((y & 0xffff) + 1);
  out[16 * i + 5] = (int)(ux / ((uy >> 7) + 1));
  out[16 * i + 6] = (int)(ux % ((uy >> 3) + 1));
  out[16 * i + 7] = x << (y & 31);
  out[16 * i + 8] = x >> (y & 31);
  out[16 * i + 9] = (int)(ux >> (uy & 31));
  out[16 * i + 10] = ux ? __builtin_clz(ux) : 32;
  out[16 * i + 11] = __builtin_popcount(ux);
  out[16 * i + 12] = ux ? __builtin_ctz(ux) : 32;
  out[16 * i + 13] = x < y ? x : y;
  out[16 * i + 14] = (int)(ux > uy ? ux : uy);
  out[16 * i + 15] = (int)((ux << 13) | (ux >> 19)) ^ ~y;
}

kernel void int64(global long *out, global const long *a, global const long *b) {
  int i = ID;
  long x = a[i], y = b[i];
  ulong ux = x, uy = y;
  out[10 * i + 0] = x + y;
  out[10 * i + 1] = x - y;
  out[10 * i + 2] = x * y;
  out[10 * i + 3] = x / (y | 1);
  out[10 * i + 4] = (long)(ux % (uy | 1));
  out[10 * i + 5] = x << (y & 63);
  out[10 * i + 6] = x >> (y & 63);
  out[10 * i + 7] = (long)(ux >> (uy & 63));
  out[10 * i + 8] = x < y ? x : y;
  out[10 * i + 9] = ux > uy;
}

kernel void shorts(global short *out, global const short *a,
                  global const short *b) {
  int i = ID;
  short x = a[i], y = b[i];
  ushort ux = x, uy = y;
  out[8 * i + 0] = x + y;
  out[8 * i + 1] = x * y;
  out[8 * i + 2] = x >> (y & 15);
  out[8 * i + 3] = x << (y & 15);
  out[8 * i + 4] = ux > uy ? ux : uy;
  out[8 * i + 5] = x < y ? x : y;
  out[8 * i + 6] = ux >> (uy & 15);
  out[8 * i + 7] = x - y;
}

kernel void packed16(global short2 *out, global const short2 *a,
                     global const short2 *b) {
  int i = ID;
  out[4 * i + 0] = a[i] + b[i];
  out[4 * i + 1] = a[i] * b[i] + a[i];
  out[4 * i + 2] = __builtin_elementwise_max(a[i], b[i]);
  out[4 * i + 3] = a[i] >> (b[i] & (short2)(15));
}

kernel void float32(global float *out, global const float *a,
                    global const float *b) {
  int i = ID;
  float x = a[i], y = b[i];
  out[16 * i + 0] = x + y;
  out[16 * i + 1] = x - y;
  out[16 * i + 2] = x * y;
  out[16 * i + 3] = x / y;
  out[16 * i + 4] = __builtin_fmaf(x, y, 1.5f);
  out[16 * i + 5] = __builtin_elementwise_sqrt(__builtin_fabsf(x));
  out[16 * i + 6] = __builtin_elementwise_floor(x);
  out[16 * i + 7] = __builtin_elementwise_ceil(x);
  out[16 * i + 8] = __builtin_elementwise_trunc(x);
  out[16 * i + 9] = __builtin_elementwise_rint(x);
  out[16 * i + 10] = __builtin_fminf(x, y);
  out[16 * i + 11] = __builtin_fmaxf(x, y);
  out[16 * i + 12] = __builtin_copysignf(x, y);
  out[16 * i + 13] = (float)(int)x;
  out[16 * i + 14] = (float)(uint)__builtin_fabsf(x);
  out[16 * i + 15] = x < y ? -x : y;
}

kernel void float64(global double *out, global const double *a,
                    global const double *b) {
  int i = ID;
  double x = a[i], y = b[i];
  out[10 * i + 0] = x + y;
  out[10 * i + 1] = x * y;
  out[10 * i + 2] = x / y;
  out[10 * i + 3] = __builtin_fma(x, y, 0.25);
  out[10 * i + 4] = __builtin_elementwise_sqrt(__builtin_fabs(x));
  out[10 * i + 5] = __builtin_elementwise_floor(x);
  out[10 * i + 6] = __builtin_fmin(x, y);
  out[10 * i + 7] = (double)(float)x;
  out[10 * i + 8] = (double)(int)x;
  out[10 * i + 9] = (double)(long)x;
}

kernel void halves(global half *out, global const half *a,
                    global const half *b) {
  int i = ID;
  half x = a[i], y = b[i];
  out[8 * i + 0] = x + y;
  out[8 * i + 1] = x * y;
  out[8 * i + 2] = __builtin_elementwise_fma(x, y, x);
  out[8 * i + 3] = x / y;
  out[8 * i + 4] = __builtin_elementwise_sqrt(__builtin_elementwise_abs(x));
  out[8 * i + 5] = (half)(float)x;
  out[8 * i + 6] = (half)((float)x * 1.0009765625f);
  out[8 * i + 7] = x < y ? x : y;
}

kernel void packedHalf(global half2 *out, global const half2 *a,
                       global const half2 *b) {
  int i = ID;
  out[4 * i + 0] = a[i] + b[i];
  out[4 * i + 1] = a[i] * b[i];
  out[4 * i + 2] = __builtin_elementwise_fma(a[i], b[i].yx, -a[i]);
  out[4 * i + 3] = a[i].yx - b[i];
}

kernel void packedFloat(global float2 *out, global const float2 *a,
                        global const float2 *b) {
  int i = ID;
  float2 x = a[i], y = b[i];
  out[4 * i + 0] = x + y;
  out[4 * i + 1] = x * y.yx;
  out[4 * i + 2] = __builtin_elementwise_fma(x, y, -x.yx);
  out[4 * i + 3] = (float2)(x.x + y.y, x.x - y.x);
}

kernel void bfloat(global ushort *out, global const float *a) {
  int i = ID;
  __bf16 x = (__bf16)a[i];
  out[2 * i] = __builtin_bit_cast(ushort, x);
  __bf16 y = (__bf16)((float)x * 3.0f);
  out[2 * i + 1] = __builtin_bit_cast(ushort, y);
}

// Loads and stores of every width, sign and vector length.
kernel void widths(global char *c, global short *s, global int *w,
                   global long *l, int n) {
  int i = ID;
  if (i >= n)
    return;
  int c0 = c[3 * i], c2 = ((global uchar *)c)[3 * i + 2];
  int s0 = s[2 * i], s1 = ((global ushort *)s)[2 * i + 1];
  int3 three = {w[3 * i], w[3 * i + 1], w[3 * i + 2]};
  long sum = l[i];
  c[3 * i + 1] = c0 + c2;
  s[2 * i] = s1 - s0;
  w[3 * i + 1] = three.x ^ three.z;
  l[i] = sum * 3 + c0 * 1000000007l + s1;
}

kernel void wide(global int4 *out, global const int4 *in, global int3 *out3,
                 global const int2 *in2) {
  int i = ID;
  int4 x = in[i];
  int2 y = in2[i];
  out[i] = x.wzyx + y.xyxy;
  out3[i] = x.xyz - y.xxy;
}

struct Pair {
  int first;
  float second;
  short third[3];
};

// By-value structs, a constant table (.rodata) and a program-scope variable.
constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
kernel void arguments(global int *out, struct Pair pair, char tiny, long big,
                      float3 vec) {
  int i = ID;
  out[i] = pair.first + (int)pair.second + pair.third[i % 3] + tiny +
           (int)(big >> 32) + (int)vec.z + table[i & 7];
}
