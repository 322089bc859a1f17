//===- attn-compile.cpp - MLIR module to code object and manifest ---------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn-compile IN.mlir --chip=gfx950 -o OUT.hsaco --manifest=OUT.json
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Tuning.h"
#include "attn/InitAll.h"
#include "attn/Pipelines.h"
#include "attn/Runtime/Interface.h"
#include "attn/Target/ChipInfo.h"
#include "attn/Target/Compiler.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

namespace {
enum class Stage { ROCDL, LLVM, Assembly, HSACO };
} // namespace

static cl::OptionCategory category("attn-compile options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<input.mlir>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string> outputFile("o", cl::desc("output file"),
                                       cl::value_desc("file"), cl::init("-"),
                                       cl::cat(category));
static cl::opt<std::string>
    manifestFile("manifest",
                 cl::desc("write the launch manifest (JSON) to this file"),
                 cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    chip("chip", cl::desc("target chip: gfx942 or gfx950"), cl::cat(category));
static cl::opt<std::string>
    entry("entry",
          cl::desc("function that the manifest describes, where "
                   "several launch kernels"),
          cl::cat(category));
static cl::opt<std::string> tuningFile("tuning",
                                       cl::desc("kernels that attn-tune chose"),
                                       cl::value_desc("file"),
                                       cl::cat(category));
static cl::opt<std::string>
    emit("emit",
         cl::desc("what to write: rocdl (MLIR in gpu, llvm, rocdl), llvm (LLVM "
                  "IR), asm (assembly text) or hsaco (code object, default)"),
         cl::value_desc("stage"), cl::init("hsaco"), cl::cat(category));
static cl::opt<unsigned>
    optLevel("O", cl::desc("optimization level of LLVM, 0 to 3"), cl::Prefix,
             cl::init(3), cl::cat(category));
static cl::opt<bool>
    kernelStats("kernel-stats",
                cl::desc("print the kernels' register, LDS and size figures as "
                         "JSON to standard error"),
                cl::cat(category));

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

namespace {
/// A file and what goes into it.
struct Output {
  StringRef name;
  StringRef data;
};
} // namespace

/// Writes all files, or none after a message.
static bool writeFiles(ArrayRef<Output> outputs) {
  SmallVector<std::unique_ptr<llvm::ToolOutputFile>> files;
  std::string message;
  for (const Output &output : outputs) {
    files.push_back(openOutputFile(output.name, &message));
    if (!files.back()) {
      fail(message);
      return false;
    }
  }
  for (auto [file, output] : llvm::zip_equal(files, outputs))
    file->os() << output.data;
  for (auto &file : files)
    file->keep();
  return true;
}

static std::string printKernels(ArrayRef<KernelInfo> kernels, size_t bytes) {
  llvm::json::Array list;
  for (const KernelInfo &kernel : kernels)
    list.push_back(kernel.getStatistics());
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object{
      {"kernels", std::move(list)}, {"code_object_bytes", int64_t(bytes)}});
  return text;
}

namespace {
/// The options, copied: linking runs lld in this process, which resets every
/// option of the command line library to its default.
struct Options {
  std::string output = outputFile, manifest = manifestFile, chip = ::chip,
              entry = ::entry;
  TuningTable tuning;
  Stage stage = Stage::HSACO;
  unsigned optLevel = ::optLevel;
  bool kernelStats = ::kernelStats;
};
} // namespace

