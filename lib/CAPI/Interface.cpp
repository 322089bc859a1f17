//===- Interface.cpp - What a launch has to pass --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interface.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <limits>

using namespace llvm;
using attn::manifest::Buffer;
using attn::manifest::DType;
using attn::manifest::Role;
using attn::manifest::SizeExpr;
using mlir::ShapedType;

namespace attn::capi {

//===----------------------------------------------------------------------===//
// Reading it off a function
//===----------------------------------------------------------------------===//

namespace {
/// Collects which sizes have to be equal.
class InterfaceBuilder {
public:
  InterfaceBuilder(mlir::func::FuncOp function, const rt::Signature &signature);

  Interface build(StringRef target);

private:
  /// Dimension `dim` of a buffer; buffers are arguments, then results.
  using Place = std::pair<unsigned, unsigned>;
  /// Places of an op's dims by the letters of the documentation.
  using Symbols = StringMap<SmallVector<Place>>;

  std::optional<unsigned> findBuffer(mlir::Value value);
  /// The dims of `value` are `names`; "" is a dim that nothing is known of.
  void add(Symbols &symbols, mlir::Value value, ArrayRef<StringRef> names);
  /// Dims that broadcast to the last of `names`.
  void addBroadcast(Symbols &symbols, mlir::Value value,
                    ArrayRef<StringRef> names);
  void addAttention(mlir::attn::AttentionOp op);
  void addMerge(mlir::attn::MergeStatesOp op);
  void unite(const Symbols &symbols);
  void addContents(Interface::Contents::Kind kind, mlir::Value value,
                   Place limit, ArrayRef<Place> longest = {},
                   mlir::Value lengths = {}, int64_t pageSize = 0);

  SizeExpr getSize(Place place) const;
  std::string getName(Place place) const {
    return formatv("{0}.d{1}", infos[place.first]->name, place.second);
  }

