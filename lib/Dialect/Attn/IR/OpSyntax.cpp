//===- OpSyntax.cpp - Assembly format shared by the ops ---------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpSyntax.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::detail;

ParseResult attn::detail::parseClauseBody(OpAsmParser &parser, Clause &clause) {
  clause.loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(clause.operands) ||
      parser.parseColonTypeList(clause.types) || parser.parseRParen())
    return failure();
  if (clause.operands.size() != clause.types.size())
    return parser.emitError(clause.loc, "expects one type an operand, but got ")
           << clause.types.size() << " types for " << clause.operands.size()
           << " operands";
  return success();
}

ParseResult attn::detail::parseClause(OpAsmParser &parser, StringRef keyword,
                                      Clause &clause) {
  if (parser.parseKeyword(keyword))
    return failure();
  return parseClauseBody(parser, clause);
}

ParseResult
attn::detail::parseOptionalClauses(OpAsmParser &parser,
                                   ArrayRef<StringRef> keywords,
                                   MutableArrayRef<Clause> clauses) {
  StringRef keyword;
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&keyword, keywords)))
      return success();
    Clause &clause = clauses[llvm::find(keywords, keyword) - keywords.begin()];
    if (clause)
      return parser.emitError(loc, "expects '")
             << keyword << "' at most once, but got it again";
    if (parseClauseBody(parser, clause))
      return failure();
    if (clause.operands.size() != 1)
      return parser.emitError(loc, "expects one operand in '")
             << keyword << "', but got " << clause.operands.size();
  }
}

ParseResult attn::detail::resolve(OpAsmParser &parser, const Clause &clause,
                                  OperationState &state) {
  return parser.resolveOperands(clause.operands, clause.types, clause.loc,
                                state.operands);
}

void attn::detail::addTiedResults(const Clause &outs, OperationState &state) {
  for (Type type : outs.types)
    if (isa<TensorType>(type))
      state.addTypes(type);
}

/// An enum option written as a bare keyword.
template <typename AttrT, typename EnumT>
static ParseResult parseEnum(OpAsmParser &parser, StringRef name,
                             Attribute &attr,
                             std::optional<EnumT> (*symbolize)(StringRef),
                             unsigned maxValue, StringRef (*stringify)(EnumT)) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword))) {
    // The generic spelling, #attn<...>, is legal too.
    return parser.parseAttribute(attr);
  }
  if (std::optional<EnumT> value = symbolize(keyword)) {
    attr = AttrT::get(parser.getContext(), *value);
    return success();
  }
  SmallVector<StringRef> names;
  for (unsigned i = 0; i <= maxValue; ++i)
    names.push_back(stringify(static_cast<EnumT>(i)));
  return parser.emitError(loc, "expects ")
         << name << " to be one of " << llvm::join(names, ", ") << ", but got "
         << keyword;
}

static ParseResult parseOptionValue(OpAsmParser &parser, StringRef name,
                                    Attribute &attr) {
  if (name == "layout")
    return parseEnum<LayoutAttr, Layout>(parser, name, attr, symbolizeLayout,
                                         getMaxEnumValForLayout(),
                                         stringifyLayout);
  if (name == "diagonal_alignment")
    return parseEnum<DiagonalAlignmentAttr, DiagonalAlignment>(
        parser, name, attr, symbolizeDiagonalAlignment,
        getMaxEnumValForDiagonalAlignment(), stringifyDiagonalAlignment);
  if (name == "lse_base")
    return parseEnum<LseBaseAttr, LseBase>(parser, name, attr, symbolizeLseBase,
                                           getMaxEnumValForLseBase(),
                                           stringifyLseBase);
  if (name == "lse_layout")
    return parseEnum<LseLayoutAttr, LseLayout>(
        parser, name, attr, symbolizeLseLayout, getMaxEnumValForLseLayout(),
        stringifyLseLayout);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(attr))
    return failure();
  if (name != "scale" && name != "softcap")
    return success();
  // A number of any spelling: `1`, `0.5`, `0.5 : f32`.
  double value;
  auto integer = dyn_cast<IntegerAttr>(attr);
  if (auto number = dyn_cast<FloatAttr>(attr))
    value = number.getValueAsDouble();
  else if (integer && !integer.getType().isInteger(1))
    value = integer.getValue().roundToDouble(
        !integer.getType().isUnsignedInteger());
  else
    return parser.emitError(loc, "expects ")
           << name << " to be a number, but got " << attr;
  attr = parser.getBuilder().getF64FloatAttr(value);
  return success();
}

