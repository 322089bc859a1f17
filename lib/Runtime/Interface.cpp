//===- Interface.cpp - What a launch has to pass --------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Interface.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using attn::manifest::Buffer;
using attn::manifest::Contents;
using attn::manifest::Manifest;
using attn::manifest::Role;
using attn::manifest::SizeExpr;
using mlir::ShapedType;

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Reading it off a function
//===----------------------------------------------------------------------===//

namespace {
/// Collects which sizes have to be equal.
class InterfaceBuilder {
public:
  InterfaceBuilder(mlir::func::FuncOp function, const Signature &signature);

  Manifest build(StringRef target);

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
  /// A destination and its result.
  void addDestination(Symbols &symbols, mlir::DestinationStyleOpInterface op,
                      unsigned index, ArrayRef<StringRef> names);
  void addAttention(mlir::attn::AttentionOp op);
  void addMerge(mlir::attn::MergeStatesOp op);
  void unite(const Symbols &symbols);
  void addContents(Contents::Kind kind, mlir::Value value, Place limit,
                   ArrayRef<Place> longest = {}, mlir::Value lengths = {},
                   int64_t pageSize = 0);

  SizeExpr getSize(Place place) const;
  std::string getName(Place place) const {
    return formatv("{0}.d{1}", infos[place.first]->name, place.second);
  }

  mlir::func::FuncOp function;
  SmallVector<const ValueInfo *> infos;
  unsigned numArgs;
  EquivalenceClasses<Place> equal;
  /// Places whose size is that of another one and 1.
  SmallVector<std::pair<Place, Place>> oneMore;
  SmallVector<std::pair<Place, Place>> multiples;
  struct Rule {
    Contents::Kind kind;
    std::string buffer;
    Place limit;
    SmallVector<Place> longest;
    std::string lengths;
    int64_t pageSize;
  };
  std::vector<Rule> rules;
};
} // namespace

InterfaceBuilder::InterfaceBuilder(mlir::func::FuncOp function,
                                   const Signature &signature)
    : function(function), numArgs(signature.args.size()) {
  for (const ValueInfo &info : signature.args)
    infos.push_back(&info);
  for (const ValueInfo &info : signature.results)
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

void InterfaceBuilder::addDestination(Symbols &symbols,
                                      mlir::DestinationStyleOpInterface op,
                                      unsigned index,
                                      ArrayRef<StringRef> names) {
  add(symbols, op.getDpsInits()[index], names);
  if (op->getNumResults())
    add(symbols, op->getResult(index), names);
}

void InterfaceBuilder::unite(const Symbols &symbols) {
  for (const auto &entry : symbols)
    if (!entry.getKey().starts_with("longest"))
      for (Place place : ArrayRef(entry.second).drop_front())
        equal.unionSets(entry.second.front(), place);
}

/// The memref or tensor of one element whose content `value` is; `value` itself
/// where it is something else.
static mlir::Value skipLoad(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<mlir::arith::IndexCastOp, mlir::arith::ExtSIOp>(op))
    return skipLoad(op->getOperand(0));
  if (!isa_and_nonnull<mlir::memref::LoadOp, mlir::tensor::ExtractOp>(op))
    return value;
  auto type = cast<ShapedType>(op->getOperand(0).getType());
  return type.hasStaticShape() && type.getNumElements() == 1 ? op->getOperand(0)
                                                             : value;
}

