/* What the C API says of wrong inputs: the code, and the message word for word
 * where it is ours; and what no description makes: a function on tensors.
 * Prints a line for every disagreement. */

#include <attn-c/Attn.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(const char *what, attnResult result, attnCode code,
                   const char *message) {
  const char *got = attnResultGetMessage(result);
  if (attnResultGetCode(result) != code || strstr(got, message) == NULL ||
      strchr(got, '\n') != NULL) {
    printf("%s: expects code %d and '%s', but got code %d and '%s'\n", what,
           (int)code, message, (int)attnResultGetCode(result), got);
    ++failures;
  }
  attnResultDestroy(result);
}

static attnResult compile(const char *json, const char *target,
                          attnProgram *program) {
  attnCompileOptions options = {sizeof(options), target, NULL, 0};
  return attnCompileDescription(json, strlen(json), &options, program);
}

static attnResult compileText(const char *text, attnProgram *program) {
  attnCompileOptions options = {sizeof(options), "cpu", NULL, 0};
  return attnCompile(text, strlen(text), &options, program);
}

#define OPERAND(NAME, LENGTH)                                                  \
  "\"" NAME "\": {\"dtype\": \"f32\", \"shape\": [1, null, " LENGTH ", 8]}"
#define INPUTS                                                                 \
  OPERAND("q", "null") "," OPERAND("k", "null") "," OPERAND("v", "null")
#define DESCRIBE(MORE, OPTIONS)                                                \
  "{\"op\": \"attention\", \"operands\": {" INPUTS                             \
  "," OPERAND("output", "null") MORE "}, \"options\": {" OPTIONS "}}"
#define LSE ", \"lse\": {\"dtype\": \"f32\", \"shape\": [1, null, null]}"
#define LENGTHS ", \"seqlens_kv\": {\"dtype\": \"i32\", \"shape\": [1]}"