static bool isOption(OperationName op, StringRef name) {
  return name != "operandSegmentSizes" &&
         llvm::is_contained(op.getAttributeNames(), name);
}

ParseResult attn::detail::parseOptions(OpAsmParser &parser,
                                       OperationState &state) {
  SMLoc start = parser.getCurrentLocation();
  auto parseOption = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    if (failed(parser.parseOptionalKeywordOrString(&name)))
      return parser.emitError(loc, "expects the name of an option");
    if (!isOption(state.name, name))
      return parser.emitError(loc, "expects an option of the op, but got '")
             << name << "'; other attributes go in 'attributes {...}'";
    if (state.attributes.get(name))
      return parser.emitError(loc, "expects option '")
             << name << "' at most once, but got it again";
    Attribute attr = parser.getBuilder().getUnitAttr();
    if (succeeded(parser.parseOptionalEqual()) &&
        parseOptionValue(parser, name, attr))
      return failure();
    state.addAttribute(name, attr);
    return success();
  };
  if (succeeded(parser.parseOptionalLBrace()) &&
      failed(parser.parseOptionalRBrace()) &&
      (parser.parseCommaSeparatedList(parseOption) || parser.parseRBrace()))
    return failure();
  // Setting the wrong kind of attribute would be ignored later.
  if (failed(state.name.verifyInherentAttrs(
          state.attributes, [&] { return parser.emitError(start); })))
    return failure();

  NamedAttrList others;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(others))
    return failure();
  for (NamedAttribute attr : others) {
    if (llvm::is_contained(state.name.getAttributeNames(), attr.getName()))
      return parser.emitError(loc, "expects '")
             << attr.getName().getValue()
             << "' among the options, but got it in 'attributes'";
    state.attributes.append(attr);
  }
  return success();
}

void attn::detail::printClause(OpAsmPrinter &printer, StringRef keyword,
                               ValueRange operands) {
  if (operands.empty())
    return;
  printer << ' ' << keyword << '(' << operands << " : " << operands.getTypes()
          << ')';
}

/// Whether an option has the value it has when it is not written.
static bool isDefault(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  if (auto value = dyn_cast<IntegerAttr>(attr.getValue())) {
    if (name == "window_left" || name == "window_right")
      return value.getInt() == -1;
    if (name == "sink_tokens")
      return value.getInt() == 0;
    if (name == "num_kv_splits")
      return value.getInt() == 1;
  }
  if (auto value = dyn_cast<LayoutAttr>(attr.getValue()))
    return value.getValue() == Layout::bhsd;
  // An explicit default of an OptionalAttr is kept: it is part of the op.
  if (auto value = dyn_cast<LseBaseAttr>(attr.getValue()))
    return isa<MergeStatesOp>(op) && value.getValue() == LseBase::e;
  return false;
}

static void printOptionValue(OpAsmPrinter &printer, Attribute attr) {
  if (auto value = dyn_cast<LayoutAttr>(attr))
    printer << stringifyLayout(value.getValue());
  else if (auto value = dyn_cast<DiagonalAlignmentAttr>(attr))
    printer << stringifyDiagonalAlignment(value.getValue());
  else if (auto value = dyn_cast<LseBaseAttr>(attr))
    printer << stringifyLseBase(value.getValue());
  else if (auto value = dyn_cast<LseLayoutAttr>(attr))
    printer << stringifyLseLayout(value.getValue());
  else {
    // f64 and i64 are what a bare literal is read as, so the type is left out;
    // a float that prints in hexadecimal would be read as an integer.
    std::string text;
    llvm::raw_string_ostream os(text);
    attr.print(os, /*elideType=*/true);
    bool hexFloat = isa<FloatAttr>(attr) && StringRef(text).starts_with("0x");
    printer << text << (hexFloat ? " : f64" : "");
  }
}

void attn::detail::printOptions(OpAsmPrinter &printer, Operation *op) {
  // Options first, then what others attached to the op.
  SmallVector<NamedAttribute> options, others;
  for (NamedAttribute attr : op->getAttrDictionary())
    if (!isOption(op->getName(), attr.getName()))
      others.push_back(attr);
    else if (!isDefault(op, attr))
      options.push_back(attr);
  if (!options.empty()) {
    printer << " {";
    llvm::interleaveComma(options, printer, [&](NamedAttribute attr) {
      printer << attr.getName().getValue();
      if (isa<UnitAttr>(attr.getValue()))
        return;
      printer << " = ";
      printOptionValue(printer, attr.getValue());
    });
    printer << '}';
  }
  printer.printOptionalAttrDictWithKeyword(others, {"operandSegmentSizes"});
}
