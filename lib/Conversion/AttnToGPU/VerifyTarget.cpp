//===- VerifyTarget.cpp ---------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardKernel.h"
#include "MergeKernel.h"
#include "attn/Conversion/ElementKinds.h"
#include "attn/Conversion/KernelConfig.h"
#include "attn/Conversion/OperandMemory.h"
#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNVERIFYTARGET
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static std::string join(ArrayRef<ElementKind> list) {
  std::string text;
  for (ElementKind kind : list)
    text += (text.empty() ? "" : ", ") + getName(kind).str();
  return text;
}

static bool isGlobal(Attribute space) {
  if (auto named = dyn_cast_or_null<gpu::AddressSpaceAttr>(space))
    return named.getValue() == gpu::AddressSpace::Global;
  auto number = dyn_cast_or_null<IntegerAttr>(space);
  return !space || (number && (number.getInt() == 0 || number.getInt() == 1));
}

/// The product of the static factors, or `limit` + 1 if it is more.
static int64_t multiplyUpTo(int64_t limit, ArrayRef<int64_t> factors) {
  uint64_t product = 1;
  for (int64_t factor : factors)
    if (!ShapedType::isDynamic(factor))
      product = llvm::SaturatingMultiply<uint64_t>(product, factor);
  return std::min<uint64_t>(product, limit + 1);
}

/// A launch counts its work-items in 32 bits (HIP); static sizes only.
static LogicalResult verifyGrid(AttentionOp op, const KernelConfig &config,
                                const ChipInfo &chip) {
  auto query = cast<ShapedType>(op.getQuery().getType());
  DimMap map = getDimMap(op.getLayout());
  int64_t heads = query.getDimSize(map.head), rows = query.getDimSize(map.seq);
  if (int64_t packed = getPackedHeads(op); packed > 1) {
    heads /= packed;
    if (!ShapedType::isDynamic(rows))
      rows *= packed;
  }
  int64_t batches = map.batch >= 0 ? query.getDimSize(map.batch) : 1;
  int64_t tiles = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(rows))
    tiles = llvm::divideCeil(rows, config.getTileQ());
  // A packed sequence may need a tile more than its rows fill.
  if (Value starts = op.getCuSeqlensQ(); starts && tiles >= 0)
    tiles +=
        std::max(cast<ShapedType>(starts.getType()).getDimSize(0), int64_t(1)) -
        1;
  int64_t limit = llvm::maxUIntN(32) / (wavesPerGroup * 64);
  if (multiplyUpTo(limit, {batches, heads, tiles}) <= limit)
    return success();
  return op.emitOpError("expects at most ")
         << limit << " workgroups (batches x heads x tiles of "
         << config.getTileQ() << " rows) on " << chip.name
         << ", but got more; call on slices of the batch";
}

SmallVector<int64_t> mlir::attn::getElementStrides(ShapedType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (auto memref = dyn_cast<MemRefType>(type))
    (void)memref.getStridesAndOffset(strides, offset);
  else if (type.hasStaticShape())
    strides = computeStrides(type.getShape());
  return strides;
}

/// Pages hold the rows of whole MFMA blocks of 16.
static LogicalResult verifyPages(AttentionOp op, const KernelConfig &config,
                                 const ChipInfo &chip) {
  if (!op.getBlockTable())
    return success();
  int64_t page = *op.getPageSize(), tile = config.tileKV;
  if (page % 16 != 0)
    return op.emitOpError("expects page_size to be a multiple of 16 on ")
           << chip.name << ", but got " << page << "; gather the pages first";
  if (config.getStagingSpan() <= getPagePart(page, config))
    return success();
  DimMap map = op.getKeyDimMap();
  for (Value pool : {op.getKey(), op.getValue()}) {
    auto type = cast<ShapedType>(pool.getType());
    SmallVector<int64_t> strides = getElementStrides(type);
    int64_t pages = type.getDimSize(map.batch);
    if (strides.empty() || ShapedType::isDynamic(strides[map.batch]) ||
        ShapedType::isDynamic(strides[map.seq]))
      continue; // the kernel looks
    if (strides[map.batch] <
        (page - 1) * strides[map.seq] + type.getShape().back())
      return op.emitOpError("expects pages that do not interleave unless "
                            "page_size is a multiple of ")
             << tile << " on " << chip.name << ", but got strides of "
             << strides[map.batch] << " elements a page and "
             << strides[map.seq] << " a key; use such pages";
    if (ShapedType::isDynamic(pages))
      continue;
    uint64_t elements = llvm::SaturatingMultiplyAdd<uint64_t>(
        pages, strides[map.batch],
        llvm::SaturatingMultiply<uint64_t>(page, strides[map.seq]));
    uint64_t bytes =
        llvm::SaturatingMultiply<uint64_t>(elements, getByteWidth(config.kind));
    if (bytes > uint64_t(maxPoolBytes))
      return op.emitOpError("expects pools of at most ")
             << maxPoolBytes << " bytes unless page_size is a multiple of "
             << tile << " on " << chip.name << ", but got " << bytes
             << "; use such pages";
  }
  return success();
}

