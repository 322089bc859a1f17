//===- Describe.cpp - Modules from descriptions ---------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "attn/Target/ParseJSON.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace attn::capi {

namespace {
/// One operand of the description.
struct Operand {
  StringRef name;
  std::string type;
};

class Describer {
public:
  explicit Describer(const json::Object &root) : root(root) {}
  Expected<std::string> run();

private:
  Error readOperands();
  Expected<std::string> readType(StringRef name, const json::Object &operand);
  Expected<std::string> readOptions();
  Expected<std::string> describeAttention();
  Expected<std::string> describeMerge();

  const Operand *find(StringRef name) {
    auto it = find_if(operands, [&](auto &o) { return o.name == name; });
    return it == operands.end() ? nullptr : &*it;
  }
  /// Fails without the operand; else it counts as used.
  Expected<const Operand *> need(StringRef name);
  /// "%q, %k : type, type" of operands that are there.
  static std::string join(ArrayRef<const Operand *> list);
  Expected<std::string> outs();
  /// " bias(%bias : type)" for each of `names` that is there.
  std::string clauses(ArrayRef<StringRef> names);

  const json::Object &root;
  SmallVector<Operand> operands;
  llvm::StringSet<> used;
};
} // namespace

/// As text goes into a module, only plain words may come in.
static bool isWord(StringRef text) {
  return !text.empty() &&
         all_of(text, [](char c) { return isAlnum(c) || c == '_'; }) &&
         !isDigit(text.front());
}

/// Elements an operand may span: all bytes have an offset of 63 bits, whatever
/// the type. More would wrap around in the strides of its memref.
static constexpr int64_t mostElements = int64_t(1) << 59;

/// Sizes or strides; nothing for those known at run time.
static Expected<SmallVector<std::optional<int64_t>>>
readNumbers(StringRef name, StringRef what, const json::Array &list) {
  SmallVector<std::optional<int64_t>> numbers;
  for (const json::Value &value : list) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!value.getAsNull() &&
        (!number || *number < 0 || *number > mostElements))
      return createStringError(formatv("operands.{0}.{1}: expects null or "
                                       "integers from 0 to 2^59, but got {2}",
                                       name, what, value));
    numbers.push_back(number);
  }
  return numbers;
}

/// Whether the operand spans no more than `mostElements`, as far as is known.
/// Without `strides` it is contiguous.
static bool isAddressable(ArrayRef<std::optional<int64_t>> shape,
                          ArrayRef<std::optional<int64_t>> strides) {
  int64_t span = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    // Of an unknown size there is one element at least, or nothing at all.
    int64_t size = std::max<int64_t>(shape[i].value_or(1), 1);
    std::optional<int64_t> next =
        strides.empty() ? checkedMul(span, size)
                        : checkedMulAdd(size - 1, strides[i].value_or(0), span);
    if (!next || *next > mostElements)
      return false;
    span = *next;
  }
  return true;
}

Expected<std::string> Describer::readType(StringRef name,
                                          const json::Object &operand) {
  std::optional<StringRef> dtype = operand.getString("dtype");
  // MLIR refuses words that are no type.
  if (!dtype || !isWord(*dtype))
    return createStringError(
        formatv("operands.{0}.dtype: expects the name of a type", name));
  const json::Array *shape = operand.getArray("shape");
  if (!shape)
    return createStringError(
        formatv("operands.{0}.shape: expects an array", name));
  if (shape->empty())
    return dtype->str();
  auto sizes = readNumbers(name, "shape", *shape);
  if (!sizes)
    return sizes.takeError();
  SmallVector<std::optional<int64_t>> strides;
  const json::Value *layout = operand.get("strides");
  if (layout && !layout->getAsNull()) {
    const json::Array *list = layout->getAsArray();
    if (!list || list->size() != shape->size())
      return createStringError(
          formatv("operands.{0}.strides: expects an array of {1}", name,
                  shape->size()));
    if (Error error = readNumbers(name, "strides", *list).moveInto(strides))
      return std::move(error);
  }
  if (!isAddressable(*sizes, strides))
    return createStringError(
        formatv("operands.{0}: expects to span at most 2^59 elements, but got "
                "shape {1}{2}",
                name, json::Value(json::Array(*shape)),
                strides.empty() ? std::string()
                                : formatv(" and strides {0}", *layout).str()));
  auto print = [](std::optional<int64_t> number) {
    return number ? std::to_string(*number) : "?";
  };
  std::string text = "memref<";
  for (std::optional<int64_t> size : *sizes)
    text += print(size) + "x";
  text += *dtype;
  if (!strides.empty())
    text += ", strided<[" + llvm::join(map_range(strides, print), ", ") + "]>";
  return text + ">";
}

Error Describer::readOperands() {
  const json::Object *object = root.getObject("operands");
  if (!object)
    return createStringError("operands: expects an object");
  for (const auto &[name, value] : *object) {
    const json::Object *operand = value.getAsObject();
    if (!isWord(name) || !operand)
      return createStringError(
          "operands: expects names with objects, but got '" + StringRef(name) +
          "'");
    Expected<std::string> type = readType(name, *operand);
    if (!type)
      return type.takeError();
    operands.push_back({name, std::move(*type)});
  }
  // An object has no order; a function does.
  sort(operands, [](auto &a, auto &b) { return a.name < b.name; });
  return Error::success();
}