static void testDescriptions(void) {
  attnProgram program;
  expect("no JSON", compile("{", "cpu", &program), ATTN_INVALID_ARGUMENT,
         "expects JSON, but got");
  static char nested[100001];
  memset(nested, '[', sizeof(nested) - 1);
  expect("deep JSON", compile(nested, "cpu", &program), ATTN_INVALID_ARGUMENT,
         "expects at most 64 levels of nesting");
  expect("unknown key", compile("{\"operation\": 1}", "cpu", &program),
         ATTN_INVALID_ARGUMENT,
         "expects op, operands and options, but got 'operation'");
  expect("no operands", compile("{\"op\": \"attention\"}", "cpu", &program),
         ATTN_INVALID_ARGUMENT, "operands: expects an object");
  expect("no op", compile("{\"operands\": {}}", "cpu", &program),
         ATTN_INVALID_ARGUMENT,
         "op: expects \"attention\" or \"merge_states\"");
  expect("no output",
         compile("{\"op\": \"attention\", \"operands\": {" INPUTS "}}", "cpu",
                 &program),
         ATTN_INVALID_ARGUMENT, "operands.output: expects an object");
  expect("unknown operand",
         compile(DESCRIBE("," OPERAND("w", "null"), ""), "cpu", &program),
         ATTN_INVALID_ARGUMENT,
         "operands: expects operands of attention, but got 'w'");
  expect("text in place of a type",
         compile("{\"op\": \"attention\", \"operands\": {\"q\": {\"dtype\": "
                 "\"f32> func.func\", \"shape\": [1]}}}",
                 "cpu", &program),
         ATTN_INVALID_ARGUMENT, "operands.q.dtype: expects the name of a type");
  expect(
      "negative size",
      compile("{\"op\": \"attention\", \"operands\": {\"q\": {\"dtype\": "
              "\"f32\", \"shape\": [-1]}}}",
              "cpu", &program),
      ATTN_INVALID_ARGUMENT,
      "operands.q.shape: expects null or integers from 0 to 2^59, but got -1");
#define HUGE_OPERAND(REST)                                                     \
  "{\"op\": \"attention\", \"operands\": {\"q\": {\"dtype\": \"f16\", " REST   \
  "}}}"
  expect("size of 2^63",
         compile(HUGE_OPERAND("\"shape\": [9223372036854775808]"), "cpu",
                 &program),
         ATTN_INVALID_ARGUMENT,
         "operands.q.shape: expects null or integers from 0 to 2^59, but got "
         "9223372036854775808");
  expect("stride of 2^63 - 1",
         compile(HUGE_OPERAND("\"shape\": [2, 8], "
                              "\"strides\": [9223372036854775807, 1]"),
                 "cpu", &program),
         ATTN_INVALID_ARGUMENT,
         "operands.q.strides: expects null or integers from 0 to 2^59, but got "
         "9223372036854775807");
  expect("contiguous, 2^60 elements",
         compile(HUGE_OPERAND("\"shape\": [1, 1073741824, null, 1073741824]"),
                 "cpu", &program),
         ATTN_INVALID_ARGUMENT,
         "operands.q: expects to span at most 2^59 elements, but got shape "
         "[1,1073741824,null,1073741824]");
  expect("strided, 2^60 elements",
         compile(HUGE_OPERAND("\"shape\": [1, 5], "
                              "\"strides\": [null, 288230376151711744]"),
                 "cpu", &program),
         ATTN_INVALID_ARGUMENT,
         "but got shape [1,5] and strides [null,288230376151711744]");
  expect(
      "as large as can be",
      compile(HUGE_OPERAND("\"shape\": [576460752303423488]"), "cpu", &program),
      ATTN_INVALID_ARGUMENT, "operands.k: expects an object");
  expect("no number", compile(DESCRIBE("", "\"scale\": true"), "cpu", &program),
         ATTN_INVALID_ARGUMENT, "");
  expect("refused by the verifier",
         compile(DESCRIBE("", "\"window_left\": -2"), "cpu", &program),
         ATTN_INVALID_ARGUMENT, "");
  expect("unknown target", compile(DESCRIBE("", ""), "gfx90a", &program),
         ATTN_INVALID_ARGUMENT,
         "target: expects cpu, gfx942 or gfx950, but got 'gfx90a'");
  expect("a head dim the chip lacks",
         compile("{\"op\": \"attention\", \"operands\": {"
                 "\"q\": {\"dtype\": \"f16\", \"shape\": [1, 1, 4, 3]},"
                 "\"k\": {\"dtype\": \"f16\", \"shape\": [1, 1, 4, 3]},"
                 "\"v\": {\"dtype\": \"f16\", \"shape\": [1, 1, 4, 3]},"
                 "\"output\": {\"dtype\": \"f16\", \"shape\": [1, 1, 4, 3]}}}",
                 "gfx950", &program),
         ATTN_UNSUPPORTED, "");
}

static void testTexts(void) {
  attnProgram program;
  attnCompileOptions options = {sizeof(options), "cpu", "there", 3};
  expect("no module", compileText("func.func @main(", &program),
         ATTN_INVALID_ARGUMENT, "module:1:");
  expect("no function", compileText("module {}", &program),
         ATTN_INVALID_ARGUMENT, "");
  expect("no such function", attnCompile("module {}", 9, &options, &program),
         ATTN_INVALID_ARGUMENT, "expects a function called 'there'");
  options.optLevel = 4;
  expect("level", attnCompile("module {}", 9, &options, &program),
         ATTN_INVALID_ARGUMENT, "optLevel: expects 0 to 3, but got 4");
  options.structSize = 1;
  expect("no options", attnCompile("module {}", 9, &options, &program),
         ATTN_INVALID_ARGUMENT, "expects options with structSize at least");
}

static void expectNull(const char *name, attnResult result) {
  char message[64];
  snprintf(message, sizeof(message), "%s: expects an address, but got NULL",
           name);
  expect(name, result, ATTN_INVALID_ARGUMENT, message);
}

