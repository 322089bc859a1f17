/* Threads that compile, load and launch at the same time, also one kernel. */

#include <attn-c/Attn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 4, rounds = 3, rows = 40, width = 64 };

static const char description[] =
    "{\"op\": \"attention\", \"operands\": {"
    "\"q\": {\"dtype\": \"f32\", \"shape\": [1, 1, null, 64]},"
    "\"k\": {\"dtype\": \"f32\", \"shape\": [1, 1, null, 64]},"
    "\"v\": {\"dtype\": \"f32\", \"shape\": [1, 1, null, 64]},"
    "\"output\": {\"dtype\": \"f32\", \"shape\": [1, 1, null, 64]}}}";

static void check(attnResult result) {
  if (attnResultGetCode(result) == ATTN_SUCCESS)
    return;
  printf("error: %s\n", attnResultGetMessage(result));
  exit(1);
}

static attnProgram compile(const char *target) {
  attnCompileOptions options = {sizeof(options), target, NULL, 0};
  attnProgram program;
  check(attnCompileDescription(description, strlen(description), &options,
                               &program));
  return program;
}

/* Every value is `value`, and so is their average. */
static void launch(attnKernel kernel, float value) {
  static const float zeros[rows * width];
  float *values = malloc(2 * rows * width * sizeof(float));
  float *output = values + rows * width;
  int64_t shape[] = {1, 1, rows, width};
  union {
    const float *in;
    void *data;
  } inputs = {zeros};
  attnBuffer buffers[] = {
      {"q", inputs.data, "f32", 4, shape, NULL},
      {"k", inputs.data, "f32", 4, shape, NULL},
      {"v", values, "f32", 4, shape, NULL},
      {"output", output, "f32", 4, shape, NULL},
  };
  for (int i = 0; i < rows * width; ++i)
    values[i] = value;
  check(attnKernelLaunch(kernel, buffers, 4, NULL));
  for (int i = 0; i < rows * width; ++i)
    if (output[i] != value) {
      printf("output[%d]: expects %g, but got %g\n", i, value, output[i]);
      exit(1);
    }
  free(values);
}

static attnDevice cpu, emulator;
static attnKernel shared;

static void *work(void *argument) {
  float value = (float)*(int *)argument;
  for (int round = 0; round < rounds; ++round) {
    int onCPU = (*(int *)argument + round) % 2;
    attnProgram program = compile(onCPU ? "cpu" : "gfx950");
    attnKernel own;
    check(attnKernelLoad(onCPU ? cpu : emulator, program, &own));
    attnProgramDestroy(program);
    launch(own, value);
    launch(shared, value);
    attnKernelDestroy(own);
  }
  return NULL;
}

int main(void) {
  pthread_t handles[threads];
  int numbers[threads];
  check(attnDeviceCreate(ATTN_DEVICE_CPU, NULL, &cpu));
  check(attnDeviceCreate(ATTN_DEVICE_EMULATOR, NULL, &emulator));
  attnProgram program = compile("cpu");
  check(attnKernelLoad(cpu, program, &shared));
  attnProgramDestroy(program);
  for (int i = 0; i < threads; ++i) {
    numbers[i] = i;
    pthread_create(&handles[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  attnKernelDestroy(shared);
  attnDeviceDestroy(cpu);
  attnDeviceDestroy(emulator);
  return 0;
}