Expected<std::string> Describer::readOptions() {
  const json::Value *value = root.get("options");
  if (!value)
    return std::string();
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("options: expects an object");
  SmallVector<std::string> parts;
  for (const auto &[name, option] : *object) {
    if (!isWord(name))
      return createStringError("options: expects names, but got '" +
                               StringRef(name) + "'");
    bool isFloat = name == "scale" || name == "softcap";
    std::optional<double> number = option.getAsNumber();
    if (std::optional<bool> flag = option.getAsBoolean()) {
      if (*flag)
        parts.push_back(name.str());
    } else if (isFloat && number && std::isfinite(*number)) {
      // As many digits as tell every double from its neighbours.
      parts.push_back(
          formatv("{0} = {1}", name.str(), formatv("{0:e17}", *number)));
    } else if (std::optional<int64_t> integer =
                   isFloat ? std::nullopt : option.getAsInteger()) {
      parts.push_back(formatv("{0} = {1}", name.str(), *integer));
    } else if (std::optional<StringRef> word = option.getAsString();
               !isFloat && word && isWord(*word)) {
      parts.push_back(formatv("{0} = {1}", name.str(), *word));
    } else {
      return createStringError(formatv("options.{0}: expects {1}, but got {2}",
                                       name.str(),
                                       isFloat ? "a finite number"
                                               : "an integer, a boolean or a "
                                                 "name",
                                       option));
    }
  }
  sort(parts);
  return parts.empty() ? "" : " {" + llvm::join(parts, ", ") + "}";
}

Expected<const Operand *> Describer::need(StringRef name) {
  used.insert(name);
  if (const Operand *operand = find(name))
    return operand;
  return createStringError("operands." + name + ": expects an object");
}

std::string Describer::join(ArrayRef<const Operand *> list) {
  std::string values, types;
  for (const Operand *operand : list) {
    values += (values.empty() ? "%" : ", %") + operand->name.str();
    types += (types.empty() ? "" : ", ") + operand->type;
  }
  return values + " : " + types;
}

Expected<std::string> Describer::outs() {
  Expected<const Operand *> output = need("output");
  if (!output)
    return output.takeError();
  SmallVector<const Operand *> list = {*output};
  used.insert("lse");
  if (const Operand *lse = find("lse"))
    list.push_back(lse);
  Expected<std::string> options = readOptions();
  if (!options)
    return options.takeError();
  return " outs(" + join(list) + ")" + *options;
}

std::string Describer::clauses(ArrayRef<StringRef> names) {
  std::string text;
  for (StringRef name : names) {
    used.insert(name);
    if (const Operand *operand = find(name))
      text += formatv(" {0}({1})", name, join(operand));
  }
  return text;
}

Expected<std::string> Describer::describeAttention() {
  SmallVector<const Operand *> inputs;
  for (StringRef name : {"q", "k", "v"}) {
    Expected<const Operand *> operand = need(name);
    if (!operand)
      return operand.takeError();
    inputs.push_back(*operand);
  }
  std::string optional =
      clauses({"bias", "mask", "alibi_slopes", "sink", "seqlens_q",
               "seqlens_kv", "cu_seqlens_q", "cu_seqlens_kv", "q_offset",
               "kv_offset", "block_table", "scale_value"});
  Expected<std::string> destinations = outs();
  if (!destinations)
    return destinations.takeError();
  return "attn.attention ins(" + join(inputs) + ")" + optional + *destinations;
}

Expected<std::string> Describer::describeMerge() {
  std::string states;
  for (unsigned i = 0; i == 0 || find("o" + std::to_string(i)); ++i) {
    // The names in `used` are copies.
    Expected<const Operand *> output = need("o" + std::to_string(i));
    if (!output)
      return output.takeError();
    Expected<const Operand *> lse = need("lse" + std::to_string(i));
    if (!lse)
      return lse.takeError();
    states += (i ? ", (" : "(") + join({*output, *lse}) + ")";
  }
  std::string sink = clauses({"sink"});
  Expected<std::string> destinations = outs();
  if (!destinations)
    return destinations.takeError();
  return "attn.merge_states " + states + sink + *destinations;
}

Expected<std::string> Describer::run() {
  for (const auto &[name, value] : root)
    if (name != "op" && name != "operands" && name != "options")
      return createStringError("expects op, operands and options, but got '" +
                               StringRef(name) + "'");
  if (Error error = readOperands())
    return std::move(error);
  StringRef op = root.getString("op").value_or("");
  if (op != "attention" && op != "merge_states")
    return createStringError("op: expects \"attention\" or \"merge_states\"");
  Expected<std::string> body =
      op == "attention" ? describeAttention() : describeMerge();
  if (!body)
    return body.takeError();
  std::string arguments;
  for (const Operand &operand : operands) {
    if (!used.contains(operand.name))
      return createStringError(
          formatv("operands: expects operands of {0}, but got '{1}'", op,
                  operand.name));
    arguments +=
        formatv("{0}\n    %{1}: {2} {{attn.name = \"{1}\"}",
                arguments.empty() ? "" : ",", operand.name, operand.type);
  }
  return formatv("func.func @{0}({1}) {{\n  {2}\n  return\n}\n", op, arguments,
                 *body)
      .str();
}

Expected<std::string> describe(StringRef text) {
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return value.takeError();
  const json::Object *root = value->getAsObject();
  if (!root)
    return createStringError("expects a JSON object");
  return Describer(*root).run();
}

} // namespace attn::capi

using namespace attn::capi;

attnResult attnDescribe(const char *json, size_t size, attnBlob *text) {
  if (Error error = refuseNull({{"json", json}, {"text", text}}))
    return toResult(std::move(error));
  Expected<std::string> module = describe(StringRef(json, size));
  if (!module)
    return toResult(withCode(ATTN_INVALID_ARGUMENT, module.takeError()));
  *text = makeBlob(*module);
  return nullptr;
}
