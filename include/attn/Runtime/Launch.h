//===- Launch.h - From operands to launches ---------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides whether kernels may be launched on what a caller
// has, and that packs their arguments. Every device goes through it. Nothing
// here touches memory.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_LAUNCH_H
#define ATTN_RUNTIME_LAUNCH_H

#include "attn/Target/Manifest.h"

namespace attn::rt {

/// What a caller passes for one buffer of a manifest.
struct Operand {
  std::string name;
  manifest::DType dtype = manifest::DType::F32;
  llvm::SmallVector<int64_t> shape;
  /// In elements. Without, they are those of the manifest, and contiguous
  /// where it leaves them to the caller.
  std::optional<llvm::SmallVector<int64_t>> strides;
  /// Device address of the first element; 0 where there is no memory.
  uint64_t address = 0;
  /// Bits of the one element, zero-extended. Needed where a kernel takes it by
  /// value; it then needs no address.
  std::optional<uint64_t> value;
};

/// One launch, ready for hipModuleLaunchKernel or the emulator.
struct PreparedLaunch {
  const manifest::Kernel *kernel = nullptr;
  /// Workgroups, none of them 0.
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// The explicit arguments, up to the end of the last one.
  std::vector<uint8_t> kernarg;
};

/// Finds the manifest's dimensions from the operands that are there so far
/// (the inputs, before outputs and workspaces are allocated). Fails on a name
/// that the manifest lacks or that comes twice, on another type, rank, size or
/// stride, and on strides that the kernels cannot serve: negative ones, those
/// that are no multiple of the buffer's alignment, and 0 for an output. The
/// stride of a dimension with less than two indices does not matter.
llvm::Expected<manifest::DimMap> inferDims(const manifest::Manifest &manifest,
                                           llvm::ArrayRef<Operand> operands);

/// Checks everything and packs the arguments of all launches in order, without
/// those whose grid is empty. Beyond `inferDims`: every buffer of the manifest
/// has an operand, with an address if it has elements, which is a multiple of
/// the buffer's alignment; head counts are multiples; grids are what a device
/// can count. `kernel`, unless
/// empty, leaves only its launches. The result refers to `manifest`.
llvm::Expected<std::vector<PreparedLaunch>>
prepareLaunches(const manifest::Manifest &manifest,
                llvm::ArrayRef<Operand> operands, llvm::StringRef kernel = "");

/// Fails unless `kernel` is empty or launched by the manifest.
llvm::Error checkKernelName(const manifest::Manifest &manifest,
                            llvm::StringRef kernel);

} // namespace attn::rt

#endif // ATTN_RUNTIME_LAUNCH_H