void InterfaceBuilder::addContents(Contents::Kind kind, mlir::Value value,
                                   Place limit, ArrayRef<Place> longest,
                                   mlir::Value lengths, int64_t pageSize) {
  std::optional<unsigned> buffer = findBuffer(skipLoad(value));
  if (!buffer)
    return;
  std::string lengthsName;
  if (lengths)
    if (std::optional<unsigned> found = findBuffer(skipLoad(lengths)))
      lengthsName = infos[*found]->name;
  rules.push_back({kind, infos[*buffer]->name, limit,
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
  addDestination(symbols, op, 0, getDims(layout, "B", "Hq", "Sq", "Dv"));
  if (op.hasLse())
    addDestination(symbols, op, 1, getLseDims(op.getLseLayoutOrDefault()));
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

  using Kind = Contents::Kind;
  auto addSequences = [&](StringRef size, StringRef longest,
                          mlir::Value lengths, mlir::Value starts) {
    std::optional<Place> limit = first(size);
    if (limit && lengths)
      addContents(Kind::Length, lengths, *limit);
    if (limit && starts)
      addContents(Kind::Cumulative, starts, *limit, symbols.lookup(longest));
  };
  addSequences("Sq", "longest q", op.getSeqlensQ(), op.getCuSeqlensQ());
  addSequences("Skv", "longest kv", op.getSeqlensKv(), op.getCuSeqlensKv());
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
  SmallVector<StringRef> lse(output.begin(), output.end() - 1);
  if (!anyRank) {
    output = getDims(op.getLayout(), "B", "Hq", "Sq", "Dv");
    lse = getLseDims(op.getLseLayoutOrDefault());
  }
  for (mlir::Value state : op.getOutputs())
    add(symbols, state, output);
  for (mlir::Value state : op.getLses())
    add(symbols, state, lse);
  addDestination(symbols, op, 0, output);
  if (op.hasLse())
    addDestination(symbols, op, 1, lse);
  if (rank > 2)
    add(symbols, op.getSink(), {anyRank ? output[rank - 3] : StringRef("Hq")});
  unite(symbols);
  if (auto rows = symbols.find("Sq");
      rows != symbols.end() && op.getCuSeqlensQ())
    addContents(Contents::Kind::Cumulative, op.getCuSeqlensQ(),
                rows->second.front());
}

SizeExpr InterfaceBuilder::getSize(Place place) const {
  for (auto it = equal.findLeader(place); it != equal.member_end(); ++it)
    if (int64_t size = infos[it->first]->shape[it->second];
        !ShapedType::isDynamic(size))
      return size;
  for (auto [more, less] : oneMore) {
    if (equal.isEquivalent(more, place))
      return SizeExpr::add(getSize(less), 1);
    if (equal.isEquivalent(less, place))
      for (auto it = equal.findLeader(more); it != equal.member_end(); ++it)
        if (int64_t size = infos[it->first]->shape[it->second];
            !ShapedType::isDynamic(size))
          return size - 1;
  }
  Place first = place;
  for (auto it = equal.findLeader(place); it != equal.member_end(); ++it)
    first = std::min(first, *it);
  return SizeExpr::dim(getName(first));
}

Manifest InterfaceBuilder::build(StringRef target) {
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

  Manifest result;
  result.chip = target.str();
  for (auto [i, info] : enumerate(infos)) {
    Buffer &buffer = result.buffers.emplace_back();
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
  for (const Rule &rule : rules) {
    Contents &contents = result.contents.emplace_back();
    contents.kind = rule.kind;
    contents.buffer = rule.buffer;
    contents.limit = getSize(rule.limit);
    for (Place place : rule.longest)
      contents.longest.push_back(getSize(place));
    contents.lengths = rule.lengths;
    contents.pageSize = rule.pageSize;
  }
  return result;
}

Expected<Manifest> describeInterface(mlir::func::FuncOp function,
                                     const Signature &signature,
                                     StringRef target) {
  for (const auto *list : {&signature.args, &signature.results})
    for (const ValueInfo &info : *list)
      if (!SizeExpr::isName(info.name))
        return createStringError("expects attn.name to be an identifier, but "
                                 "got '" +
                                 info.name + "'");
  return InterfaceBuilder(function, signature).build(target);
}

StringMap<EntryInterface> describeEntries(mlir::ModuleOp module,
                                          StringRef entry, StringRef target) {
  StringMap<EntryInterface> entries;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() ||
        (entry.empty() ? function.isPrivate() : function.getName() != entry))
      continue;
    auto signature = getSignature(function);
    if (!signature) {
      consumeError(signature.takeError());
      continue;
    }
    EntryInterface &source = entries[function.getName()];
    for (const ValueInfo &arg : signature->args)
      source.argNames.push_back(arg.name);
    for (const ValueInfo &result : signature->results)
      source.resultNames.push_back(result.name);
    auto interface = describeInterface(function, *signature, target);
    if (interface)
      source.interface = std::move(*interface);
    else // Names that no manifest can have, which it will report.
      consumeError(interface.takeError());
  }
  return entries;
}

//===----------------------------------------------------------------------===//
// Giving it to kernels
//===----------------------------------------------------------------------===//

void adoptInterface(Manifest &manifest, const Manifest &interface) {
  // Names that the manifest has values for.
  StringSet<> known;
  for (const Buffer &buffer : manifest.buffers)
    for (unsigned d = 0; d < buffer.shape.size(); ++d)
      known.insert(formatv("{0}.d{1}", buffer.name, d).str());
  auto isKnown = [&](const SizeExpr &size) {
    SmallVector<StringRef> names;
    size.getDims(names);
    return all_of(names, [&](StringRef name) { return known.contains(name); });
  };

  StringMap<SizeExpr> names;
  for (const Buffer &buffer : interface.buffers)
    for (auto [d, size] : enumerate(buffer.shape))
      if (isKnown(size))
        names[formatv("{0}.d{1}", buffer.name, d).str()] = size;
  auto rename = [&](SizeExpr &size) { size = size.substitute(names); };
  for (Buffer &buffer : manifest.buffers) {
    for_each(buffer.shape, rename);
    for_each(buffer.strides, rename);
  }
  for (manifest::Kernel &kernel : manifest.kernels)
    for (manifest::Arg &arg : kernel.args)
      if (arg.value)
        if (auto *size = std::get_if<SizeExpr>(&*arg.value))
          rename(*size);
  for (manifest::Launch &launch : manifest.launches)
    for_each(launch.grid, rename);

  for (const manifest::Multiple &multiple : interface.multiples)
    if (isKnown(multiple.lhs) && isKnown(multiple.rhs))
      manifest.multiples.push_back(multiple);
  for (const Contents &contents : interface.contents)
    if (manifest.findBuffer(contents.buffer) && isKnown(contents.limit) &&
        all_of(contents.longest, isKnown) &&
        (contents.kind != Contents::Kind::Page ||
         manifest.findBuffer(contents.lengths)))
      manifest.contents.push_back(contents);
}

} // namespace attn::rt
