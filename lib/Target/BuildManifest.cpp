//===- BuildManifest.cpp - The manifest from the host function ------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the host function backwards: an operand of a launch is a pointer at a
// buffer or a number; a buffer is an argument or an allocation; a number is
// arithmetic on sizes. Nothing here knows which pass wrote the function.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Target/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
namespace mf = ::attn::manifest;

namespace {
class ManifestBuilder {
public:
  ManifestBuilder(func::FuncOp function, StringRef chip,
                  ArrayRef<KernelInfo> kernels)
      : function(function), chip(chip), kernels(kernels) {}
  FailureOr<mf::Manifest> run();

private:
  LogicalResult checkHost();
  LogicalResult nameBuffers();
  LogicalResult addLaunch(gpu::LaunchFuncOp launch);
  LogicalResult addKernel(gpu::LaunchFuncOp launch, const KernelInfo &info);
  /// The buffer behind `memref`, added to the manifest at its first use.
  FailureOr<std::string> getBuffer(Operation *user, Value memref,
                                   bool isWritten);
  std::optional<mf::SizeExpr> evaluate(Value value);
  std::optional<mf::SizeExpr> getSize(Value memref, unsigned dim);
  std::optional<mf::SizeExpr> getSizes(Value memref, ArrayRef<int64_t> dims);
  std::optional<mf::SizeExpr> getStride(Value memref, unsigned dim);
  /// Elements between the start of the buffer and that of the view.
  std::optional<mf::SizeExpr> getOffset(Value memref);
  std::optional<mf::SizeExpr> evaluate(OpFoldResult value) {
    if (auto attr = dyn_cast<Attribute>(value))
      return mf::SizeExpr(cast<IntegerAttr>(attr).getInt());
    return evaluate(cast<Value>(value));
  }
  std::string getName(Value memref);

  func::FuncOp function;
  StringRef chip;
  ArrayRef<KernelInfo> kernels;
  mf::Manifest manifest;
  DenseMap<Value, std::string> names;
  /// The reshaped views as which buffers are returned.
  DenseMap<Value, Value> shown;
  unsigned workspaces = 0;
};
} // namespace

static std::optional<mf::DType> getDType(Type type) {
  if (type.isF64())
    return mf::DType::F64;
  if (type.isF32())
    return mf::DType::F32;
  if (type.isF16())
    return mf::DType::F16;
  if (type.isBF16())
    return mf::DType::BF16;
  if (type.isInteger(64) || type.isIndex())
    return mf::DType::I64;
  if (type.isInteger(32))
    return mf::DType::I32;
  if (type.isInteger(16))
    return mf::DType::I16;
  if (type.isInteger(8))
    return mf::DType::I8;
  if (type.isInteger(1))
    return mf::DType::I1;
  return std::nullopt;
}

/// The memref that `value` only casts.
static Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// The source of a view that has all elements of it, in order; else null.
static Value getReshaped(Value value) {
  if (auto view = value.getDefiningOp<memref::ExpandShapeOp>())
    return view.getSrc();
  if (auto view = value.getDefiningOp<memref::CollapseShapeOp>())
    return view.getSrc();
  return {};
}

static Value skipReshapes(Value value) {
  while (true) {
    value = skipCasts(value);
    Value source = getReshaped(value);
    if (!source)
      return value;
    value = source;
  }
}

/// The memref whose memory `value` is a view of.
static Value findRoot(Value value) {
  while (true) {
    value = skipReshapes(value);
    if (auto view = value.getDefiningOp<memref::SubViewOp>())
      value = view.getSource();
    else if (auto view = value.getDefiningOp<memref::ReinterpretCastOp>())
      value = view.getSource();
    else if (auto view = value.getDefiningOp<memref::TransposeOp>())
      value = view.getIn();
    else
      return value;
  }
}

/// Which dim of a transposed memref's source `dim` is.
static unsigned getSourceDim(memref::TransposeOp view, unsigned dim) {
  return view.getPermutation().getDimPosition(dim);
}

