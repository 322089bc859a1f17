//===- TanhSeries.h - A polynomial for tanh near 0 --------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_TANHSERIES_H
#define ATTN_CONVERSION_TANHSERIES_H

namespace mlir::attn {

/// tanh(y) = y factor ((y^2 + offset)^2 + rest) for |y| <= range.
///
/// A Remez fit of q0 + q1 y^2 + q2 y^4 to tanh(y) / y that makes the relative
/// error least, with the square completed: factor = q2, offset = q1 / (2 q2),
/// rest = q0 / q2 - offset^2. Each step then has one constant, as an
/// instruction of gfx9 may have, and keeps one register. The error is relative
/// because a score has to be exact however far below the cap it is.
struct TanhSeries {
  static constexpr double range = 0.25;
  static constexpr double factor = 0.128416134306029;
  static constexpr double offset = -1.2974190667350816;
  static constexpr double rest = 6.103884167085303;
  static constexpr double maxError = 4e-7; ///< relative

  /// With y = rate s, the coefficients of products s, times their scale, are
  /// normal f32 numbers within these.
  static constexpr double minRate = 1.0 / (1 << 20), maxRate = 1 << 20;
  static constexpr double minScale = 1.0 / (1 << 30), maxScale = 1 << 30;
  static constexpr bool fits(double scale, double rate) {
    return rate >= minRate && rate <= maxRate && scale >= minScale &&
           scale <= maxScale;
  }
};

} // namespace mlir::attn

#endif // ATTN_CONVERSION_TANHSERIES_H
