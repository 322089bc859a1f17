//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading and writing of NumPy's .npy files, versions 1 to 3 of
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_NPY_H
#define ATTN_RUNTIME_NPY_H

#include "attn/Target/Manifest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace attn::rt {

using manifest::DType;

/// Element types of files; all multi-byte ones are little endian.
enum class NpyType { F8, F4, F2, I8, I4, I2, I1, U2, U1, B1 };
/// As in the header: "<f4".
llvm::StringRef stringify(NpyType type);
/// As a word: "f32"; "u16", "u8" and "bool" for those without a name in MLIR.
llvm::StringRef describe(NpyType type);
unsigned getByteWidth(NpyType type);

/// The type a value is written with: bf16 as the bit patterns "<u2", the 8-bit
/// floats as "|u1", i1 as "|b1".
NpyType getNpyType(DType dtype);

/// True when a file of `type` can be given for `dtype`: the type it is written
/// with, and also f32 for f16 and bf16 (rounded to nearest even), i32 for i64
/// and i8 for i1 (any value but 0 is true).
bool isConvertible(NpyType type, DType dtype);
/// The types that `isConvertible` accepts, for messages: "<u2 or <f4".
std::string describeConvertible(DType dtype);

/// A file, mapped into memory.
class NpyFile {
public:
  /// Opens `path`. Errors are one line that names the path.
  static llvm::Expected<NpyFile> open(llvm::StringRef path);
  /// Same for a buffer; its identifier stands for the path.
  static llvm::Expected<NpyFile>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer);

  NpyType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  bool isFortranOrder() const { return fortranOrder; }
  int64_t getNumElements() const;
  /// A scalar may be given as an array of one element: makes that one a scalar.
  void makeScalar() {
    if (shape.size() == 1 && shape[0] == 1)
      shape.clear();
  }

  /// Writes all elements as `dtype` to `base`, element (i, j, ...) at
  /// `base + (i * strides[0] + j * strides[1] + ...) * width`. The file has to
  /// be convertible and there has to be one stride a dimension.
  void copyTo(DType dtype, char *base, llvm::ArrayRef<int64_t> strides) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  NpyType type = NpyType::F4;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;
  /// The elements, in the order of the file; perhaps not aligned.
  llvm::StringRef data;
};

/// An array in memory that becomes a file.
struct ArrayView {
  DType dtype = DType::F32;
  llvm::SmallVector<int64_t> shape;
  /// In elements, of either sign.
  llvm::SmallVector<int64_t> strides;
  /// Element (0, 0, ...).
  const char *base = nullptr;
};

/// Writes a version 1.0 file in C order.
void writeNpy(llvm::raw_ostream &os, const ArrayView &array);

/// Copies every element between arrays of one shape and type.
void copyElements(const ArrayView &from, const ArrayView &to);

/// Calls `visit` with the address of the first element, the number and the byte
/// distance of the elements of every innermost row, in C order.
void forEachElement(
    const ArrayView &array,
    llvm::function_ref<void(char *first, int64_t count, int64_t stride)> visit);

/// "1x?x64"; a negative extent is unknown, no extent at all is "scalar".
std::string printShape(llvm::ArrayRef<int64_t> shape);

/// Strides of a contiguous array in C order.
llvm::SmallVector<int64_t> getContiguousStrides(llvm::ArrayRef<int64_t> shape);

} // namespace attn::rt

#endif // ATTN_RUNTIME_NPY_H
