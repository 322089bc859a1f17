//===- Signature.cpp - Names and types of a function ----------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using mlir::ShapedType;

namespace attn::rt {

using manifest::DType;

template <typename List>
static const ValueInfo *find(const List &values, StringRef name) {
  auto it = find_if(values, [&](const ValueInfo &v) { return v.name == name; });
  return it == values.end() ? nullptr : &*it;
}

const ValueInfo *Signature::findArg(StringRef name) const {
  return find(args, name);
}
const ValueInfo *Signature::findResult(StringRef name) const {
  return find(results, name);
}

std::optional<DType> getDType(mlir::Type type) {
  if (type.isIndex())
    return DType::I64;
  if (auto integer = dyn_cast<mlir::IntegerType>(type)) {
    if (!integer.isSignless())
      return std::nullopt;
    switch (integer.getWidth()) {
    case 1:
      return DType::I1;
    case 8:
      return DType::I8;
    case 16:
      return DType::I16;
    case 32:
      return DType::I32;
    case 64:
      return DType::I64;
    default:
      return std::nullopt;
    }
  }
  // The manifest took its names from MLIR.
  if (isa<mlir::FloatType>(type)) {
    std::string name;
    raw_string_ostream(name) << type;
    return manifest::symbolizeDType(name);
  }
  return std::nullopt;
}

Expected<mlir::func::FuncOp> findEntry(mlir::ModuleOp module, StringRef entry) {
  SmallVector<mlir::func::FuncOp> candidates;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.getName() == entry)
      return function;
    if (function.isPublic())
      candidates.push_back(function);
  }
  if (entry.empty() && candidates.size() == 1)
    return candidates.front();
  std::string names = join(
      map_range(candidates, [](auto f) { return f.getName().str(); }), ", ");
  if (candidates.empty())
    names = "none";
  if (entry.empty())
    return createStringError("expects one public function or --entry=NAME, "
                             "but the public functions are: " +
                             names);
  return createStringError("expects a function called '" + entry +
                           "', but the public functions are: " + names);
}

static Error describe(mlir::Type type, ValueInfo &info) {
  auto unsupported = [&](StringRef why) {
    std::string text;
    raw_string_ostream(text) << type;
    return createStringError(
        formatv("'{0}': {1}, but got {2}", info.name, why, text));
  };
  mlir::Type element = type;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!isa<mlir::RankedTensorType, mlir::MemRefType>(type))
      return unsupported("expects a scalar, ranked tensor or ranked memref");
    info.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
    element = shaped.getElementType();
    info.kind = ValueInfo::Kind::Tensor;
    if (auto memref = dyn_cast<mlir::MemRefType>(type)) {
      info.kind = ValueInfo::Kind::MemRef;
      if (failed(memref.getStridesAndOffset(info.strides, info.offset)))
        return unsupported("expects a strided memref");
      // A space of another device is not ours to allocate.
      auto space = dyn_cast_or_null<mlir::IntegerAttr>(memref.getMemorySpace());
      if (memref.getMemorySpace() && !(space && space.getInt() == 0))
        return unsupported("expects the default memory space");
    }
  }
  std::optional<DType> dtype = getDType(element);
  if (!dtype)
    return unsupported("expects elements that a .npy file can hold");
  info.dtype = *dtype;
  return Error::success();
}

Expected<Signature> getSignature(mlir::func::FuncOp function) {
  Signature signature;
  signature.entry = function.getName().str();
  StringSet<> names;
  auto add = [&](std::vector<ValueInfo> &list, mlir::Type type,
                 mlir::StringAttr given, std::string fallback) -> Error {
    ValueInfo &info = list.emplace_back();
    info.name = given ? given.str() : fallback;
    if (!names.insert(info.name).second)
      return createStringError(
          "expects every argument and result of '" + signature.entry +
          "' to have its own name, but '" + info.name + "' is there twice");
    return describe(type, info);
  };
  constexpr StringLiteral nameAttr = "attn.name";
  for (auto [i, type] : enumerate(function.getArgumentTypes()))
    if (Error error =
            add(signature.args, type,
                function.getArgAttrOfType<mlir::StringAttr>(i, nameAttr),
                "arg" + std::to_string(i)))
      return error;
  for (auto [i, type] : enumerate(function.getResultTypes()))
    if (Error error =
            add(signature.results, type,
                function.getResultAttrOfType<mlir::StringAttr>(i, nameAttr),
                i == 0   ? "output"
                : i == 1 ? "lse"
                         : "result" + std::to_string(i)))
      return error;
  return signature;
}

} // namespace attn::rt
