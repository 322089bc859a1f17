//===- BufferResources.cpp ----------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Conversion/ScoreOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNBUFFERRESOURCES
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Offset of lanes that must not access memory: at or beyond num_records of
/// every resource, which stay below 2^31, and far from wrapping.
static constexpr int64_t outOfRange = int64_t(1) << 31;
/// The same for pools of pages, which may have this many bytes; adding a column
/// does not wrap.
static constexpr int64_t outOfPool = maxPoolBytes;
/// Rows that lanes may reach behind the uniform part of a row index; longer
/// resources are cut here, which keeps num_records small for any row stride.
static constexpr int64_t laneRows = 256;
/// Word 3 of a raw buffer descriptor: 32-bit data, unswizzled (CDNA3/CDNA4 ISA,
/// buffer resource descriptor).
static constexpr int64_t rsrcFlags = 0x27000;

namespace {

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

class KernelRewriter {
public:
  KernelRewriter(gpu::GPUFuncOp func)
      : func(func), b(func.getLoc(), func.getContext()) {}

  LogicalResult run();
  /// New operands of a launch of this kernel for its old memref operands.
  void rewriteLaunch(gpu::LaunchFuncOp launch);

private:
  void rewriteSignature();
  LogicalResult lowerAccess(Operation *op);
  FailureOr<Slice> getSlice(Operation *user, Value memref);
  FailureOr<Slice> getRun(Operation *user, memref::ReinterpretCastOp run);
  bool isUniform(Value value);
  /// index -> (uniform part or null, lane part or null), as i32.
  std::pair<Value, Value> split(Value index);
  /// With `behind`, the resource begins and ends with whole dwords, that many
  /// bytes (i32) in front of the slice.
  Value resource(const Slice &slice, Value rowUniform, Value *behind = nullptr);
  /// Byte offset of [row, col] behind the resource, and a constant beside it.
  Value laneOffset(const Slice &slice, Value rowLane, Value col);
  /// The resource of all pages.
  Value poolResource(const Slice &slice, Value pages);
  /// `page`, one of a few uniform numbers chosen by lanes, times `bytes`.
  Value pageOffset(Value page, Value bytes);
  /// Rows and columns of one page, which begin `offset` bytes behind the pool.
  LogicalResult lowerPagedRead(vector::TransferReadOp op, const Slice &slice);

  Value c32(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI32Type(), int32_t(value));
  }
  Value c64(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value toI32(Value index);
  Type pointer(unsigned space) {
    return LLVM::LLVMPointerType::get(b.getContext(), space);
  }

  LogicalResult lowerRead(vector::TransferReadOp op);
  LogicalResult lowerRunRead(vector::TransferReadOp op, const Slice &slice);
  LogicalResult lowerWrite(vector::TransferWriteOp op);
  LogicalResult lowerStore(memref::StoreOp op);
  LogicalResult lowerLoad(memref::LoadOp op);
  /// An access by all indices of an argument instead of a slice's: by its
  /// 64-bit address. What guards it stays.
  void lowerDirect(Operation *op, Value memref, ValueRange indices);
  bool tryDMA(vector::TransferReadOp op, const Slice &slice, Value rsrc,
              Value rowLane, Value col, Value page = {});

  gpu::GPUFuncOp func;
  ImplicitLocOpBuilder b;
  SmallVector<MemRefType> oldTypes; ///< null for an argument that was kept
  DenseMap<Value, Argument> arguments;
  DenseMap<Value, Slice> slices;
  DenseMap<Value, bool> uniform;
  DenseSet<Value> written; ///< pointer arguments that are stored through
};

} // namespace

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// Bytes of an element in memory; i1 takes one.
static int64_t getBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

static SmallVector<int64_t> getStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  return strides;
}

void KernelRewriter::rewriteSignature() {
  Block &entry = func.getBody().front();
  unsigned count = func.getFunctionType().getNumInputs();
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  b.setInsertionPointToStart(&entry);
  unsigned next = 0; // where the next new argument goes
  for (unsigned i = 0; i < count; ++i) {
    Value value = entry.getArgument(next);
    DictionaryAttr oldAttrs = func.getArgAttrDict(i);
    std::string name = "arg" + std::to_string(i);
    if (oldAttrs)
      if (auto given = oldAttrs.getAs<StringAttr>("attn.name"))
        name = given.str();
    auto type = dyn_cast<MemRefType>(value.getType());
    oldTypes.push_back(type);
    auto addArgument = [&](Type type, const Twine &name,
                           ArrayRef<NamedAttribute> more = {}) -> Value {
      types.push_back(type);
      NamedAttrList list(more);
      list.set("attn.name", b.getStringAttr(name));
      attrs.push_back(list.getDictionary(b.getContext()));
      return entry.insertArgument(next++, type, b.getLoc());
    };
    if (!type) {
      types.push_back(value.getType());
      attrs.push_back(oldAttrs ? oldAttrs : b.getDictionaryAttr({}));
      ++next;
      continue;
    }
    Argument argument;
    SmallVector<NamedAttribute> known = {
        b.getNamedAttr("llvm.inreg", b.getUnitAttr())};
    if (!func->hasAttr(kMayAliasAttr))
      known.push_back(b.getNamedAttr("llvm.noalias", b.getUnitAttr()));
    argument.pointer = addArgument(pointer(1), name, known);
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      argument.sizes.push_back(
          ShapedType::isDynamic(size)
              ? addArgument(b.getI32Type(), name + ".size" + Twine(d))
              : c32(size));
    for (auto [d, stride] : llvm::enumerate(getStrides(type)))
      argument.strides.push_back(
          ShapedType::isDynamic(stride)
              ? addArgument(b.getI64Type(), name + ".stride" + Twine(d))
              : c64(stride));
    // The old argument follows the new ones; it goes when it has no user.
    arguments[entry.getArgument(next)] = argument;
    ++next;
  }
  func.setFunctionTypeAttr(TypeAttr::get(b.getFunctionType(types, {})));
  func.setArgAttrsAttr(b.getArrayAttr(attrs));
}