static void expectEmpty(const char *what, const char *text) {
  if (text == NULL || *text != 0) {
    printf("%s of NULL: expects an empty string\n", what);
    ++failures;
  }
}

static void testNull(void) {
  attnCompileOptions options = {sizeof(options), "cpu", NULL, 0};
  attnProgram program;
  attnDevice device;
  attnKernel kernel;
  attnBlob blob;
  size_t size = 1;
  expectNull("text", attnCompile(NULL, 0, &options, &program));
  expectNull("program", attnCompile("module {}", 9, &options, NULL));
  expectNull("json", attnCompileDescription(NULL, 0, &options, &program));
  expectNull("program", attnCompileDescription("{}", 2, &options, NULL));
  expectNull("json", attnDescribe(NULL, 0, &blob));
  expectNull("text", attnDescribe("{}", 2, NULL));
  expectNull("text", attnCheckSupport(NULL, 0, &options));
  expect("no options", attnCheckSupport("module {}", 9, NULL),
         ATTN_INVALID_ARGUMENT, "expects options with structSize at least");
  expectNull("data", attnProgramDeserialize(NULL, 0, &program));
  expectNull("program", attnProgramDeserialize("", 0, NULL));
  expectNull("program", attnProgramGetStages(NULL, &blob));
  expectNull("program", attnProgramSerialize(NULL, &blob));
  expectNull("blob", attnGetCapabilities(NULL));
  expectNull("device", attnDeviceCreate(ATTN_DEVICE_CPU, NULL, NULL));
  expect("device", attnDeviceCreate(ATTN_DEVICE_CPU, NULL, &device),
         ATTN_SUCCESS, "");
  expect("compile", compile(DESCRIBE("", ""), "cpu", &program), ATTN_SUCCESS,
         "");
  expectNull("device", attnKernelLoad(NULL, program, &kernel));
  expectNull("program", attnKernelLoad(device, NULL, &kernel));
  expectNull("kernel", attnKernelLoad(device, program, NULL));
  expectNull("kernel", attnKernelLaunch(NULL, NULL, 0, NULL));
  expectNull("json", attnProgramGetStages(program, NULL));
  expectNull("blob", attnProgramSerialize(program, NULL));
  if (attnProgramGetCode(program, NULL) == NULL) {
    printf("code without its size: expects an address\n");
    ++failures;
  }
  attnProgramDestroy(program);
  attnDeviceDestroy(device);

  options.target = NULL;
  expect("no target", attnCheckSupport("module {}", 9, &options),
         ATTN_INVALID_ARGUMENT, "target: expects cpu, gfx942 or gfx950");
  expectEmpty("message", attnResultGetMessage(NULL));
  expectEmpty("data", attnBlobGetData(NULL));
  expectEmpty("target", attnProgramGetTarget(NULL));
  expectEmpty("entry", attnProgramGetEntry(NULL));
  expectEmpty("source", attnProgramGetSource(NULL));
  expectEmpty("manifest", attnProgramGetManifest(NULL));
  expectEmpty("interface", attnProgramGetInterface(NULL));
  expectEmpty("code", attnProgramGetCode(NULL, &size));
  expectEmpty("target", attnDeviceGetTarget(NULL));
  if (size != 0 || attnBlobGetSize(NULL) != 0 ||
      attnResultGetCode(NULL) != ATTN_SUCCESS ||
      attnDeviceGetKind(NULL) != ATTN_DEVICE_CPU) {
    printf("sizes and codes of NULL: expects 0\n");
    ++failures;
  }
}

