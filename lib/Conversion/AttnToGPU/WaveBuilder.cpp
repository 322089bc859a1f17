//===- WaveBuilder.cpp ----------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaveBuilder.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

WaveBuilder::WaveBuilder(gpu::GPUFuncOp func, const KernelConfig &config)
    : ImplicitLocOpBuilder(func.getLoc(), func.getContext()), config(config) {
  i32 = getI32Type();
  f32 = getF32Type();
  switch (config.kind) {
  case ElementKind::F16:
    elementType = getF16Type();
    break;
  case ElementKind::BF16:
    elementType = getBF16Type();
    break;
  case ElementKind::F32:
    elementType = f32;
    break;
  }
  fragmentType = VectorType::get(config.getFragment(), elementType);
  accType = VectorType::get(16, f32);

  setInsertionPointToStart(&func.getBody().front());
  // The entry block's index arithmetic goes before this.
  entryEnd = gpu::ReturnOp::create(*this);
  setInsertionPoint(entryEnd);
  Value tid = arith::IndexCastOp::create(
      *this, i32, gpu::ThreadIdOp::create(*this, gpu::Dimension::x));
  wave = ROCDL::ReadfirstlaneOp::create(
      *this, i32, arith::ShRUIOp::create(*this, tid, c32(6)));
  lane = arith::AndIOp::create(*this, tid, c32(63));
  half = arith::ShRUIOp::create(*this, lane, c32(5));
  column = arith::AndIOp::create(*this, lane, c32(31));
  // Of the eight waves, the lowest bits say which rows, then which part of V or
  // of the keys.
  int64_t rowWaves = config.getTileQ() / rowsPerWave;
  auto low = [&](int64_t count) -> Value {
    return count == wavesPerGroup
               ? wave
               : arith::AndIOp::create(*this, wave, c32(count - 1));
  };
  auto high = [&](int64_t count) -> Value {
    return count == wavesPerGroup
               ? c32(0)
               : arith::ShRUIOp::create(*this, wave, c32(llvm::Log2_64(count)));
  };
  if (config.exchangesP) {
    // Waves that meet at the same barriers: w and w ^ 2.
    Value bit1 = arith::AndIOp::create(
        *this, arith::ShRUIOp::create(*this, wave, c32(1)), c32(1));
    Value bit2 = arith::ShRUIOp::create(*this, wave, c32(2));
    rowWave =
        arith::AddIOp::create(*this, arith::AndIOp::create(*this, wave, c32(1)),
                              arith::ShLIOp::create(*this, bit2, c32(1)));
    share = bit1;
    tileWave = wave;
    keyGroup = c32(0);
    return;
  }
  rowWave = low(rowWaves);
  tileWave = low(config.getTileWaves());
  keyGroup = high(config.getTileWaves());
  share = config.splitV == 1 ? c32(0) : high(rowWaves);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value WaveBuilder::c32(int64_t value) {
  return arith::ConstantIntOp::create(*this, i32, int32_t(value));
}

Value WaveBuilder::cf(double value) {
  return arith::ConstantFloatOp::create(*this, getF32Type(),
                                        APFloat(float(value)));
}

Value WaveBuilder::addi(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}

Value WaveBuilder::addi(Value a, int64_t b) {
  return b == 0 ? a : addi(a, c32(b));
}

Value WaveBuilder::muli(Value a, int64_t b) {
  if (b == 1)
    return a;
  return createOrFold<arith::MulIOp>(a, c32(b));
}

Value WaveBuilder::mins(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}

Value WaveBuilder::clamp(Value a, Value low, Value high) {
  // Pinned between the two, and before what follows: LLVM would make one vector
  // instruction of a minimum and a maximum.
  return pinScalar(
      arith::MaxSIOp::create(*this, pinScalar(mins(a, high)), low));
}

Value WaveBuilder::divide(Value a, Value b) {
  Value quotient = createOrFold<arith::DivUIOp>(a, b);
  if (matchPattern(b, m_Constant()) || matchPattern(quotient, m_Constant()))
    return quotient;
  // LLVM divides in vector registers, and would loop over the lanes of what is
  // computed from the result.
  return uniform(quotient);
}

Value WaveBuilder::uniform(Value a) {
  return ROCDL::ReadfirstlaneOp::create(*this, i32, a);
}

Value WaveBuilder::shiftRight(Value a, int64_t k) {
  return createOrFold<arith::ShRSIOp>(a, c32(k));
}

Value WaveBuilder::shiftLeft(Value a, int64_t k) {
  return createOrFold<arith::ShLIOp>(a, c32(k));
}

Value WaveBuilder::toIndex(Value a) {
  return createOrFold<arith::IndexCastOp>(getIndexType(), a);
}

Value WaveBuilder::recomputeLane() {
  // Pinned, or LLVM would hoist it.
  Value all = c32(-1), zero = pinScalar(c32(0));
  return ROCDL::MbcntHiOp::create(
      *this, i32, all,
      ROCDL::MbcntLoOp::create(*this, i32, all, zero, ArrayAttr(), ArrayAttr()),
      ArrayAttr(), ArrayAttr());
}

Value WaveBuilder::inEntry(llvm::function_ref<Value()> emit) {
  if (getInsertionBlock() == entryEnd->getBlock())
    return emit();
  OpBuilder::InsertionGuard guard(*this);
  // Before the first op with regions, so that every user is dominated.
  Operation *at = entryEnd;
  for (Operation &op : *entryEnd->getBlock())
    if (op.getNumRegions()) {
      at = &op;
      break;
    }
  setInsertionPoint(at);
  return emit();
}

std::pair<Value, int64_t>
WaveBuilder::locate(const LinearLayout &layout, StringRef out,
                    ArrayRef<StringRef> variables,
                    ArrayRef<LinearLayout::Coord> constants) {
  unsigned o = layout.getOutput(out);
  int64_t constant = layout.apply(constants)[o];
  // A constant that meets the bits of a variable part under xor cannot be
  // added afterwards.
  int64_t mixed = 0;
  bool isXor = layout.getCombine() == LinearLayout::Combine::Xor;
  if (isXor) {
    int64_t touched = 0;
    for (StringRef name : variables)
      for (const LinearLayout::Basis &basis : layout.getInput(name)->bases)
        touched |= basis[o];
    mixed = constant & touched;
    constant &= ~touched;
  }
  std::string key;
  llvm::raw_string_ostream os(key);
  layout.print(os);
  os << "|" << out << "|" << mixed;
  for (StringRef name : variables)
    os << "|" << name;
  auto [it, isNew] = located.try_emplace(key);
  if (isNew)
    it->second = inEntry([&]() -> Value {
      Value sum;
      auto join = [&](Value term) {
        if (!sum)
          sum = term;
        else if (isXor)
          sum = arith::XOrIOp::create(*this, sum, term);
        else
          sum = arith::AddIOp::create(*this, sum, term);
      };
      for (StringRef name : variables) {
        Value value = llvm::StringSwitch<Value>(name)
                          .Case("lane", lane)
                          .Case("wave", tileWave)
                          .Case("share", share)
                          .Case("group", keyGroup);
        ArrayRef<LinearLayout::Basis> bases = layout.getInput(name)->bases;
        // Neighbouring bits that scale alike are one masked multiple.
        for (unsigned b = 0; b < bases.size();) {
          int64_t unit = bases[b][o];
          unsigned end = b + 1;
          while (end < bases.size() && bases[end][o] == unit << (end - b))
            ++end;
          if (unit) {
            Value term = value;
            if (b)
              term = arith::ShRUIOp::create(*this, term, c32(b));
            if (end < bases.size())
              term =
                  arith::AndIOp::create(*this, term, c32((1 << (end - b)) - 1));
            if (llvm::isPowerOf2_64(unit)) {
              if (unit > 1)
                term = arith::ShLIOp::create(*this, term,
                                             c32(llvm::Log2_64(unit)));
              join(term);
            } else if (isXor) {
              // One bit at a time: the multiples would carry.
              for (unsigned i = b; i < end; ++i) {
                Value bit = arith::AndIOp::create(
                    *this, arith::ShRUIOp::create(*this, value, c32(i)),
                    c32(1));
                join(arith::MulIOp::create(*this, bit, c32(bases[i][o])));
              }
            } else {
              join(arith::MulIOp::create(*this, term, c32(unit)));
            }
          }
          b = end;
        }
      }
      if (mixed)
        sum = arith::XOrIOp::create(*this, sum, c32(mixed));
      return sum;
    });
  return {it->second, constant};
}

Value WaveBuilder::locateValue(const LinearLayout &layout, StringRef out,
                               ArrayRef<StringRef> variables,
                               ArrayRef<LinearLayout::Coord> constants) {
  auto [variable, constant] = locate(layout, out, variables, constants);
  return variable ? addi(variable, constant) : c32(constant);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Values matrixIndices(WaveBuilder &b, RowIndex row, Value col) {
  Value r = b.toIndex(row.uniform);
  if (row.lane)
    r = arith::AddIOp::create(b, r, b.toIndex(row.lane));
  return {r, b.toIndex(col)};
}

Value WaveBuilder::read(const GlobalMatrix &matrix, RowIndex row, Value col,
                        int64_t colMax, int64_t count) {
  auto type = VectorType::get({1, count}, elementType);
  Value zero =
      arith::ConstantOp::create(*this, getZeroAttr(elementType)).getResult();
  bool inBounds[] = {false, colMax + count <= matrix.columns};
  Value value = vector::TransferReadOp::create(
      *this, type, matrix.memref, matrixIndices(*this, row, col),
      std::optional<Value>(zero), inBounds);
  return vector::ShapeCastOp::create(*this, VectorType::get(count, elementType),
                                     value);
}

void WaveBuilder::write(Value vector, const GlobalMatrix &matrix, RowIndex row,
                        Value col, int64_t colMax) {
  auto type = cast<VectorType>(vector.getType());
  int64_t count = type.getNumElements();
  Value value = vector::ShapeCastOp::create(
      *this, VectorType::get({1, count}, type.getElementType()), vector);
  bool inBounds[] = {false, colMax + count <= matrix.columns};
  vector::TransferWriteOp::create(*this, value, matrix.memref,
                                  matrixIndices(*this, row, col), inBounds);
}

/// `layout` in the tile of the wave's group: one more input, "group".
LinearLayout WaveBuilder::inGroup(LinearLayout layout, bool isV) const {
  return layout.addLinear("group", llvm::Log2_64(config.groupsKV),
                          {config.getGroupStride(isV)});
}

Value WaveBuilder::readPaged(Value pool, Value page, Value row, Value col,
                             int64_t colMax, int64_t count) {
  int64_t columns = cast<MemRefType>(pool.getType()).getDimSize(2);
  Value zero =
      arith::ConstantOp::create(*this, getZeroAttr(elementType)).getResult();
  bool inBounds[] = {false, true, colMax + count <= columns};
  Value value = vector::TransferReadOp::create(
      *this, VectorType::get({1, 1, count}, elementType), pool,
      ValueRange{toIndex(page), toIndex(row), toIndex(col)},
      std::optional<Value>(zero), inBounds);
  return vector::ShapeCastOp::create(*this, VectorType::get(count, elementType),
                                     value);
}

void WaveBuilder::stage(const GlobalMatrix &matrix, Value row, Value lds,
                        bool isV) {
  stage(
      [&](int64_t tileRow, Value laneRow, Value col, int64_t colMax,
          int64_t count) {
        return read(matrix, {addi(row, tileRow), laneRow}, col, colMax, count);
      },
      lds, isV);
}

void WaveBuilder::stage(ReadRow read, Value lds, bool isV) {
  LinearLayout source = config.getStagingLayout(isV);
  LinearLayout target = inGroup(source.then(config.getTileLayout(isV)), isV);
  int64_t width = config.chip->dmaBytesPerLane / config.getElementBytes();
  // Pinned, or LLVM keeps the LDS address of every instruction in a register.
  Value waveBase = locate(target, "offset", {"wave", "group"}, {}).first;
  if (waveBase)
    waveBase = pinScalar(waveBase);
  for (int64_t i = 0; i < config.getStagingInstructions(isV); ++i) {
    LinearLayout::Coord at[] = {{"instr", i}};
    auto [laneRow, moreRows] = locate(source, "row", {"lane", "wave"}, at);
    auto [col, moreCols] = locate(source, "col", {"lane", "wave"}, at);
    int64_t colMax = moreCols;
    for (StringRef name : {"lane", "wave"})
      for (const LinearLayout::Basis &basis : source.getInput(name)->bases)
        colMax |= basis[1];
    Value data = read(moreRows, laneRow, addi(col, moreCols), colMax, width);
    // Uniform base plus lane times width: what a DMA can do.
    int64_t more = locate(target, "offset", {"wave", "group"}, at).second;
    Value base = waveBase ? addi(waveBase, more) : c32(more);
    Value offset = arith::AddIOp::create(
        *this, toIndex(base),
        toIndex(inEntry([&] { return muli(lane, width); })));
    vector::StoreOp::create(*this, data, lds, ValueRange{offset},
                            /*nontemporal=*/false,
                            llvm::Align(config.chip->dmaBytesPerLane));
  }
}

static Value readLDS(WaveBuilder &b, Value lds, Value offset, int64_t count) {
  int64_t bytes = count * b.config.getElementBytes();
  return vector::LoadOp::create(b, VectorType::get(count, b.elementType), lds,
                                ValueRange{b.toIndex(offset)},
                                /*nontemporal=*/false, llvm::Align(bytes));
}

Values WaveBuilder::readK(Value lds, int64_t step) {
  LinearLayout layout = inGroup(getOperandLayout(config.getElementBytes())
                                    .then(config.getTileLayout(/*isV=*/false)),
                                /*isV=*/false);
  SmallVector<StringRef> variables = {"lane", "group"};
  if (config.exchangesP) {
    layout.add("share", {layout.apply({{"block", 1}})});
    variables.push_back("share");
  }
  Values fragments;
  for (int64_t block = 0; block < config.getWaveKeys() / 32; ++block)
    fragments.push_back(readLDS(*this, lds,
                                locateValue(layout, "offset", variables,
                                            {{"step", step}, {"block", block}}),
                                config.getFragment()));
  return fragments;
}

/// Steps 0 and 1 become those of the wave's own keys: 2 share + (0 or 1), and
/// the others the rest: 2 - 2 share + (0 or 1).
static LinearLayout ownStepsFirst(const LinearLayout &layout, int64_t step) {
  int64_t offset = layout.apply({{"step", 2}})[0];
  LinearLayout result({"offset"});
  for (const LinearLayout::Input &input : layout.getInputs()) {
    auto bases = input.bases;
    if (input.name == "share")
      bases[0][0] += step < 2 ? offset : -offset;
    result.add(input.name, bases);
  }
  return result;
}

Values WaveBuilder::readV(Value lds, int64_t step) {
  LinearLayout tile = config.getTileLayout(/*isV=*/true);
  LinearLayout all = getValueLayout(config.getElementBytes(), config.groupV);
  // The wave's share of the columns is one more coordinate, above its blocks.
  LinearLayout value({"row", "col"});
  for (const LinearLayout::Input &input : all.getInputs())
    value.add(input.name,
              input.name == "block"
                  ? ArrayRef(input.bases)
                        .take_front(llvm::Log2_64_Ceil(config.blocksV))
                  : ArrayRef(input.bases));
  SmallVector<LinearLayout::Basis> shares;
  for (int64_t s = 1; s < config.splitV; s *= 2)
    shares.push_back({0, s * config.blocksV * 32});
  value.add("share", shares);
  int64_t fragment = config.getFragment();
  Values raw;

  if (config.transposedV) {
    // The address is that of the lane's part before the exchange.
    LinearLayout exchange = getTransposedReadLayout().invert({6, 2});
    LinearLayout inner({"row", "col"});
    inner.add("lane", value.getInput("lane")->bases);
    inner.add("elt", ArrayRef(value.getInput("elt")->bases).take_front(2));
    LinearLayout address = exchange.then(inner);
    address.add("high", ArrayRef(value.getInput("elt")->bases).drop_front(2));
    for (StringRef name : {"step", "block", "share"})
      address.add(name, value.getInput(name)->bases);
    LinearLayout layout = inGroup(address.then(tile), /*isV=*/true);
    if (config.exchangesP)
      layout = ownStepsFirst(layout, step);
    auto half = VectorType::get(4, elementType);
    for (int64_t block = 0; block < config.blocksV; ++block) {
      Value parts[2];
      for (int64_t high : {0, 1})
        parts[high] = amdgpu::TransposeLoadOp::create(
            *this, half, lds,
            ValueRange{toIndex(locateValue(
                layout, "offset", {"lane", "share", "group"},
                {{"step", step}, {"block", block}, {"high", high}}))});
      raw.push_back(
          vector::ShuffleOp::create(*this, parts[0], parts[1],
                                    ArrayRef<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    }
    return raw;
  }

  // groupV elements of one key a read, keys in register order. Reads of two
  // columns have a base of their own for odd keys, which LLVM cannot see
  // through: it then pairs keys two apart, whose distance is one that a strided
  // pair of reads can encode anywhere in the tile; else it adds up addresses.
  LinearLayout layout = inGroup(value.then(tile), /*isV=*/true);
  bool hasOddBase = config.groupV == 2 && config.kind != ElementKind::F32;
  for (int64_t block = 0; block < config.blocksV; block += config.groupV)
    for (int64_t elt = 0; elt < fragment; ++elt) {
      auto [variable, constant] =
          locate(layout, "offset", {"lane", "share", "group"},
                 {{"step", step}, {"block", block}, {"elt", elt}});
      if (hasOddBase && elt % 2) {
        int64_t odd = layout.apply({{"elt", 1}})[0];
        Value &base = located["odd keys of V"];
        Value even = variable;
        if (!base)
          base =
              inEntry([&] { return pin(ValueRange{addi(even, odd)}).front(); });
        variable = base;
        constant -= odd;
      }
      raw.push_back(
          readLDS(*this, lds, addi(variable, constant), config.groupV));
    }
  return raw;
}

Values WaveBuilder::finishV(ValueRange raw) {
  if (config.transposedV)
    return raw;
  int64_t fragment = config.getFragment(), group = config.groupV;
  Values operands;
  for (int64_t g = 0; g < config.blocksV / group; ++g) {
    ValueRange keys = raw.slice(g * fragment, fragment);
    for (int64_t c = 0; c < group; ++c) {
      Values elements;
      if (config.kind == ElementKind::F32) {
        for (Value key : keys)
          elements.push_back(element(key, c));
        operands.push_back(
            vector::FromElementsOp::create(*this, fragmentType, elements));
        continue;
      }
      // Two keys' elements meet in a dword: one v_perm.
      auto dwords = VectorType::get(group / 2, i32);
      for (int64_t k = 0; k < fragment; k += 2) {
        Value pair[2];
        for (int64_t i : {0, 1})
          pair[i] = element(
              vector::BitCastOp::create(*this, dwords, keys[k + i]), c / 2);
        elements.push_back(LLVM::CallIntrinsicOp::create(
                               *this, i32, getStringAttr("llvm.amdgcn.perm"),
                               ValueRange{pair[1], pair[0],
                                          c32(c % 2 ? 0x07060302 : 0x05040100)})
                               .getResult(0));
      }
      operands.push_back(this->fragment(elements));
    }
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value WaveBuilder::multiply(Value a, Value b, Value acc) {
  unsigned depth = config.chip->getMFMADepth(config.kind);
  int64_t fragment = config.getFragment(), each = depth / 2;
  for (int64_t at = 0; at < fragment; at += each) {
    Value parts[] = {a, b};
    for (Value &part : parts) {
      if (each == 1)
        part = element(part, at);
      else if (each < fragment)
        part = vector::ShuffleOp::create(
            *this, part, part, llvm::to_vector(llvm::seq(at, at + each)));
    }
    acc = amdgpu::MFMAOp::create(*this, accType, 32, 32, depth, 1, parts[0],
                                 parts[1], acc);
  }
  return acc;
}

Value WaveBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(*this, a, b, c);
}

Value WaveBuilder::exp2(Value a) {
  return ROCDL::ROCDLExp2::create(*this, f32, a);
}

Value WaveBuilder::fmax(Value a, Value b) {
  return arith::MaxNumFOp::create(*this, a, b);
}

Value WaveBuilder::element(Value vector, int64_t i) {
  return vector::ExtractOp::create(*this, vector, ArrayRef<int64_t>{i});
}

Value WaveBuilder::flipSigns(Value fragment, Value signs) {
  // On whole dwords: LLVM would redo a floating-point negation at every use.
  auto dwords = VectorType::get(4, i32);
  Value mask = vector::BroadcastOp::create(*this, dwords, signs);
  Value bits = vector::BitCastOp::create(*this, dwords, fragment);
  return vector::BitCastOp::create(*this, fragmentType,
                                   arith::XOrIOp::create(*this, bits, mask));
}

Value WaveBuilder::zeroAcc() {
  return arith::ConstantOp::create(*this, getZeroAttr(accType)).getResult();
}

Values WaveBuilder::pack(Value a, Value b) {
  if (config.kind == ElementKind::F32)
    return {a, b};
  if (config.chip->getPackMethod(config.kind) == PackMethod::Convert) {
    Value pair = vector::FromElementsOp::create(*this, VectorType::get(2, f32),
                                                ValueRange{a, b});
    pair =
        arith::TruncFOp::create(*this, VectorType::get(2, elementType), pair);
    return {element(
        vector::BitCastOp::create(*this, VectorType::get(1, i32), pair), 0)};
  }
  // Round to nearest even: x + 0x7fff + (bit 16 of x), upper half. A NaN keeps
  // its upper half unless all its set bits are in the lower one; those of the
  // hardware do not look like that.
  Value rounded[2];
  for (auto [from, to] : llvm::zip(ArrayRef<Value>{a, b}, rounded)) {
    Value bits = arith::BitcastOp::create(*this, i32, from);
    Value odd = arith::AndIOp::create(
        *this, arith::ShRUIOp::create(*this, bits, c32(16)), c32(1));
    to = arith::AddIOp::create(*this, arith::AddIOp::create(*this, odd, bits),
                               c32(0x7fff));
  }
  return {LLVM::CallIntrinsicOp::create(
              *this, i32, getStringAttr("llvm.amdgcn.perm"),
              ValueRange{rounded[1], rounded[0], c32(0x07060302)})
              .getResult(0)};
}

Value WaveBuilder::fragment(ValueRange packed) {
  Value vector = vector::FromElementsOp::create(
      *this, VectorType::get(packed.size(), packed.front().getType()), packed);
  if (vector.getType() == fragmentType)
    return vector;
  return vector::BitCastOp::create(*this, fragmentType, vector);
}

std::pair<Value, Value> WaveBuilder::swapHalves(Value a, Value b) {
  auto type = LLVM::LLVMStructType::getLiteral(getContext(), {i32, i32});
  Value both = ROCDL::Permlane32SwapOp::create(*this, type, a, b, false, false);
  return {LLVM::ExtractValueOp::create(*this, both, ArrayRef<int64_t>{0}),
          LLVM::ExtractValueOp::create(*this, both, ArrayRef<int64_t>{1})};
}

Value WaveBuilder::joinHalves(Value x,
                              llvm::function_ref<Value(Value, Value)> f) {
  Value bits = arith::BitcastOp::create(*this, i32, x);
  if (config.chip->hasPermlaneSwap) {
    auto [a, b] = swapHalves(bits, bits);
    return f(arith::BitcastOp::create(*this, f32, a),
             arith::BitcastOp::create(*this, f32, b));
  }
  Value other = inEntry([&]() -> Value {
    return arith::ShLIOp::create(
        *this, arith::XOrIOp::create(*this, lane, c32(32)), c32(2));
  });
  bits = ROCDL::DsBpermuteOp::create(*this, i32, other, bits);
  return f(x, arith::BitcastOp::create(*this, f32, bits));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static Operation *inlineAsm(WaveBuilder &b, Type result, ValueRange operands,
                            const Twine &constraints) {
  return LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands,
      /*asm_string=*/"", StringRef(constraints.str()),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
}

void WaveBuilder::schedBarrier() { ROCDL::SchedBarrier::create(*this, 0); }

void WaveBuilder::setPriority(int64_t priority) {
  schedBarrier();
  ROCDL::SetPrioOp::create(*this, priority);
  schedBarrier();
}

void WaveBuilder::barrier() {
  // The empty asm is the one fence that LLVM 22's MachineSink respects: without
  // it, reads of LDS sink past the barrier into a later block (llvm#181708).
  schedBarrier();
  inlineAsm(*this, Type(), {}, "~{memory}");
  ROCDL::SBarrierOp::create(*this);
  inlineAsm(*this, Type(), {}, "~{memory}");
  schedBarrier();
}

void WaveBuilder::wait(int64_t vmem, int64_t lds) {
  // The counters have 6 and 4 bits, and all of them set mean no wait at all.
  auto count = [&](int64_t left, int64_t most) {
    return left < 0 ? IntegerAttr()
                    : getI32IntegerAttr(std::min<int64_t>(left, most));
  };
  amdgpu::MemoryCounterWaitOp::create(*this, count(vmem, 62), IntegerAttr(),
                                      count(lds, 14), IntegerAttr(),
                                      IntegerAttr());
}

Values WaveBuilder::pin(ValueRange values, StringRef reg) {
  if (values.empty())
    return {};
  size_t n = values.size();
  std::string constraints;
  for (size_t i = 0; i < n; ++i)
    constraints += "=" + reg.str() + ",";
  for (size_t i = 0; i < n; ++i)
    constraints += std::to_string(i) + (i + 1 < n ? "," : "");
  if (n == 1)
    return {inlineAsm(*this, values.front().getType(), values, constraints)
                ->getResult(0)};
  auto type = LLVM::LLVMStructType::getLiteral(
      getContext(), llvm::to_vector(values.getTypes()));
  Value all = inlineAsm(*this, type, values, constraints)->getResult(0);
  Values results;
  for (size_t i = 0; i < n; ++i)
    results.push_back(
        LLVM::ExtractValueOp::create(*this, all, ArrayRef<int64_t>(i)));
  return results;
}

Values WaveBuilder::branch(Value condition, ValueRange values,
                           llvm::function_ref<Values()> then, bool likely) {
  if (!likely)
    condition = LLVM::ExpectOp::create(
        *this, condition, arith::ConstantIntOp::create(*this, getI1Type(), 0));
  auto op = scf::IfOp::create(*this, values.getTypes(), condition,
                              /*withElseRegion=*/!values.empty());
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  Values results = then();
  if (!values.empty()) {
    scf::YieldOp::create(*this, results);
    setInsertionPointToStart(op.elseBlock());
    scf::YieldOp::create(*this, values);
  }
  return op.getResults();
}

Value WaveBuilder::undefined(Type type) {
  return LLVM::UndefOp::create(*this, type);
}

Value WaveBuilder::undefinedRegister(Type type) {
  return inlineAsm(*this, type, {}, "=v")->getResult(0);
}