void KernelRewriter::rewriteLaunch(gpu::LaunchFuncOp launch) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(launch);
  SmallVector<Value> operands;
  for (auto [operand, type] : llvm::zip(launch.getKernelOperands(), oldTypes)) {
    if (!type) {
      operands.push_back(operand);
      continue;
    }
    auto metadata = memref::ExtractStridedMetadataOp::create(b, operand);
    auto toI64 = [&](Value index) -> Value {
      return arith::IndexCastOp::create(b, b.getI64Type(), index);
    };
    Value address =
        toI64(memref::ExtractAlignedPointerAsIndexOp::create(b, operand));
    Value offset = arith::MulIOp::create(b, toI64(metadata.getOffset()),
                                         c64(getBytes(type)));
    operands.push_back(LLVM::IntToPtrOp::create(
        b, pointer(1), arith::AddIOp::create(b, address, offset),
        LLVM::DereferenceableAttr()));
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        operands.push_back(arith::IndexCastOp::create(b, b.getI32Type(),
                                                      metadata.getSizes()[d]));
    for (auto [d, stride] : llvm::enumerate(getStrides(type)))
      if (ShapedType::isDynamic(stride))
        operands.push_back(toI64(metadata.getStrides()[d]));
  }
  launch.getKernelOperandsMutable().assign(operands);
}

//===----------------------------------------------------------------------===//
// Index analysis
//===----------------------------------------------------------------------===//

bool KernelRewriter::isUniform(Value value) {
  auto it = uniform.find(value);
  if (it != uniform.end())
    return it->second;
  bool result = true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // Kernel arguments, and induction variables of loops with uniform bounds.
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    result = isa<gpu::GPUFuncOp>(parent) ||
             (loop && argument == loop.getInductionVar() &&
              isUniform(loop.getLowerBound()) && isUniform(loop.getStep()));
  } else {
    Operation *op = value.getDefiningOp();
    auto asmOp = dyn_cast<LLVM::InlineAsmOp>(op);
    if (isa<gpu::ThreadIdOp>(op))
      result = false;
    else if (asmOp) // in a scalar register
      result = asmOp.getConstraints().starts_with("=s");
    else if (isa<ROCDL::ReadfirstlaneOp, gpu::BlockIdOp>(op) ||
             op->hasTrait<OpTrait::ConstantLike>())
      result = true;
    else if (isa<memref::LoadOp>(op) ||
             (isMemoryEffectFree(op) && op->getNumRegions() == 0))
      result = llvm::all_of(op->getOperands(),
                            [&](Value v) { return isUniform(v); });
    else
      result = false;
  }
  return uniform[value] = result;
}

Value KernelRewriter::toI32(Value value) {
  if (value.getType().isInteger(32))
    return value;
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    if (cast.getIn().getType().isInteger(32))
      return cast.getIn();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return c32(constant.getSExtValue());
  return arith::IndexCastOp::create(b, b.getI32Type(), value);
}

std::pair<Value, Value> KernelRewriter::split(Value index) {
  if (isUniform(index))
    return {toI32(index), Value()};
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    if (cast.getIn().getType().isInteger(32))
      return split(cast.getIn());
  if (auto add = index.getDefiningOp<arith::AddIOp>()) {
    auto left = split(add.getLhs()), right = split(add.getRhs());
    auto join = [&](Value x, Value y) -> Value {
      if (!x || !y)
        return x ? x : y;
      return b.createOrFold<arith::AddIOp>(x, y);
    };
    return {join(left.first, right.first), join(left.second, right.second)};
  }
  return {Value(), toI32(index)};
}

//===----------------------------------------------------------------------===//
// Resources
//===----------------------------------------------------------------------===//

