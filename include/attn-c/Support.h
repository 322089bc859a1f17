/*===- attn-c/Support.h - Results, blobs and versions --------------*- C
-*-===*\
|*
|* Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
|* Exceptions. See LICENSE for license information.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

/* What all of the C API shares. No function throws, prints or exits; all may be
 * called from any thread, also with the same handle, as long as no thread
 * destroys it. Handles are destroyed by their Destroy function, which takes
 * NULL too.
 *
 * NULL for a handle, text or output is ATTN_INVALID_ARGUMENT, with its name, of
 * a function that returns an attnResult. One that reads a handle gives "" or 0
 * for NULL. Where NULL means something else the function or field says so.
 * Strings end with a zero byte; bytes with a size need none. */

#ifndef ATTN_C_SUPPORT_H
#define ATTN_C_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ATTN_C_BEGIN extern "C" {
#define ATTN_C_END }
#else
#define ATTN_C_BEGIN
#define ATTN_C_END
#endif

#if defined(__GNUC__)
#define ATTN_C_API __attribute__((visibility("default")))
#else
#define ATTN_C_API
#endif

ATTN_C_BEGIN

/*===----------------------------------------------------------------------===*\
 * Versions
\*===----------------------------------------------------------------------===*/

/* The interface. A new minor version only adds; a struct that grows is known by
 * its first field, `structSize`. */
#define ATTN_C_VERSION_MAJOR 1
#define ATTN_C_VERSION_MINOR 0

/** The version of the loaded library: major * 1000 + minor. A program built
 * with the macros above works if the major is the same and the minor not
 * less. */
ATTN_C_API uint32_t attnGetVersion(void);

/** The project's version, as "0.1.0". */
ATTN_C_API const char *attnGetProjectVersion(void);

/** An id of everything that decides what the compiler emits: the contents of
 * this library and of the LLVM and MLIR libraries that it uses. Equal ids make
 * equal code; a cache of compiled programs keys on it. */
ATTN_C_API const char *attnGetBuildId(void);

/*===----------------------------------------------------------------------===*\
 * Results
\*===----------------------------------------------------------------------===*/

/** What a call came to: NULL for success, else an error to be destroyed. Where
 * a function fails, its outputs are not written. */
typedef struct attnResultStorage *attnResult;

typedef enum attnCode {
  ATTN_SUCCESS = 0,
  /** The caller's mistake: text that does not parse, a buffer that is missing
   * or does not fit, a value out of range. */
  ATTN_INVALID_ARGUMENT = 1,
  /** Legal, but the target cannot do it. */
  ATTN_UNSUPPORTED = 2,
  /** The device or its runtime is not there. */
  ATTN_UNAVAILABLE = 3,
  /** Anything else, out of memory for instance. */
  ATTN_FAILED = 4
} attnCode;

/** ATTN_SUCCESS for NULL. */
ATTN_C_API attnCode attnResultGetCode(attnResult result);
/** One line without a final period, "" for NULL; lives as long as `result`. */
ATTN_C_API const char *attnResultGetMessage(attnResult result);
ATTN_C_API void attnResultDestroy(attnResult result);

/*===----------------------------------------------------------------------===*\
 * Blobs
\*===----------------------------------------------------------------------===*/

/** Bytes that the library made. */
typedef struct attnBlobStorage *attnBlob;

/** The bytes; a zero byte, not counted in the size, follows them. */
ATTN_C_API const char *attnBlobGetData(attnBlob blob);
ATTN_C_API size_t attnBlobGetSize(attnBlob blob);
ATTN_C_API void attnBlobDestroy(attnBlob blob);

/** What this library can do, as JSON: `version`, `build_id`, `llvm`, `targets`
 * (names for attnCompileOptions), `host` (the CPU that the target "cpu"
 * compiles for, with its features), `devices` (an array of `name`, `available`
 * and, if not, `reason`). */
ATTN_C_API attnResult attnGetCapabilities(attnBlob *blob);

ATTN_C_END

#endif /* ATTN_C_SUPPORT_H */
