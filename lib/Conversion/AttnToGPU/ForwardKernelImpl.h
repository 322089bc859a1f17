//===- ForwardKernelImpl.h - The builder of the forward kernel --*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNELIMPL_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNELIMPL_H

#include "ForwardKernel.h"
#include "WaveBuilder.h"

#include <functional>

namespace mlir::attn {

inline constexpr double log2e = 1.4426950408889634;

/// What a row keeps between tiles; lanes of one row hold half a row each.
struct State {
  Value nm;       ///< f32, minus the maximum (`exponent` tells its units)
  Values scores;  ///< f32, the tile's unscaled scores (pipelined)
  Values packed;  ///< P of the early exponentials (pipelined), fragments
                  ///< where softcap is in the exponent, else dwords
  Value earlySum; ///< f32, their sum (pipelined)
  Value sum;      ///< f32, l of the tiles before
  Values acc;     ///< O, one accumulator a block
  Value beyond;   ///< `findBeyond` of the scores; null without a series
  Values pages;   ///< `findPages` of the next two tiles (pipelined)
};

/// -m as `exponent` adds it: to a score, to its product with c. Null is 0.
struct Frame {
  Value natural, log2;
};

/// What an exponent does about softcap: nothing (there is none, or scores have
/// been through it), its series, or all of it.
enum class Cap { None, Series, Exact };

/// One step of what happens to the elements of a tile in turn: `emit(i)` comes
/// when element i + behind makes its first step.
struct ElementStep {
  size_t behind;
  std::function<void(size_t)> emit;
};
using ElementSteps = SmallVector<ElementStep>;
/// Those that belong to time `at`, of n elements.
inline void runSteps(ArrayRef<ElementStep> steps, size_t at, size_t n) {
  for (const ElementStep &step : steps)
    if (at >= step.behind && at - step.behind < n)
      step.emit(at - step.behind);
}

/// P of a tile and what came out of summing it.
struct Probabilities {
  Values fragments;
  Value sum;  ///< f32, l including this tile
  Value vote; ///< i64, lanes whose half-row wants a higher maximum
};

/// Which keys rows see: row i those in [max(0, i + begin), min(Skv, i + end)),
/// and of the keys before them the first `sinkTokens`.
struct VisibleKeys {
  /// i32, where the diagonal's window begins, and behind its end; each null
  /// without such a bound.
  Value begin, end;
  /// i32, behind the last key of the lane's row, less the first one it holds of
  /// a tile. Null with a left bound, where both bounds are computed anew for
  /// each tile: there is no register for them.
  Value limit;
  int64_t sinkTokens = 0;
  /// i32, tiles of which every row of the wave sees all keys:
  /// [wholeFirst, wholeLimit). wholeFirst is null if it is 0.
  Value wholeFirst, wholeLimit;
  /// i32, tiles that the workgroup leaves out, behind the first `sinkTiles`;
  /// null if there are none.
  Value skipped;
  int64_t sinkTiles = 0;
  bool hasMask = true; ///< not all keys of all tiles are visible
};

/// Bias or mask, for the wave's rows: what a lane reads of a tile.
struct ScoreOperand {
  Value run;       ///< memref [elements] from the first row on; null if absent
  Value lane;      ///< i32, the lane's first element in tile 0
  Value keyStride; ///< i32, elements from key to key
  bool hasKeys = false; ///< else one element serves all keys
  int64_t width = 1;    ///< elements of one read
  int64_t scores = 1;   ///< and the lane's scores among them
  /// A lane reads 16 bytes, part of which is the other half-wave's, so that a
  /// read touches fewer lines: they trade after it.
  bool isSwapped = false;
  Value rowStride; ///< i32, elements from row to row
  /// Where a tile is staged in LDS (`lane` then is that of a DMA), else null:
  /// the buffer, i32 offset of the wave's part, and the lane's first keys in
  /// the first and second of two chunks, one number where that is constant.
  Value buffer, wavePart;
  Values readers;
  bool isStaged() const { return bool(buffer); }
  /// The lane's scores that an arranged vector serves. Of 8 those behind the
  /// first 4 stand 4 elements further.
  int64_t arranged() const { return isSwapped ? 4 : scores; }
};

/// What a tile's products need to become scores.
struct ScoreInputs {
  /// Vectors of 4 elements (or 1), in the order of a lane's scores.
  Values bias, mask;
  Value
      distance; ///< f32, i + off less the lane's first key; null without ALiBi
};

/// Consecutive columns of a lane's row of O.
struct OutputPiece {
  Value vector;
  Value col;      ///< i32
  int64_t colMax; ///< no lane's piece ends behind it
};

/// Builds one kernel. The files Forward*.cpp each hold one job of it.
class ForwardKernel {
public:
  ForwardKernel(gpu::GPUFuncOp func, const KernelConfig &config, AttentionOp op)
      : func(func), c(config), op(op), b(func, config),
        map(getDimMap(op.getLayout())), keyMap(op.getKeyDimMap()),
        packing(getPackedHeads(op)), pageSize(op.getPageSize().value_or(0)) {}