static LogicalResult verifyElementTypes(AttentionOp op, const ChipInfo &chip) {
  Type query = getElementTypeOrSelf(op.getQuery()),
       output = getElementTypeOrSelf(op.getOutputInit());
  bool isState = op.givesStates() && output.isF32();
  if (!getElementKind(query) || (output != query && !isState))
    return op.emitOpError("expects query and output element type to be one of ")
           << join(elementKinds) << " and the same on " << chip.name
           << ", but got " << query << " and " << output
           << "; convert with arith.extf or arith.truncf around the op";
  if (Value bias = op.getBias()) {
    Type element = getElementTypeOrSelf(bias);
    if (!getElementKind(element))
      return op.emitOpError("expects bias element type to be one of ")
             << join(elementKinds) << " on " << chip.name << ", but got "
             << element << "; convert with arith.truncf before the op";
  }
  return success();
}

static LogicalResult verifyHeadDims(AttentionOp op, int64_t dqk, int64_t dv,
                                    const ChipInfo &chip) {
  if (ShapedType::isDynamic(dqk) || ShapedType::isDynamic(dv))
    return op.emitOpError("expects static head dims on ")
           << chip.name << "; cast query, key, value and output to types with "
           << "static head dims";
  if (isKernelHeadDim(dqk) && isKernelHeadDim(dv))
    return success();
  auto diag = op.emitOpError("expects head dims to be multiples of ")
              << headDimStep << " in " << minHeadDim << ".." << maxHeadDim
              << " on " << chip.name << ", but got Dqk = " << dqk
              << " and Dv = " << dv;
  if (dqk <= maxHeadDim && dv <= maxHeadDim && dqk > 0 && dv > 0)
    diag << "; pad with zeros to " << llvm::alignTo(dqk, headDimStep) << " and "
         << llvm::alignTo(dv, headDimStep);
  else
    diag << "; use attn-to-cpu";
  return diag;
}

static LogicalResult verifyGlobal(Operation *op, MemRefType type,
                                  const ChipInfo &chip) {
  if (isGlobal(type.getMemorySpace()))
    return success();
  return op->emitOpError("expects operands in global memory on ")
         << chip.name << ", but got memory space " << type.getMemorySpace()
         << "; copy the operand to global memory";
}

static LogicalResult verifyInnerStride(Operation *op, MemRefType type,
                                       const ChipInfo &chip) {
  if (!ShapedType::isDynamic(getElementStrides(type).back()))
    return success();
  return op->emitOpError("expects a static inner stride of 1 on ")
         << chip.name << ", but got " << type
         << "; cast the operand to a type that has it";
}

/// Where operands lie, and how, if they are memrefs.
static LogicalResult verifyMemory(AttentionOp op, const KernelConfig &config,
                                  const ChipInfo &chip) {
  for (KernelOperand operand : getKernelOperands(op)) {
    auto type = dyn_cast<MemRefType>(operand.value.getType());
    if (!type)
      continue;
    if (failed(verifyGlobal(op, type, chip)))
      return failure();
    if (!type.isStrided())
      return op.emitOpError("expects strided memrefs, but got ") << type;
  }
  for (auto [name, operand] :
       {std::pair("query", op.getQuery()), std::pair("key", op.getKey()),
        std::pair("value", op.getValue()),
        std::pair("output", op.getOutputInit())}) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      continue;
    if (failed(verifyInnerStride(op, type, chip)))
      return failure();
    int64_t bytes = getElementBytes(type);
    SmallVector<int64_t> strides = getElementStrides(type);
    for (auto [size, stride] :
         llvm::zip(type.getShape().drop_back(), ArrayRef(strides).drop_back()))
      if (size != 1 && !ShapedType::isDynamic(stride) &&
          (stride < 0 || stride * bytes % config.rowAlignment != 0))
        return op.emitOpError("expects outer strides of ")
               << name << " to be multiples of " << config.rowAlignment
               << " bytes and not negative on " << chip.name
               << ", but got a stride of " << stride * bytes
               << " bytes; copy the operand to a contiguous memref";
  }
  return success();
}