static void testDevices(void) {
  attnDevice device, emulator;
  attnKernel kernel;
  attnProgram program;
  attnDeviceOptions options = {sizeof(options), 1, NULL, 0};
  expect("index", attnDeviceCreate(ATTN_DEVICE_CPU, &options, &device),
         ATTN_INVALID_ARGUMENT, "index: expects 0, or more for HIP, but got 1");
  options.index = 0;
  options.checks = "all";
  expect("checks", attnDeviceCreate(ATTN_DEVICE_CPU, &options, &device),
         ATTN_INVALID_ARGUMENT, "checks: expects the emulator");
  options.checks = NULL;
  options.hostMemory = 1;
  expect("host memory", attnDeviceCreate(ATTN_DEVICE_CPU, &options, &device),
         ATTN_INVALID_ARGUMENT, "hostMemory: expects HIP");
  options.hostMemory = 0;
  options.checks = "rases";
  expect("unknown check",
         attnDeviceCreate(ATTN_DEVICE_EMULATOR, &options, &device),
         ATTN_INVALID_ARGUMENT, "rases");
  expect("a program for the CPU", compile(DESCRIBE("", ""), "cpu", &program),
         ATTN_SUCCESS, "");
  expect("emulator", attnDeviceCreate(ATTN_DEVICE_EMULATOR, NULL, &emulator),
         ATTN_SUCCESS, "");
  expect("the CPU's program on the emulator",
         attnKernelLoad(emulator, program, &kernel), ATTN_INVALID_ARGUMENT,
         "expects a program for a chip, but got one for cpu");
  attnDeviceDestroy(emulator);
  attnProgramDestroy(program);
}

static float data[2 * 6 * 8];
static int32_t length;
static const int64_t six[] = {1, 2, 6, 8}, three[] = {1, 3, 6, 8},
                     five[] = {1, 2, 5, 8};

/* q, k, v, output, lse, seqlens_kv */
static attnBuffer buffers[6];

static void resetBuffers(void) {
  static const char *const names[] = {"q",      "k",   "v",
                                      "output", "lse", "seqlens_kv"};
  static const int64_t one[] = {1};
  for (int i = 0; i < 6; ++i) {
    attnBuffer buffer = {names[i], data, "f32", i == 4 ? 3 : 4, six, NULL};
    buffers[i] = buffer;
  }
  buffers[5].data = &length;
  buffers[5].dtype = "i32";
  buffers[5].rank = 1;
  buffers[5].shape = one;
  length = 6;
}

static void testLaunches(void) {
  attnDevice device;
  attnKernel kernel;
  attnProgram program;
  expect("compile", compile(DESCRIBE(LSE LENGTHS, ""), "cpu", &program),
         ATTN_SUCCESS, "");
  expect("device", attnDeviceCreate(ATTN_DEVICE_CPU, NULL, &device),
         ATTN_SUCCESS, "");
  expect("load", attnKernelLoad(device, program, &kernel), ATTN_SUCCESS, "");

  resetBuffers();
  buffers[4] = buffers[5];
  expect("no array", attnKernelLaunch(kernel, NULL, 1, NULL),
         ATTN_INVALID_ARGUMENT, "expects buffers, but got NULL");
  expect("no lse", attnKernelLaunch(kernel, buffers, 5, NULL),
         ATTN_INVALID_ARGUMENT,
         "expects a buffer 'lse', which the program writes, but got none");
  resetBuffers();
  buffers[1].name = "q";
  expect("twice", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT, "expects every buffer once, but got two 'q'");
  buffers[1].name = "key";
  expect("unknown name", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT, "but got 'key'");
  resetBuffers();
  buffers[0].dtype = "f16";
  expect("type", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT, "buffer 'q': expects f32, but got f16");
  resetBuffers();
  buffers[0].dtype = "float";
  expect("no type", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT,
         "buffer 'q': expects a dtype of MLIR, but got 'float'");
  resetBuffers();
  buffers[0].rank = 3;
  expect("rank", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT, "buffer 'q': expects rank 4, but got 3");
  resetBuffers();
  buffers[2].shape = five;
  expect("lengths of key and value", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT,
         "buffer 'v': expects dimension 2 to be 6 (k.d2, from dimension 2 of "
         "'k'), but got 5");
  resetBuffers();
  buffers[1].shape = buffers[2].shape = three;
  expect("heads", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT,
         "expects the number of query heads to be a multiple of "
         "that of key and value heads, but got 2 and 3");
  resetBuffers();
  buffers[3].strides = five;
  expect("strides of a contiguous operand",
         attnKernelLaunch(kernel, buffers, 6, NULL), ATTN_INVALID_ARGUMENT,
         "buffer 'output': expects stride 1 to be 48, but got 2");
  resetBuffers();
  buffers[0].data = NULL;
  expect("NULL", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT, "buffer 'q': expects memory, but got NULL");
  resetBuffers();
  buffers[0].data = (char *)data + 1;
  expect("alignment", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT,
         "buffer 'q': expects an address that is a multiple of 4");
  resetBuffers();
  length = 7;
  expect("too long", attnKernelLaunch(kernel, buffers, 6, NULL),
         ATTN_INVALID_ARGUMENT,
         "buffer 'seqlens_kv': expects element 0 to be 0 to 6, but got 7");
  resetBuffers();
  expect("a stream", attnKernelLaunch(kernel, buffers, 6, &length),
         ATTN_INVALID_ARGUMENT, "expects a stream for HIP only");
  expect("right", attnKernelLaunch(kernel, buffers, 6, NULL), ATTN_SUCCESS, "");

  attnKernelDestroy(kernel);
  attnDeviceDestroy(device);
  attnProgramDestroy(program);
}