  void build();

private:
  /// An LDS buffer.
  Value addBuffer(int64_t elements, Type type);
  // Set-up.
  void readProblem();
  /// i64, q_offset - kv_offset; null if neither is given.
  Value explicitOffset();
  /// f32, what is left of it beyond +-2^30; null if neither is given.
  Value farOffset();
  /// Fills `visible` and `tiles` from lengths, rows, diagonal and windows.
  void findVisibleKeys();
  /// i32, where row 0 stands on the diagonal plus `shift`, within +-2^30, from
  /// the split's start on.
  Value diagonalPlus(int64_t shift);
  /// The first key that a row sees, and the one behind the last.
  Value firstKey(Value row);
  Value keyLimit(Value row);
  /// The kernel's argument of that name, null if the op has no such operand.
  Value argument(llvm::StringRef name);
  Value dim(Value memref, unsigned index);
  /// Rows begin.. (null: 0) of one batch, or page of a pool, and head.
  GlobalMatrix matrix(const DimMap &map, Value memref, Value batch, Value head,
                      Value begin, Value rows, int64_t columns);
  /// The same of the LSE.
  Value sliceLse(Value memref);
  /// Narrows the keys down to those of the workgroup's split.
  void takeSplit();
  Value lds(bool isV, unsigned parity) {
    return func
        .getWorkgroupAttributions()[c.pipelined ? 2 * isV + parity : isV];
  }
  /// Sets `scale` and `signs`.
  void readScale();
  /// Q's fragments, those sign bits flipped.
  Values loadQ();
  /// Q's fragments times a scale of 0 or NaN, which makes products of 0 and NaN
  /// as IEEE does; else as they are.
  Values applyOddScale(ArrayRef<Value> fragments);

  // The workgroup's sequence: these set what is listed below and return the
  // number of the tile of rows, in the sequence.
  Value findRows();
  /// Of packed sequences. Leaves the insertion point where there is such a
  /// tile.
  Value findPackedRows();
  /// The sequence's length from that operand, if there is one.
  Value boundedLength(llvm::StringRef name, Value whole);
  /// The workgroup's number divided by `divisor`.
  Value splitOffHead(Value divisor, Value &rest);
  /// i32, heads of the query, those of one tile counted once.
  Value countHeadGroups();

  // Packed heads.
  /// A row's number in its head, and its head.
  Value rowInHead(Value row);
  Value headOf(Value row);
  /// Where that element of Q or O (of the workgroup's split) is.
  Values packedIndices(Value row, Value col, bool isOutput);
  Values packedLseIndices(Value row);
  Value readPackedQ(Value row, Value col, int64_t colMax);
  void storePackedO(Value vector, Value row, Value col, int64_t colMax);
  /// if (index < end) emit();
  void guard(Value index, Value end, llvm::function_ref<void()> emit);

  // Pages.
  /// i32, keys that key operand or block table have room for.
  Value keyCapacity();
  /// Do pages begin inside of tiles, and tiles inside of pages?
  bool straddlesPages() const;
  /// Pages that a tile of keys may touch; 0 if keys are contiguous.
  int64_t pagesPerTile() const;
  /// The tile of the sequence's keys that is the loop's tile number `tile`.
  Value pagedTile(Value tile);
  /// The place in the block table of page i of a tile.
  Value pageIndex(Value keyTile, int64_t i);
  /// i32, the row of its page with which a tile (`pagedTile`) begins.
  Value rowInPage(Value tile);
  /// Do lanes of one DMA instruction read from several pages?
  bool lanesChoosePages() const;
  /// The tile's entries of the block table; nothing if keys are contiguous.
  Values lookUp(Value tile);
  /// They, limited to the pools.
  Values limitPages(ValueRange pages);
  /// i32, from a tile's start on: the sequence's keys, and those of the first
  /// page where pages are straddled, else null.
  struct TileKeys {
    Value all, firstPage;
  };
  TileKeys keysFrom(Value tile);
  /// A lane's page for each row that it stages, of the tile's `numbers`. Pure
  /// arithmetic, which may be woven between MFMAs.
  Values choosePages(ValueRange numbers, const TileKeys &keys);
  /// What `stage` wants to know of a tile: the numbers of its pages, or a
  /// lane's choice of them.
  Values findPages(Value tile);
  /// One head of a pool, [pages, rows, columns].
  GlobalMatrix slicePool(Value memref, Value head, int64_t columns);
  void stagePaged(bool isV, Value tile, ValueRange pages, Value lds);

