//===- BufferResourcesImpl.h - One kernel's accesses ------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOROCDL_BUFFERRESOURCESIMPL_H
#define ATTN_LIB_CONVERSION_ATTNTOROCDL_BUFFERRESOURCESIMPL_H

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::attn {

/// Offset of lanes that must not access memory: at or beyond num_records of
/// every resource, which stay below 2^31, and far from wrapping.
inline constexpr int64_t outOfRange = int64_t(1) << 31;
/// The same for pools of pages, which may have this many bytes; adding a column
/// does not wrap.
inline constexpr int64_t outOfPool = maxPoolBytes;

/// Rewrites one kernel. The files Buffer*.cpp each hold one job of it.
class KernelRewriter {
public:
  explicit KernelRewriter(gpu::GPUFuncOp func)
      : func(func), b(func.getLoc(), func.getContext()) {}

  LogicalResult run();
  /// New operands of a launch of this kernel for its old memref operands.
  void rewriteLaunch(gpu::LaunchFuncOp launch);

private:
  /// What the kernel arguments of one memref became: a pointer at its first
  /// element, and sizes and strides, constant or passed.
  struct Argument {
    Value pointer;
    SmallVector<Value> sizes;   ///< i32
    SmallVector<Value> strides; ///< i64, in elements
  };

  /// A rank-1 or rank-2 slice of an argument: [rows] or [rows, columns], or a
  /// rank-3 one: [pages, rows, columns].
  struct Slice {
    Value base;                      ///< !llvm.ptr<1> at its first element
    Value rows;                      ///< i32
    std::optional<int64_t> mostRows; ///< a bound for them, if one is known
    int64_t columns = 1;
    Value rowStride; ///< i64, elements
    std::optional<int64_t> strideIfStatic;
    int64_t bytes = 0;  ///< of an element
    Value argument;     ///< the kernel's pointer
    Value pageStride;   ///< i64, elements; null without pages
    Value pool;         ///< the one resource of all pages; null without pages
    bool isRun = false; ///< all of it is within reach of one resource
    /// Runs: elements need not lie in whole dwords, so those dwords are read.
    bool isUnaligned = false;
  };

  /// An index as the sum of two i32, null for 0.
  struct SplitIndex {
    Value uniform, lane;
  };

  // Signature.
  LogicalResult rewriteSignature();
  /// Those of arguments, asked for by memref.dim and by metadata.
  void replaceSizesAndStrides();
  /// Slices and metadata that have served.
  void eraseViews();
  LogicalResult eraseOldArguments();
  void markPointers();

  // Indices.
  bool isUniform(Value value);
  SplitIndex split(Value index);
  Value toI32(Value index);

  // Slices and their resources.
  FailureOr<Slice> getSlice(Operation *user, Value memref);
  FailureOr<Slice> sliceView(Operation *user, memref::SubViewOp subview,
                             const Argument &argument);
  FailureOr<Slice> sliceRun(Operation *user, memref::ReinterpretCastOp run);
  /// With `behind`, the resource begins and ends with whole dwords, that many
  /// bytes (i32) in front of the slice.
  Value resource(const Slice &slice, Value rowUniform, Value *behind = nullptr);
  /// i32, those from `start` (null: 0) on that lanes may reach.
  Value rowsLeft(const Slice &slice, Value start);
  /// i32, of that many rows.
  Value countBytes(const Slice &slice, Value rows, Value rowBytes);
  /// The resource of all pages.
  Value poolResource(const Slice &slice, Value pages);
  /// `bytes`: i64.
  Value makeResource(Value base, Value bytes);
  /// Byte offset of [row, col] behind the resource.
  Value laneOffset(const Slice &slice, Value rowLane, Value col);
  /// `offset`, or `outside` where an access that is not in bounds would pass
  /// the last column.
  Value limitColumns(VectorTransferOpInterface op, const Slice &slice,
                     Value col, Value offset, int64_t outside);

  // Accesses.
  /// Those by all indices of an argument instead of a slice's: by their 64-bit
  /// address. What guards them stays.
  void lowerDirectAccesses();
  void lowerDirect(Operation *op, Value memref, ValueRange indices);
  /// Those of slices.
  LogicalResult lowerAccesses();
  /// Elements of one row, 0 outside of it: what a resource can express.
  LogicalResult verifyTransfer(VectorTransferOpInterface op);
  LogicalResult verifyRank(Operation *op, Value memref, int64_t rank);
  LogicalResult lowerRead(vector::TransferReadOp op);
  LogicalResult lowerRowRead(vector::TransferReadOp op, const Slice &slice);
  LogicalResult lowerRunRead(vector::TransferReadOp op, const Slice &slice);
  LogicalResult lowerWrite(vector::TransferWriteOp op);
  LogicalResult lowerStore(memref::StoreOp op);
  LogicalResult lowerLoad(memref::LoadOp op);
  Value bufferLoad(Type type, Value rsrc, Value offset);
  void bufferStore(Value value, Value rsrc, Value offset);
  /// The type in which `bits` of data pass through a buffer op.
  Type carrier(int64_t bits);
  /// What a buffer op loaded, as a vector.
  Value toVector(Value loaded);

  // DMA.
  /// The store of a read whose only user stores it to LDS, lane by lane; null
  /// for other reads.
  vector::StoreOp findDMA(vector::TransferReadOp op);
  /// Replaces both. `more`: bytes behind `voffset` that the instruction adds.
  void lowerDMA(vector::TransferReadOp op, vector::StoreOp store, Value rsrc,
                Value voffset, Value soffset, int64_t more = 0);
  /// The same of a run, `more` bytes behind a lane's offset.
  bool tryRunDMA(vector::TransferReadOp op, const Slice &slice, Value rsrc,
                 Value offset, int64_t more);
  /// ... and of rows and columns. False, and nothing replaced, for other reads.
  bool tryDMA(vector::TransferReadOp op, const Slice &slice, Value rsrc,
              Value rowLane, Value col, Value page = {});
  /// Rows and columns of one page.
  LogicalResult lowerPagedRead(vector::TransferReadOp op, const Slice &slice);
  /// `page`, one of a few uniform numbers chosen by lanes, times `bytes`.
  Value pageOffset(Value page, Value bytes);

  Value c32(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), int32_t(value));
  }
  Value c64(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Type pointer(unsigned space) {
    return LLVM::LLVMPointerType::get(b.getContext(), space);
  }

  gpu::GPUFuncOp func;
  ImplicitLocOpBuilder b;
  SmallVector<MemRefType> oldTypes; ///< null for an argument that was kept
  DenseMap<Value, Argument> arguments;
  DenseMap<Value, Slice> slices;
  DenseMap<Value, bool> uniform;
  DenseSet<Value> read, written; ///< pointers that are accessed
};

/// Is it in LDS?
bool isWorkgroup(Value memref);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOROCDL_BUFFERRESOURCESIMPL_H
