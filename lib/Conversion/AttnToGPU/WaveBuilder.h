//===- WaveBuilder.h - Vocabulary of a wave's program -----------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builder below says things like "the K fragments of this tile" or "add up
// the MFMAs of a fragment" in upstream dialects; the forward kernel is written
// in its terms. All index arithmetic comes out of LinearLayouts.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_WAVEBUILDER_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_WAVEBUILDER_H

#include "attn/Conversion/KernelConfig.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::attn {

using Values = llvm::SmallVector<Value>;

/// A matrix in global memory, one (batch, head) of an operand: a rank-2 memref
/// [rows, columns].
struct GlobalMatrix {
  Value memref;
  int64_t columns;
};

/// A row number, split into what the wave shares and what a lane adds.
struct RowIndex {
  Value uniform; ///< i32
  Value lane;    ///< i32
};

class WaveBuilder : public ImplicitLocOpBuilder {
public:
  WaveBuilder(gpu::GPUFuncOp func, const KernelConfig &config);

  const KernelConfig &config;
  Type elementType, fragmentType, i32, f32;
  VectorType accType; ///< vector<16xf32>
  /// Values of the entry block: lane 0..63, wave 0..7 (uniform), half = lane /
  /// 32, column = lane % 32.
  Value lane, wave, half, column;
  /// Which rows of the workgroup the wave owns, which share of V, which tiles
  /// of keys, and its number among the waves that stage these.
  Value rowWave, share, keyGroup, tileWave;

  //===--------------------------------------------------------------------===//
  // Scalars
  //===--------------------------------------------------------------------===//
  Value c32(int64_t value);
  Value cf(double value);
  Value addi(Value a, Value b);
  Value addi(Value a, int64_t b);
  Value muli(Value a, int64_t b);
  Value mins(Value a, Value b);
  /// A uniform number, limited to low..high.
  Value clamp(Value a, Value low, Value high);
  /// a / b of uniform unsigned values, in a scalar register.
  Value divide(Value a, Value b);
  /// Ceiling or floor of a / 2^k, a signed.
  Value shiftRight(Value a, int64_t k);
  Value shiftLeft(Value a, int64_t k);
  /// A uniform value that LLVM may have computed in a vector register.
  Value uniform(Value a);
  Value toIndex(Value a);
  /// `lane` again, without a register that holds it until here.
  Value recomputeLane();
  /// Runs `emit` with the insertion point in the entry block.
  Value inEntry(llvm::function_ref<Value()> emit);
  /// Variable and constant part of output `out` of `layout` at `constants`;
  /// of the inputs that `variables` lists, "lane", "share" and "group" are the
  /// values above, and "wave" is `tileWave`. Variable parts are emitted once,
  /// in the entry block; null if zero.
  std::pair<Value, int64_t>
  locate(const LinearLayout &layout, llvm::StringRef out,
         llvm::ArrayRef<llvm::StringRef> variables,
         llvm::ArrayRef<LinearLayout::Coord> constants);
  /// The same, as one i32.
  Value locateValue(const LinearLayout &layout, llvm::StringRef out,
                    llvm::ArrayRef<llvm::StringRef> variables,
                    llvm::ArrayRef<LinearLayout::Coord> constants = {});

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//
  /// `count` elements at [row, col]; elements outside the matrix read as 0.
  /// `colMax`: greatest value of `col` (drops the column check if inside).
  Value read(const GlobalMatrix &matrix, RowIndex row, Value col,
             int64_t colMax, int64_t count);
  /// Writes a vector; what lies outside the matrix is dropped.
  void write(Value vector, const GlobalMatrix &matrix, RowIndex row, Value col,
             int64_t colMax);
  /// The same of a pool of pages, rank-3 memref [pages, rows, columns]: row
  /// `row`, inside its page, of the lane's own page. Pages outside read as 0.
  Value readPaged(Value pool, Value page, Value row, Value col, int64_t colMax,
                  int64_t count);
  /// Reads `count` elements at `col` of a row of a tile: so many rows behind
  /// its start plus a part that depends on lane and wave.
  using ReadRow =
      llvm::function_ref<Value(int64_t tileRow, Value laneRow, Value col,
                               int64_t colMax, int64_t count)>;
  /// Moves this wave's part of a tile into LDS.
  void stage(ReadRow read, Value lds, bool isV);
  /// The tile that starts at row `row` of a matrix.
  void stage(const GlobalMatrix &matrix, Value row, Value lds, bool isV);
  /// K fragments of contraction step `step`: one for each 32 keys of the wave.
  Values readK(Value lds, int64_t step);
  /// V fragments of step `step` (2 * fragment keys), one a block. Where waves
  /// exchange P the steps of the wave's own keys come first.
  /// Without transposed reads this is raw data for `finishV`.
  Values readV(Value lds, int64_t step);
  /// Operands made of what `readV` gave.
  Values finishV(ValueRange raw);

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//
  /// acc + A B over one fragment: one, two or four MFMAs.
  Value multiply(Value a, Value b, Value acc);
  Value fma(Value a, Value b, Value c);
  Value exp2(Value a);
  Value fmax(Value a, Value b);
  Value element(Value vector, int64_t i);
  /// Flips the bits `signs` (i32) of every dword of a fragment.
  Value flipSigns(Value fragment, Value signs);
  Value zeroAcc();
  /// Two f32 -> what P keeps of them: one dword of two elements (i32), or for
  /// f32 the two values.
  Values pack(Value a, Value b);
  /// What `pack` gave for the elements of a fragment -> the fragment.
  Value fragment(ValueRange packed);
  /// f(x, x of the lane 32 away).
  Value joinHalves(Value x, llvm::function_ref<Value(Value, Value)> f);
  /// Trades the upper half-wave of `a` for the lower one of `b` (i32).
  std::pair<Value, Value> swapHalves(Value a, Value b);

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//
  void schedBarrier();
  /// s_setprio, 0 to 3: which of a SIMD's waves issues first; nothing moves
  /// across.
  void setPriority(int64_t priority);
  /// Workgroup barrier that nothing moves across.
  void barrier();
  /// Waits until at most `vmem` global and `lds` LDS accesses (negative: any
  /// number) are under way.
  void wait(int64_t vmem, int64_t lds = 0);
  /// Ties values to this place: what makes them cannot sink below it.
  Values pin(ValueRange values, llvm::StringRef reg = "v");
  Value pinScalar(Value value) { return pin(value, "s").front(); }
  /// if (condition) values = then(); rare unless `likely`.
  Values branch(Value condition, ValueRange values,
                llvm::function_ref<Values()> then, bool likely = false);
  /// Any value; LLVM may choose another one for each use.
  Value undefined(Type type);
  /// Whatever vector registers hold that LLVM must set aside from here on.
  Value undefinedRegister(Type type);

private:
  LinearLayout inGroup(LinearLayout layout, bool isV) const;

  llvm::StringMap<Value> located;
  Operation *entryEnd = nullptr;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_WAVEBUILDER_H
