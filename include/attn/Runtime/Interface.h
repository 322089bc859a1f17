//===- Interface.h - What a launch has to pass ------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops verify their operands as far as types tell. The rest, sizes that have
// to be equal and numbers that have to be in range, is for launches to check on
// every device, and this is what they check against.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_INTERFACE_H
#define ATTN_RUNTIME_INTERFACE_H

#include "attn/Runtime/Signature.h"
#include "attn/Target/Manifest.h"

namespace attn::rt {

/// The buffers of a function that has not been lowered yet, and what has to
/// hold between them: a manifest without kernels. Dimensions that have to be
/// equal have one name; a stride with a name of its own is the caller's to
/// choose. `target` becomes the chip. Fails on names that are no identifiers.
llvm::Expected<manifest::Manifest>
describeInterface(mlir::func::FuncOp function, const Signature &signature,
                  llvm::StringRef target);

/// What is known of a function before it is lowered.
struct EntryInterface {
  std::vector<std::string> argNames, resultNames;
  manifest::Manifest interface;
};

/// The functions that may be meant by `entry` ("" is any public one), by name;
/// without those that have types that no file can hold.
llvm::StringMap<EntryInterface> describeEntries(mlir::ModuleOp module,
                                                llvm::StringRef entry,
                                                llvm::StringRef target);

/// Gives the manifest of the same function's kernels the interface's names for
/// dimensions, and its rules, as far as the manifest has the buffers.
void adoptInterface(manifest::Manifest &manifest,
                    const manifest::Manifest &interface);

} // namespace attn::rt

#endif // ATTN_RUNTIME_INTERFACE_H
