//===- Corpus.cpp - Compiling and running OpenCL C on the emulator --------===//

#include "Corpus.h"
#include "../Assembler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <map>

using namespace attn::emu;

std::string Variant::getName() const {
  std::string name = getChipName(chip).str() + "_";
  if (preload)
    return name + "SlowPreload";
  return name + (llvm::StringRef(level) == "-O0" ? "SlowO0" : "O3");
}

std::vector<Variant> attn::emu::getVariants() {
  std::vector<Variant> variants;
  for (Chip chip : {Chip::GFX942, Chip::GFX950}) {
    variants.push_back({chip, "-O0"});
    variants.push_back({chip, "-O3"});
    variants.push_back({chip, "-O3", /*preload=*/true});
  }
  return variants;
}

namespace {
/// A temporary file that goes away.
struct TemporaryFile {
  explicit TemporaryFile(llvm::StringRef suffix) {
    if (llvm::sys::fs::createTemporaryFile("attn-corpus", suffix, path))
      llvm::report_fatal_error("cannot create a temporary file");
    remover.setFile(path);
  }
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
};
} // namespace

/// Runs clang; the error holds what it printed.
static llvm::Error runClang(llvm::ArrayRef<llvm::StringRef> arguments) {
  TemporaryFile log("log");
  std::optional<llvm::StringRef> redirects[] = {
      std::nullopt, llvm::StringRef(log.path), llvm::StringRef(log.path)};
  std::vector<llvm::StringRef> command = {ATTN_CLANG};
  llvm::append_range(command, arguments);
  int code =
      llvm::sys::ExecuteAndWait(ATTN_CLANG, command, std::nullopt, redirects);
  if (code == 0)
    return llvm::Error::success();
  auto text = llvm::MemoryBuffer::getFile(log.path);
  return llvm::createStringError("clang failed:\n" +
                                 (text ? (*text)->getBuffer().str() : ""));
}

static std::string getCpuFlag(Chip chip) {
  return "-mcpu=" + getChipName(chip).str();
}

static llvm::Expected<std::vector<uint8_t>> readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::errorCodeToError(buffer.getError());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

static llvm::Expected<std::unique_ptr<CodeObject>>
load(llvm::Expected<std::vector<uint8_t>> bytes) {
  if (!bytes)
    return bytes.takeError();
  llvm::StringRef text(reinterpret_cast<const char *>(bytes->data()),
                       bytes->size());
  return CodeObject::create(llvm::MemoryBufferRef(text, "kernel"));
}

llvm::Expected<std::vector<uint8_t>>
attn::emu::compileCorpusFile(const std::string &file, const Variant &variant) {
  TemporaryFile binary("hsaco");
  std::string source = std::string(ATTN_CORPUS_DIR) + "/" + file;
  std::string cpu = getCpuFlag(variant.chip);
  std::vector<llvm::StringRef> arguments = {
      "-x",
      "cl",
      "-cl-std=CL2.0",
      "-target",
      "amdgcn-amd-amdhsa",
      "-nogpulib",
      cpu,
      variant.level,
      source,
      "-o",
      binary.path,
      "-w",
      "-cl-fp32-correctly-rounded-divide-sqrt"};
  if (variant.preload) {
    arguments.push_back("-mllvm");
    arguments.push_back("-amdgpu-kernarg-preload-count=14");
  }
  if (llvm::Error error = runClang(arguments))
    return std::move(error);
  return readFile(binary.path);
}

const CodeObject &attn::emu::compileCorpus(const std::string &file,
                                           const Variant &variant) {
  static std::map<std::string, std::unique_ptr<CodeObject>> cache;
  std::unique_ptr<CodeObject> &slot = cache[file + variant.getName()];
  if (!slot) {
    auto object = load(compileCorpusFile(file, variant));
    if (!object)
      llvm::report_fatal_error(object.takeError());
    slot = std::move(*object);
  }
  return *slot;
}

llvm::Expected<std::vector<uint8_t>>
attn::emu::assembleFile(const std::string &text, Chip chip) {
  auto bytes = assembleText(text, chip);
  if (!bytes)
    return bytes.takeError();
  return std::vector<uint8_t>(bytes->begin(), bytes->end());
}

llvm::Expected<std::unique_ptr<CodeObject>>
attn::emu::assemble(const std::string &text, Chip chip) {
  return load(assembleFile(text, chip));
}

Launcher &Launcher::buffer(void *host, size_t size, BufferRole role) {
  Argument argument;
  argument.host = static_cast<uint8_t *>(host);
  argument.size = size;
  argument.role = role;
  arguments.push_back(std::move(argument));
  return *this;
}

llvm::Expected<Report> Launcher::runOnce(const LaunchOptions &options) {
  auto found = object.getKernel(kernel);
  if (!found)
    return found.takeError();
  Machine machine(object.getChip());
  KernargBuilder kernarg(**found);
  unsigned index = 0;
  for (const Argument &argument : arguments) {
    std::string name = "arg" + std::to_string(index);
    llvm::Error error = llvm::Error::success();
    if (argument.host) {
      auto address = machine.registerBuffer(
          name, llvm::MutableArrayRef(argument.host, argument.size),
          argument.role);
      if (!address)
        return llvm::joinErrors(std::move(error), address.takeError());
      error =
          llvm::joinErrors(std::move(error), kernarg.setValue(index, *address));
    } else {
      error = llvm::joinErrors(std::move(error),
                               kernarg.set(index, argument.bytes));
    }
    if (error)
      return std::move(error);
    ++index;
  }
  LaunchConfig full = config;
  full.kernel = kernel;
  auto report = machine.launch(object, full, kernarg.getBytes(), options);
  if (report && options.checks.has(Check::Unwritten))
    machine.checkOutputs(*report);
  return report;
}

void Launcher::run() {
  std::vector<std::vector<uint8_t>> initial, first;
  for (const Argument &argument : arguments)
    initial.emplace_back(argument.host, argument.host + argument.size);

  struct {
    Schedule schedule;
    unsigned quantum;
  } schedules[] = {{Schedule::RoundRobin, 64},
                   {Schedule::Reversed, 1},
                   {Schedule::Random, 7}};
  for (auto [schedule, quantum] : schedules) {
    SCOPED_TRACE(kernel + " under " + getScheduleName(schedule).str());
    for (size_t i = 0; i != arguments.size(); ++i)
      std::copy(initial[i].begin(), initial[i].end(), arguments[i].host);
    LaunchOptions options;
    options.checks = CheckSet::all();
    options.schedule = schedule;
    options.quantum = quantum;
    options.maxInstructionsPerWave = 2000000;
    auto report = runOnce(options);
    if (!report) {
      FAIL() << llvm::toString(report.takeError());
      return;
    }
    std::string findings;
    llvm::raw_string_ostream os(findings);
    report->printFindings(os);
    EXPECT_TRUE(report->isClean()) << findings;

    std::vector<std::vector<uint8_t>> results;
    for (const Argument &argument : arguments)
      results.emplace_back(argument.host, argument.host + argument.size);
    if (first.empty())
      first = results;
    EXPECT_TRUE(first == results) << "results depend on the schedule";
  }
}