  // Scores.
  bool transformsScores() {
    return op.getSoftcap() || op.getBias() || op.getMask() ||
           op.getAlibiSlopes();
  }
  /// Are scores kept as products, for which `scale` is all that is to be done?
  /// Where ALiBi is added it is divided by the scale.
  bool hasProductUnits();
  /// Are scores kept as -1 / (1 + exp(2 s / cap)), which softcap alone leaves
  /// in 16 bits? The other units are natural ones.
  bool hasCapUnits();
  /// Is softcap alone, so that scores stay products until they are exponents?
  bool capsInExponent() { return c.scores.capsInExponent && c.pipelined; }
  /// Does softcap have to be exact for scores far below it?
  bool isExactCap();
  /// c tanh(s / c) of products, in the units of scores.
  Values softcap(ArrayRef<Value> products);
  /// Steps from products `x` to -1 / (1 + exp(2 s / cap)).
  void addCapSteps(Values &x, ElementSteps &steps);
  /// Steps from products `x` to exponents, exactly or by the series. Returns
  /// how many elements behind the first step the exponential may stand.
  size_t addExactExponents(Values &x, ArrayRef<Value> products, Value nm,
                           ElementSteps &steps);
  size_t addSeriesExponents(Values &x, ArrayRef<Value> products, Value nm,
                            ElementSteps &steps);
  /// Fills `series`.
  void readSeries();
  /// i64, the lanes that hold a product beyond the series' reach; null where
  /// there is no series. A NaN need not be found: it stays one either way.
  Value findBeyond(ArrayRef<Value> products);
  /// A capped score, exact also where the score is far below the cap.
  Value refineCap(Value product, Value capped);
  /// Visibility is decided after the other steps, where they turn a hidden
  /// key's -inf into something else (softcap, a bias of NaN). The tiles
  /// concerned are then computed twice: such keys reach P at first.
  bool masksLate() { return op.getSoftcap() || op.getBias(); }
  ScoreOperand scoreOperand(llvm::StringRef name);
  Values readScoreOperand(const ScoreOperand &operand, Value tile);
  /// Makes `operand` one that is staged in LDS.
  void addScoreBuffers(ScoreOperand &operand);
  /// Brings a tile to LDS.
  void stageScoreOperand(const ScoreOperand &operand, Value tile);
  /// What the lane's scores 4 quad .. 4 quad + 3 need of the tile there.
  Value readStagedScore(const ScoreOperand &operand, int64_t quad);
  /// The same of all such operands and of begin..end - 1. Returns the least
  /// number of LDS instructions.
  int64_t readStagedScores(ScoreInputs &inputs, int64_t begin, int64_t end);
  Value operandElement(const ScoreOperand &operand, ArrayRef<Value> read,
                       int64_t i);
  /// Fills `bias`, `mask`, `slope` and `position`.
  void readScoreProblem();
  /// What a lane needs of bias and mask for a tile, less what is staged.
  Values readScoreOperands(Value tile);
  /// Brings the rest of it to LDS.
  void stageScoreOperands(Value tile);
  int64_t countScoreReads() const;
  int64_t countReads(const ScoreOperand &operand) const;
  /// What reads give in the order of a lane's scores.
  ScoreInputs arrangeScoreOperands(ArrayRef<Value> reads);
  Values swapScoreOperand(const ScoreOperand &operand, ArrayRef<Value> reads);
  /// A tile's products to scores, from the lane's score `first` on, where
  /// something but the scale is applied.
  Values transform(ArrayRef<Value> products, const ScoreInputs &inputs,
                   int64_t first = 0);
  Value distance(Value tile);
  /// Accumulators to scores, hidden ones -inf.
  Values scoresOf(ArrayRef<Value> acc, Value tile, ScoreInputs inputs);