FailureOr<Slice> KernelRewriter::getSlice(Operation *user, Value memref) {
  auto it = slices.find(memref);
  if (it != slices.end())
    return it->second;
  auto type = cast<MemRefType>(memref.getType());
  if (auto whole = arguments.find(memref);
      whole != arguments.end() && type.getRank() == 1) {
    Slice slice;
    slice.base = slice.argument = whole->second.pointer;
    slice.rows = whole->second.sizes[0];
    slice.rowStride = whole->second.strides[0];
    slice.bytes = getBytes(type);
    return slices[memref] = slice;
  }
  if (auto run = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return getRun(user, run);
  auto subview = memref.getDefiningOp<memref::SubViewOp>();
  auto argument =
      subview ? arguments.find(subview.getSource()) : arguments.end();
  if (argument == arguments.end())
    return user->emitOpError("expects a subview of a kernel argument in "
                             "attn-buffer-resources");
  const Argument &arg = argument->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(subview);
  type = cast<MemRefType>(subview.getSource().getType());
  Slice slice;
  slice.bytes = getBytes(type);
  // Batch and head: 64-bit arithmetic.
  Value offset;
  for (auto [d, start] : llvm::enumerate(subview.getMixedOffsets())) {
    if (isConstantIntValue(start, 0))
      continue;
    Value at = getValueOrCreateConstantIndexOp(b, b.getLoc(), start);
    Value term = arith::MulIOp::create(
        b, arith::ExtUIOp::create(b, b.getI64Type(), toI32(at)),
        arg.strides[d]);
    offset = offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
  }
  slice.base = slice.argument = arg.pointer;
  if (offset)
    slice.base = LLVM::GEPOp::create(b, pointer(1), type.getElementType(),
                                     arg.pointer, ValueRange{offset});
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<int64_t> strides = getStrides(type);
  bool isFirst = true;
  Value pages;
  for (auto [d, size] : llvm::enumerate(subview.getMixedSizes())) {
    if (dropped[d])
      continue;
    if (subview.getType().getRank() == 3 && !pages) {
      pages = toI32(getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
      slice.pageStride = arg.strides[d];
      continue;
    }
    if (isFirst) {
      slice.mostRows = getConstantIntValue(size);
      if (!slice.mostRows && !type.isDynamicDim(d))
        slice.mostRows = type.getDimSize(d);
      slice.rows = toI32(getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
      slice.rowStride = arg.strides[d];
      if (!ShapedType::isDynamic(strides[d]))
        slice.strideIfStatic = strides[d];
      isFirst = false;
      continue;
    }
    std::optional<int64_t> columns = getConstantIntValue(size);
    if (!columns || strides[d] != 1)
      return user->emitOpError("expects a static, contiguous inner dimension "
                               "in attn-buffer-resources");
    slice.columns = *columns;
  }
  if (pages)
    slice.pool = poolResource(slice, pages);
  slices[memref] = slice;
  return slice;
}

Value KernelRewriter::poolResource(const Slice &slice, Value pages) {
  auto mul = [&](Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(x, y);
  };
  auto wide = [&](Value count) {
    return b.createOrFold<arith::ExtSIOp>(b.getI64Type(), count);
  };
  // Elements from the pool's start to a row of a page.
  auto distance = [&](Value page, Value row) {
    return b.createOrFold<arith::AddIOp>(mul(wide(page), slice.pageStride),
                                         mul(wide(row), slice.rowStride));
  };
  // Larger pools would wrap: better no result than a wrong one.
  Value isTooLarge = b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::ugt,
      mul(distance(pages, slice.rows), c64(slice.bytes)), c64(outOfPool));
  if (!matchPattern(isTooLarge, m_Constant())) {
    auto guard = scf::IfOp::create(b, isTooLarge, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    LLVM::Trap::create(b);
  }
  auto last = [&](Value count) {
    return b.createOrFold<arith::SubIOp>(count, c32(1));
  };
  Value elements = distance(last(pages), last(slice.rows));
  elements = b.createOrFold<arith::AddIOp>(elements, c64(slice.columns));
  Value bytes = mul(elements, c64(slice.bytes));
  bytes = b.createOrFold<arith::MinUIOp>(bytes, c64(outOfPool));
  return ROCDL::MakeBufferRsrcOp::create(
      b, pointer(8), slice.base,
      arith::ConstantIntOp::create(b, b.getI16Type(), 0), bytes,
      c32(rsrcFlags));
}

/// Contiguous elements from anywhere in an argument.
FailureOr<Slice> KernelRewriter::getRun(Operation *user,
                                        memref::ReinterpretCastOp run) {
  auto metadata =
      run.getSource().getDefiningOp<memref::ExtractStridedMetadataOp>();
  auto argument =
      metadata ? arguments.find(metadata.getSource()) : arguments.end();
  auto type = cast<MemRefType>(run.getType());
  if (argument == arguments.end() || type.getRank() != 1 ||
      getStrides(type)[0] != 1)
    return user->emitOpError("expects a contiguous rank-1 run of a kernel "
                             "argument in attn-buffer-resources");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(run);
  Slice slice;
  slice.isRun = true;
  slice.isUnaligned =
      !hasWholeDwordRows(cast<MemRefType>(metadata.getSource().getType()));
  slice.bytes = getBytes(type);
  // The pointer is that of the argument's first element, its offset included.
  Value offset = arith::IndexCastOp::create(
      b, b.getI64Type(),
      getValueOrCreateConstantIndexOp(b, b.getLoc(), run.getMixedOffsets()[0]));
  slice.argument = argument->second.pointer;
  slice.base = LLVM::GEPOp::create(
      b, pointer(1), b.getI8Type(), slice.argument,
      ValueRange{arith::MulIOp::create(b, offset, c64(slice.bytes))});
  slice.rows = toI32(
      getValueOrCreateConstantIndexOp(b, b.getLoc(), run.getMixedSizes()[0]));
  slice.rowStride = c64(1);
  slice.strideIfStatic = 1;
  return slices[run] = slice;
}

Value KernelRewriter::resource(const Slice &slice, Value rowUniform,
                               Value *behind) {
  Value base = slice.base, rows = slice.rows;
  Value rowBytes = arith::MulIOp::create(b, slice.rowStride, c64(slice.bytes));
  // A constant goes last, so that accesses to several rows of one tile share
  // the rest. Rows behind the end have no records; their base is never used.
  SmallVector<Value, 2> parts;
  if (rowUniform) {
    auto add = rowUniform.getDefiningOp<arith::AddIOp>();
    if (add && matchPattern(add.getRhs(), m_Constant()))
      parts = {add.getLhs(), add.getRhs()};
    else
      parts = {rowUniform};
  }
  bool isSmall = slice.isRun;
  isSmall |=
      slice.mostRows && slice.strideIfStatic &&
      *slice.mostRows * *slice.strideIfStatic * slice.bytes < outOfRange / 2;
  Value start;
  for (Value part : parts) {
    if (matchPattern(part, m_Zero()))
      continue;
    Value offset = arith::MulIOp::create(
        b, arith::ExtSIOp::create(b, b.getI64Type(), part), rowBytes);
    base = LLVM::GEPOp::create(b, pointer(1), b.getI8Type(), base,
                               ValueRange{offset});
    start = start ? arith::AddIOp::create(b, start, part).getResult() : part;
  }
  // The end is limited before the start is taken off: LLVM would make one
  // instruction of a clamp, but one for vector registers.
  if (!isSmall) {
    Value reach = c32(laneRows);
    if (start)
      reach = arith::AddIOp::create(b, start, reach);
    rows = arith::MinSIOp::create(b, rows, reach);
  }
  if (start)
    rows = arith::MaxSIOp::create(b, arith::SubIOp::create(b, rows, start),
                                  c32(0));
  Value records;
  Value stride32 = arith::TruncIOp::create(b, b.getI32Type(), rowBytes);
  if (slice.strideIfStatic && *slice.strideIfStatic == slice.columns) {
    records = arith::MulIOp::create(b, rows, stride32);
  } else {
    // The last row ends with its columns, not with its stride.
    Value last = arith::MulIOp::create(
        b, arith::SubIOp::create(b, rows, c32(1)), stride32);
    records = arith::AddIOp::create(b, last, c32(slice.columns * slice.bytes));
    Value any =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rows, c32(0));
    records = arith::SelectOp::create(b, any, records, c32(0));
  }
  if (behind) {
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), base);
    Value odd = arith::AndIOp::create(b, address, c64(3));
    base =
        LLVM::GEPOp::create(b, pointer(1), b.getI8Type(), base,
                            ValueRange{arith::SubIOp::create(b, c64(0), odd)});
    *behind = arith::TruncIOp::create(b, b.getI32Type(), odd);
    Value end = arith::AddIOp::create(
        b, records, arith::AddIOp::create(b, *behind, c32(3)));
    Value any =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, records, c32(0));
    records = arith::SelectOp::create(
        b, any, arith::AndIOp::create(b, end, c32(-4)), c32(0));
  }
  // Were it in a vector register, each access would become a loop over lanes,
  // into whose end LLVM places spills that no lane then executes.
  records = ROCDL::ReadfirstlaneOp::create(b, b.getI32Type(), records);
  return ROCDL::MakeBufferRsrcOp::create(
      b, pointer(8), base, arith::ConstantIntOp::create(b, b.getI16Type(), 0),
      arith::ExtUIOp::create(b, b.getI64Type(), records), c32(rsrcFlags));
}