  mlir::func::FuncOp function;
  SmallVector<const rt::ValueInfo *> infos;
  unsigned numArgs;
  EquivalenceClasses<Place> equal;
  /// Places whose size is that of another one and 1.
  SmallVector<std::pair<Place, Place>> oneMore;
  SmallVector<std::pair<Place, Place>> multiples;
  struct Contents {
    Interface::Contents::Kind kind;
    std::string buffer;
    Place limit;
    SmallVector<Place> longest;
    std::string lengths;
    int64_t pageSize;
  };
  std::vector<Contents> contents;
};
} // namespace

InterfaceBuilder::InterfaceBuilder(mlir::func::FuncOp function,
                                   const rt::Signature &signature)
    : function(function), numArgs(signature.args.size()) {
  for (const rt::ValueInfo &info : signature.args)
    infos.push_back(&info);
  for (const rt::ValueInfo &info : signature.results)
    infos.push_back(&info);
  for (unsigned i = 0; i < infos.size(); ++i)
    for (unsigned d = 0; d < infos[i]->shape.size(); ++d)
      equal.insert({i, d});
}

std::optional<unsigned> InterfaceBuilder::findBuffer(mlir::Value value) {
  while (auto *op = value.getDefiningOp()) {
    if (!isa<mlir::memref::CastOp, mlir::tensor::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (auto argument = dyn_cast<mlir::BlockArgument>(value))
    if (argument.getOwner() == &function.getBody().front())
      return argument.getArgNumber();
  return std::nullopt;
}

void InterfaceBuilder::add(Symbols &symbols, mlir::Value value,
                           ArrayRef<StringRef> names) {
  SmallVector<unsigned> buffers;
  if (value)
    if (std::optional<unsigned> buffer = findBuffer(value))
      buffers.push_back(*buffer);
  // A result that the function returns.
  if (value && isa<mlir::OpResult>(value))
    for (mlir::OpOperand &use : value.getUses())
      if (isa<mlir::func::ReturnOp>(use.getOwner()))
        buffers.push_back(numArgs + use.getOperandNumber());
  for (unsigned buffer : buffers)
    if (infos[buffer]->shape.size() == names.size())
      for (auto [dim, name] : enumerate(names))
        if (!name.empty())
          symbols[name].push_back({buffer, static_cast<unsigned>(dim)});
}

void InterfaceBuilder::addBroadcast(Symbols &symbols, mlir::Value value,
                                    ArrayRef<StringRef> names) {
  if (!value)
    return;
  auto shape = cast<ShapedType>(value.getType()).getShape();
  SmallVector<StringRef> full(names.take_back(shape.size()));
  for (auto [name, size] : zip_equal(full, shape))
    if (size == 1)
      name = "";
  add(symbols, value, full);
}

void InterfaceBuilder::unite(const Symbols &symbols) {
  for (const auto &entry : symbols)
    if (!entry.getKey().starts_with("longest"))
      for (Place place : ArrayRef(entry.second).drop_front())
        equal.unionSets(entry.second.front(), place);
}

void InterfaceBuilder::addContents(Interface::Contents::Kind kind,
                                   mlir::Value value, Place limit,
                                   ArrayRef<Place> longest, mlir::Value lengths,
                                   int64_t pageSize) {
  std::optional<unsigned> buffer = findBuffer(value);
  if (!buffer)
    return;
  std::string lengthsName;
  if (lengths)
    if (std::optional<unsigned> found = findBuffer(lengths))
      lengthsName = infos[*found]->name;
  contents.push_back({kind, infos[*buffer]->name, limit,
                      SmallVector<Place>(longest), lengthsName, pageSize});
}

static SmallVector<StringRef> getDims(mlir::attn::Layout layout,
                                      StringRef batch, StringRef heads,
                                      StringRef length, StringRef width) {
  switch (layout) {
  case mlir::attn::Layout::bhsd:
    return {batch, heads, length, width};
  case mlir::attn::Layout::bshd:
    return {batch, length, heads, width};
  case mlir::attn::Layout::thd:
    return {length, heads, width};
  }
  llvm_unreachable("unknown layout");
}

static SmallVector<StringRef> getLseDims(mlir::attn::LseLayout layout) {
  switch (layout) {
  case mlir::attn::LseLayout::bhs:
    return {"B", "Hq", "Sq"};
  case mlir::attn::LseLayout::hs_packed:
    return {"Hq", "Sq"};
  case mlir::attn::LseLayout::sh_packed:
    return {"Sq", "Hq"};
  case mlir::attn::LseLayout::bhs_padded:
    return {"B", "Hq", "longest q"};
  }
  llvm_unreachable("unknown LSE layout");
}

void InterfaceBuilder::addAttention(mlir::attn::AttentionOp op) {
  Symbols symbols;
  auto layout = op.getLayout();
  bool packed = layout == mlir::attn::Layout::thd;
  mlir::Value table = op.getBlockTable();
  // Key and value are a pool of pages, which has no batch and no length.
  StringRef batch = table ? "pages" : "B", length = table ? "page" : "Skv";
  add(symbols, op.getQuery(), getDims(layout, "B", "Hq", "Sq", "Dqk"));
  auto keyLayout = table && packed ? mlir::attn::Layout::bshd : layout;
  add(symbols, op.getKey(), getDims(keyLayout, batch, "Hk", length, "Dqk"));
  add(symbols, op.getValue(), getDims(keyLayout, batch, "Hv", length, "Dv"));
  auto addDestination = [&](unsigned index, ArrayRef<StringRef> names) {
    add(symbols, op.getInits()[index], names);
    if (op->getNumResults())
      add(symbols, op->getResult(index), names);
  };
  addDestination(0, getDims(layout, "B", "Hq", "Sq", "Dv"));
  if (op.hasLse())
    addDestination(1, getLseDims(op.getLseLayoutOrDefault()));
  SmallVector<StringRef> scores = {"B", "Hq", "Sq", "Skv"};
  // With packed sequences rows and keys count from the start of each, with
  // pages keys have no dimension: every sequence has to fit.
  if (packed)
    scores[2] = "longest q";
  if (packed || table)
    scores[3] = "longest kv";
  addBroadcast(symbols, op.getBias(), scores);
  addBroadcast(symbols, op.getMask(), scores);
  if (mlir::Value slopes = op.getAlibiSlopes())
    add(symbols, slopes,
        ArrayRef<StringRef>({"B", "Hq"})
            .take_back(cast<ShapedType>(slopes.getType()).getRank()));
  add(symbols, op.getSink(), {"Hq"});
  for (mlir::Value perBatch :
       {op.getSeqlensQ(), op.getSeqlensKv(), op.getQOffset(), op.getKvOffset()})
    add(symbols, perBatch, {"B"});
  add(symbols, op.getCuSeqlensQ(), {"B1"});
  add(symbols, op.getCuSeqlensKv(), {"B1"});
  add(symbols, table, {"B", "table"});
  unite(symbols);

  auto first = [&](StringRef name) -> std::optional<Place> {
    auto it = symbols.find(name);
    if (it == symbols.end())
      return std::nullopt;
    return it->second.front();
  };
  if (first("B1") && first("B"))
    oneMore.push_back({*first("B1"), *first("B")});
  for (StringRef heads : {"Hk", "Hv"})
    if (first("Hq") && first(heads))
      multiples.push_back({*first("Hq"), *first(heads)});

  using Kind = Interface::Contents::Kind;
  if (first("Sq")) {
    if (mlir::Value lengths = op.getSeqlensQ())
      addContents(Kind::Length, lengths, *first("Sq"));
    if (mlir::Value starts = op.getCuSeqlensQ())
      addContents(Kind::Cumulative, starts, *first("Sq"),
                  symbols.lookup("longest q"));
  }
  if (first("Skv")) {
    if (mlir::Value lengths = op.getSeqlensKv())
      addContents(Kind::Length, lengths, *first("Skv"));
    if (mlir::Value starts = op.getCuSeqlensKv())
      addContents(Kind::Cumulative, starts, *first("Skv"),
                  symbols.lookup("longest kv"));
  }
  if (table && first("pages"))
    addContents(Kind::Page, table, *first("pages"),
                symbols.lookup("longest kv"), op.getSeqlensKv(),
                op.getPageSize().value_or(0));
}

void InterfaceBuilder::addMerge(mlir::attn::MergeStatesOp op) {
  Symbols symbols;
  bool anyRank = op.getLayout() == mlir::attn::Layout::bhsd;
  size_t rank = cast<ShapedType>(op.getOutputInit().getType()).getRank();
  SmallVector<std::string> letters;
  for (size_t i = 0; i < rank; ++i)
    letters.push_back("x" + std::to_string(i));
  SmallVector<StringRef> output(letters.begin(), letters.end());
  SmallVector<StringRef> lse(ArrayRef(output).drop_back());
  if (!anyRank) {
    output = getDims(op.getLayout(), "B", "Hq", "Sq", "Dv");
    lse = getLseDims(op.getLseLayoutOrDefault());
  }
  for (mlir::Value state : op.getOutputs())
    add(symbols, state, output);
  for (mlir::Value state : op.getLses())
    add(symbols, state, lse);
  auto addDestination = [&](unsigned index, ArrayRef<StringRef> names) {
    add(symbols, op.getInits()[index], names);
    if (op->getNumResults())
      add(symbols, op->getResult(index), names);
  };
  addDestination(0, output);
  if (op.hasLse())
    addDestination(1, lse);
  if (rank > 2)
    add(symbols, op.getSink(), {anyRank ? output[rank - 3] : StringRef("Hq")});
  unite(symbols);
}

SizeExpr InterfaceBuilder::getSize(Place place) const {
  for (auto it = equal.findLeader(place); it != equal.member_end(); ++it)
    if (int64_t size = infos[it->first]->shape[it->second];
        !ShapedType::isDynamic(size))
      return size;
  for (auto [more, less] : oneMore)
    if (equal.isEquivalent(more, place))
      return SizeExpr::add(getSize(less), 1);
  Place first = place;
  for (auto it = equal.findLeader(place); it != equal.member_end(); ++it)
    first = std::min(first, *it);
  return SizeExpr::dim(getName(first));
}

Interface InterfaceBuilder::build(StringRef target) {
  function.walk([&](mlir::Operation *op) {
    if (auto attention = dyn_cast<mlir::attn::AttentionOp>(op))
      addAttention(attention);
    else if (auto merge = dyn_cast<mlir::attn::MergeStatesOp>(op))
      addMerge(merge);
  });
  DenseSet<unsigned> written;
  function.walk([&](mlir::DestinationStyleOpInterface op) {
    for (mlir::Value init : op.getDpsInits())
      if (isa<mlir::MemRefType>(init.getType()))
        if (std::optional<unsigned> buffer = findBuffer(init))
          written.insert(*buffer);
  });

  Interface result;
  result.buffers.chip = target.str();
  for (auto [i, info] : enumerate(infos)) {
    Buffer &buffer = result.buffers.buffers.emplace_back();
    buffer.name = info->name;
    buffer.dtype = info->dtype;
    buffer.role =
        i >= numArgs || written.contains(i) ? Role::Output : Role::Input;
    for (unsigned d = 0; d < info->shape.size(); ++d)
      buffer.shape.push_back(getSize({static_cast<unsigned>(i), d}));
    mlir::Type type = i < numArgs ? function.getArgumentTypes()[i]
                                  : function.getResultTypes()[i - numArgs];
    auto memref = dyn_cast<mlir::MemRefType>(type);
    if (memref && !memref.getLayout().isIdentity()) {
      for (auto [d, stride] : enumerate(info->strides))
        buffer.strides.push_back(
            ShapedType::isDynamic(stride)
                ? SizeExpr::dim(formatv("{0}.stride{1}", info->name, d).str())
                : SizeExpr(stride));
      continue;
    }
    SizeExpr contiguous = 1;
    buffer.strides.resize(buffer.shape.size());
    for (unsigned d = buffer.shape.size(); d-- > 0;) {
      buffer.strides[d] = contiguous;
      contiguous = SizeExpr::mul(contiguous, buffer.shape[d]);
    }
  }
  for (auto [lhs, rhs] : multiples)
    result.multiples.push_back({getSize(lhs), getSize(rhs)});
  for (const Contents &c : contents) {
    auto &rule = result.contents.emplace_back();
    rule.kind = c.kind;
    rule.buffer = c.buffer;
    rule.limit = getSize(c.limit);
    for (Place place : c.longest)
      rule.longest.push_back(getSize(place));
    rule.lengths = c.lengths;
    rule.pageSize = c.pageSize;
  }
  return result;
}

Expected<Interface> Interface::create(mlir::func::FuncOp function,
                                      const rt::Signature &signature,
                                      StringRef target) {
  for (const auto *list : {&signature.args, &signature.results})
    for (const rt::ValueInfo &info : *list)
      if (!SizeExpr::isName(info.name))
        return createStringError("expects attn.name to be an identifier, but "
                                 "got '" +
                                 info.name + "'");
  return InterfaceBuilder(function, signature).build(target);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kindNames[] = {"length", "cumulative", "page"};

json::Value Interface::toJSON() const {
  json::Value value = buffers.toJSON();
  json::Object &object = *value.getAsObject();
  object.erase("kernels");
  object.erase("launches");
  json::Array list;
  for (const Multiple &multiple : multiples)
    list.push_back(json::Array{multiple.lhs.toJSON(), multiple.rhs.toJSON()});
  object["multiples"] = std::move(list);
  json::Array rules;
  for (const Contents &c : contents) {
    json::Object rule{{"kind", kindNames[static_cast<size_t>(c.kind)]},
                      {"buffer", c.buffer},
                      {"limit", c.limit.toJSON()}};
    json::Array longest;
    for (const SizeExpr &size : c.longest)
      longest.push_back(size.toJSON());
    rule["longest"] = std::move(longest);
    if (c.kind == Contents::Kind::Page) {
      rule["lengths"] = c.lengths;
      rule["page_size"] = c.pageSize;
    }
    rules.push_back(std::move(rule));
  }
  object["contents"] = std::move(rules);
  return value;
}

static Expected<SizeExpr> readSize(const json::Value *value) {
  if (value)
    if (std::optional<int64_t> number = value->getAsInteger())
      return SizeExpr(*number);
  if (value)
    if (std::optional<StringRef> text = value->getAsString())
      return SizeExpr::parse(*text);
  return createStringError("expects a size");
}

Expected<Interface> Interface::fromJSON(const json::Value &value) {
  Interface result;
  const json::Object *object = value.getAsObject();
  const json::Array *multiples =
      object ? object->getArray("multiples") : nullptr;
  const json::Array *contents = object ? object->getArray("contents") : nullptr;
  if (!multiples || !contents)
    return createStringError("expects an interface");
  json::Object buffers = *object;
  buffers["kernels"] = json::Array();
  buffers["launches"] = json::Array();
  auto manifest = manifest::Manifest::fromJSON(std::move(buffers));
  if (!manifest)
    return manifest.takeError();
  result.buffers = std::move(*manifest);
  for (const json::Value &entry : *multiples) {
    const json::Array *pair = entry.getAsArray();
    if (!pair || pair->size() != 2)
      return createStringError("expects two sizes");
    Expected<SizeExpr> lhs = readSize(&(*pair)[0]);
    if (!lhs)
      return lhs.takeError();
    Expected<SizeExpr> rhs = readSize(&(*pair)[1]);
    if (!rhs)
      return rhs.takeError();
    result.multiples.push_back({*lhs, *rhs});
  }
  for (const json::Value &entry : *contents) {
    const json::Object *rule = entry.getAsObject();
    if (!rule)
      return createStringError("expects a rule");
    Contents &c = result.contents.emplace_back();
    const auto *kind = find(kindNames, rule->getString("kind").value_or(""));
    if (kind == std::end(kindNames))
      return createStringError("expects a kind of contents");
    c.kind = static_cast<Contents::Kind>(kind - std::begin(kindNames));
    c.buffer = rule->getString("buffer").value_or("").str();
    Expected<SizeExpr> limit = readSize(rule->get("limit"));
    if (!limit)
      return limit.takeError();
    c.limit = *limit;
    if (const json::Array *longest = rule->getArray("longest"))
      for (const json::Value &value : *longest) {
        Expected<SizeExpr> size = readSize(&value);
        if (!size)
          return size.takeError();
        c.longest.push_back(*size);
      }
    c.lengths = rule->getString("lengths").value_or("").str();
    c.pageSize = rule->getInteger("page_size").value_or(0);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Checking a launch
//===----------------------------------------------------------------------===//

static Error checkPresence(const manifest::Manifest &buffers,
                           const StringMap<rt::ArrayView> &arrays) {
  for (const auto &entry : arrays)
    if (!buffers.findBuffer(entry.getKey()))
      return createStringError(
          "expects the names of buffers (" +
          join(map_range(buffers.buffers, [](auto &b) { return b.name; }),
               ", ") +
          "), but got '" + entry.getKey() + "'");
  for (const Buffer &buffer : buffers.buffers) {
    auto it = arrays.find(buffer.name);
    if (it == arrays.end())
      return createStringError(formatv(
          "expects a buffer '{0}', which the program {1}, but got none",
          buffer.name, buffer.role == Role::Output ? "writes" : "reads"));
    const rt::ArrayView &array = it->second;
    if (array.dtype != buffer.dtype)
      return createStringError(formatv(
          "buffer '{0}': expects {1}, but got {2}", buffer.name,
          manifest::stringify(buffer.dtype), manifest::stringify(array.dtype)));
    if (any_of(array.shape, [](int64_t size) { return size < 0; }))
      return createStringError(
          formatv("buffer '{0}': expects sizes that are not negative, but got "
                  "{1}",
                  buffer.name, rt::printShape(array.shape)));
    auto address = reinterpret_cast<uintptr_t>(array.base);
    if (!address && !is_contained(array.shape, 0))
      return createStringError(
          formatv("buffer '{0}': expects memory, but got NULL", buffer.name));
    if (address % manifest::getByteWidth(buffer.dtype))
      return createStringError(
          formatv("buffer '{0}': expects an address that is a multiple of {1}",
                  buffer.name, manifest::getByteWidth(buffer.dtype)));
  }
  return Error::success();
}

static Error checkStrides(const Buffer &buffer, const rt::ArrayView &array,
                          const manifest::DimMap &dims) {
  if (is_contained(array.shape, 0))
    return Error::success();
  for (auto [d, stride] : enumerate(array.strides)) {
    if (array.shape[d] < 2)
      continue;
    if (stride < 0 || (stride == 0 && buffer.role == Role::Output))
      return createStringError(formatv(
          "buffer '{0}': expects stride {1} to be {2}, but got {3}",
          buffer.name, d,
          buffer.role == Role::Output ? "positive" : "0 or more", stride));
    std::optional<StringRef> name = buffer.strides[d].getDim();
    if (name && name->contains(".stride"))
      continue;
    Expected<int64_t> expected = buffer.strides[d].evaluate(dims);
    if (!expected)
      return expected.takeError();
    if (*expected != stride)
      return createStringError(
          formatv("buffer '{0}': expects stride {1} to be {2}, but got {3}",
                  buffer.name, d, *expected, stride));
  }
  return Error::success();
}

/// The numbers of a buffer of integers.
static SmallVector<int64_t> readIntegers(const rt::ArrayView &array) {
  SmallVector<int64_t> values;
  if (is_contained(array.shape, 0))
    return values;
  rt::forEachElement(array, [&](char *first, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      const char *element = first + i * stride;
      int32_t narrow;
      int64_t wide;
      if (array.dtype == DType::I32) {
        memcpy(&narrow, element, sizeof(narrow));
        values.push_back(narrow);
      } else if (array.dtype == DType::I64) {
        memcpy(&wide, element, sizeof(wide));
        values.push_back(wide);
      }
    }
  });
  return values;
}

static Error checkContents(const Interface::Contents &rule,
                           const StringMap<rt::ArrayView> &arrays,
                           const manifest::DimMap &dims) {
  Expected<int64_t> limit = rule.limit.evaluate(dims);
  if (!limit)
    return limit.takeError();
  int64_t longest = std::numeric_limits<int64_t>::max();
  for (const SizeExpr &size : rule.longest) {
    Expected<int64_t> value = size.evaluate(dims);
    if (!value)
      return value.takeError();
    longest = std::min(longest, *value);
  }
  const rt::ArrayView &array = arrays.find(rule.buffer)->second;
  SmallVector<int64_t> values = readIntegers(array);
  auto wrong = [&](size_t i, const Twine &expected) {
    return createStringError("buffer '" + Twine(rule.buffer) +
                             "': expects element " + Twine(i) + " to be " +
                             expected + ", but got " + Twine(values[i]));
  };
  switch (rule.kind) {
  case Interface::Contents::Kind::Length:
    for (auto [i, value] : enumerate(values))
      if (value < 0 || value > *limit)
        return wrong(i, "0 to " + Twine(*limit));
    return Error::success();
  case Interface::Contents::Kind::Cumulative: {
    int64_t least = 0, most = 0;
    for (auto [i, value] : enumerate(values)) {
      if (value < least || value > most)
        return wrong(i, least == most ? Twine(least)
                                      : Twine(least) + " to " + Twine(most));
      if (i && value - least > longest)
        return createStringError(
            formatv("buffer '{0}': expects sequences of at most {1}, for which "
                    "there is "
                    "bias, mask or lse, but got one of {2}",
                    rule.buffer, longest, value - least));
      least = value;
      most = *limit;
    }
    return Error::success();
  }
  case Interface::Contents::Kind::Page: {
    auto it = arrays.find(rule.lengths);
    if (it == arrays.end() || rule.pageSize <= 0 || array.shape.size() != 2)
      return Error::success();
    SmallVector<int64_t> lengths = readIntegers(it->second);
    int64_t pages = array.shape[1];
    int64_t most = std::min(pages * rule.pageSize, longest);
    for (int64_t b = 0; b < array.shape[0]; ++b) {
      // One length may stand for all.
      int64_t length = lengths.size() == 1 ? lengths[0] : lengths[b];
      if (length < 0 || length > most)
        return createStringError(formatv(
            "buffer '{0}': expects element {1} to be 0 to {2}, but got {3}",
            rule.lengths, b, most, length));
      for (int64_t p = 0; p < divideCeilSigned(length, rule.pageSize); ++p) {
        size_t i = b * pages + p;
        if (values[i] < 0 || values[i] >= *limit)
          return wrong(i, "a page, 0 to " + Twine(*limit - 1));
      }
    }
    return Error::success();
  }
  }
  llvm_unreachable("unknown kind");
}

Error Interface::check(const StringMap<rt::ArrayView> &arrays,
                       bool readable) const {
  if (Error error = checkPresence(buffers, arrays))
    return error;
  StringMap<SmallVector<int64_t>> shapes;
  for (const auto &entry : arrays)
    shapes[entry.getKey()] = entry.second.shape;
  manifest::DimMap dims;
  if (Error error = buffers.inferDims(shapes).moveInto(dims))
    return error;
  for (const Buffer &buffer : buffers.buffers)
    if (Error error =
            checkStrides(buffer, arrays.find(buffer.name)->second, dims))
      return error;
  for (const Multiple &multiple : multiples) {
    Expected<int64_t> lhs = multiple.lhs.evaluate(dims);
    if (!lhs)
      return lhs.takeError();
    Expected<int64_t> rhs = multiple.rhs.evaluate(dims);
    if (!rhs)
      return rhs.takeError();
    if (*rhs <= 0 || *lhs % *rhs)
      return createStringError(
          formatv("expects the number of query heads to be a multiple of that "
                  "of key and value heads, but got {0} and {1}",
                  *lhs, *rhs));
  }
  if (readable)
    for (const Contents &rule : contents)
      if (Error error = checkContents(rule, arrays, dims))
        return error;
  return Error::success();
}

} // namespace attn::capi