  // Pieces of a tile.
  void stage(bool isV, Value tile, ValueRange pages, unsigned parity) {
    if (pageSize)
      return stagePaged(isV, tile, pages, lds(isV, parity));
    b.stage(isV ? v : k, b.muli(keyTile(tile), c.tileKV), lds(isV, parity),
            isV);
  }
  void stageK(Value tile, ValueRange pages, unsigned parity) {
    stage(false, tile, pages, parity);
  }
  void stageV(Value tile, ValueRange pages, unsigned parity) {
    stage(true, tile, pages, parity);
  }
  /// Adds steps begin..end-1 of K Q^T, fragments as `readK` gave them.
  void multiplyK(ArrayRef<Values> fragments, int64_t begin, Values &acc);
  Values readScores(ArrayRef<Value> acc);
  SmallVector<Values> readAllV(Value lds);
  Values multiplyV(ArrayRef<Values> raw, ArrayRef<Value> p,
                   ArrayRef<Value> acc);
  /// c s - m. In 16 bits one fma, m in scaled log2 units; P is rounded harder
  /// than that anyway. In f32 c (s - m), m a score: exact for the maximum, and
  /// in error by the difference's last bit only, however large the scores.
  Value exponent(Value score, Frame frame);
  bool hasNaturalMaximum() {
    return c.kind == ElementKind::F32 ||
           (op.getBias() && !getElementTypeOrSelf(op.getBias()).isF16());
  }
  /// A wide bias may have any finite value, so m is a score with it, too. One
  /// fma does all the same while c m is near 0. P of a row whose maximum is far
  /// from it is NaN, and so is the sum, which votes in each tile: the rare
  /// branch computes c (s - m).
  bool hasGuardedMaximum() {
    return hasNaturalMaximum() && c.kind != ElementKind::F32;
  }
  Value isFar(Value nm);
  /// Of a tile, or of its repair.
  Frame frame(Value nm, bool isRepair);
  /// A maximum, or a difference of two, in log2 units.
  Value toLog2(Value m);
  /// What turns sums under the maximum `old` into those under `nm`.
  Value rescale(Value nm, Value old);
  /// p = exp2(c s - m) of `scores`, packed, their sum on top of `sum` (null:
  /// 0). fmas are issued ahead of their exponential, readers behind it.
  std::pair<Values, Value> exponentials(ArrayRef<Value> scores, Value nm,
                                        Value sum, Cap cap = Cap::None,
                                        bool isRepair = false);
  Values fragments(ArrayRef<Value> packed);
  /// The tile of keys that the wave's loop takes as its tile number `tile`.
  Value keyTile(Value tile);
  /// The first key of a tile that a lane of that half-wave holds.
  Value heldKey(Value half) {
    Value held = b.shiftLeft(half, 2);
    return c.exchangesP ? b.addi(held, b.muli(b.share, c.getWaveKeys())) : held;
  }
  /// Is the tile not whole for some row of the wave?
  Value needsMask(Value tile);
  Values select(ArrayRef<Value> scores, Value tile);
  Values hide(ArrayRef<Value> scores, Value tile);
  Probabilities finish(const State &state, Cap cap = Cap::None);
  /// `nm`, or minus the greatest of `scores` if the row has a greater one.
  Value raise(Value nm, ArrayRef<Value> scores);
  /// Does P of the tile need a repair: has anyone voted, or are there hidden
  /// keys in it (see masksLate)?
  Value needsRepair(const Probabilities &p, Value tile);
  /// What a greater maximum brings: nm, l, P, and the factor of O.
  struct Raised {
    Value nm, sum;
    Values fragments;
    Value factor;
  };
  /// The rare branch: where `condition` holds, the state's nm and O, `sum` and
  /// `fragments` become what `raised` makes of them.
  void adoptRaised(State &state, Value &sum, Values &fragments, Value condition,
                   function_ref<Raised()> raised);
  /// Raises the maximum; P and its sum anew, O and l along.
  void repair(State &state, Probabilities &p, Value tile, Value condition);

  // Exchange of P between two waves that share rows.
  Value exchangeBuffer() { return func.getWorkgroupAttributions().back(); }
  /// Offset of the wave's part of a layout of `exchangeBuffer`, or of the part
  /// of the wave it shares rows with.
  Value exchangeOffset(const LinearLayout &layout,
                       ArrayRef<LinearLayout::Coord> at, bool ofOther);
  Value maximumOffset(bool ofOther);
  void writeMaximum(Value x);
  Value readMaximum();
  void sendP(ArrayRef<Value> fragments, Value nm);
  /// The other wave's fragments, and its nm.
  std::pair<Values, Value> receiveP();
  /// O += V^T P of the wave's own keys, then of the other wave's, under the
  /// greater of their maxima. `raw`: all of V, own steps first.
  void multiplyShared(State &state, ArrayRef<Values> raw, ArrayRef<Value> own);
  /// x + x of the other wave.
  Value addShares(Value x);

