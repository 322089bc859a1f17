//===- Tuning.cpp ---------------------------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Tuning.h"

#include "attn/Conversion/ElementKinds.h"
#include "attn/Target/ParseJSON.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir;
using namespace mlir::attn;
namespace json = llvm::json;

static constexpr int64_t version = 1;
static constexpr llvm::StringLiteral operandNames[] = {"query", "key", "value",
                                                       "output"};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Rows at multiples of 16 bytes: all outer strides and the offset are.
static bool isAligned(Type type, int64_t elementBytes) {
  auto shaped = cast<ShapedType>(type);
  auto isMultiple = [&](int64_t elements) {
    return !ShapedType::isDynamic(elements) &&
           elements * elementBytes % 16 == 0;
  };
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) // a tensor becomes a contiguous buffer
    return isMultiple(shaped.getShape().back());
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(memref.getStridesAndOffset(strides, offset)) &&
         isMultiple(offset) &&
         llvm::all_of(ArrayRef(strides).drop_back(), isMultiple);
}

std::optional<TuningKey> TuningKey::get(AttentionOp op, const ChipInfo &chip) {
  auto query = cast<ShapedType>(op.getQuery().getType());
  auto key = cast<ShapedType>(op.getKey().getType());
  auto value = cast<ShapedType>(op.getValue().getType());
  // Whatever else the op has may change what is legal.
  int64_t plainOperands = 4 + op.hasLse();
  if (op->getNumOperands() != plainOperands || op.getSoftcap() ||
      op.getLayout() == Layout::thd || int64_t(op.getWindowLeft()) >= 0 ||
      int64_t(op.getWindowRight()) >= 0 || op.getNumKvSplits() != 1)
    return std::nullopt;
  for (ShapedType type : {query, key, value})
    if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
      return std::nullopt;
  TuningKey result;
  std::optional<ElementKind> kind = getElementKind(query.getElementType());
  if (!kind)
    return std::nullopt;
  DimMap dims = getDimMap(op.getLayout());
  result.chip = chip.name.str();
  result.kind = *kind;
  result.headDimQK = query.getDimSize(dims.dim);
  result.headDimV = value.getDimSize(dims.dim);
  result.causal = op.getCausal();
  result.heads = llvm::PowerOf2Ceil(query.getDimSize(dims.batch) *
                                    query.getDimSize(dims.head));
  result.rows = llvm::PowerOf2Ceil(query.getDimSize(dims.seq));
  result.keys = llvm::PowerOf2Ceil(key.getDimSize(dims.seq));
  Value operands[] = {op.getQuery(), op.getKey(), op.getValue(),
                      op.getOutputInit()};
  for (auto [operand, aligned] : llvm::zip_equal(operands, result.aligned))
    aligned = isAligned(operand.getType(), getByteWidth(*kind));
  return result;
}

bool TuningKey::operator==(const TuningKey &other) const {
  auto all = [](const TuningKey &k) {
    return std::tie(k.chip, k.kind, k.headDimQK, k.headDimV, k.causal, k.heads,
                    k.rows, k.keys, k.aligned);
  };
  return all(*this) == all(other);
}

