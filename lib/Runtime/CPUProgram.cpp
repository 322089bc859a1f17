//===- CPUProgram.cpp - Code for the host ---------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/CPUProgram.h"
#include "AllocationTracker.h"
#include "SoftFloat.h"
#include "attn/Pipelines.h"
#include "attn/Runtime/Diagnostics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cstring>
#include <mutex>

using namespace llvm;

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

CPUProgram::CPUProgram() = default;
CPUProgram::~CPUProgram() = default;

/// True when the C interface returns through a pointer in front of the
/// arguments; a single scalar comes back as a value.
static bool returnsStruct(const Signature &signature) {
  return signature.results.size() > 1 ||
         (signature.results.size() == 1 && signature.results[0].isShaped());
}

/// The symbol of the function with the C interface.
static std::string getInterfaceName(const Signature &signature) {
  return "_mlir_ciface_" + signature.entry;
}

/// Checks that the pipeline kept the calling convention that `run` relies on.
static Error checkInterface(mlir::ModuleOp module, const Signature &signature) {
  auto function =
      module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(getInterfaceName(signature));
  unsigned expected = signature.args.size() + returnsStruct(signature);
  if (function && function.getNumArguments() == expected)
    return Error::success();
  return createStringError("the CPU pipeline changed the arguments of '" +
                           signature.entry + "'");
}

Expected<std::unique_ptr<CPUProgram>>
CPUProgram::compile(mlir::ModuleOp module, StringRef entry,
                    const CPUOptions &options) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });

  std::unique_ptr<CPUProgram> program(new CPUProgram);
  Expected<mlir::func::FuncOp> function = findEntry(module, entry);
  if (!function)
    return function.takeError();
  Expected<Signature> signature = rt::getSignature(*function);
  if (!signature)
    return signature.takeError();
  program->signature = std::move(*signature);
  (*function)->setAttr(mlir::LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                       mlir::UnitAttr::get(module.getContext()));

  {
    FirstError diagnostics(module.getContext());
    mlir::PassManager manager(module.getContext(),
                              mlir::ModuleOp::getOperationName());
    mlir::attn::AttnToCPUOptions pipeline;
    pipeline.qTile = options.qTile;
    pipeline.kvTile = options.kvTile;
    mlir::attn::buildAttnToCPUPipeline(manager, pipeline);
    if (failed(manager.run(module)))
      return diagnostics.take("the module cannot be lowered for the CPU");
  }
  if (Error error = checkInterface(module, program->signature))
    return error;

  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  auto codeGenLevel = static_cast<CodeGenOptLevel>(options.optLevel);
  builder->setCodeGenOptLevel(codeGenLevel);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto optimize = mlir::makeOptimizingTransformer(
      options.optLevel, /*sizeLevel=*/0, machine->get());
  mlir::ExecutionEngineOptions engineOptions;
  engineOptions.transformer = optimize;
  engineOptions.jitCodeGenOptLevel = codeGenLevel;
  engineOptions.enableGDBNotificationListener = false;
  engineOptions.enablePerfNotificationListener = false;
  // The engine takes the machine; the transformer runs while it is created.
  FirstError diagnostics(module.getContext());
  auto engine =
      mlir::ExecutionEngine::create(module, engineOptions, std::move(*machine));
  if (!engine)
    return diagnostics.take(toString(engine.takeError()));
  program->engine = std::move(*engine);
  program->engine->registerSymbols(AllocationTracker::getSymbols);
  program->engine->registerSymbols(getSoftFloatSymbols);
  program->engine->initialize();
  return program;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

CPUResults::CPUResults() = default;
CPUResults::CPUResults(CPUResults &&) = default;
CPUResults::~CPUResults() = default;

namespace {
/// A memref descriptor: two pointers, the offset, sizes and strides.
using Descriptor = SmallVector<int64_t, 16>;
} // namespace

static size_t getDescriptorWords(size_t rank) { return 3 + 2 * rank; }

static Descriptor makeDescriptor(const HostBuffer &buffer) {
  int64_t pointer = reinterpret_cast<intptr_t>(buffer.getAlignedPointer());
  Descriptor words = {pointer, pointer, buffer.getOffset()};
  append_range(words, buffer.getShape());
  append_range(words, buffer.getStrides());
  return words;
}

static ArrayView readDescriptor(const ValueInfo &info, const char *bytes) {
  size_t rank = info.shape.size();
  Descriptor words(getDescriptorWords(rank));
  memcpy(words.data(), bytes, words.size() * sizeof(int64_t));
  ArrayView view;
  view.dtype = info.dtype;
  view.shape.assign(words.begin() + 3, words.begin() + 3 + rank);
  view.strides.assign(words.begin() + 3 + rank, words.end());
  view.base = reinterpret_cast<const char *>(words[1]) +
              words[2] * manifest::getByteWidth(info.dtype);
  return view;
}

/// Byte position of every result in the struct that the code returns (natural
/// alignment, as LLVM lays structs out), and the size of the whole.
static SmallVector<size_t> layOutResults(const Signature &signature,
                                         size_t &size) {
  SmallVector<size_t> offsets;
  size = 0;
  for (const ValueInfo &result : signature.results) {
    size_t width = manifest::getByteWidth(result.dtype), align = width;
    if (result.isShaped()) {
      width = getDescriptorWords(result.shape.size()) * sizeof(int64_t);
      align = sizeof(int64_t);
    }
    size = alignTo(size, align);
    offsets.push_back(size);
    size += width;
  }
  return offsets;
}

Expected<CPUResults> CPUProgram::run(ArrayRef<ArgValue> args) const {
  assert(args.size() == signature.args.size() && "one value an argument");
  auto function = engine->lookupPacked(getInterfaceName(signature));
  if (!function)
    return function.takeError();

  CPUResults results;
  results.allocations = std::make_unique<AllocationTracker>();
  size_t resultBytes;
  SmallVector<size_t> offsets = layOutResults(signature, resultBytes);
  results.scalars.resize(resultBytes);

  // Every element of `packed` points to an argument of the C interface.
  SmallVector<void *> packed;
  void *resultPointer = results.scalars.data();
  if (returnsStruct(signature))
    packed.push_back(&resultPointer);
  std::vector<Descriptor> descriptors(args.size());
  std::vector<void *> pointers(args.size());
  std::vector<uint64_t> scalars(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    assert(std::holds_alternative<HostBuffer *>(args[i]) ==
           signature.args[i].isShaped());
    if (auto *const *buffer = std::get_if<HostBuffer *>(&args[i])) {
      descriptors[i] = makeDescriptor(**buffer);
      pointers[i] = descriptors[i].data();
      packed.push_back(&pointers[i]);
    } else {
      scalars[i] = std::get<uint64_t>(args[i]);
      packed.push_back(&scalars[i]);
    }
  }
  if (!returnsStruct(signature) && !signature.results.empty())
    packed.push_back(resultPointer);

  {
    AllocationTracker::Scope scope(*results.allocations);
    (*function)(packed.data());
  }
  if (results.allocations->sawForeignFree())
    return createStringError("'" + signature.entry +
                             "' frees memory that it does not own");

  for (auto [info, offset] : zip_equal(signature.results, offsets)) {
    const char *bytes = results.scalars.data() + offset;
    results.views.push_back(info.isShaped()
                                ? readDescriptor(info, bytes)
                                : ArrayView{info.dtype, {}, {}, bytes});
  }
  return results;
}

} // namespace attn::rt
