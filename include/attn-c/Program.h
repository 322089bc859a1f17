/*===- attn-c/Program.h - Compiling --------------------------------*- C
-*-===*\
|*
|* Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
|* Exceptions. See LICENSE for license information.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef ATTN_C_PROGRAM_H
#define ATTN_C_PROGRAM_H

#include "attn-c/Support.h"

ATTN_C_BEGIN

/** One compiled function: machine code and how to call it. Immutable. */
typedef struct attnProgramStorage *attnProgram;

typedef struct attnCompileOptions {
  /** sizeof(attnCompileOptions). */
  size_t structSize;
  /** "cpu", or a chip: "gfx942" or "gfx950". */
  const char *target;
  /** The function; NULL or "" takes the only public one. */
  const char *entry;
  /** LLVM's level, 0 to 3. */
  int32_t optLevel;
} attnCompileOptions;

/** Compiles a module of `size` bytes of MLIR text. ATTN_INVALID_ARGUMENT for
 * text that does not parse or verify, ATTN_UNSUPPORTED for what the target
 * cannot do. Compilations in one process run one after another. */
ATTN_C_API attnResult attnCompile(const char *text, size_t size,
                                  const attnCompileOptions *options,
                                  attnProgram *program);

/** The module of one operation on memrefs, from a description: a JSON object
 *
 *   {"op": "attention",
 *    "operands": {
 *      "q": {"dtype": "f16", "shape": [null, 8, null, 64],
 *            "strides": [null, null, null, 1]},
 *      "k": {"dtype": "f16", "shape": [null, 2, null, 64]}, "v": ...,
 *      "output": ..., "lse": ...},
 *    "options": {"causal": true, "scale": 0.125}}
 *
 * `op` is "attention" or "merge_states". Operands are called as the clauses of
 * the op (docs/Dialect.md), its query, key and value q, k and v; the states of
 * a merge o0, lse0, o1, lse1, and so on. `null` is a size or stride known at
 * run time, others are numbers up to 2^59, and no operand spans more elements;
 * without `strides` the operand is contiguous; an empty shape is a scalar.
 * Without `lse` there is no LSE. `dtype` is a name of MLIR; options are the
 * op's attributes: numbers, true or false, names as strings. The function is
 * called `attention` or `merge_states`, its arguments as the operands. */
ATTN_C_API attnResult attnDescribe(const char *json, size_t size,
                                   attnBlob *text);

/** attnDescribe, then attnCompile; `options->entry` has to be empty. */
ATTN_C_API attnResult attnCompileDescription(const char *json, size_t size,
                                             const attnCompileOptions *options,
                                             attnProgram *program);

/** Asks whether the target can do what the module wants, without compiling it:
 * what attnCompile would say before it generates code. */
ATTN_C_API attnResult attnCheckSupport(const char *text, size_t size,
                                       const attnCompileOptions *options);

ATTN_C_API void attnProgramDestroy(attnProgram program);

/* The following live as long as the program. */
ATTN_C_API const char *attnProgramGetTarget(attnProgram program);
ATTN_C_API const char *attnProgramGetEntry(attnProgram program);
/** The module that was compiled. */
ATTN_C_API const char *attnProgramGetSource(attnProgram program);
/** JSON. For a chip the manifest of docs/Running.md, which is all that
 * launching the code object without this library takes; for "cpu" the same
 * without kernels and launches. */
ATTN_C_API const char *attnProgramGetManifest(attnProgram program);
/** JSON, for every target: `buffers` as in a manifest, one for every argument
 * and result of the function. These are what attnKernelLaunch wants. Equal
 * names of dimensions have to be equal sizes. */
ATTN_C_API const char *attnProgramGetInterface(attnProgram program);
/** The code object (.hsaco), or for "cpu" a relocatable ELF object. `size` may
 * be NULL. */
ATTN_C_API const char *attnProgramGetCode(attnProgram program, size_t *size);

/** The module after every pass that changed it, and the assembly: a JSON array
 * of {"name", "text"}, first the source. Compiles again. */
ATTN_C_API attnResult attnProgramGetStages(attnProgram program, attnBlob *json);

/** The program as bytes for attnProgramDeserialize, of the same build id; those
 * of "cpu" are for hosts with the same `host` in attnGetCapabilities. */
ATTN_C_API attnResult attnProgramSerialize(attnProgram program, attnBlob *blob);
/** ATTN_INVALID_ARGUMENT for bytes that are damaged (they carry a checksum) or
 * come from another build or host. A program is code that will be run: take it
 * from whom you trust. */
ATTN_C_API attnResult attnProgramDeserialize(const char *data, size_t size,
                                             attnProgram *program);

ATTN_C_END

#endif /* ATTN_C_PROGRAM_H */