LogicalResult mlir::attn::verifyTarget(AttentionOp op, const ChipInfo &chip) {

  auto query = cast<ShapedType>(op.getQuery().getType());
  auto output = cast<ShapedType>(op.getOutputInit().getType());
  int64_t dqk = query.getShape().back(), dv = output.getShape().back();
  if (failed(verifyElementTypes(op, chip)) ||
      failed(verifyHeadDims(op, dqk, dv, chip)))
    return failure();

  // Without what the op asks for first: it fails for another reason.
  auto config = chooseKernelConfig(
      chip, *getElementKind(query.getElementType()), dqk, dv);
  if (!config)
    return op.emitOpError(llvm::toString(config.takeError()))
           << "; use smaller head dims or a narrower type";
  config = chooseKernelConfig(op, chip);
  if (!config)
    return op.emitOpError("in '") << kLoweringConfigAttr << "' on " << chip.name
                                  << ": " << llvm::toString(config.takeError());
  return success(succeeded(verifyGrid(op, *config, chip)) &&
                 succeeded(verifyMemory(op, *config, chip)) &&
                 succeeded(verifyPages(op, *config, chip)) &&
                 succeeded(verifyReaches(op, chip)));
}

std::optional<LaunchShape> mlir::attn::getLaunchShape(AttentionOp op) {
  auto dimOf = [](Value value, int dim) {
    return cast<ShapedType>(value.getType()).getDimSize(dim);
  };
  DimMap map = getDimMap(op.getLayout());
  bool isPacked = map.batch < 0;
  int64_t batches =
      isPacked ? dimOf(op.getCuSeqlensQ(), 0) : dimOf(op.getQuery(), map.batch);
  int64_t heads = dimOf(op.getQuery(), map.head),
          rows = dimOf(op.getQuery(), map.seq),
          keys = op.getBlockTable() ? dimOf(op.getBlockTable(), 1)
                                    : dimOf(op.getKey(), op.getKeyDimMap().seq);
  if (llvm::is_contained({batches, heads, rows, keys}, ShapedType::kDynamic))
    return std::nullopt;
  if (op.getBlockTable())
    keys *= *op.getPageSize();
  if (isPacked) {
    if (--batches == 0)
      return std::nullopt;
    rows = llvm::divideCeil(rows, batches);
    if (!op.getBlockTable())
      keys = llvm::divideCeil(keys, batches);
  }
  LaunchShape shape;
  shape.packing = getPackedHeads(op);
  shape.heads = batches * heads / shape.packing;
  shape.rows = rows * shape.packing;
  shape.keys = keys;
  if (op.getCausal())
    shape.diagonal =
        op.getDiagonalAlignmentOrDefault() == DiagonalAlignment::top_left
            ? 0
            : keys - rows;
  return shape;
}

llvm::Expected<KernelConfig>
mlir::attn::chooseKernelConfig(AttentionOp op, const ChipInfo &chip) {
  auto query = cast<ShapedType>(op.getQuery().getType());
  auto output = cast<ShapedType>(op.getOutputInit().getType());
  KernelKnobs knobs;
  if (auto attr = op->getAttrOfType<LoweringConfigAttr>(kLoweringConfigAttr))
    knobs = {attr.getTileQ(),    attr.getTileKv(),     attr.getSplitV(),
             attr.getStages(),   attr.getClustersQk(), attr.getClustersPv(),
             attr.getEarlyExps()};
  return chooseKernelConfig(chip, *getElementKind(query.getElementType()),
                            query.getShape().back(), output.getShape().back(),
                            getLaunchShape(op), knobs, getScoreNeeds(op, chip));
}

