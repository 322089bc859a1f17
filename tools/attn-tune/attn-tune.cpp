//===- attn-tune.cpp - Search kernels with the timing model ---------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn-tune IN.mlir --chip=gfx950 -o tuning.json
// attn-compile IN.mlir --chip=gfx950 --tuning=tuning.json ...
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Tune.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace mlir::attn;

static cl::OptionCategory category("attn-tune options");
static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<input.mlir>"),
                                      cl::cat(category));
static cl::opt<std::string>
    outputFile("o", cl::desc("tuning file; what it has for other keys stays"),
               cl::value_desc("file"), cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    chip("chip", cl::desc("target chip: gfx942 or gfx950"), cl::cat(category));

static Error run() {
  // Copied: linking runs lld in this process, which resets the options.
  std::string input = inputFile, output = outputFile;
  auto info = lookupChip(chip);
  if (!info)
    return createStringError("--chip: " + toString(info.takeError()));
  TuningTable table;
  if (output != "-")
    if (auto old = MemoryBuffer::getFile(output)) {
      auto parsed = TuningTable::parse((*old)->getBuffer());
      if (!parsed)
        return createStringError("'" + output +
                                 "': " + toString(parsed.takeError()));
      table = std::move(*parsed);
    }
  if (Error error = ::attn::rt::tuneFile(input, **info, table, errs()))
    return error;
  std::string message;
  auto file = mlir::openOutputFile(output, &message);
  if (!file)
    return createStringError(message);
  table.print(file->os());
  file->keep();
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "AttnMLIR tuner: the fastest kernels by the timing model\n");
  if (Error error = run()) {
    WithColor::error() << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
