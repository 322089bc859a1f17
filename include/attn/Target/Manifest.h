//===- Manifest.h - What a launcher must know of a code object --*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest is the JSON file beside a code object: its buffers, its kernels
// with their argument layout, and the launches in order. Together with the code
// object it is all that hipModuleLaunchKernel needs.
//
// {
//   "version": 1,
//   "chip": "gfx950",
//   "buffers": [
//     {"name": "query", "dtype": "bf16", "shape": ["B", 8, "Sq", 64],
//      "strides": ["8 * Sq * 64", "Sq * 64", 64, 1], "role": "input"}, ...],
//   "kernels": [
//     {"name": "attention_kernel", "block": [512, 1, 1], "lds_bytes": 65536,
//      "kernarg_bytes": 24, "vgprs": 128, "agprs": 0, "sgprs": 40,
//      "scratch_bytes": 0,
//      "args": [
//        {"name": "query", "kind": "pointer", "offset": 0, "size": 8,
//         "buffer": "query"},
//        {"name": "rows", "kind": "i64", "offset": 8, "size": 8,
//         "value": "Sq"}]}],
//   "launches": [
//     {"kernel": "attention_kernel", "grid": ["ceildiv(Sq, 256)", 8, "B"]}],
//   "multiples": [["Hq", "Hk"]],
//   "contents": [{"kind": "length", "buffer": "seqlens_kv", "limit": "Skv"}]
// }
//
// The last two are optional. Fields this version does not know are ignored.
// This library needs LLVM only.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_MANIFEST_H
#define ATTN_TARGET_MANIFEST_H

#include "attn/Target/SizeExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <variant>
#include <vector>

namespace attn::manifest {

//===----------------------------------------------------------------------===//
// Vocabulary
//===----------------------------------------------------------------------===//

/// Element types of buffers, named as in MLIR. i1 takes a byte an element.
enum class DType {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  I64,
  I32,
  I16,
  I8,
  I1,
};
llvm::StringRef stringify(DType dtype);
std::optional<DType> symbolizeDType(llvm::StringRef name);
/// Bytes that one element takes in memory.
unsigned getByteWidth(DType dtype);

/// What a buffer is for. Inputs come from the caller and are not written;
/// outputs are written whole; a workspace has no content before or after.
enum class Role { Input, Output, Workspace };
llvm::StringRef stringify(Role role);
std::optional<Role> symbolizeRole(llvm::StringRef name);

/// How an argument is passed in the kernarg segment.
enum class ArgKind { Pointer, I32, I64, F32 };
llvm::StringRef stringify(ArgKind kind);
std::optional<ArgKind> symbolizeArgKind(llvm::StringRef name);
/// Bytes that the argument takes: 8 for pointer and i64, 4 for i32 and f32.
unsigned getByteWidth(ArgKind kind);

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// One allocation of the caller. Strides count elements; a shape of rank 0 is a
/// scalar.
struct Buffer {
  std::string name;
  DType dtype = DType::F32;
  llvm::SmallVector<SizeExpr> shape;
  llvm::SmallVector<SizeExpr> strides;
  Role role = Role::Input;
  /// In bytes, a power of two: what kernels take the address and all strides
  /// but the innermost to be a multiple of, beyond the width of an element.
  uint64_t alignment = 1;
  /// None, or a count for each dimension: any box of as many neighbours, or as
  /// many as there are, has to span less than 2^31 bytes, since kernels address
  /// it in 32 bits.
  llvm::SmallVector<uint64_t> reach = {};
};

/// One explicit kernel argument. A pointer has `buffer`, and as `value` the
/// bytes it lies behind the buffer's start where that is not 0. A scalar has
/// either a `value`, or a `buffer` with one element whose content is passed by
/// value.
struct Arg {
  std::string name;
  ArgKind kind = ArgKind::Pointer;
  /// Byte position and size inside the kernarg segment.
  uint64_t offset = 0;
  uint64_t size = 8;
  std::optional<std::string> buffer;
  /// A number is for f32 only; an expression serves every scalar kind.
  std::optional<std::variant<SizeExpr, double>> value;
};

/// One entry point of the code object. Figures are those of its metadata.
struct Kernel {
  std::string name;
  /// Work-items a workgroup, in x, y, z.
  std::array<uint32_t, 3> block = {1, 1, 1};
  /// LDS fixed at compile time; a launch asks for no dynamic LDS on top.
  uint64_t ldsBytes = 0;
  /// The whole kernarg segment, hidden arguments of the runtime included.
  uint64_t kernargBytes = 0;
  uint32_t vgprs = 0;
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  /// Private memory of one work-item.
  uint64_t scratchBytes = 0;
  std::vector<Arg> args;
};

/// One launch. The grid counts workgroups; a zero in it means no launch.
struct Launch {
  std::string kernel;
  std::array<SizeExpr, 3> grid = {1, 1, 1};
};

/// Size `lhs` has to be a multiple of `rhs`: query heads of key heads.
struct Multiple {
  SizeExpr lhs, rhs;
};

/// What the numbers in a buffer of integers may be.
struct Contents {
  enum class Kind {
    /// Lengths: 0 to `limit`.
    Length,
    /// Where packed sequences begin: from 0 on, not falling, to `limit`. No
    /// sequence is longer than any of `longest`.
    Cumulative,
    /// Pages: 0 to `limit` - 1, those that `lengths` with `pageSize` uses. No
    /// length is beyond the row of pages or any of `longest`.
    Page,
  };
  Kind kind = Kind::Length;
  std::string buffer;
  SizeExpr limit;
  std::vector<SizeExpr> longest;
  std::string lengths;
  int64_t pageSize = 0;
};
llvm::StringRef stringify(Contents::Kind kind);
std::optional<Contents::Kind> symbolizeContentsKind(llvm::StringRef name);

/// A buffer of integers, read. Elements are in C order.
struct Integers {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> values;
};
/// The numbers in the buffer `name`; nothing where they are not known.
using IntegersFn =
    llvm::function_ref<std::optional<Integers>(llvm::StringRef name)>;

/// A buffer with numbers in place of expressions.
struct ResolvedBuffer {
  const Buffer *buffer = nullptr;
  llvm::SmallVector<int64_t> shape;
  /// In elements, never negative.
  llvm::SmallVector<int64_t> strides;
  /// From the first to the end of the last element; 0 when there is none.
  uint64_t bytes = 0;

