//===- CollectReport.cpp - Compile and keep every level -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"
#include "attn/Emulator/Timing/Launch.h"
#include "attn/Emulator/Timing/TimingReport.h"
#include "attn/Pipelines.h"
#include "attn/Report/Report.h"
#include "attn/Runtime/CompileModule.h"
#include "attn/Runtime/Diagnostics.h"
#include "attn/Runtime/RunTiming.h"
#include "attn/Target/ChipInfo.h"
#include "attn/Target/Compiler.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace attn;
using namespace attn::report;

namespace {

class Collector {
public:
  Collector(MemoryBufferRef source, const ReportOptions &options)
      : source(source), options(options),
        context(mlir::MLIRContext::Threading::DISABLED), diagnostics(&context) {
  }

  Expected<json::Object> run();

private:
  Error lower();
  Error translate();
  Error describeKernels();
  Error time();
  void addLevel(StringRef name, StringRef language, std::string text);
  void addLevel(StringRef name);

  MemoryBufferRef source;
  const ReportOptions &options;
  mlir::MLIRContext context;
  rt::FirstError diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  SmallVector<char, 0> code;
  manifest::Manifest manifest;
  json::Array levels, launches;
  json::Object data;
};

} // namespace

void Collector::addLevel(StringRef name, StringRef language, std::string text) {
  levels.push_back(json::Object{
      {"name", name}, {"language", language}, {"text", std::move(text)}});
}

void Collector::addLevel(StringRef name) {
  std::string text;
  raw_string_ostream os(text);
  // Large constants would hide the program.
  module->print(os, mlir::OpPrintingFlags().elideLargeElementsAttrs(64));
  addLevel(name, "mlir", std::move(text));
}

Error Collector::lower() {
  addLevel("source", "mlir", source.getBuffer().str());
  mlir::DialectRegistry registry;
  rt::registerGPUDialects(registry);
  context.appendDialectRegistry(registry);
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(source), SMLoc());
  module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return diagnostics.take("'" + source.getBufferIdentifier() +
                            "' is not a module");
  auto chip = mlir::attn::lookupChip(options.chip);
  if (!chip)
    return createStringError("--chip: " + toString(chip.takeError()));
  mlir::attn::AttnToROCDLOptions pipeline;
  pipeline.chip = options.chip;
  for (const auto &step : mlir::attn::getAttnToROCDLSteps(pipeline)) {
    // The last level that still has the operation has memrefs, as its lowering
    // sees them.
    if (step.name == "attn-to-gpu")
      data["layouts"] = describeLayouts(*module, **chip);
    mlir::PassManager manager(&context);
    step.addPasses(manager);
    if (failed(manager.run(*module)))
      return diagnostics.take("the module cannot be lowered for " +
                              options.chip);
    addLevel(step.name);
  }
  return Error::success();
}

Error Collector::translate() {
  LLVMContext llvmContext;
  auto kernels = mlir::attn::translateKernels(*module, llvmContext,
                                              options.chip, options.optLevel);
  if (failed(kernels))
    return diagnostics.take("the kernels cannot be translated");
  std::string text;
  raw_string_ostream os(text);
  (*kernels)->print(os, nullptr);
  addLevel("llvm", "llvm", std::move(text));
  // Code generation changes the module.
  auto assembly = mlir::attn::emitAssembly(*CloneModule(**kernels),
                                           options.chip, options.optLevel);
  if (!assembly)
    return assembly.takeError();
  data["assembly"] = std::move(*assembly);
  auto object =
      mlir::attn::emitObject(**kernels, options.chip, options.optLevel);
  if (!object)
    return object.takeError();
  auto linked = mlir::attn::linkCodeObject(*object);
  if (!linked)
    return linked.takeError();
  code = std::move(*linked);
  data["code_object_bytes"] = int64_t(code.size());
  return Error::success();
}