static void testBytes(void) {
  attnProgram program, copy;
  attnBlob blob;
  static char damaged[1 << 20];
  expect("compile", compile(DESCRIBE("", ""), "cpu", &program), ATTN_SUCCESS,
         "");
  expect("serialize", attnProgramSerialize(program, &blob), ATTN_SUCCESS, "");
  size_t size = attnBlobGetSize(blob);
  if (size > sizeof(damaged)) {
    printf("the program has %zu bytes\n", size);
    ++failures;
    return;
  }
  memcpy(damaged, attnBlobGetData(blob), size);
  expect("no bytes", attnProgramDeserialize(damaged, 0, &copy),
         ATTN_INVALID_ARGUMENT, "expects a serialized program");
  expect("cut off", attnProgramDeserialize(damaged, size - 1, &copy),
         ATTN_INVALID_ARGUMENT, "the serialized program is damaged");
  damaged[size / 2] ^= 1;
  expect("a wrong bit", attnProgramDeserialize(damaged, size, &copy),
         ATTN_INVALID_ARGUMENT, "the serialized program is damaged");
  expect("all of it",
         attnProgramDeserialize(attnBlobGetData(blob), size, &copy),
         ATTN_SUCCESS, "");
  if (strcmp(attnProgramGetInterface(program), attnProgramGetInterface(copy)) ||
      strcmp(attnProgramGetManifest(program), attnProgramGetManifest(copy))) {
    printf("the copy of a program is another one\n");
    ++failures;
  }
  attnBlobDestroy(blob);
  attnProgramDestroy(program);
  attnProgramDestroy(copy);
}

