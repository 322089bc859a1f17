//===- KernelProgram.h - A code object with its manifest --------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attn-compile writes, read back: something that a device can load.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_KERNELPROGRAM_H
#define ATTN_RUNTIME_KERNELPROGRAM_H

#include "attn/Emulator/CodeObject.h"
#include "attn/Target/Manifest.h"
#include "llvm/Support/MemoryBuffer.h"

namespace attn::rt {

/// A code object and a manifest that describes it.
struct KernelProgram {
  /// The ELF file, and what it says. Null when the manifest has no kernels: a
  /// function with nothing to compute has no code.
  std::unique_ptr<llvm::MemoryBuffer> code;
  std::unique_ptr<emu::CodeObject> object;
  manifest::Manifest manifest;
  /// Names that a caller may bind, to no effect: see CompiledModule.
  std::vector<std::string> unusedArgs;
  /// Outputs that a caller need not bind. Others are arguments, as far as
  /// anybody knows: what an entry was compiled to write, it is given.
  std::vector<std::string> results;

  /// Parses `code` and compares it with `manifest`: chip, kernels, the size of
  /// their arguments and LDS. `code` may be null when there are no kernels.
  static llvm::Expected<KernelProgram>
  create(std::unique_ptr<llvm::MemoryBuffer> code, manifest::Manifest manifest);
};

/// Reads and parses a manifest; errors name the path.
llvm::Expected<manifest::Manifest> readManifest(llvm::StringRef path);

} // namespace attn::rt

#endif // ATTN_RUNTIME_KERNELPROGRAM_H