  int64_t getNumElements() const;
};

/// The whole file.
struct Manifest {
  static constexpr int64_t currentVersion = 1;

  int64_t version = currentVersion;
  std::string chip;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;
  /// What has to hold beyond shapes, for a launcher to check. Kernels limit
  /// what `contents` speaks of to their buffers and never count on it;
  /// `multiples` they do count on.
  std::vector<Multiple> multiples;
  std::vector<Contents> contents;

  /// Reads JSON text and validates. Errors are one line that starts with the
  /// path of the field: "kernels[0].args[2].offset: expects ...".
  static llvm::Expected<Manifest> parse(llvm::StringRef text);
  static llvm::Expected<Manifest> fromJSON(const llvm::json::Value &value);
  llvm::json::Value toJSON() const;
  /// Indented JSON with a final newline.
  void print(llvm::raw_ostream &os) const;

  /// Checks what types do not say: unique names, arguments that are aligned,
  /// disjoint and inside the kernarg segment, references that exist, legal
  /// blocks. Same form of error as `parse`.
  llvm::Error validate() const;

  const Buffer *findBuffer(llvm::StringRef name) const;
  const Kernel *findKernel(llvm::StringRef name) const;
  /// Whether launches need what an output holds before: kernels leave rows of
  /// no sequence as they are, and a merge may work in place, on an output that
  /// is another argument, too.
  bool keepsContent(const Buffer &output) const;

  /// Finds the named dimensions from the shapes of given buffers (name to
  /// shape; the inputs, usually). A bare name in a shape takes the value it
  /// meets first, everything else has to agree; the error names buffer,
  /// dimension, both values and where the other one came from. A bare unknown
  /// name among strides then becomes the contiguous stride.
  llvm::Expected<DimMap>
  inferDims(const llvm::StringMap<llvm::SmallVector<int64_t>> &shapes) const;

  /// Fails unless `multiples` hold for `dims`, which has all names.
  llvm::Error checkMultiples(const DimMap &dims) const;
  /// Fails where `contents` does not hold, as far as `read` gives buffers.
  llvm::Error checkContents(const DimMap &dims, IntegersFn read) const;
};

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Evaluates shape and strides. Fails on negative sizes and on more than 2^48
/// bytes, the reach of a device pointer.
llvm::Expected<ResolvedBuffer> resolve(const Buffer &buffer,
                                       const DimMap &dims);

/// Evaluates the grid. Fails on a negative number and on more than 2^31 - 1
/// workgroups in x or 65535 in y or z (limits of hipModuleLaunchKernel).
llvm::Expected<std::array<uint32_t, 3>> resolveGrid(const Launch &launch,
                                                    const DimMap &dims);

/// Device address of the buffer `name`.
using AddressFn =
    llvm::function_ref<llvm::Expected<uint64_t>(llvm::StringRef name)>;
/// Bits of the one element of the buffer `name`, zero-extended.
using ScalarFn = AddressFn;

/// Fills a kernarg segment of `kernel.kernargBytes` bytes, little endian; bytes
/// of no argument stay 0. Fails on a value that its kind does not hold.
llvm::Expected<std::vector<uint8_t>> packKernarg(const Kernel &kernel,
                                                 const DimMap &dims,
                                                 AddressFn address,
                                                 ScalarFn scalar);

} // namespace attn::manifest

#endif // ATTN_TARGET_MANIFEST_H
