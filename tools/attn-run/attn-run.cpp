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
//   attn-run OUT.hsaco --manifest=OUT.json --device=emulator --check=all ...
//
// Results go to files, tables and listings to stdout, findings and errors to
// stderr. The exit code is 0 only when the outputs were written and no check
// fired.
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/ISA.h"
#include "attn/Emulator/Timing/TimingReport.h"
#include "attn/Runtime/Bisect.h"
#include "attn/Runtime/CompileModule.h"
#include "attn/Runtime/EmulatorDevice.h"
#include "attn/Runtime/HIPDevice.h"
#include "attn/Runtime/OutputFiles.h"
#include "attn/Runtime/RunCPU.h"
#include "attn/Runtime/RunKernels.h"
#include "attn/Runtime/RunTiming.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace attn;
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

/// An option that is a number.
static Error parseNumber(const opt::InputArgList &args, unsigned option,
                         StringRef name, function_ref<void(uint64_t)> set) {
  const opt::Arg *arg = args.getLastArg(option);
  if (!arg)
    return Error::success();
  uint64_t value;
  if (StringRef(arg->getValue()).getAsInteger(0, value))
    return createStringError(name + " expects a number, but got '" +
                             arg->getValue() + "'");
  set(value);
  return Error::success();
}

/// Of LLVM, for the host or for a chip.
static Expected<unsigned> parseOptLevel(const opt::InputArgList &args) {
  StringRef text = args.getLastArgValue(OPT_optimize, "3");
  unsigned level;
  if (text.getAsInteger(10, level) || level > 3)
    return createStringError("--optimize expects 0 to 3, but got '" + text +
                             "'");
  return level;
}

static Error parsePCRange(StringRef text, emu::TraceOptions &trace) {
  auto [begin, end] = text.split(':');
  // Addresses are hexadecimal in a disassembly, with or without the prefix.
  begin.consume_front("0x");
  end.consume_front("0x");
  if (begin.getAsInteger(16, trace.pcBegin) ||
      end.getAsInteger(16, trace.pcEnd) || trace.pcBegin >= trace.pcEnd)
    return createStringError("--trace-pc expects BEGIN:END with BEGIN below "
                             "END, but got '" +
                             text + "'");
  return Error::success();
}

static Expected<emu::LaunchOptions>
parseLaunchOptions(const opt::InputArgList &args) {
  emu::LaunchOptions options;
  Expected<emu::CheckSet> checks =
      emu::parseCheckSet(args.getLastArgValue(OPT_check, "none"));
  if (!checks)
    return createStringError("--check " + toString(checks.takeError()));
  options.checks = *checks;
  if (Error error = parseSchedule(
          args.getLastArgValue(OPT_schedule, "round-robin"), options))
    return createStringError("--schedule " + toString(std::move(error)));

  emu::TraceOptions &trace = options.trace;
  struct {
    unsigned option;
    StringRef name;
    std::function<void(uint64_t)> set;
  } numbers[] = {
      {OPT_threads, "--threads", [&](uint64_t n) { options.threads = n; }},
      {OPT_max_instructions, "--max-instructions",
       [&](uint64_t n) { options.maxInstructionsPerWave = n; }},
      {OPT_perturb, "--perturb", [&](uint64_t n) { options.perturbSeed = n; }},
      {OPT_trace_workgroup, "--trace-workgroup",
       [&](uint64_t n) { trace.workgroup = n; }},
      {OPT_trace_wave, "--trace-wave", [&](uint64_t n) { trace.wave = n; }},
      {OPT_trace_lane, "--trace-lane", [&](uint64_t n) { trace.lane = n; }},
  };
  for (const auto &number : numbers)
    if (Error error = parseNumber(args, number.option, number.name, number.set))
      return error;
  for (auto [option, name] :
       {std::pair(OPT_threads, "--threads"),
        std::pair(OPT_max_instructions, "--max-instructions")})
    if (uint64_t n = 1;
        !StringRef(args.getLastArgValue(option, "1")).getAsInteger(0, n) && !n)
      return createStringError(Twine(name) + " expects a positive number, but "
                                             "got 0");
  if (trace.lane > 63)
    return createStringError("--trace-lane expects 0 to 63, but got " +
                             Twine(trace.lane));
  if (const opt::Arg *arg = args.getLastArg(OPT_trace_pc))
    if (Error error = parsePCRange(arg->getValue(), trace))
      return error;
  // A filter without --trace would do nothing.
  if (args.hasArg(OPT_trace, OPT_trace_workgroup, OPT_trace_wave, OPT_trace_pc,
                  OPT_trace_lane))
    trace.os = &outs();
  return options;
}