static int compile(ModuleOp module, const Options &opts) {
  opts.tuning.apply(module, *llvm::cantFail(lookupChip(opts.chip)));
  auto entries = ::attn::rt::describeEntries(module, opts.entry, opts.chip);
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return 1;
  AttnToROCDLOptions options;
  options.chip = opts.chip;
  buildAttnToROCDLPipeline(pm, options);
  if (failed(pm.run(module)))
    return 1;
  if (opts.stage == Stage::ROCDL) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    os << "\n";
    return !writeFiles({{opts.output, text}});
  }

  llvm::LLVMContext context;
  auto kernels = translateKernels(module, context, opts.chip, opts.optLevel);
  if (failed(kernels))
    return 1;
  if (opts.stage == Stage::LLVM) {
    std::string text;
    llvm::raw_string_ostream os(text);
    (*kernels)->print(os, nullptr);
    return !writeFiles({{opts.output, text}});
  }
  if (opts.stage == Stage::Assembly) {
    auto text = emitAssembly(**kernels, opts.chip, opts.optLevel);
    if (!text)
      return fail(llvm::toString(text.takeError()));
    return !writeFiles({{opts.output, *text}});
  }

  auto object = emitObject(**kernels, opts.chip, opts.optLevel);
  if (!object)
    return fail(llvm::toString(object.takeError()));
  auto code = linkCodeObject(*object);
  if (!code)
    return fail(llvm::toString(code.takeError()));
  auto info = readKernelInfo(*code);
  if (!info)
    return fail(llvm::toString(info.takeError()));
  SmallVector<Output> outputs = {
      {opts.output, StringRef(code->data(), code->size())}};
  std::string manifestText;
  if (!opts.manifest.empty()) {
    FailureOr<func::FuncOp> function = findEntry(module, opts.entry);
    if (failed(function))
      return 1;
    auto manifest = buildManifest(*function, opts.chip, *info);
    if (failed(manifest))
      return 1;
    ::attn::rt::adoptInterface(*manifest,
                               entries[function->getSymName()].interface);
    llvm::raw_string_ostream os(manifestText);
    manifest->print(os);
    outputs.push_back({opts.manifest, manifestText});
  }
  if (opts.kernelStats)
    llvm::errs() << printKernels(*info, code->size()) << "\n";
  return !writeFiles(outputs);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerPassManagerCLOptions();
  registerMLIRContextCLOptions();
  registerAsmPrinterCLOptions();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "AttnMLIR compiler: attention to an AMD code object\n");
  Options options;
  // A mistake in an option is reported before any input is read.
  if (auto info = lookupChip(chip); !info)
    return fail("--chip: " + llvm::toString(info.takeError()));
  std::optional<Stage> stage = llvm::StringSwitch<std::optional<Stage>>(emit)
                                   .Case("rocdl", Stage::ROCDL)
                                   .Case("llvm", Stage::LLVM)
                                   .Case("asm", Stage::Assembly)
                                   .Case("hsaco", Stage::HSACO)
                                   .Default(std::nullopt);
  if (!stage)
    return fail("--emit: expects rocdl, llvm, asm or hsaco, but got '" + emit +
                "'");
  options.stage = *stage;
  if (stage != Stage::HSACO && !manifestFile.empty())
    return fail("--manifest: expects --emit=hsaco, which knows the kernels' "
                "registers");
  if (!entry.empty() && manifestFile.empty())
    return fail("--entry: expects --manifest, which describes the function");
  if (stage == Stage::HSACO && outputFile == "-" &&
      llvm::sys::Process::StandardOutIsDisplayed())
    return fail("expects -o FILE for a code object, but got a terminal");
  if (optLevel > 3)
    return fail("-O: expects a level of 0 to 3, but got " +
                llvm::Twine(optLevel));
  std::string message;
  if (!tuningFile.empty()) {
    auto file = openInputFile(tuningFile, &message);
    if (!file)
      return fail("--tuning: " + message);
    auto table = TuningTable::parse(file->getBuffer());
    if (!table)
      return fail("--tuning: '" + tuningFile +
                  "': " + llvm::toString(table.takeError()));
    options.tuning = std::move(*table);
  }

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllAttnDialects(registry);
  registerKernelTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);

  auto file = openInputFile(inputFile, &message);
  if (!file)
    return fail(message);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  // The line of the source is shown already.
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  return compile(*module, options);
}
