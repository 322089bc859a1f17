//===- HSACO.h - LLVM IR to AMD code objects, in process --------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's AMDGPU backend and lld run inside this process; no ROCm installation
// and no device library is involved.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_HSACO_H
#define ATTN_TARGET_HSACO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::attn {

/// Sets triple and data layout of `module` for `chip`, so that it can be
/// printed or compiled.
llvm::Error prepareModule(llvm::Module &module, llvm::StringRef chip);

/// Runs the mid-level clean-up that the backend expects (the IR that comes out
/// of MLIR is unrotated and full of constant arithmetic). `optLevel` 0..3.
llvm::Error optimizeModule(llvm::Module &module, llvm::StringRef chip,
                           unsigned optLevel = 3);

/// Assembly text of a prepared module. The module is consumed: the backend
/// changes it.
llvm::Expected<std::string>
emitAssembly(llvm::Module &module, llvm::StringRef chip, unsigned optLevel = 3);

/// Relocatable ELF object of a prepared module; consumes it.
llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::StringRef chip, unsigned optLevel = 3);

/// Links one relocatable object into a code object (.hsaco). lld wants files:
/// they live in a fresh temporary directory that is gone on return. lld resets
/// the process's cl::opt values: read them before.
llvm::Expected<llvm::SmallVector<char, 0>>
linkCodeObject(llvm::ArrayRef<char> object);

/// An explicit kernel argument, as the metadata describes it.
struct KernelArgInfo {
  std::string name;
  std::string valueKind; ///< "global_buffer", "by_value", ...
  unsigned offset = 0, size = 0;
};

/// What a kernel occupies, from the code object's metadata note.
struct KernelInfo {
  std::string name;
  unsigned vgprs = 0, agprs = 0, sgprs = 0;
  unsigned vgprSpills = 0, sgprSpills = 0;
  unsigned ldsBytes = 0, scratchBytes = 0, kernargBytes = 0;
  unsigned maxWorkgroupSize = 0;
  std::vector<KernelArgInfo> args; ///< Hidden arguments are left out.

  /// Name, registers, spills and bytes: what `attn-compile --kernel-stats`
  /// prints, in the names of the manifest.
  llvm::json::Object getStatistics() const;
};

/// Reads the AMDGPU metadata of a code object or object.
llvm::Expected<std::vector<KernelInfo>>
readKernelInfo(llvm::ArrayRef<char> codeObject);

} // namespace mlir::attn

#endif // ATTN_TARGET_HSACO_H
