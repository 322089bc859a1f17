//===- BufferizableOpInterfaceImpl.h ----------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace attn {
/// Makes one-shot bufferization know the ops of the dialect.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace attn
} // namespace mlir

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
