// Divergence, calls, scratch, atomics.
#include "corpus.h"

kernel void collatz(global int *out, global const int *in) {
  uint x = in[ID];
  int steps = 0;
  while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[ID] = steps;
}

kernel void nested(global int *out, global const int *in) {
  int x = in[ID], sum = 0;
  for (int i = 0; i < (x & 15); ++i) {
    if ((i + x) % 3 == 0)
      continue;
    for (int j = i; j < 10; ++j) {
      if (j == (x & 7))
        break;
      sum += i * j + x;
    }
    if (sum > 100000)
      break;
  }
  out[ID] = sum;
}

kernel void switches(global int *out, global const int *in) {
  int x = in[ID];
  switch (x & 15) {
  case 0: x += 7; break;
  case 1: x *= 3;
  case 2: x ^= 0x55; break;
  case 3: x -= 1; break;
  case 5: x = -x; break;
  case 8: x <<= 2; break;
  case 9: x >>= 1;
  case 10: x += 1000; break;
  case 15: x = 42; break;
  default: x = ~x; break;
  }
  out[ID] = x;
}

__attribute__((noinline)) static int fibonacci(int n) {
  int a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    int c = a + b;
    a = b;
    b = c;
  }
  return a;
}
__attribute__((noinline)) static int apply(int x, private int *state) {
  state[x & 7] += x;
  return state[(x + 1) & 7] + fibonacci(x & 15);
}
// Function calls with pointers into scratch.
kernel void calls(global int *out, global const int *in) {
  int state[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += apply(in[ID] + i, state);
  out[ID] = sum;
}

// A private array with dynamic indices of several widths.
kernel void scratch(global int *out, global const int *in) {
  int words[32];
  short halves[16];
  for (int i = 0; i < 32; ++i)
    words[i] = in[ID] * (i + 1);
  for (int i = 0; i < 16; ++i)
    halves[i] = (short)(in[ID] + i * i);
  int x = in[ID] & 31, sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += words[x] - halves[x & 15];
    words[(x * 7) & 31] = sum;
    x = (x * 5 + 3) & 31;
  }
  out[ID] = sum;
}

kernel void atomics(global int *counters, global uint *unsignedOnes,
                    global long *longs, global float *floats,
                    global double *doubles, global int *order) {
  int lane = ID;
  __scoped_atomic_fetch_add(&counters[0], lane, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_sub(&counters[1], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_and(&counters[2], ~(1 << (lane & 31)), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_or(&counters[3], 1 << (lane & 31), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_xor(&counters[4], lane, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_min(&counters[5], 50 - lane, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(&counters[6], lane * 3 - 100, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(&unsignedOnes[0], (uint)-lane, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_min(&unsignedOnes[1], (uint)-lane, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(&longs[0], (long)lane << 33, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(&longs[1], (long)lane << 40, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(&floats[0], 0.5f, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(&doubles[0], 0.25, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  // The returned values are a permutation.
  int ticket = __scoped_atomic_fetch_add(&counters[7], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_exchange_n(&order[ticket], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  // Compare and swap until it works: a product.
  int old = __scoped_atomic_load_n(&counters[8], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  while (!__scoped_atomic_compare_exchange_n(&counters[8], &old, old * 3, false,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __MEMORY_SCOPE_DEVICE))
    ;
}

LDS_KERNEL void ldsAtomics(global int *out, global float *floats) {
  local int data[8];
  local float sum;
  local ulong wide;
  if (LX < 8)
    data[LX] = LX == 4 ? 1000 : 0;
  if (LX == 0) {
    sum = 0.0f;
    wide = 0;
  }
  BARRIER();
  __scoped_atomic_fetch_add(&data[0], LX, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_xor(&data[1], LX * 5, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_or(&data[2], 1 << (LX & 31), __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_max(&data[3], LX, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_min(&data[4], 500 - LX, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  int ticket = __scoped_atomic_fetch_sub(&data[5], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  int expected = ticket == -7 ? 0 : 1;
  __scoped_atomic_compare_exchange_n(&data[6], &expected, 77, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_add(&sum, 1.5f, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_add(&wide, (ulong)LX << 30, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  BARRIER();
  if (LX < 8)
    out[LX] = data[LX];
  if (LX == 0) {
    floats[0] = sum;
    floats[1] = (float)(wide >> 30);
  }
}
