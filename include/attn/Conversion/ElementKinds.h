//===- ElementKinds.h - Element types of the GPU path -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_ELEMENTKINDS_H
#define ATTN_CONVERSION_ELEMENTKINDS_H

#include "attn/Target/ChipInfo.h"

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::attn {

inline constexpr ElementKind elementKinds[] = {
    ElementKind::F16, ElementKind::BF16, ElementKind::F32};

/// That of a type; none where the GPU path does not know it.
inline std::optional<ElementKind> getElementKind(Type type) {
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isF32())
    return ElementKind::F32;
  return std::nullopt;
}

} // namespace mlir::attn

#endif // ATTN_CONVERSION_ELEMENTKINDS_H
