/*===- attn-c/Runtime.h - Devices and launches ---------------------*- C
-*-===*\
|*
|* Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
|* Exceptions. See LICENSE for license information.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_RUNTIME_H
#define ATTN_C_RUNTIME_H

#include "attn-c/Program.h"

ATTN_C_BEGIN

/*===----------------------------------------------------------------------===*\
 * Devices
\*===----------------------------------------------------------------------===*/

typedef enum attnDeviceKind {
  /** This machine's processor; runs programs of the target "cpu". */
  ATTN_DEVICE_CPU = 0,
  /** GPU code on this machine's processor, with checks. */
  ATTN_DEVICE_EMULATOR = 1,
  /** An AMD GPU through libamdhip64, which is loaded when it is asked for. */
  ATTN_DEVICE_HIP = 2
} attnDeviceKind;

typedef struct attnDeviceStorage *attnDevice;

typedef struct attnDeviceOptions {
  /** sizeof(attnDeviceOptions). */
  size_t structSize;
  /** HIP: which GPU, from 0. Must be 0 for others. */
  int32_t index;
  /** Emulator: the checks, as attn-run's --check ("all", "none",
   * "races,waits"). NULL is "none"; for other devices it must be NULL or
   * "none". */
  const char *checks;
  /** HIP: whether buffers lie in this process's memory; a launch then copies
   * them to the GPU and back, and is complete on return. Must be 0 for others.
   */
  int32_t hostMemory;
} attnDeviceOptions;

/** ATTN_UNAVAILABLE, with the reason, where attnDeviceCreate would say so. */
ATTN_C_API attnResult attnDeviceIsAvailable(attnDeviceKind kind);
/** `options` may be NULL. */
ATTN_C_API attnResult attnDeviceCreate(attnDeviceKind kind,
                                       const attnDeviceOptions *options,
                                       attnDevice *device);
ATTN_C_API void attnDeviceDestroy(attnDevice device);
/** ATTN_DEVICE_CPU for NULL too. */
ATTN_C_API attnDeviceKind attnDeviceGetKind(attnDevice device);
/** The target to compile for: "cpu" or a chip; "" for the emulator, which takes
 * any chip. Lives as long as the device. */
ATTN_C_API const char *attnDeviceGetTarget(attnDevice device);

/*===----------------------------------------------------------------------===*\
 * Kernels
\*===----------------------------------------------------------------------===*/

/** A program on a device. Keeps both alive. */
typedef struct attnKernelStorage *attnKernel;

/** ATTN_INVALID_ARGUMENT if the program is for another target. */
ATTN_C_API attnResult attnKernelLoad(attnDevice device, attnProgram program,
                                     attnKernel *kernel);
ATTN_C_API void attnKernelDestroy(attnKernel kernel);

/** Memory of the caller, seen as a strided array. */
typedef struct attnBuffer {
  /** As in attnProgramGetInterface; not NULL. */
  const char *name;
  /** Element (0, 0, ...): memory of the GPU for ATTN_DEVICE_HIP (unless
   * `hostMemory`), but for scalars, and of this process for the others. */
  void *data;
  /** "f16", "bf16", "f32", "f64", "i8", "i32", ...: names of MLIR. */
  const char *dtype;
  int64_t rank;
  /** `rank` sizes; may be NULL if rank is 0. */
  const int64_t *shape;
  /** `rank` distances in elements, not negative, 0 only in inputs and where the
   * size is 1. NULL is contiguous. */
  const int64_t *strides;
} attnBuffer;

/** Runs a kernel on `count` buffers, one for each of the interface in any
 * order: inputs are read, outputs written whole. All of them are checked first;
 * a missing one, of another type, or of sizes that do not fit together is
 * ATTN_INVALID_ARGUMENT and nothing is written. So are lengths, places and
 * pages that point outside of a buffer (on the CPU and the emulator). Outputs
 * must overlap nothing. On return the outputs are complete, but for memory of a
 * GPU, where launches are queued on `stream` (a hipStream_t, NULL for the
 * default one; must be NULL elsewhere). */
ATTN_C_API attnResult attnKernelLaunch(attnKernel kernel,
                                       const attnBuffer *buffers, size_t count,
                                       void *stream);

ATTN_C_END

#endif /* ATTN_C_RUNTIME_H */