enum class StatsFormat { None, Text, JSON };

static Expected<StatsFormat> parseStats(const opt::InputArgList &args) {
  const opt::Arg *arg = args.getLastArg(OPT_stats, OPT_stats_eq);
  if (!arg)
    return StatsFormat::None;
  StringRef format =
      arg->getOption().matches(OPT_stats) ? "text" : arg->getValue();
  if (format == "text")
    return StatsFormat::Text;
  if (format == "json")
    return StatsFormat::JSON;
  return createStringError("--stats expects text or json, but got '" + format +
                           "'");
}

/// By content; a manifest also says what the file should be.
static Expected<bool> isCodeObject(StringRef path,
                                   const opt::InputArgList &args) {
  auto buffer = MemoryBuffer::getFile(path);
  if (std::error_code ec = buffer.getError())
    return createStringError("cannot read '" + path + "': " + ec.message());
  return args.hasArg(OPT_manifest) || path.ends_with(".hsaco") ||
         (*buffer)->getBuffer().starts_with("\x7f"
                                            "ELF");
}

static Expected<std::unique_ptr<MemoryBuffer>> readCode(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (std::error_code ec = buffer.getError())
    return createStringError("cannot read '" + path + "': " + ec.message());
  return std::move(*buffer);
}

/// The manifest of a code object, which names its chip.
static Expected<manifest::Manifest>
loadManifest(const opt::InputArgList &args) {
  if (args.hasArg(OPT_chip))
    return createStringError("--chip is for modules, a code object is for "
                             "one chip already");
  const opt::Arg *arg = args.getLastArg(OPT_manifest);
  if (!arg)
    return createStringError("a code object needs --manifest=FILE.json");
  return readManifest(arg->getValue());
}

/// A module compiled for a chip.
static Expected<KernelProgram> compile(StringRef path, StringRef chip,
                                       const opt::InputArgList &args) {
  Expected<unsigned> optLevel = parseOptLevel(args);
  if (!optLevel)
    return optLevel.takeError();
  return compileProgram(path, chip, args.getLastArgValue(OPT_entry), *optLevel);
}

static Expected<KernelProgram> loadProgram(StringRef path, bool isCode,
                                           const opt::InputArgList &args) {
  if (!isCode) {
    if (!args.hasArg(OPT_chip))
      return createStringError("a module needs --chip=gfx942 or --chip=gfx950");
    return compile(path, args.getLastArgValue(OPT_chip), args);
  }
  Expected<manifest::Manifest> manifest = loadManifest(args);
  if (!manifest)
    return manifest.takeError();
  auto code = readCode(path);
  if (!code)
    return code.takeError();
  return KernelProgram::create(std::move(*code), std::move(*manifest));
}

static Error disassemble(StringRef path, bool isCode,
                         const opt::InputArgList &args) {
  if (isCode) {
    auto object = emu::CodeObject::load(path);
    if (!object)
      return object.takeError();
    return emu::disassemble(**object, outs());
  }
  Expected<KernelProgram> program = loadProgram(path, isCode, args);
  if (!program)
    return program.takeError();
  return program->object ? emu::disassemble(*program->object, outs())
                         : Error::success();
}

