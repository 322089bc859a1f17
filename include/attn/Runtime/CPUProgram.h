//===- CPUProgram.h - Code for the host -------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of a module, compiled for the host and run in this process.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CPUPROGRAM_H
#define ATTN_RUNTIME_CPUPROGRAM_H

#include "attn/Runtime/HostBuffer.h"
#include "attn/Runtime/Signature.h"
#include <variant>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc
namespace mlir {
class PassManager;
} // namespace mlir

namespace attn::rt {

class AllocationTracker;

/// An argument: a buffer or memory of the caller for a tensor or memref, the
/// bits (zero-extended) for a scalar. Tensors are contiguous.
using ArgValue = std::variant<HostBuffer *, ArrayView, uint64_t>;

/// Results of one run, and the memory they live in.
class CPUResults {
public:
  CPUResults();
  CPUResults(CPUResults &&);
  ~CPUResults();

  /// One a result of the function. A view may point into an argument's buffer.
  std::vector<ArrayView> views;

private:
  friend class CPUProgram;
  std::vector<char> scalars;
  std::unique_ptr<AllocationTracker> allocations;
};

/// How to compile for the host.
struct CPUOptions {
  /// LLVM's, 0 to 3.
  unsigned optLevel = 3;
  /// Query rows and keys a tile.
  int64_t qTile = 64, kvTile = 64;
};

/// Machine code of one entry point as a relocatable object, which can be kept
/// in a file for other processes on a host of this kind.
struct CPUCode {
  Signature signature;
  llvm::SmallVector<char, 0> object;
};

/// Lowers `module` in place (pipeline attn-to-cpu) and compiles it with all
/// features of the host. The context needs `registerCPUDialects`. Errors are
/// one line; MLIR's diagnostics are part of it.
llvm::Expected<CPUCode> compileForCPU(mlir::ModuleOp module,
                                      llvm::StringRef entry,
                                      const CPUOptions &options = {});

/// The assembly of what `compileForCPU` compiles; `instrument` sees the pass
/// manager before it runs.
llvm::Expected<std::string>
emitAssemblyForCPU(mlir::ModuleOp module, llvm::StringRef entry,
                   const CPUOptions &options,
                   llvm::function_ref<void(mlir::PassManager &)> instrument);

/// One entry point, ready to be called.
class CPUProgram {
public:
  /// Links code into this process.
  static llvm::Expected<std::unique_ptr<CPUProgram>>
  load(Signature signature, llvm::ArrayRef<char> object);

  /// `compileForCPU`, then `load`.
  static llvm::Expected<std::unique_ptr<CPUProgram>>
  compile(mlir::ModuleOp module, llvm::StringRef entry,
          const CPUOptions &options = {});
  ~CPUProgram();

  const Signature &getSignature() const { return signature; }

  /// Calls the function; several threads may. Memory that the code allocates
  /// and does not free is freed with the results. Fails when the code frees
  /// what it does not own.
  llvm::Expected<CPUResults> run(llvm::ArrayRef<ArgValue> args) const;

private:
  CPUProgram();
  Signature signature;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  /// Takes the addresses of the arguments and of a scalar result.
  void (*function)(void **) = nullptr;
};

/// Everything that parsing, lowering and translating for the CPU needs.
void registerCPUDialects(mlir::DialectRegistry &registry);

} // namespace attn::rt

#endif // ATTN_RUNTIME_CPUPROGRAM_H
