//===- attn-report.cpp - A compilation as one HTML file -------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn-report IN.mlir --chip=gfx950 -o OUT.html [--timing]
//
//===----------------------------------------------------------------------===//

#include "attn/Report/Report.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

static cl::OptionCategory category("attn-report options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<input.mlir>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string> outputFile("o", cl::desc("the HTML file"),
                                       cl::value_desc("file"), cl::init("-"),
                                       cl::cat(category));
static cl::opt<std::string>
    chip("chip", cl::desc("target chip: gfx942 or gfx950"), cl::cat(category));
static cl::opt<std::string>
    entry("entry",
          cl::desc("function that the manifest describes, where several "
                   "launch kernels"),
          cl::cat(category));
static cl::opt<unsigned>
    optLevel("O", cl::desc("optimization level of LLVM, 0 to 3"), cl::Prefix,
             cl::init(3), cl::cat(category));
static cl::opt<bool>
    timing("timing",
           cl::desc("predict clocks and draw the steady loop; static shapes"),
           cl::cat(category));

static int fail(const Twine &message) {
  WithColor::error() << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "AttnMLIR: what a compilation does, as one HTML file\n");
  if (optLevel > 3)
    return fail("-O: expects a level of 0 to 3, but got " + Twine(optLevel));
  std::string message;
  auto input = mlir::openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  attn::report::ReportOptions options;
  options.chip = chip;
  options.entry = entry;
  options.optLevel = optLevel;
  options.timing = timing;
  // Linking runs lld in this process, which resets all options.
  std::string output = outputFile;
  auto data = attn::report::collectReport(*input, options);
  if (!data)
    return fail(toString(data.takeError()));
  auto file = mlir::openOutputFile(output, &message);
  if (!file)
    return fail(message);
  attn::report::writeReport(std::move(*data), file->os());
  file->keep();
  return 0;
}