Error Collector::describeKernels() {
  auto infos = mlir::attn::readKernelInfo(code);
  if (!infos)
    return infos.takeError();
  auto function = mlir::attn::findEntry(*module, options.entry);
  if (failed(function))
    return diagnostics.take("no function launches kernels");
  auto built = mlir::attn::buildManifest(*function, options.chip, *infos);
  if (failed(built))
    return diagnostics.take("no manifest describes the launches");
  manifest = std::move(*built);
  data["manifest"] = manifest.toJSON();

  Expected<emu::Chip> chip = emu::parseChip(options.chip);
  if (!chip)
    return chip.takeError();
  emu::TimingTable table = emu::TimingTable::get(*chip);
  json::Array kernels;
  for (const mlir::attn::KernelInfo &info : *infos) {
    emu::WorkgroupResources resources;
    resources.waves = divideCeil(info.maxWorkgroupSize, 64u);
    resources.vgprs = info.vgprs + info.agprs;
    resources.ldsBytes = info.ldsBytes;
    auto count = [&](emu::WorkgroupResources limited) {
      return int64_t(getWorkgroupsPerCU(table, limited));
    };
    json::Object kernel = info.getStatistics();
    kernel["waves"] = int64_t(resources.waves);
    kernel["workgroups_per_cu"] = count(resources);
    // Each limit on its own.
    kernel["by_registers"] = count({resources.waves, resources.vgprs, 0});
    kernel["by_lds"] = count({resources.waves, 0, resources.ldsBytes});
    kernels.push_back(std::move(kernel));
  }
  data["kernels"] = std::move(kernels);
  data["chip"] = json::Object{{"name", options.chip},
                              {"compute_units", int64_t(table.computeUnits)},
                              {"simds", int64_t(table.simds)},
                              {"waves_per_simd", int64_t(table.wavesPerSIMD)},
                              {"vgprs_per_simd", int64_t(table.vgprsPerSIMD)},
                              {"lds_bytes", int64_t(table.ldsBytes)}};
  return Error::success();
}

Error Collector::time() {
  if (manifest.kernels.empty())
    return Error::success();
  // There is no way to give it files, from which sizes could be taken.
  for (const manifest::Buffer &buffer : manifest.buffers)
    for (const manifest::SizeExpr &size : buffer.shape)
      if (!size.getConstant())
        return createStringError("--timing expects static sizes, but '" +
                                 buffer.name + "' has the size '" + size.str() +
                                 "'");
  auto program = rt::KernelProgram::create(
      MemoryBuffer::getMemBufferCopy(StringRef(code.data(), code.size()),
                                     source.getBufferIdentifier()),
      manifest);
  if (!program)
    return program.takeError();
  rt::TimingOptions timing;
  timing.events = true;
  auto timed = rt::runTiming(*program, {}, timing);
  if (!timed)
    return timed.takeError();
  for (const rt::LaunchTiming &launch : *timed)
    launches.push_back(launch.toJSON());
  data["timing"] = std::move(launches);
  if (timed->empty())
    return Error::success();
  std::string picture;
  raw_string_ostream os(picture);
  emu::writeTimeline(timed->front().cu, os);
  data["timeline"] = std::move(picture);
  return Error::success();
}

Expected<json::Object> Collector::run() {
  using Step = Error (Collector::*)();
  for (Step step :
       {&Collector::lower, &Collector::translate, &Collector::describeKernels})
    if (Error error = (this->*step)())
      return std::move(error);
  if (options.timing)
    if (Error error = time())
      return std::move(error);
  data["version"] = ATTN_VERSION;
  data["title"] = source.getBufferIdentifier();
  data["opt_level"] = int64_t(options.optLevel);
  data["levels"] = std::move(levels);
  return std::move(data);
}

Expected<json::Object> report::collectReport(MemoryBufferRef source,
                                             const ReportOptions &options) {
  return Collector(source, options).run();
}
