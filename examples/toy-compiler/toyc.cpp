//===- toyc.cpp - The toy compiler ----------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// toyc IN.mlir --emit=attn|llvm|hsaco -o OUT [--manifest=OUT.json]
//
//===----------------------------------------------------------------------===//

#include "Toy.h"
#include "attn/InitAll.h"
#include "attn/Runtime/CPUProgram.h"
#include "attn/Runtime/CompileModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
enum class Output { Attn, LLVM, CodeObject };
} // namespace

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<input.mlir>"));
static cl::opt<std::string> outputFile("o", cl::desc("output file"),
                                       cl::init("-"));
static cl::opt<std::string>
    manifestFile("manifest", cl::desc("how to launch a code object"),
                 cl::init("-"));
static cl::opt<std::string> chip("chip", cl::desc("for hsaco"),
                                 cl::init("gfx950"));
static cl::opt<int64_t> parts("parts", cl::desc("parts to cut the heads into"),
                              cl::init(2));
static cl::opt<Output> emit(
    "emit", cl::desc("what to write"),
    cl::values(clEnumValN(Output::Attn, "attn", "attn.attention, in parts"),
               clEnumValN(Output::LLVM, "llvm", "LLVM IR for this machine"),
               clEnumValN(Output::CodeObject, "hsaco", "code for an AMD GPU")),
    cl::init(Output::Attn));

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

/// Writes what `print` prints to a file, or a message.
static int write(StringRef file,
                 llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::error_code error;
  llvm::raw_fd_ostream os(file, error);
  if (error)
    return fail(file + ": " + error.message());
  print(os);
  return 0;
}

static int emitLLVM(ModuleOp module) {
  // Callable from C with pointers to memref descriptors.
  module.walk([](func::FuncOp function) {
    if (function.isPublic())
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        UnitAttr::get(function.getContext()));
  });
  PassManager pm(module.getContext());
  mlir::attn::buildAttnToCPUPipeline(pm, mlir::attn::AttnToCPUOptions());
  if (failed(pm.run(module)))
    return 1;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return 1;
  return write(outputFile,
               [&](llvm::raw_ostream &os) { llvmModule->print(os, nullptr); });
}

static int emitCodeObject(ModuleOp module) {
  // Copied: linking resets the options of the command line library.
  std::string output = outputFile, manifest = manifestFile;
  auto compiled = ::attn::rt::compileModule(module, chip, /*entry=*/"");
  if (!compiled)
    return fail(llvm::toString(compiled.takeError()));
  if (write(output, [&](llvm::raw_ostream &os) {
        os.write(compiled->code.data(), compiled->code.size());
      }))
    return 1;
  return write(manifest,
               [&](llvm::raw_ostream &os) { compiled->manifest.print(os); });
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "toy compiler\n");
  DialectRegistry registry;
  // Our ops, and all that attention needs on its two ways down.
  registry.insert<toy::ToyDialect>();
  ::attn::rt::registerCPUDialects(registry);
  ::attn::rt::registerGPUDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(inputFile.getValue(), &context);
  if (!module)
    return 1;

  PassManager pm(&context);
  pm.addPass(toy::createLowerAttentionPass());
  pm.addPass(toy::createSplitHeadsPass(parts));
  pm.addPass(createCanonicalizerPass());
  if (failed(pm.run(*module)))
    return 1;
  switch (emit) {
  case Output::Attn:
    return write(outputFile, [&](llvm::raw_ostream &os) { module->print(os); });
  case Output::LLVM:
    return emitLLVM(*module);
  case Output::CodeObject:
    return emitCodeObject(*module);
  }
}