/// An index as the i64 that kernels take.
static bool isCastOfIndex(Operation *op) {
  return isa<arith::IndexCastOp>(op) && op->getOperand(0).getType().isIndex() &&
         op->getResult(0).getType().isInteger(64);
}

/// Is it the load of a one-element argument that only launches take, by value?
static bool isScalarOfLaunch(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  auto isPassedOn = [](Operation *user) {
    return isa<gpu::LaunchFuncOp>(user) || isCastOfIndex(user) ||
           isOpTriviallyDead(user);
  };
  return load && isa<BlockArgument>(skipCasts(load.getMemRef())) &&
         load.getMemRefType().hasStaticShape() &&
         load.getMemRefType().getNumElements() == 1 &&
         llvm::all_of(op->getUsers(), isPassedOn);
}

/// Refuses work of the host, which a list of launches would leave out.
LogicalResult ManifestBuilder::checkHost() {
  WalkResult result = function.getBody().walk([](Operation *op) {
    if (isa<gpu::LaunchFuncOp, memref::AllocOp, memref::DeallocOp>(op) ||
        op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op) ||
        isScalarOfLaunch(op))
      return WalkResult::advance();
    // What is inside comes by itself.
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
        !isa<MemoryEffectOpInterface>(op))
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitOpError(
        "runs on the host, but a manifest can only launch kernels");
    if (isa<memref::LoadOp>(op))
      diag << "; pass what it loads (an offset, a size or a number) as an "
              "argument of the function";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ManifestBuilder::nameBuffers() {
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    auto given = function.getArgAttrOfType<StringAttr>(index, "attn.name");
    names[argument] = given ? given.str() : "arg" + std::to_string(index);
  }
  // A result's name wins: a function may return an argument it has written.
  Operation *terminator = function.getBody().back().getTerminator();
  for (auto [index, result] : llvm::enumerate(terminator->getOperands())) {
    auto given = function.getResultAttrOfType<StringAttr>(index, "attn.name");
    std::string name = given        ? given.str()
                       : index == 0 ? "output"
                       : index == 1 ? "lse"
                                    : "result" + std::to_string(index);
    Value buffer = skipReshapes(result);
    // The caller sees the buffer as it is returned.
    if (!shown.try_emplace(buffer, skipCasts(result)).second)
      return function.emitOpError("expects every result to be a buffer of its "
                                  "own in a manifest, but '")
             << names[buffer] << "' and '" << name << "' are the same";
    names[buffer] = name;
  }
  return success();
}

std::string ManifestBuilder::getName(Value memref) {
  memref = skipCasts(memref);
  auto [it, isNew] = names.try_emplace(memref);
  if (isNew)
    it->second = "workspace" + std::to_string(workspaces++);
  return it->second;
}