Value KernelRewriter::laneOffset(const Slice &slice, Value rowLane, Value col) {
  Value offset;
  if (rowLane) {
    Value stride32 =
        arith::TruncIOp::create(b, b.getI32Type(), slice.rowStride);
    offset = arith::MulIOp::create(
        b, rowLane, arith::MulIOp::create(b, stride32, c32(slice.bytes)));
  }
  if (col) {
    Value bytes =
        slice.bytes == 1
            ? col
            : arith::MulIOp::create(b, col, c32(slice.bytes)).getResult();
    offset =
        offset ? arith::AddIOp::create(b, offset, bytes).getResult() : bytes;
  }
  return offset ? offset : c32(0);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The LDS pointer that a workgroup memref becomes.
static Value ldsPointer(ImplicitLocOpBuilder &b, Value memref, Value offset) {
  auto type = cast<MemRefType>(memref.getType());
  auto ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  auto i32 = b.getI32Type();
  auto array = LLVM::LLVMArrayType::get(i32, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {ptr, ptr, i32, array, array});
  Value cast =
      UnrealizedConversionCastOp::create(b, descriptor, memref).getResult(0);
  Value base = LLVM::ExtractValueOp::create(b, cast, ArrayRef<int64_t>{1});
  return LLVM::GEPOp::create(b, ptr, type.getElementType(), base,
                             ValueRange{offset});
}

static bool isWorkgroup(Value memref) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
      cast<MemRefType>(memref.getType()).getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}