  // Programs.
  State initialState();
  /// 0, but not the one that LLVM has in a VGPR anyway: the loop would count
  /// there.
  Value firstTile() { return b.pinScalar(b.c32(0)); }
  Values flatten(const State &state);
  State unflatten(ValueRange values);
  State runPlain();
  State runPipelined();
  void extraBarrier(Value condition);
  /// The operations that `emit` appends to the current block.
  SmallVector<Operation *> record(llvm::function_ref<void()> emit);
  /// What `emit` makes of `used`: where softcap is in the exponent in two arms,
  /// one of which runs. It has these types then. `used` is needed nowhere else.
  Values inArms(Value beyond, Values used, ArrayRef<Type> results,
                llvm::function_ref<Values(Cap, Values)> emit);
  State pipelinedTile(State state, Value tile, unsigned parity);
  /// What the groups of waves that share rows have, in all of them.
  State mergeGroups(State state);
  void epilogue(const State &state);
  /// The natural maximum of what is one of products (f32). The row's sum
  /// follows where that leaves f32: NaN for +inf, 0 for -inf.
  Value scaleTop(Value product, Value &total);
  /// Lets the sink's logit join maximum and sum; returns the factor for O.
  Value foldSink(Value &top, Value &total);
  void storeO(ArrayRef<Value> acc, Value inverse);
  /// What a lane has of column `at` on, or has after trading with its partner
  /// in the other half-wave.
  OutputPiece placeOutput(const LinearLayout &layout, Value vector, int64_t at,
                          bool isTraded);
  /// Is a lane's row one that only pads the sequence? Null if there are none.
  Value isPadRow();
  /// The rows of LSE behind the last tile of a sequence.
  void fillPadRows();

  gpu::GPUFuncOp func;
  const KernelConfig &c;
  AttentionOp op; ///< read only; its operands are another function's
  WaveBuilder b;
  DimMap map, keyMap; ///< of query and output; of key and value
  /// Heads whose rows share tiles. Row r then is row r / packing of head `head`
  /// + r % packing; all numbers and counts of rows below are of such rows.
  int64_t packing;
  int64_t pageSize; ///< keys of a page; 0 if keys are contiguous

  Value batch, head;
  Value lenQ, lenKV; ///< i32, rows and keys that take part
  Value headLenQ;    ///< i32, such rows of one head
  /// i32, where the rows (of one head) and keys begin in the operands: those of
  /// a packed sequence, or of a split; null for 0.
  Value beginQ, beginKV;
  /// Of a kernel for splits, else null: its split's place in the destinations
  /// (index) if they have all, and the split's first key in the sequence (i32),
  /// where the kernel's tiles and masks count from.
  Value splitDim, splitStart;
  Value wholeKV; ///< i32, keys of the sequence with those of other splits
  Value endKV;   ///< i32, in the sequence, behind the last key of the split
  Value rowsQ;   ///< i32, rows of the sequence's O, >= lenQ
  Value rowsLse; ///< i32, rows of its LSE if those are more; else null
  bool hasPadRows = false; ///< Some rows may be written without taking part
  Value padEnd; ///< i32, pad rows of LSE behind the tile end here; else null
  Value headK, headV;
  Value lastPage; ///< i32, of the sequence's block table (paged)
  GlobalMatrix q, o;
  GlobalMatrix k, v; ///< of pools, rank 3
  Value lse;         ///< memref [rows]
  Value row0;        ///< i32, first row of the wave
  Value firstRow;    ///< i32, first row of the workgroup
  VisibleKeys visible;
  Value tiles; ///< i32, tiles that each group of waves visits
  ScoreOperand bias, mask;
  Value slope;      ///< f32, minus the head's ALiBi slope; null without
  Value position;   ///< i32, i + off less the lane's first key of tile 0
  Value farther;    ///< f32, what is not in `position` (farOffset); or null
  Value scoreScale; ///< f32, |scale|, positive; null if products are kept
  Value scale;      ///< f32, positive: from the units of scores to log2 ones
  /// i32, the sign bits, in a dword of Q, that the scale flips (null: none)
  Value signs;
  /// f32 (capsInExponent): offset, rest and factor of TanhSeries for products,
  /// the factor in log2 units, and the greatest product it is good for.
  Values series;
  Values queries;
};

/// The key of a lane's score `i` of a tile, less the first one it holds.
int64_t getScoreKey(int64_t i);

/// Is softcap alone, in 16 bits with a scale that its series can represent, or
/// one that is not known?
bool softcapIsInExponent(AttentionOp op);

/// The scale that the op's type or attribute gives.
double getScale(AttentionOp op);

/// i1: is any bit of an i64 lane mask set?
Value isNotZero(WaveBuilder &b, Value mask);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_ATTNTOGPU_FORWARDKERNELIMPL_H
