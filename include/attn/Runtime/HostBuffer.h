//===- HostBuffer.h - Memory under test -------------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory that a program under test reads and writes, with a layout and guards.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_HOSTBUFFER_H
#define ATTN_RUNTIME_HOSTBUFFER_H

#include "attn/Runtime/Npy.h"
#include <memory>

namespace attn::rt {

/// One strided array in an allocation of its own. Guards before and after, gaps
/// between elements, and elements nobody wrote hold the poison pattern: NaN for
/// floats, the byte 0xff for others.
class HostBuffer {
public:
  /// Element (i, j, ...) lies `offset + i * strides[0] + ...` elements from the
  /// aligned pointer. `name` is for messages. Fails when the sizes overflow or
  /// the memory is not there.
  static llvm::Expected<HostBuffer> create(llvm::StringRef name, DType dtype,
                                           llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> strides,
                                           int64_t offset = 0);

  /// What a memref descriptor calls the aligned pointer: a multiple of 64 bytes
  /// unless elements lie before it.
  char *getAlignedPointer() const { return aligned; }
  int64_t getOffset() const { return offset; }
  llvm::ArrayRef<int64_t> getShape() const { return view.shape; }
  llvm::ArrayRef<int64_t> getStrides() const { return view.strides; }
  DType getDType() const { return view.dtype; }
  const ArrayView &getView() const { return view; }

  /// Copies a file of the same shape and a convertible type.
  void assign(const NpyFile &file);

  /// Copies an array of the same shape and type.
  void assign(const ArrayView &array);

  /// Poisons all elements.
  void poison();

  /// Fails when something wrote to a guard or a gap. Destroys the elements.
  llvm::Error checkGuards();

private:
  struct Free {
    void operator()(char *pointer) const { free(pointer); }
  };
  std::string name;
  ArrayView view;
  int64_t offset = 0;
  char *aligned = nullptr;
  /// Guard, elements with their gaps, guard.
  std::unique_ptr<char, Free> storage;
  uint64_t storageBytes = 0;
};

/// The byte that makes every element of `dtype` a NaN; 0xff for integers.
uint8_t getPoisonByte(DType dtype);

} // namespace attn::rt

#endif // ATTN_RUNTIME_HOSTBUFFER_H