std::optional<mf::SizeExpr> ManifestBuilder::getSize(Value memref,
                                                     unsigned dim) {
  memref = skipCasts(memref);
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return mf::SizeExpr(type.getDimSize(dim));
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return evaluate(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (auto view = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return evaluate(view.getMixedSizes()[dim]);
  if (auto view = memref.getDefiningOp<memref::TransposeOp>())
    return getSize(view.getIn(), getSourceDim(view, dim));
  if (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [d, size] : llvm::enumerate(view.getMixedSizes()))
      if (!dropped[d] && dim-- == 0)
        return evaluate(size);
    return std::nullopt;
  }
  if (auto view = memref.getDefiningOp<memref::ExpandShapeOp>())
    return evaluate(view.getMixedOutputShape()[dim]);
  if (auto view = memref.getDefiningOp<memref::CollapseShapeOp>())
    return getSizes(view.getSrc(), view.getReassociationIndices()[dim]);
  return mf::SizeExpr::dim(getName(memref) + ".d" + std::to_string(dim));
}

/// The product of the sizes of some dims.
std::optional<mf::SizeExpr> ManifestBuilder::getSizes(Value memref,
                                                      ArrayRef<int64_t> dims) {
  mf::SizeExpr product(1);
  for (int64_t dim : dims) {
    std::optional<mf::SizeExpr> size = getSize(memref, dim);
    if (!size)
      return std::nullopt;
    product = mf::SizeExpr::mul(product, *size);
  }
  return product;
}

std::optional<mf::SizeExpr> ManifestBuilder::getStride(Value memref,
                                                       unsigned dim) {
  memref = skipCasts(memref);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (!ShapedType::isDynamic(strides[dim]))
    return mf::SizeExpr(strides[dim]);
  if (type.getLayout().isIdentity())
    return getSizes(
        memref, llvm::to_vector(llvm::seq<int64_t>(dim + 1, type.getRank())));
  if (auto view = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return evaluate(view.getMixedStrides()[dim]);
  if (auto view = memref.getDefiningOp<memref::TransposeOp>())
    return getStride(view.getIn(), getSourceDim(view, dim));
  if (auto view = memref.getDefiningOp<memref::CollapseShapeOp>())
    return getStride(view.getSrc(), view.getReassociationIndices()[dim].back());
  if (auto view = memref.getDefiningOp<memref::ExpandShapeOp>())
    for (auto [source, group] : llvm::enumerate(view.getReassociationIndices()))
      if (auto at = llvm::find(group, dim); at != group.end()) {
        auto stride = getStride(view.getSrc(), source),
             below = getSizes(
                 memref, ArrayRef(group).drop_front(at - group.begin() + 1));
        if (!stride || !below)
          return std::nullopt;
        return mf::SizeExpr::mul(*stride, *below);
      }
  if (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [d, step] : llvm::enumerate(view.getMixedStrides()))
      if (!dropped[d] && dim-- == 0) {
        auto stride = getStride(view.getSource(), d), times = evaluate(step);
        if (!stride || !times)
          return std::nullopt;
        return mf::SizeExpr::mul(*stride, *times);
      }
    return std::nullopt;
  }
  return mf::SizeExpr::dim(getName(memref) + ".stride" + std::to_string(dim));
}

std::optional<mf::SizeExpr> ManifestBuilder::getOffset(Value memref) {
  memref = skipCasts(memref);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (Value source = getReshaped(memref))
    return getOffset(source);
  if (auto view = memref.getDefiningOp<memref::TransposeOp>())
    return getOffset(view.getIn());
  if (auto view = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return evaluate(view.getMixedOffsets()[0]);
  if (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    std::optional<mf::SizeExpr> sum = getOffset(view.getSource());
    for (auto [d, start] : llvm::enumerate(view.getMixedOffsets())) {
      auto stride = getStride(view.getSource(), d), at = evaluate(start);
      if (!sum || !stride || !at)
        return std::nullopt;
      sum = mf::SizeExpr::add(*sum, mf::SizeExpr::mul(*stride, *at));
    }
    return sum;
  }
  // A buffer of the manifest begins with its first element.
  return mf::SizeExpr(0);
}

std::optional<mf::SizeExpr> ManifestBuilder::evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return mf::SizeExpr(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto binary = [&](auto combine) -> std::optional<mf::SizeExpr> {
    auto lhs = evaluate(op->getOperand(0)), rhs = evaluate(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    return combine(*lhs, *rhs);
  };
  return llvm::TypeSwitch<Operation *, std::optional<mf::SizeExpr>>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>([&](auto cast) { return evaluate(cast.getIn()); })
      .Case([&](arith::AddIOp) {
        return binary([](auto a, auto b) { return mf::SizeExpr::add(a, b); });
      })
      .Case([&](arith::SubIOp) {
        return binary([](auto a, auto b) { return mf::SizeExpr::sub(a, b); });
      })
      .Case([&](arith::MulIOp) {
        return binary([](auto a, auto b) { return mf::SizeExpr::mul(a, b); });
      })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) {
        return binary(
            [](auto a, auto b) { return mf::SizeExpr::ceilDiv(a, b); });
      })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) {
        return binary([](auto a, auto b) { return mf::SizeExpr::min(a, b); });
      })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) {
        return binary([](auto a, auto b) { return mf::SizeExpr::max(a, b); });
      })
      .Case([&](memref::DimOp dim) -> std::optional<mf::SizeExpr> {
        std::optional<int64_t> index = dim.getConstantIndex();
        if (!index)
          return std::nullopt;
        return getSize(dim.getSource(), *index);
      })
      .Case([&](memref::ExtractStridedMetadataOp metadata)
                -> std::optional<mf::SizeExpr> {
        for (auto [d, size] : llvm::enumerate(metadata.getSizes()))
          if (size == value)
            return getSize(metadata.getSource(), d);
        for (auto [d, stride] : llvm::enumerate(metadata.getStrides()))
          if (stride == value)
            return getStride(metadata.getSource(), d);
        return std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

FailureOr<std::string> ManifestBuilder::getBuffer(Operation *user, Value memref,
                                                  bool isWritten) {
  memref = findRoot(memref);
  if (!isa<BlockArgument>(memref) && !memref.getDefiningOp<memref::AllocOp>())
    return user->emitOpError("expects kernel buffers to be arguments or "
                             "allocations of the function in a manifest");
  std::string name = getName(memref);
  for (mf::Buffer &buffer : manifest.buffers)
    if (buffer.name == name) {
      if (isWritten && buffer.role == mf::Role::Input)
        buffer.role = mf::Role::Output;
      return name;
    }
  if (Value view = shown.lookup(memref))
    memref = view;
  auto type = dyn_cast<MemRefType>(memref.getType());
  Type element = type ? type.getElementType() : memref.getType();
  std::optional<mf::DType> dtype = getDType(element);
  if (!dtype)
    return user->emitOpError("cannot name the element type ")
           << element << " in a manifest";
  mf::Buffer buffer;
  buffer.name = name;
  buffer.dtype = *dtype;
  for (int64_t d = 0; type && d < type.getRank(); ++d) {
    std::optional<mf::SizeExpr> size = getSize(memref, d),
                                stride = getStride(memref, d);
    if (!size || !stride)
      return user->emitOpError("cannot express the shape of buffer '")
             << name << "' in a manifest";
    buffer.shape.push_back(*size);
    buffer.strides.push_back(*stride);
  }
  bool isTemporary = StringRef(name).starts_with("workspace");
  buffer.role = isTemporary ? mf::Role::Workspace
                : isWritten ? mf::Role::Output
                            : mf::Role::Input;
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    unsigned number = argument.getArgNumber();
    if (auto alignment =
            function.getArgAttrOfType<IntegerAttr>(number, "attn.alignment"))
      buffer.alignment = alignment.getValue().getZExtValue();
    if (auto reach =
            function.getArgAttrOfType<DenseI64ArrayAttr>(number, "attn.reach"))
      llvm::append_range(buffer.reach, reach.asArrayRef());
  }
  manifest.buffers.push_back(std::move(buffer));
  return name;
}

/// The memref behind inttoptr(aligned pointer + offset); null if the address
/// is something else.
static Value findMemRef(Value pointer) {
  auto cast = pointer.getDefiningOp<LLVM::IntToPtrOp>();
  if (!cast)
    return {};
  SmallVector<Value> work = {cast.getArg()};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    if (auto pointer = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op))
      return pointer.getSource();
    if (isa<arith::AddIOp, arith::IndexCastOp>(op))
      llvm::append_range(work, op->getOperands());
  }
  return {};
}