/// Other devices take --check, whose checks they cannot make, but nothing else
/// that would silently do nothing.
static Error checkEmulatorOptions(StringRef device,
                                  const opt::InputArgList &args) {
  Expected<emu::LaunchOptions> options = parseLaunchOptions(args);
  if (!options)
    return options.takeError();
  if (const opt::Arg *arg = args.getLastArg(
          OPT_schedule, OPT_threads, OPT_max_instructions, OPT_perturb,
          OPT_trace, OPT_trace_workgroup, OPT_trace_wave, OPT_trace_pc,
          OPT_trace_lane, OPT_stats, OPT_stats_eq))
    return createStringError(arg->getOption().getPrefixedName() +
                             " is for the emulator, but the device is '" +
                             device + "'");
  return Error::success();
}

static Error runEmulator(StringRef path, bool isCode, const Bindings &bindings,
                         const opt::InputArgList &args) {
  // The options first: a compilation may take a second.
  Expected<emu::LaunchOptions> options = parseLaunchOptions(args);
  if (!options)
    return options.takeError();
  Expected<StatsFormat> format = parseStats(args);
  if (!format)
    return format.takeError();
  Expected<KernelProgram> program = loadProgram(path, isCode, args);
  if (!program)
    return program.takeError();
  Expected<emu::Chip> chip = emu::parseChip(program->manifest.chip);
  if (!chip)
    return chip.takeError();

  emu::Report report;
  EmulatorDevice device(*chip, *options, report);
  Error error = writeOutputs(bindings.outputs, [&](OutputSink sink) {
    return runKernels(device, *program,
                      isCode ? args.getLastArgValue(OPT_entry) : "", bindings,
                      sink);
  });
  report.printFindings(errs());
  // Who drew the order by lot wants to see it again.
  if (error && options->schedule == emu::Schedule::Random)
    errs() << "note: --schedule=random:" << options->seed << '\n';
  if (*format == StatsFormat::Text)
    report.statistics.print(outs());
  else if (*format == StatsFormat::JSON)
    outs() << formatv("{0:2}", report.statistics.toJSON()) << '\n';
  return error;
}

/// `device` is "hip" or "hip:INDEX".
static Error runHIP(StringRef path, bool isCode, StringRef device,
                    const Bindings &bindings, const opt::InputArgList &args) {
  std::optional<unsigned> index;
  if (device.consume_front("hip:")) {
    if (device.getAsInteger(10, index.emplace()))
      return createStringError("--device expects hip:INDEX with a number, but "
                               "got 'hip:" +
                               device + "'");
  }
  auto open = [&](StringRef chip) { return HIPDevice::create(index, chip); };
  std::unique_ptr<HIPDevice> gpu;
  Expected<KernelProgram> program = [&]() -> Expected<KernelProgram> {
    if (isCode) {
      Expected<KernelProgram> loaded = loadProgram(path, isCode, args);
      if (!loaded)
        return loaded;
      auto opened = open(loaded->manifest.chip);
      if (!opened)
        return opened.takeError();
      gpu = std::move(*opened);
      return loaded;
    }
    // A module is compiled for the device that is there.
    auto opened = open(args.getLastArgValue(OPT_chip));
    if (!opened)
      return opened.takeError();
    gpu = std::move(*opened);
    return compile(path, gpu->getChip(), args);
  }();
  if (!program)
    return program.takeError();
  return writeOutputs(bindings.outputs, [&](OutputSink sink) {
    return runKernels(*gpu, *program,
                      isCode ? args.getLastArgValue(OPT_entry) : "", bindings,
                      sink);
  });
}