/// lane * width, as lane = thread id & 63.
static bool isLaneTimes(Value value, int64_t width) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  if (width != 1) {
    auto mul = value.getDefiningOp<arith::MulIOp>();
    APInt factor;
    if (!mul || !matchPattern(mul.getRhs(), m_ConstantInt(&factor)) ||
        factor.getSExtValue() != width)
      return false;
    value = mul.getLhs();
  }
  auto mask = value.getDefiningOp<arith::AndIOp>();
  APInt bits;
  if (!mask || !matchPattern(mask.getRhs(), m_ConstantInt(&bits)) ||
      bits.getSExtValue() != 63)
    return false;
  auto id = mask.getLhs().getDefiningOp<arith::IndexCastOp>();
  return id && id.getIn().getDefiningOp<gpu::ThreadIdOp>();
}

bool KernelRewriter::tryDMA(vector::TransferReadOp op, const Slice &slice,
                            Value rsrc, Value rowLane, Value col, Value page) {
  if (!op->hasOneUse())
    return false;
  auto cast = dyn_cast<vector::ShapeCastOp>(*op->user_begin());
  if (!cast || !cast->hasOneUse())
    return false;
  auto store = dyn_cast<vector::StoreOp>(*cast->user_begin());
  if (!store || !isWorkgroup(store.getBase()) || store.getIndices().size() != 1)
    return false;
  int64_t width = op.getVectorType().getNumElements();
  auto index = store.getIndices()[0].getDefiningOp<arith::AddIOp>();
  if (!index || !isUniform(index.getLhs()) ||
      !isLaneTimes(index.getRhs(), width))
    return false;

  // The column's uniform part may go into the scalar offset: a row that is
  // inside stays inside, and one outside is outside without it.
  auto [colUniform, colLane] = split(col);
  bool isChecked = !op.getInBoundsValues().back();
  Value soffset = c32(0);
  Value voffset;
  if (isChecked || !colUniform || matchPattern(colUniform, m_Zero())) {
    voffset = laneOffset(slice, rowLane, toI32(col));
  } else {
    voffset = laneOffset(slice, rowLane, colLane);
    soffset = b.createOrFold<arith::MulIOp>(colUniform, c32(slice.bytes));
  }
  if (page)
    voffset = arith::AddIOp::create(b, voffset, page);
  if (isChecked) {
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, toI32(col),
                              c32(slice.columns - width + 1));
    voffset = arith::SelectOp::create(b, inside, voffset,
                                      c32(page ? outOfPool : outOfRange));
  }
  b.setInsertionPoint(store); // the LDS offset is known from here on
  Value lds = ldsPointer(b, store.getBase(), toI32(index.getLhs()));
  Value zero = c32(0);
  ROCDL::RawPtrBufferLoadLdsOp::create(b, rsrc, lds, c32(width * slice.bytes),
                                       voffset, soffset, zero, zero,
                                       ArrayAttr(), ArrayAttr(), ArrayAttr());
  store.erase();
  cast.erase();
  op.erase();
  return true;
}

/// The integer type in which `bits` of data pass through a buffer op.
static Type carrier(OpBuilder &b, int64_t bits) {
  if (bits <= 32)
    return b.getIntegerType(bits);
  return VectorType::get(bits / 32, b.getI32Type());
}

Value KernelRewriter::pageOffset(Value page, Value bytes) {
  if (auto cast = page.getDefiningOp<arith::IndexCastOp>())
    page = cast.getIn();
  if (auto select = page.getDefiningOp<arith::SelectOp>())
    return arith::SelectOp::create(b, select.getCondition(),
                                   pageOffset(select.getTrueValue(), bytes),
                                   pageOffset(select.getFalseValue(), bytes));
  return arith::MulIOp::create(b, page, bytes);
}