/// The function's argument whose one element `operand` is; null if it is
/// something else.
static Value findScalar(Value operand) {
  if (Operation *cast = operand.getDefiningOp(); cast && isCastOfIndex(cast))
    operand = cast->getOperand(0);
  if (isa<BlockArgument>(operand) && operand.getType().isIntOrIndexOrFloat())
    return operand;
  auto load = operand.getDefiningOp<memref::LoadOp>();
  return load && isScalarOfLaunch(load) ? load.getMemRef() : Value();
}

LogicalResult ManifestBuilder::addKernel(gpu::LaunchFuncOp launch,
                                         const KernelInfo &info) {
  mf::Kernel kernel;
  kernel.name = info.name;
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  for (auto [size, value] :
       llvm::zip(kernel.block, std::array{block.x, block.y, block.z})) {
    APInt constant;
    if (!matchPattern(value, m_ConstantInt(&constant)))
      return launch.emitOpError("expects a constant block in a manifest");
    size = constant.getZExtValue();
  }
  kernel.ldsBytes = info.ldsBytes;
  kernel.kernargBytes = info.kernargBytes;
  kernel.vgprs = info.vgprs;
  kernel.agprs = info.agprs;
  kernel.sgprs = info.sgprs;
  kernel.scratchBytes = info.scratchBytes;
  if (info.args.size() != launch.getNumKernelOperands())
    return launch.emitOpError("expects as many operands as the kernel has "
                              "arguments, but got ")
           << launch.getNumKernelOperands() << " and " << info.args.size();
  auto written = launch->getAttrOfType<DenseI64ArrayAttr>(kWrittenAttr);
  if (!written)
    return launch.emitOpError("expects '")
           << kWrittenAttr << "', which attn-buffer-resources sets, to tell "
           << "outputs from inputs in a manifest";
  for (auto [number, operand, arg] :
       llvm::enumerate(launch.getKernelOperands(), info.args)) {
    mf::Arg entry;
    entry.offset = arg.offset;
    entry.size = arg.size;
    if (isa<LLVM::LLVMPointerType>(operand.getType())) {
      Value memref = findMemRef(operand);
      if (!memref)
        return launch.emitOpError("expects pointers at memrefs in a manifest");
      FailureOr<std::string> buffer =
          getBuffer(launch, memref,
                    llvm::is_contained(written.asArrayRef(), int64_t(number)));
      if (failed(buffer))
        return failure();
      entry.kind = mf::ArgKind::Pointer;
      entry.buffer = *buffer;
      entry.name = *buffer;
      std::optional<mf::SizeExpr> offset = getOffset(memref);
      if (!offset)
        return launch.emitOpError("cannot express the offset of a view of '")
               << *buffer
               << "' over dimensions in a manifest; pass the view itself as "
                  "an argument";
      Type element = cast<MemRefType>(memref.getType()).getElementType();
      offset = mf::SizeExpr::mul(
          *offset, mf::SizeExpr(mf::getByteWidth(*getDType(element))));
      if (offset->getConstant() != 0)
        entry.value = *offset;
    } else if (Value holder = findScalar(operand)) {
      FailureOr<std::string> buffer =
          getBuffer(launch, holder, /*isWritten=*/false);
      if (failed(buffer))
        return failure();
      entry.kind = operand.getType().isF32() ? mf::ArgKind::F32
                   : arg.size == 8           ? mf::ArgKind::I64
                                             : mf::ArgKind::I32;
      entry.buffer = *buffer;
      entry.name = *buffer;
    } else {
      entry.kind = arg.size == 8 ? mf::ArgKind::I64 : mf::ArgKind::I32;
      std::optional<mf::SizeExpr> value = evaluate(operand);
      if (!value)
        return launch.emitOpError("expects kernel operands to be arguments of "
                                  "the function or computed from dimensions in "
                                  "a manifest; pass a number (i32, i64 or "
                                  "index) as it is");
      entry.value = *value;
      entry.name = value->str();
    }
    if (!arg.name.empty())
      entry.name = arg.name;
    std::string base = entry.name;
    auto taken = [&](const mf::Arg &other) { return other.name == entry.name; };
    for (unsigned i = 1; llvm::any_of(kernel.args, taken); ++i)
      entry.name = base + "." + std::to_string(i);
    kernel.args.push_back(std::move(entry));
  }
  manifest.kernels.push_back(std::move(kernel));
  return success();
}

