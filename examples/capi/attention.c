/* Attention with LSE through the C API: compile, launch, check the numbers.
 *
 * usage: attention [cpu | hip | emulator gfx942|gfx950]
 *
 * Every score is 0, so row i of the 3 queries averages the values 0 .. i + 2 of
 * the keys it sees, and its LSE is ln(i + 3). */

#include <attn-c/Attn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { heads = 2, queries = 3, keys = 5, width = 64 };

static void check(attnResult result) {
  if (attnResultGetCode(result) == ATTN_SUCCESS)
    return;
  fprintf(stderr, "error: %s\n", attnResultGetMessage(result));
  attnResultDestroy(result);
  exit(1);
}

static attnDeviceKind parseDevice(const char *name) {
  if (strcmp(name, "cpu") == 0)
    return ATTN_DEVICE_CPU;
  if (strcmp(name, "emulator") == 0)
    return ATTN_DEVICE_EMULATOR;
  if (strcmp(name, "hip") == 0)
    return ATTN_DEVICE_HIP;
  fprintf(stderr, "error: expects cpu, emulator or hip, but got '%s'\n", name);
  exit(1);
}

/* Rows are `pitch` elements apart. */
static float output[heads][queries][width + 8], lse[heads][queries];
static float query[heads][queries][width], key[heads][keys][width],
    value[heads][keys][width];

int main(int argc, char **argv) {
  static const char description[] =
      "{\"op\": \"attention\","
      " \"operands\": {"
      "  \"q\": {\"dtype\": \"f32\", \"shape\": [1, 2, null, 64]},"
      "  \"k\": {\"dtype\": \"f32\", \"shape\": [1, 2, null, 64]},"
      "  \"v\": {\"dtype\": \"f32\", \"shape\": [1, 2, null, 64]},"
      "  \"output\": {\"dtype\": \"f32\", \"shape\": [1, 2, null, 64],"
      "               \"strides\": [null, null, null, 1]},"
      "  \"lse\": {\"dtype\": \"f32\", \"shape\": [1, 2, null]}},"
      " \"options\": {\"causal\": true}}";
  const attnDeviceKind kind = parseDevice(argc > 1 ? argv[1] : "cpu");
  attnDeviceOptions deviceOptions = {sizeof(deviceOptions), 0, NULL, 0};
  attnCompileOptions options = {sizeof(options), NULL, NULL, 3};
  attnProgram program;
  attnDevice device;
  attnKernel kernel;
  if (attnGetVersion() / 1000 != ATTN_C_VERSION_MAJOR)
    return 1;
  if (kind == ATTN_DEVICE_EMULATOR)
    deviceOptions.checks = "all";
  /* The arrays below are in this process's memory. */
  deviceOptions.hostMemory = kind == ATTN_DEVICE_HIP;
  check(attnDeviceCreate(kind, &deviceOptions, &device));
  /* The emulator takes every chip, the others are one. */
  options.target = argc > 2 ? argv[2] : attnDeviceGetTarget(device);
  check(attnCompileDescription(description, strlen(description), &options,
                               &program));
  check(attnKernelLoad(device, program, &kernel));
  /* The kernel keeps what it needs. */
  attnProgramDestroy(program);
  attnDeviceDestroy(device);

  for (int h = 0; h < heads; ++h)
    for (int j = 0; j < keys; ++j)
      for (int c = 0; c < width; ++c)
        value[h][j][c] = (float)(j + 10 * h);
  memset(output, 0xff, sizeof(output));
  memset(lse, 0xff, sizeof(lse));
  const int64_t queryShape[] = {1, heads, queries, width};
  const int64_t keyShape[] = {1, heads, keys, width};
  const int64_t pitched[] = {heads * queries * (width + 8),
                             queries * (width + 8), width + 8, 1};
  const attnBuffer buffers[] = {
      {"q", query, "f32", 4, queryShape, NULL},
      {"k", key, "f32", 4, keyShape, NULL},
      {"v", value, "f32", 4, keyShape, NULL},
      {"output", output, "f32", 4, queryShape, pitched},
      {"lse", lse, "f32", 3, queryShape, NULL},
  };
  check(attnKernelLaunch(kernel, buffers, 5, NULL));
  attnKernelDestroy(kernel);

  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < queries; ++i) {
      double expected = 10 * h + (i + 2) / 2.0;
      for (int c = 0; c < width; ++c)
        if (!(fabs(output[h][i][c] - expected) <= 1e-5)) {
          printf("output[%d][%d][%d]: expects %g, but got %g\n", h, i, c,
                 expected, output[h][i][c]);
          return 1;
        }
      /* The gap between rows is not ours to write. */
      if (!isnan(output[h][i][width])) {
        printf("output[%d][%d] is written beyond its end\n", h, i);
        return 1;
      }
      if (!(fabs(lse[h][i] - log(i + 3)) <= 2e-5)) {
        printf("lse[%d][%d]: expects %g, but got %g\n", h, i, log(i + 3),
               lse[h][i]);
        return 1;
      }
    }
  printf("LSE of row 0: %.5f\n", lse[0][0]);
  return 0;
}