LogicalResult KernelRewriter::lowerPagedRead(vector::TransferReadOp op,
                                             const Slice &slice) {
  Value stride = arith::TruncIOp::create(
      b, b.getI32Type(),
      arith::MulIOp::create(b, slice.pageStride, c64(slice.bytes)));
  Value page = pageOffset(op.getIndices()[0], stride);
  if (tryDMA(op, slice, slice.pool, toI32(op.getIndices()[1]),
             op.getIndices()[2], page))
    return success();
  return op.emitOpError("expects a read of a page to go to LDS in "
                        "attn-buffer-resources");
}

LogicalResult KernelRewriter::lowerRead(vector::TransferReadOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getBase());
  if (failed(slice))
    return failure();
  if (slice->isRun)
    return lowerRunRead(op, *slice);
  b.setInsertionPoint(op);
  if (slice->pool)
    return lowerPagedRead(op, *slice);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  Value col = op.getIndices()[1];
  if (tryDMA(op, *slice, rsrc, rowLane, col))
    return success();
  Value offset = laneOffset(*slice, rowLane, toI32(col));
  VectorType type = op.getVectorType();
  int64_t count = type.getNumElements();
  if (!op.getInBoundsValues().back()) {
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, toI32(col),
                              c32(slice->columns - count + 1));
    offset = arith::SelectOp::create(b, inside, offset, c32(outOfRange));
  }
  Value zero = c32(0);
  Type data = carrier(b, count * type.getElementTypeBitWidth());
  Value loaded = ROCDL::RawPtrBufferLoadOp::create(
      b, data, rsrc, offset, zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
  if (!isa<VectorType>(data))
    loaded = vector::BroadcastOp::create(b, VectorType::get(1, data), loaded);
  auto flat = VectorType::get(count, type.getElementType());
  loaded = vector::BitCastOp::create(b, flat, loaded);
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (auto cast = dyn_cast<vector::ShapeCastOp>(user);
        cast && cast.getResult().getType() == flat) {
      cast.replaceAllUsesWith(loaded);
      cast.erase();
    }
  if (!op->use_empty())
    op.replaceAllUsesWith(
        vector::ShapeCastOp::create(b, type, loaded).getResult());
  op.erase();
  return success();
}

/// The first operation of the block that uses a result of `op`, itself or
/// inside of its regions; null if there is none, or one in another block.
static Operation *findFirstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here)
      return nullptr;
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  return first;
}

LogicalResult KernelRewriter::lowerRunRead(vector::TransferReadOp op,
                                           const Slice &slice) {
  b.setInsertionPoint(op);
  // A constant stays with the lanes, where it is the offset of the instruction:
  // the reads of one place share a descriptor.
  Value index = op.getIndices()[0], constant;
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  auto add = index.getDefiningOp<arith::AddIOp>();
  APInt more;
  if (add && matchPattern(add.getRhs(), m_ConstantInt(&more)) &&
      (!slice.isUnaligned || more.getSExtValue() * slice.bytes % 4 == 0)) {
    index = add.getLhs();
    constant = c32(more.getSExtValue() * slice.bytes);
  }
  VectorType type = op.getVectorType();
  int64_t count = type.getNumElements(), bits = count * slice.bytes * 8;
  // Four elements that may lie in parts of dwords: one dword more is read.
  bool isShifted = slice.isUnaligned && count * slice.bytes % 4 == 0;
  auto [uniformPart, lanePart] = split(index);
  Value behind, shift;
  Value rsrc = resource(slice, uniformPart, isShifted ? &behind : nullptr);
  Value offset = lanePart ? lanePart : c32(0);
  offset = b.createOrFold<arith::MulIOp>(offset, c32(slice.bytes));
  if (isShifted) {
    offset = arith::AddIOp::create(b, offset, behind);
    shift = arith::ShLIOp::create(b, offset, c32(3));
    offset = arith::AndIOp::create(b, offset, c32(-4));
    bits += 32;
  }
  if (constant)
    offset = arith::AddIOp::create(b, offset, constant);
  Type data = carrier(b, bits);
  Value zero = c32(0);
  Value loaded = ROCDL::RawPtrBufferLoadOp::create(
      b, data, rsrc, offset, zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
  // What is done to it waits for it.
  if (Operation *user = findFirstUser(op))
    b.setInsertionPoint(user);
  if (isShifted) {
    SmallVector<Value> dwords;
    auto dword = [&](int64_t i) -> Value {
      return vector::ExtractOp::create(b, loaded, i);
    };
    for (int64_t i = 0; i + 1 < bits / 32; ++i)
      dwords.push_back(LLVM::FshrOp::create(b, dword(i + 1), dword(i), shift));
    loaded = vector::FromElementsOp::create(
        b, VectorType::get(dwords.size(), b.getI32Type()), dwords);
  } else if (!isa<VectorType>(data)) {
    loaded = vector::BroadcastOp::create(b, VectorType::get(1, data), loaded);
  }
  Type element = type.getElementType();
  bool isBool = element.isInteger(1);
  auto inMemory = VectorType::get(count, isBool ? b.getI8Type() : element);
  loaded = vector::BitCastOp::create(b, inMemory, loaded);
  if (isBool)
    loaded = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, loaded,
        arith::ConstantOp::create(b, b.getZeroAttr(inMemory)));
  op.replaceAllUsesWith(loaded);
  op.erase();
  return success();
}