/// Is it launched once, or not at all because its grid is empty?
static bool isUnconditional(gpu::LaunchFuncOp launch, func::FuncOp function) {
  Operation *parent = launch->getParentOp();
  if (auto guard = dyn_cast<scf::IfOp>(parent)) {
    auto compare = guard.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::ne ||
        compare.getLhs() != launch.getGridSizeX() ||
        !matchPattern(compare.getRhs(), m_Zero()) ||
        launch->getBlock() != guard.thenBlock())
      return false;
    parent = guard->getParentOp();
  }
  return parent == function && function.getBody().hasOneBlock();
}

LogicalResult ManifestBuilder::addLaunch(gpu::LaunchFuncOp launch) {
  if (!isUnconditional(launch, function))
    return launch.emitOpError("expects launches outside of control flow in a "
                              "manifest");
  StringRef name = launch.getKernelName().getValue();
  const KernelInfo *info = llvm::find_if(
      kernels, [&](const KernelInfo &kernel) { return kernel.name == name; });
  if (info == kernels.end())
    return launch.emitOpError("expects kernel '")
           << name << "' in the code object";
  if (manifest.findKernel(name))
    return launch.emitOpError(
        "expects one launch of each kernel in a manifest");
  if (failed(addKernel(launch, *info)))
    return failure();
  mf::Launch entry;
  entry.kernel = name.str();
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  for (auto [size, value] :
       llvm::zip(entry.grid, std::array{grid.x, grid.y, grid.z})) {
    std::optional<mf::SizeExpr> expression = evaluate(value);
    if (!expression)
      return launch.emitOpError("cannot express the grid over dimensions in a "
                                "manifest");
    size = *expression;
  }
  manifest.launches.push_back(std::move(entry));
  return success();
}

