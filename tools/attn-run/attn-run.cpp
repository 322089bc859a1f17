//===- attn-run.cpp - Run on files ----------------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a module or a code object on files:
//
//   attn-run IN.mlir --device=cpu --in query=q.npy ... --out output=o.npy
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/RunCPU.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace attn::rt;

using namespace llvm::opt;

namespace {
enum ID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Opts.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "Opts.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Opts.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr opt::OptTable::Info infoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Opts.inc"
#undef OPTION
};

// LLVM's global command-line registry has a "stats" and many others already;
// this table is ours alone.
class AttnRunOptTable : public opt::GenericOptTable {
public:
  AttnRunOptTable()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, infoTable) {}
};
} // namespace

static Error checkCommandLine(const AttnRunOptTable &table,
                              const opt::InputArgList &args,
                              unsigned missingIndex, unsigned missingCount) {
  if (missingCount)
    return createStringError(Twine(args.getArgString(missingIndex)) +
                             " expects a value");
  for (const opt::Arg *arg : args.filtered(OPT_UNKNOWN)) {
    std::string nearest;
    StringRef name = arg->getSpelling();
    bool close = table.findNearest(name, nearest) <= 2;
    return createStringError(
        "unknown option '" + name + "'" +
        (close ? ", did you mean '" + nearest + "'?" : ""));
  }
  return Error::success();
}

static Error run(const opt::InputArgList &args) {
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.size() != 1)
    return createStringError("expects one IN.mlir or OUT.hsaco, but got " +
                             Twine(inputs.size()));
  Bindings bindings;
  for (const std::string &text : args.getAllArgValues(OPT_input))
    if (Error error = Bindings::add(bindings.inputs, "--in", text))
      return error;
  for (const std::string &text : args.getAllArgValues(OPT_output))
    if (Error error = Bindings::add(bindings.outputs, "--out", text))
      return error;

  StringRef device = args.getLastArgValue(OPT_device);
  if (device == "cpu") {
    StringRef text = args.getLastArgValue(OPT_optimize, "3");
    unsigned level;
    if (text.getAsInteger(10, level) || level > 3)
      return createStringError("--optimize expects 0 to 3, but got '" + text +
                               "'");
    return runOnCPU(inputs[0], args.getLastArgValue(OPT_entry), bindings,
                    level);
  }
  if (device == "emulator" || device == "hip")
    return createStringError("device '" + device +
                             "' is not available in this build");
  return createStringError("--device expects cpu, emulator or hip, but got '" +
                           device + "'");
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  AttnRunOptTable table;
  unsigned missingIndex, missingCount;
  opt::InputArgList args = table.ParseArgs(ArrayRef(argv, argc).drop_front(),
                                           missingIndex, missingCount);
  if (args.hasArg(OPT_help)) {
    table.printHelp(outs(),
                    "attn-run IN.mlir|OUT.hsaco --device=cpu|emulator|hip "
                    "[options]",
                    "Runs a module or a code object on .npy files");
    return 0;
  }
  Error error = checkCommandLine(table, args, missingIndex, missingCount);
  if (!error)
    error = run(args);
  if (!error)
    return 0;
  WithColor::error() << toString(std::move(error)) << '\n';
  return 1;
}
