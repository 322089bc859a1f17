//===- CPUProgram.cpp - Code for the host ---------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/CPUProgram.h"
#include "AbortCatcher.h"
#include "AllocationTracker.h"
#include "SoftFloat.h"
#include "attn/Pipelines.h"
#include "attn/Runtime/Diagnostics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
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

/// What `CPUProgram::load` looks up.
static constexpr StringLiteral packedName = "attn_packed_entry";

static void initializeHost() {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

/// Adds a function that takes all arguments of `callee` by address from one
/// array, and stores a result at the address behind them: callers do not know
/// the number of arguments when they are compiled.
static void addPackedEntry(Module &module, Function &callee) {
  IRBuilder<> builder(module.getContext());
  Function *packed = Function::Create(
      FunctionType::get(builder.getVoidTy(), builder.getPtrTy(), false),
      GlobalValue::ExternalLinkage, packedName, module);
  builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", packed));
  auto loadAddress = [&](unsigned index) {
    Value *slot = builder.CreateConstGEP1_64(builder.getPtrTy(),
                                             packed->getArg(0), index);
    return builder.CreateLoad(builder.getPtrTy(), slot);
  };
  SmallVector<Value *> args;
  for (Argument &arg : callee.args())
    args.push_back(
        builder.CreateLoad(arg.getType(), loadAddress(arg.getArgNo())));
  Value *result = builder.CreateCall(&callee, args);
  if (!result->getType()->isVoidTy())
    builder.CreateStore(result, loadAddress(args.size()));
  builder.CreateRetVoid();
}

/// The relocatable object or assembly of a module in the LLVM dialect.
static Expected<SmallVector<char, 0>> emitForHost(mlir::ModuleOp module,
                                                  StringRef function,
                                                  unsigned optLevel,
                                                  CodeGenFileType type) {
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(static_cast<CodeGenOptLevel>(optLevel));
  // What the loader's linker wants: code may lie far from libm.
  builder->setRelocationModel(Reloc::PIC_);
  builder->setCodeModel(CodeModel::Small);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();

  LLVMContext context;
  FirstError diagnostics(module.getContext());
  std::unique_ptr<Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return diagnostics.take("the module cannot be translated to LLVM IR");
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  addPackedEntry(*llvmModule, *llvmModule->getFunction(function));
  auto optimize = mlir::makeOptimizingTransformer(optLevel, /*sizeLevel=*/0,
                                                  machine->get());
  if (Error error = optimize(llvmModule.get()))
    return std::move(error);

  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr, type))
    return createStringError("the host's target emits no such file");
  passes.run(*llvmModule);
  return bytes;
}

/// Lowers and compiles; `code.object` takes a file of `type`.
static Error compile(mlir::ModuleOp module, StringRef entry,
                     const CPUOptions &options,
                     function_ref<void(mlir::PassManager &)> instrument,
                     CodeGenFileType type, CPUCode &code) {
  initializeHost();
  Expected<mlir::func::FuncOp> function = findEntry(module, entry);
  if (!function)
    return function.takeError();
  if (Error error = getSignature(*function).moveInto(code.signature))
    return error;
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
    if (instrument)
      instrument(manager);
    if (failed(manager.run(module)))
      return diagnostics.take("the module cannot be lowered for the CPU");
  }
  if (Error error = checkInterface(module, code.signature))
    return error;
  return emitForHost(module, getInterfaceName(code.signature), options.optLevel,
                     type)
      .moveInto(code.object);
}

Expected<CPUCode> compileForCPU(mlir::ModuleOp module, StringRef entry,
                                const CPUOptions &options) {
  CPUCode code;
  if (Error error = compile(module, entry, options, /*instrument=*/nullptr,
                            CodeGenFileType::ObjectFile, code))
    return std::move(error);
  return code;
}

Expected<std::string>
emitAssemblyForCPU(mlir::ModuleOp module, StringRef entry,
                   const CPUOptions &options,
                   function_ref<void(mlir::PassManager &)> instrument) {
  CPUCode code;
  if (Error error = compile(module, entry, options, instrument,
                            CodeGenFileType::AssemblyFile, code))
    return std::move(error);
  return std::string(code.object.begin(), code.object.end());
}

Expected<std::unique_ptr<CPUProgram>> CPUProgram::load(Signature signature,
                                                       ArrayRef<char> object) {
  initializeHost();
  std::unique_ptr<CPUProgram> program(new CPUProgram);
  program->signature = std::move(signature);
  auto jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  program->jit = std::move(*jit);
  orc::JITDylib &dylib = program->jit->getMainJITDylib();
  orc::MangleAndInterner mangle(program->jit->getExecutionSession(),
                                program->jit->getDataLayout());
  for (auto getSymbols :
       {AllocationTracker::getSymbols, getSoftFloatSymbols, getAbortSymbols})
    if (Error error = dylib.define(orc::absoluteSymbols(getSymbols(mangle))))
      return std::move(error);
  // The C library's functions (memcpy, expf, ...), as this process has them.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      program->jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  dylib.addGenerator(std::move(*process));
  if (Error error = program->jit->addObjectFile(MemoryBuffer::getMemBufferCopy(
          StringRef(object.data(), object.size()), "attn")))
    return std::move(error);
  auto address = program->jit->lookup(packedName);
  if (!address)
    return address.takeError();
  program->function = address->toPtr<void (*)(void **)>();
  return program;
}

Expected<std::unique_ptr<CPUProgram>>
CPUProgram::compile(mlir::ModuleOp module, StringRef entry,
                    const CPUOptions &options) {
  Expected<CPUCode> code = compileForCPU(module, entry, options);
  if (!code)
    return code.takeError();
  return load(std::move(code->signature), code->object);
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

/// `offset`: elements from the aligned pointer to the first element.
static Descriptor makeDescriptor(const ArrayView &view, int64_t offset) {
  int64_t pointer = reinterpret_cast<intptr_t>(view.base) -
                    offset * manifest::getByteWidth(view.dtype);
  Descriptor words = {pointer, pointer, offset};
  append_range(words, view.shape);
  append_range(words, view.strides);
  return words;
}

static Descriptor makeDescriptor(const ValueInfo &info, const ArgValue &value) {
  if (auto *const *buffer = std::get_if<HostBuffer *>(&value))
    return makeDescriptor((*buffer)->getView(), (*buffer)->getOffset());
  return makeDescriptor(std::get<ArrayView>(value),
                        mlir::ShapedType::isDynamic(info.offset) ? 0
                                                                 : info.offset);
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
    assert(std::holds_alternative<uint64_t>(args[i]) !=
           signature.args[i].isShaped());
    if (signature.args[i].isShaped()) {
      descriptors[i] = makeDescriptor(signature.args[i], args[i]);
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
    if (auto said = catchAbort([&] { function(packed.data()); }))
      return createStringError("'" + signature.entry + "' aborted" +
                               (said->empty() ? "" : ": " + *said));
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