/// --timing: predicts, writes no outputs.
static Error runTiming(StringRef path, bool isCode, const Bindings &bindings,
                       const opt::InputArgList &args) {
  const opt::Arg *arg = args.getLastArg(OPT_timing, OPT_timing_eq);
  StringRef format =
      arg && arg->getOption().matches(OPT_timing_eq) ? arg->getValue() : "text";
  if (!arg)
    return createStringError("--timing-set, --timing-period, --timeline and "
                             "--perfetto need --timing");
  if (format != "text" && format != "json")
    return createStringError("--timing expects text or json, but got '" +
                             format + "'");
  if (!bindings.outputs.empty())
    return createStringError("--timing computes no outputs, but got --out");
  TimingOptions options;
  options.constants = args.getLastArgValue(OPT_timing_set).str();
  options.kernel = isCode ? args.getLastArgValue(OPT_entry).str() : "";
  options.events = args.hasArg(OPT_timeline, OPT_perfetto);
  if (Error error = parseNumber(args, OPT_timing_period, "--timing-period",
                                [&](uint64_t n) { options.period = n; }))
    return error;
  Expected<KernelProgram> program = loadProgram(path, isCode, args);
  if (!program)
    return program.takeError();
  auto launches = rt::runTiming(*program, bindings.inputs, options);
  if (!launches)
    return launches.takeError();
  OutputFiles files;
  if (options.events && launches->empty())
    return createStringError("nothing is launched, so there is no picture");
  for (auto [option, write] : {std::pair(OPT_timeline, &emu::writeTimeline),
                               std::pair(OPT_perfetto, &emu::writePerfetto)})
    if (const opt::Arg *file = args.getLastArg(option))
      if (Error error = files.add(file->getValue(), [&](raw_ostream &os) {
            write(launches->front().cu, os);
          }))
        return error;
  if (format == "json") {
    json::Array array;
    for (const LaunchTiming &launch : *launches)
      array.push_back(launch.toJSON());
    json::Object report{{"launches", std::move(array)},
                        {"projected_us", getMicroseconds(*launches)}};
    outs() << formatv("{0:2}", json::Value(std::move(report))) << '\n';
  } else {
    for (const LaunchTiming &launch : *launches) {
      launch.print(outs());
      outs() << '\n';
    }
    outs() << formatv("{0} launch{1}, projected {2:f1} us\n", launches->size(),
                      launches->size() == 1 ? "" : "es",
                      getMicroseconds(*launches));
  }
  return files.commit();
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

  bool timing = args.hasArg(OPT_timing, OPT_timing_eq, OPT_timing_set,
                            OPT_timing_period, OPT_timeline, OPT_perfetto);
  StringRef device = args.getLastArgValue(OPT_device);
  bool hip = device == "hip" || device.starts_with("hip:");
  if (device != "cpu" && device != "emulator" && !hip &&
      !args.hasArg(OPT_bisect, OPT_disassemble) && !(timing && device.empty()))
    return createStringError(
        "--device expects cpu, emulator or hip, but got '" + device + "'");
  Expected<bool> isCode = isCodeObject(inputs[0], args);
  if (!isCode)
    return isCode.takeError();
  if (args.hasArg(OPT_bisect)) {
    if (*isCode)
      return createStringError(
          "--bisect needs a module, but got a code object");
    return writeOutputs(bindings.outputs, [&](OutputSink sink) {
      return bisect(inputs[0], args.getLastArgValue(OPT_entry),
                    args.getLastArgValue(OPT_chip), bindings, outs(), sink);
    });
  }
  if (args.hasArg(OPT_disassemble))
    return disassemble(inputs[0], *isCode, args);
  if (timing) {
    if (device == "cpu" || hip)
      return createStringError("--timing is for the emulator");
    return runTiming(inputs[0], *isCode, bindings, args);
  }
  if (device == "emulator")
    return runEmulator(inputs[0], *isCode, bindings, args);
  if (Error error = checkEmulatorOptions(device, args))
    return error;
  if (hip)
    return runHIP(inputs[0], *isCode, device, bindings, args);
  if (*isCode)
    return createStringError(
        "device 'cpu' runs modules, but got a code object");
  Expected<unsigned> optLevel = parseOptLevel(args);
  if (!optLevel)
    return optLevel.takeError();
  CPUOptions options;
  options.optLevel = *optLevel;
  return writeOutputs(bindings.outputs, [&](OutputSink sink) {
    return runOnCPU(inputs[0], args.getLastArgValue(OPT_entry), bindings,
                    options, sink);
  });
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