LogicalResult mlir::attn::verifyTarget(MergeStatesOp op, const ChipInfo &chip) {
  auto element = [](Value value) {
    return cast<ShapedType>(value.getType()).getElementType();
  };
  Type state = element(op.getOutputs().front()),
       output = element(op.getOutputInit());
  if (!getElementKind(state) || !getElementKind(output))
    return op.emitOpError("expects outputs of element type ")
           << join(elementKinds) << " on " << chip.name << ", but got " << state
           << " and " << output << "; convert around the op";
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType());
        type && failed(verifyGlobal(op, type, chip)))
      return failure();
  SmallVector<Value> outputs(op.getOutputs());
  outputs.push_back(op.getOutputInit());
  for (Value output : outputs)
    if (auto type = dyn_cast<MemRefType>(output.getType());
        type && failed(verifyInnerStride(op, type, chip)))
      return failure();
  // Work-items, as above.
  int64_t limit = llvm::maxUIntN(32) / getMergeVector(op).lanes;
  auto shape = cast<ShapedType>(op.getOutputInit().getType()).getShape();
  if (multiplyUpTo(limit, shape.drop_back()) > limit)
    return op.emitOpError("expects at most ")
           << limit << " rows of " << shape.back() << " columns on "
           << chip.name << ", but got more; merge slices of them";
  return success();
}

llvm::json::Value mlir::attn::getCapabilities() {
  llvm::json::Array chips;
  for (const ChipInfo &chip : getChips()) {
    llvm::json::Array types, configs;
    for (ElementKind kind : elementKinds) {
      types.push_back(getName(kind));
      for (auto [dqk, dv] : {std::pair<int64_t, int64_t>{64, 64},
                             {128, 128},
                             {192, 128},
                             {256, 256}}) {
        auto config = chooseKernelConfig(chip, kind, dqk, dv);
        if (!config) {
          llvm::consumeError(config.takeError());
          continue;
        }
        configs.push_back(
            llvm::json::Object{{"element_type", getName(kind)},
                               {"head_dim_qk", dqk},
                               {"head_dim_v", dv},
                               {"tile_q", config->getTileQ()},
                               {"tile_kv", config->tileKV},
                               {"pipelined", config->pipelined},
                               {"waves", wavesPerGroup},
                               {"lds_bytes", config->getLDSBytes()}});
      }
    }
    chips.push_back(llvm::json::Object{
        {"chip", chip.name},
        {"element_types", std::move(types)},
        {"head_dims", llvm::json::Object{{"min", minHeadDim},
                                         {"max", maxHeadDim},
                                         {"step", headDimStep}}},
        {"layouts", llvm::json::Array{"bhsd", "bshd", "thd"}},
        {"lse_bases", llvm::json::Array{"e", "two"}},
        {"causal", llvm::json::Array{"bottom_right", "top_left"}},
        {"row_alignment_bytes", KernelConfig().rowAlignment},
        {"lds_bytes", int64_t(chip.ldsBytes)},
        {"vgprs", int64_t(vgprBudget)},
        {"dma_bytes_per_lane", int64_t(chip.dmaBytesPerLane)},
        {"mfma_32x32", llvm::json::Object{{"f16", int64_t(chip.mfmaDepth16)},
                                          {"bf16", int64_t(chip.mfmaDepth16)},
                                          {"f32", int64_t(chip.mfmaDepth32)}}},
        {"configurations", std::move(configs)}});
  }
  return llvm::json::Object{{"chips", std::move(chips)}};
}

namespace {
struct VerifyTargetPass
    : public attn::impl::AttnVerifyTargetBase<VerifyTargetPass> {
  using AttnVerifyTargetBase::AttnVerifyTargetBase;

  void runOnOperation() override {
    llvm::Expected<const ChipInfo *> info = lookupChip(chip);
    if (!info) {
      emitError(getOperation()->getLoc(), llvm::toString(info.takeError()));
      return signalPassFailure();
    }
    bool failedAny = false;
    getOperation()->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<AttentionOp, MergeStatesOp>(
          [&](auto op) { failedAny |= failed(verifyTarget(op, **info)); });
    });
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