LogicalResult KernelRewriter::lowerWrite(vector::TransferWriteOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getBase());
  if (failed(slice))
    return failure();
  written.insert(slice->argument);
  b.setInsertionPoint(op);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  Value col = op.getIndices()[1];
  Value offset = laneOffset(*slice, rowLane, toI32(col));
  VectorType type = op.getVectorType();
  int64_t count = type.getNumElements();
  if (!op.getInBoundsValues().back()) {
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, toI32(col),
                              c32(slice->columns - count + 1));
    offset = arith::SelectOp::create(b, inside, offset, c32(outOfRange));
  }
  Type data = carrier(b, count * type.getElementTypeBitWidth());
  Value value = op.getValueToStore();
  auto shapeCast = value.getDefiningOp<vector::ShapeCastOp>();
  if (shapeCast && shapeCast.getSourceVectorType().getRank() == 1)
    value = shapeCast.getSource();
  else
    value = vector::ShapeCastOp::create(
        b, VectorType::get(count, type.getElementType()), value);
  auto flat =
      isa<VectorType>(data) ? cast<VectorType>(data) : VectorType::get(1, data);
  value = vector::BitCastOp::create(b, flat, value);
  if (!isa<VectorType>(data))
    value = vector::ExtractOp::create(b, value, ArrayRef<int64_t>{0});
  Value zero = c32(0);
  ROCDL::RawPtrBufferStoreOp::create(b, value, rsrc, offset, zero, zero,
                                     ArrayAttr(), ArrayAttr(), ArrayAttr());
  op.erase();
  if (shapeCast && shapeCast->use_empty())
    shapeCast.erase();
  return success();
}

LogicalResult KernelRewriter::lowerStore(memref::StoreOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getMemRef());
  if (failed(slice))
    return failure();
  // A guard around the store alone becomes an offset out of range.
  auto guard = dyn_cast<scf::IfOp>(op->getParentOp());
  if (guard && (guard.getNumResults() || !guard.getElseRegion().empty()))
    guard = nullptr;
  if (guard) {
    Block *body = guard.thenBlock();
    for (Operation &inner : llvm::make_early_inc_range(*body))
      if (!isa<scf::YieldOp>(inner)) {
        if (&inner != op && !isMemoryEffectFree(&inner))
          return op.emitOpError("expects nothing else under the guard of a "
                                "store in attn-buffer-resources");
        inner.moveBefore(guard);
      }
  }
  written.insert(slice->argument);
  b.setInsertionPoint(op);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  Value offset = laneOffset(*slice, rowLane, Value());
  if (guard)
    offset = arith::SelectOp::create(b, guard.getCondition(), offset,
                                     c32(outOfRange));
  Value zero = c32(0);
  ROCDL::RawPtrBufferStoreOp::create(b, op.getValueToStore(), rsrc, offset,
                                     zero, zero, ArrayAttr(), ArrayAttr(),
                                     ArrayAttr());
  op.erase();
  if (guard)
    guard.erase();
  return success();
}

LogicalResult KernelRewriter::lowerLoad(memref::LoadOp op) {
  FailureOr<Slice> slice = getSlice(op, op.getMemRef());
  if (failed(slice))
    return failure();
  b.setInsertionPoint(op);
  auto [rowUniform, rowLane] = split(op.getIndices()[0]);
  Value rsrc = resource(*slice, rowUniform);
  Value zero = c32(0);
  op.replaceAllUsesWith(ROCDL::RawPtrBufferLoadOp::create(
                            b, op.getType(), rsrc,
                            laneOffset(*slice, rowLane, Value()), zero, zero,
                            ArrayAttr(), ArrayAttr(), ArrayAttr())
                            .getResult());
  op.erase();
  return success();
}

void KernelRewriter::lowerDirect(Operation *op, Value memref,
                                 ValueRange indices) {
  const Argument &argument = arguments.at(memref);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  // No access is wider aligned than an element.
  unsigned alignment = element.getIntOrFloatBitWidth() / 8;
  b.setInsertionPoint(op);
  Value offset;
  for (auto [index, stride] : llvm::zip(indices, argument.strides)) {
    Value term = arith::MulIOp::create(
        b, arith::ExtUIOp::create(b, b.getI64Type(), toI32(index)), stride);
    offset = offset ? arith::AddIOp::create(b, offset, term).getResult() : term;
  }
  Value address = argument.pointer;
  if (offset)
    address = LLVM::GEPOp::create(b, pointer(1), element, address,
                                  ValueRange{offset});
  Value stored =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case([](memref::StoreOp store) { return store.getValue(); })
          .Case([](vector::StoreOp store) { return store.getValueToStore(); })
          .Default([](Operation *) { return Value(); });
  if (stored) {
    written.insert(argument.pointer);
    LLVM::StoreOp::create(b, stored, address, alignment);
  } else {
    auto load =
        LLVM::LoadOp::create(b, op->getResult(0).getType(), address, alignment);
    if (isa<memref::LoadOp>(op) && !func->hasAttr(kMayAliasAttr) &&
        llvm::all_of(indices, [&](Value i) { return isUniform(i); })) {
      // One element for the whole wave: a scalar load.
      load.setInvariant(true);
      uniform[load] = true;
    }
    op->getResult(0).replaceAllUsesWith(load.getResult());
  }
  op->erase();
}