/* Results are buffers of a launch too: of 4 equal scores the mean is 1.5. */
static void testTensors(attnDeviceKind kind, const char *target) {
#define TENSOR "tensor<1x1x4x8xf32>"
  static const char text[] =
      "func.func @main(%q: " TENSOR ", %v: " TENSOR ") -> (" TENSOR
      ", tensor<1x1x4xf32>) {\n"
      "  %e = tensor.empty() : " TENSOR "\n"
      "  %f = tensor.empty() : tensor<1x1x4xf32>\n"
      "  %o, %s = attn.attention ins(%q, %q, %v : " TENSOR ", " TENSOR
      ", " TENSOR ") outs(%e, %f : " TENSOR ", tensor<1x1x4xf32>)\n"
      "  return %o, %s : " TENSOR ", tensor<1x1x4xf32>\n}\n";
  static float query[4 * 8], value[4 * 8], output[4 * 8], lse[4];
  static const int64_t shape[] = {1, 1, 4, 8}, wrong[] = {1, 1, 4, 7};
  attnCompileOptions options = {sizeof(options), target, NULL, 3};
  attnProgram program;
  attnDevice device;
  attnKernel kernel;
  attnBuffer list[] = {{"arg0", query, "f32", 4, shape, NULL},
                       {"arg1", value, "f32", 4, shape, NULL},
                       {"output", output, "f32", 4, wrong, NULL},
                       {"lse", lse, "f32", 3, shape, NULL}};
  for (int i = 0; i < 4 * 8; ++i)
    value[i] = (float)(i / 8);
  expect(target, attnCompile(text, strlen(text), &options, &program),
         ATTN_SUCCESS, "");
  expect(target, attnDeviceCreate(kind, NULL, &device), ATTN_SUCCESS, "");
  expect(target, attnKernelLoad(device, program, &kernel), ATTN_SUCCESS, "");
  expect(target, attnKernelLaunch(kernel, list, 4, NULL), ATTN_INVALID_ARGUMENT,
         "buffer 'output': expects dimension 3 to be 8, but got 7");
  list[2].shape = shape;
  expect(target, attnKernelLaunch(kernel, list, 3, NULL), ATTN_INVALID_ARGUMENT,
         "expects a buffer 'lse', which the program writes, but got none");
  expect(target, attnKernelLaunch(kernel, list, 4, NULL), ATTN_SUCCESS, "");
  if (output[31] != 1.5F || !(lse[3] > 1.38629F && lse[3] < 1.38630F)) {
    printf("%s: expects 1.5 and ln 4, but got %g and %g\n", target, output[31],
           lse[3]);
    ++failures;
  }
  attnProgramDestroy(program);
  attnDeviceDestroy(device);
  attnKernelDestroy(kernel);
}

static void testQueries(void) {
  static const char wide[] =
      DESCRIBE("", "\"softcap\": 2") /* f32 heads of 8 columns */;
  static const char narrow[] =
      "func.func @f(%q: memref<1x1x4x3xf16>, %o: memref<1x1x4x3xf16>) {\n"
      "  attn.attention ins(%q, %q, %q : memref<1x1x4x3xf16>, "
      "memref<1x1x4x3xf16>, memref<1x1x4x3xf16>) outs(%o : "
      "memref<1x1x4x3xf16>)\n  return\n}\n";
  attnCompileOptions options = {sizeof(options), "cpu", NULL, 3};
  attnBlob blob;
  expect("describe", attnDescribe(wide, strlen(wide), &blob), ATTN_SUCCESS, "");
  if (!strstr(attnBlobGetData(blob), "softcap = 2.0")) {
    printf("the description is another one: %s\n", attnBlobGetData(blob));
    ++failures;
  }
  expect(
      "supported",
      attnCheckSupport(attnBlobGetData(blob), attnBlobGetSize(blob), &options),
      ATTN_SUCCESS, "");
  attnBlobDestroy(blob);
  expect("three columns", attnCheckSupport(narrow, strlen(narrow), &options),
         ATTN_SUCCESS, "");
  options.target = "gfx942";
  expect("three columns", attnCheckSupport(narrow, strlen(narrow), &options),
         ATTN_UNSUPPORTED, "head dims");
  expect("capabilities", attnGetCapabilities(&blob), ATTN_SUCCESS, "");
  if (!strstr(attnBlobGetData(blob), attnGetBuildId()) ||
      !strstr(attnBlobGetData(blob), attnGetProjectVersion())) {
    printf("capabilities lack the version: %s\n", attnBlobGetData(blob));
    ++failures;
  }
  attnBlobDestroy(blob);
}

int main(void) {
  testDescriptions();
  testTexts();
  testNull();
  testDevices();
  testLaunches();
  testBytes();
  testQueries();
  testTensors(ATTN_DEVICE_CPU, "cpu");
  testTensors(ATTN_DEVICE_EMULATOR, "gfx950");
  /* Destroying nothing is nothing. */
  attnResultDestroy(NULL);
  attnBlobDestroy(NULL);
  attnProgramDestroy(NULL);
  attnDeviceDestroy(NULL);
  attnKernelDestroy(NULL);
  return failures != 0;
}