bool mlir::attn::isLegal(const KernelConfig &config, const TuningKey &key) {
  int64_t rows = llvm::all_of(key.aligned, [](bool is) { return is; }) ? 16 : 4;
  return config.rowAlignment <= rows;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void TuningTable::add(TuningEntry entry) {
  for (TuningEntry &old : entries)
    if (old.key == entry.key) {
      old = std::move(entry);
      return;
    }
  entries.push_back(std::move(entry));
}

const TuningEntry *TuningTable::lookup(const TuningKey &key) const {
  for (const TuningEntry &entry : entries)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

LoweringConfigAttr mlir::attn::getLoweringConfig(MLIRContext *context,
                                                 const KernelKnobs &knobs) {
  return LoweringConfigAttr::get(context, knobs.tileQ, knobs.tileKV,
                                 knobs.splitV, knobs.stages, knobs.clustersQK,
                                 knobs.clustersPV, knobs.earlyExps);
}

void TuningTable::apply(ModuleOp module, const ChipInfo &chip) const {
  module.walk([&](AttentionOp op) {
    if (op->hasAttr(kLoweringConfigAttr))
      return;
    std::optional<TuningKey> key = TuningKey::get(op, chip);
    if (const TuningEntry *entry = key ? lookup(*key) : nullptr)
      op->setAttr(kLoweringConfigAttr,
                  getLoweringConfig(op.getContext(), entry->knobs));
  });
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Names of a knob that is not one, and the like.
static bool checkNames(const json::Value &value, ArrayRef<StringRef> known,
                       json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected object");
    return false;
  }
  for (const auto &[name, unused] : *object)
    if (!llvm::is_contained(known, StringRef(name))) {
      path.field(name).report("unknown name");
      return false;
    }
  return true;
}

static bool parseEntry(const json::Value &value, TuningEntry &entry,
                       json::Path path) {
  TuningKey &key = entry.key;
  json::ObjectMapper map(value, path);
  std::string kind;
  // No copies: what is reported points at the names in it.
  const json::Value *aligned = nullptr, *config = nullptr;
  if (!checkNames(value,
                  {"chip", "element_type", "head_dim_qk", "head_dim_v",
                   "causal", "heads", "rows", "keys", "aligned", "config",
                   "projected_us", "rule_us"},
                  path) ||
      !map || !map.map("chip", key.chip) || !map.map("element_type", kind) ||
      !map.map("head_dim_qk", key.headDimQK) ||
      !map.map("head_dim_v", key.headDimV) || !map.map("causal", key.causal) ||
      !map.map("heads", key.heads) || !map.map("rows", key.rows) ||
      !map.map("keys", key.keys) ||
      !map.mapOptional("projected_us", entry.microseconds) ||
      !map.mapOptional("rule_us", entry.ruleMicroseconds))
    return false;
  for (auto [name, into] :
       {std::pair{"aligned", &aligned}, {"config", &config}}) {
    *into = value.getAsObject()->get(name);
    if (!*into) {
      path.field(name).report("missing value");
      return false;
    }
  }
  for (auto [name, size] :
       {std::pair<const char *, int64_t>{"heads", key.heads},
        {"rows", key.rows},
        {"keys", key.keys}})
    if (size < 1 || !llvm::isPowerOf2_64(size)) {
      path.field(name).report("expected a power of two");
      return false;
    }
  const ElementKind *found = llvm::find_if(
      elementKinds, [&](ElementKind each) { return getName(each) == kind; });
  if (found == std::end(elementKinds)) {
    path.field("element_type").report("expected f16, bf16 or f32");
    return false;
  }
  key.kind = *found;

  json::ObjectMapper alignedMap(*aligned, path.field("aligned"));
  if (!checkNames(
          *aligned,
          {operandNames[0], operandNames[1], operandNames[2], operandNames[3]},
          path.field("aligned")) ||
      !alignedMap)
    return false;
  for (auto [name, is] : llvm::zip(operandNames, key.aligned))
    if (!alignedMap.map(name, is))
      return false;
  SmallVector<StringRef> names;
  for (const KernelKnob &knob : getKernelKnobs())
    names.push_back(knob.name);
  json::ObjectMapper configMap(*config, path.field("config"));
  if (!checkNames(*config, names, path.field("config")) || !configMap)
    return false;
  for (const KernelKnob &knob : getKernelKnobs())
    if (!configMap.map(knob.name, entry.knobs.*knob.value))
      return false;
  return true;
}

/// Legal for every op with its key.
static llvm::Error checkEntry(const TuningEntry &entry) {
  const TuningKey &key = entry.key;
  auto chip = lookupChip(key.chip);
  if (!chip)
    return chip.takeError();
  for (int64_t dim : {key.headDimQK, key.headDimV})
    if (!isKernelHeadDim(dim))
      return llvm::createStringError(
          "expects head dims to be multiples of " + llvm::Twine(headDimStep) +
          " in " + llvm::Twine(minHeadDim) + ".." + llvm::Twine(maxHeadDim) +
          ", but got " + llvm::Twine(dim));
  auto config = chooseKernelConfig(**chip, key.kind, key.headDimQK,
                                   key.headDimV, std::nullopt, entry.knobs);
  if (!config)
    return config.takeError();
  if (!isLegal(*config, key))
    return llvm::createStringError(
        "expects a config for rows that are not aligned to " +
        llvm::Twine(config->rowAlignment) + " bytes");
  return llvm::Error::success();
}

llvm::Expected<TuningTable> TuningTable::parse(llvm::StringRef text) {
  auto value = ::attn::parseJSON(text);
  if (!value)
    return value.takeError();
  json::Path::Root root("tuning");
  json::ObjectMapper map(*value, root);
  int64_t found = 0;
  if (!map || !checkNames(*value, {"version", "entries"}, root) ||
      !map.map("version", found))
    return root.getError();
  if (found != version)
    return llvm::createStringError("expects version " + llvm::Twine(version) +
                                   ", but got " + llvm::Twine(found));
  const json::Array *list = value->getAsObject()->getArray("entries");
  if (!list)
    return llvm::createStringError("expects an array of entries");
  TuningTable table;
  for (auto [index, element] : llvm::enumerate(*list)) {
    TuningEntry entry;
    json::Path path(root);
    if (!parseEntry(element, entry, path.field("entries").index(index)))
      return root.getError();
    if (llvm::Error error = checkEntry(entry))
      return llvm::createStringError("entry " + llvm::Twine(index) + ": " +
                                     llvm::toString(std::move(error)));
    table.add(std::move(entry));
  }
  return table;
}

void TuningTable::print(llvm::raw_ostream &os) const {
  json::Array list;
  for (const TuningEntry &entry : entries) {
    const TuningKey &key = entry.key;
    json::Object aligned, config;
    for (auto [name, is] : llvm::zip(operandNames, key.aligned))
      aligned[name] = is;
    for (const KernelKnob &knob : getKernelKnobs())
      if (entry.knobs.*knob.value)
        config[knob.name] = *(entry.knobs.*knob.value);
    list.push_back(json::Object{{"chip", key.chip},
                                {"element_type", getName(key.kind)},
                                {"head_dim_qk", key.headDimQK},
                                {"head_dim_v", key.headDimV},
                                {"causal", key.causal},
                                {"heads", key.heads},
                                {"rows", key.rows},
                                {"keys", key.keys},
                                {"aligned", std::move(aligned)},
                                {"config", std::move(config)},
                                {"projected_us", entry.microseconds},
                                {"rule_us", entry.ruleMicroseconds}});
  }
  os << llvm::formatv("{0:2}\n",
                      json::Value(json::Object{{"version", version},
                                               {"entries", std::move(list)}}));
}