LogicalResult KernelRewriter::run() {
  rewriteSignature();
  func.walk([&](memref::DimOp op) {
    auto it = arguments.find(op.getSource());
    std::optional<int64_t> index = op.getConstantIndex();
    if (it == arguments.end() || !index)
      return;
    b.setInsertionPoint(op);
    op.replaceAllUsesWith(arith::IndexCastOp::create(b, b.getIndexType(),
                                                     it->second.sizes[*index])
                              .getResult());
    op.erase();
  });

  SmallVector<std::pair<Operation *, std::pair<Value, ValueRange>>> direct;
  func.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<memref::LoadOp, memref::StoreOp>([&](auto access) {
          direct.push_back({op, {access.getMemRef(), access.getIndices()}});
        })
        .Case<vector::LoadOp, vector::StoreOp>([&](auto access) {
          direct.push_back({op, {access.getBase(), access.getIndices()}});
        });
  });
  for (auto [op, access] : direct)
    if (arguments.contains(access.first))
      lowerDirect(op, access.first, access.second);

  // The pointer is at the first element: no offset is left.
  SmallVector<memref::ExtractStridedMetadataOp> metadata;
  func.walk([&](memref::ExtractStridedMetadataOp op) {
    auto it = arguments.find(op.getSource());
    if (it == arguments.end())
      return;
    metadata.push_back(op);
    b.setInsertionPoint(op);
    op.getOffset().replaceAllUsesWith(
        arith::ConstantIndexOp::create(b, 0).getResult());
    for (auto [result, stride] : llvm::zip(op.getStrides(), it->second.strides))
      if (!result.use_empty())
        result.replaceAllUsesWith(
            arith::IndexCastOp::create(b, b.getIndexType(), stride)
                .getResult());
  });

  SmallVector<Operation *> accesses;
  func.walk([&](Operation *op) {
    if (isa<vector::TransferReadOp, vector::TransferWriteOp>(op))
      accesses.push_back(op);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      if (!isWorkgroup(store.getMemRef()))
        accesses.push_back(op);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      if (!isWorkgroup(load.getMemRef()))
        accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    LogicalResult lowered =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](vector::TransferReadOp o) { return lowerRead(o); })
            .Case([&](vector::TransferWriteOp o) { return lowerWrite(o); })
            .Case([&](memref::StoreOp o) { return lowerStore(o); })
            .Case([&](memref::LoadOp o) { return lowerLoad(o); })
            .Default([](Operation *) { return failure(); });
    if (failed(lowered))
      return failure();
  }

  // The slices and the memref arguments have served.
  for (auto &[memref, slice] : slices)
    if (Operation *subview = memref.getDefiningOp())
      subview->erase();
  for (Operation *op : metadata)
    if (op->use_empty())
      op->erase();
  SmallVector<Operation *> subviews;
  func.walk([&](memref::SubViewOp op) { subviews.push_back(op); });
  for (Operation *op : subviews)
    if (op->use_empty())
      op->erase();
  Block &entry = func.getBody().front();
  for (unsigned i = entry.getNumArguments(); i-- > 0;) {
    Value argument = entry.getArgument(i);
    if (!arguments.contains(argument))
      continue;
    if (!argument.use_empty())
      return (*argument.user_begin())
          ->emitOpError("expects kernel memrefs to be used through loads, "
                        "reads, writes and stores in attn-buffer-resources");
    entry.eraseArgument(i);
  }
  for (BlockArgument argument :
       entry.getArguments().take_front(func.getFunctionType().getNumInputs()))
    if (isa<LLVM::LLVMPointerType>(argument.getType()))
      func.setArgAttr(argument.getArgNumber(),
                      written.contains(argument) ? "llvm.writeonly"
                                                 : "llvm.readonly",
                      b.getUnitAttr());
  return success();
}

namespace {
struct BufferResourcesPass
    : public attn::impl::AttnBufferResourcesBase<BufferResourcesPass> {
  using AttnBufferResourcesBase::AttnBufferResourcesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      for (auto func : gpuModule.getOps<gpu::GPUFuncOp>()) {
        KernelRewriter rewriter(func);
        if (failed(rewriter.run()))
          return signalPassFailure();
        module.walk([&](gpu::LaunchFuncOp launch) {
          if (symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr()) ==
              func)
            rewriter.rewriteLaunch(launch);
        });
      }
  }
};
} // namespace