FailureOr<mf::Manifest> ManifestBuilder::run() {
  manifest.chip = chip.str();
  if (failed(checkHost()))
    return failure();
  if (failed(nameBuffers()))
    return failure();
  for (BlockArgument argument : function.getArguments())
    if (isa<MemRefType>(argument.getType()) &&
        failed(getBuffer(function, argument, /*isWritten=*/false)))
      return failure();
  for (Value result : function.getBody().back().getTerminator()->getOperands())
    if (isa<MemRefType>(result.getType()) &&
        failed(getBuffer(function, result, /*isWritten=*/true)))
      return failure();
  WalkResult result = function.walk([&](gpu::LaunchFuncOp launch) {
    return failed(addLaunch(launch)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (llvm::Error error = manifest.validate())
    return function.emitOpError("has no valid manifest: ")
           << llvm::toString(std::move(error));
  return std::move(manifest);
}

FailureOr<func::FuncOp> mlir::attn::findEntry(ModuleOp module,
                                              llvm::StringRef entry) {
  if (!entry.empty()) {
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    if (function && !function.isDeclaration())
      return function;
    llvm::SmallVector<llvm::StringRef> names;
    for (auto other : module.getOps<func::FuncOp>())
      if (!other.isDeclaration() && !other.isPrivate())
        names.push_back(other.getSymName());
    return mlir::emitError(module.getLoc())
           << "expects a function called '" << entry
           << "', but the public functions are: "
           << (names.empty() ? "none" : llvm::join(names, ", "));
  }
  func::FuncOp found, idle;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || function.isPrivate())
      continue;
    bool launches =
        function.walk([](gpu::LaunchFuncOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!launches) {
      idle = function;
      continue;
    }
    if (found)
      return module.emitOpError("expects an entry to be named, since both '")
             << found.getSymName() << "' and '" << function.getSymName()
             << "' launch kernels";
    found = function;
  }
  if (!found)
    found = idle; // attention with nothing to do
  if (!found)
    return module.emitOpError("expects a function to describe");
  return found;
}

FailureOr<mf::Manifest>
mlir::attn::buildManifest(func::FuncOp function, llvm::StringRef chip,
                          llvm::ArrayRef<KernelInfo> kernels) {
  return ManifestBuilder(function, chip, kernels).run();
}
