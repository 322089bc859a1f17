//===- MutationTest.cpp - The checks, proven by breaking kernels ----------===//
//
// Correct kernels lose one wait, barrier or wait state at a time, or have one
// bound shifted. Each mutant must be reported by a check or stop the launch;
// what is not is a survivor and needs a line with its reason in
// test/Emulator/Mutation/survivors.txt. A mutant without a report whose results
// are wrong fails the test whatever that file says, unless it is a shifted
// bound: that is another program, and its results are what shows it.
//
//===----------------------------------------------------------------------===//

#include "../Corpus/Corpus.h"
#include "../Corpus/LLVMDisassembler.h"
#include "../Corpus/Random.h"
#include "../Instructions/Harness.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <set>

using namespace attn::emu;

namespace {

/// A kernel argument; buffers start from `words` in every run.
struct Argument {
  std::vector<uint32_t> words;
  BufferRole role = BufferRole::InOut;
  bool isValue = false;
};
Argument input(std::vector<uint32_t> words) {
  return {std::move(words), BufferRole::Input};
}
Argument output(size_t words) {
  return {std::vector<uint32_t>(words), BufferRole::Output};
}
Argument inout(std::vector<uint32_t> words) { return {std::move(words)}; }
Argument value(uint32_t word) { return {{word}, BufferRole::InOut, true}; }

/// A kernel and how it is launched.
struct Subject {
  /// "name.s" of test/Emulator/Mutation, or "file.cl:kernel" of the corpus.
  std::string source;
  std::vector<Argument> arguments;
  uint32_t block = 64;
  uint32_t gridX = 1, gridY = 1, blockY = 1;
  uint32_t dynamicLDS = 0;
  /// Bit 0: gfx942, bit 1: gfx950.
  unsigned chips = 3;
  /// Also shift compares.
  bool shiftsBounds = true;
};

std::vector<uint32_t> words(size_t count, uint32_t seed) {
  return randomInts<uint32_t>(count, seed);
}
/// Pairs of f16 between -2 and 2.
std::vector<uint32_t> halves(size_t count, uint32_t seed) {
  std::vector<uint32_t> result = words(count, seed);
  for (uint32_t &word : result)
    word = (word & 0x83ff83ff) | 0x3c003c00;
  return result;
}
std::vector<uint32_t> floats(size_t count, uint32_t seed) {
  std::vector<uint32_t> result;
  for (float number : randomFloats<float>(count, seed))
    result.push_back(U(number));
  return result;
}

std::vector<Subject> makeSubjects() {
  auto assembly = [](const char *source, std::vector<uint32_t> in, size_t out,
                     uint32_t block, unsigned chips = 3) {
    return Subject{
        source, {output(out), input(std::move(in))}, block, 1, 1, 1, 0, chips};
  };
  std::vector<Subject> subjects = {
      assembly("dma_exchange.s", words(256, 1), 256, 256),
      assembly("dma_pipeline.s", words(1536, 2), 1536, 256),
      assembly("mfma_lds.s", halves(512, 3), 16 * 128, 128),
      assembly("mfma_agpr.s", floats(128, 4), 256, 64),
      assembly("transposed.s", halves(512, 5), 256, 128, 2),
      assembly("softmax_row.s", floats(64, 6), 64, 64),
      assembly("scalar_loads.s", words(8, 7), 64, 64),
      assembly("bounded_loop.s", words(200, 8), 200, 64),
      assembly("ring.s", words(320, 9), 320, 128),
  };
  // mfma_lds.s stores part of its result.
  subjects[2].arguments[0].role = BufferRole::InOut;

  auto corpus = [&](const char *source, std::vector<Argument> arguments,
                    uint32_t block, uint32_t grid = 1, unsigned chips = 3) {
    subjects.push_back(
        {source, std::move(arguments), block, grid, 1, 1, 0, chips});
  };
  corpus("vector.cl:saxpy",
         {inout(floats(300, 10)), input(floats(300, 11)), value(U(1.25f)),
          value(300)},
         128, 3);
  corpus("block.cl:reduceTree",
         {output(4), input(floats(1000, 12)), value(1000)}, 256, 4);
  corpus("block.cl:reduceWaves", {output(2), input(words(512, 13))}, 256, 2);
  corpus("block.cl:scanBlock", {output(512), input(words(512, 14))}, 256, 2);
  corpus("block.cl:histogram",
         {inout(std::vector<uint32_t>(256, 0)), input(words(1000, 15)),
          value(4000)},
         256, 4);
  corpus("attention.cl:softmax",
         {output(5 * 256), output(5), input(floats(5 * 256, 16)), value(5)},
         128, 3);
  corpus("attention.cl:dma", {output(256), input(words(256, 17))}, 64);
  corpus("attention.cl:dmaWide", {output(256), input(words(256, 18))}, 64, 1,
         2);
  corpus(
      "matrix.cl:gemmF16_32x32",
      {output(1024), input(halves(256, 19)), input(halves(256, 20)), value(16)},
      64);
  corpus("matrix.cl:transposedRead", {output(128), input(words(128, 21))}, 64,
         1, 2);
  corpus("control.cl:ldsAtomics", {output(8), output(2)}, 256);
  corpus("flash.cl:flash",
         {output(128 * 32), output(128), input(halves(128 * 32, 25)),
          input(halves(70 * 32, 26)), input(halves(70 * 32, 27)), value(128),
          value(70), value(U(0.125f)), value(0)},
         256);
  // Each of its 32 compares is for one key: equality is met by one of them.
  subjects.back().shiftsBounds = false;
  Subject tiled{"matrix.cl:gemmTiled",
                {output(64 * 64), input(halves(64 * 16, 22)),
                 input(halves(64 * 16, 23)), value(64), value(64), value(32)},
                256};
  subjects.push_back(tiled);
  Subject transpose{
      "block.cl:transpose",
      {output(70 * 45), input(words(70 * 45, 24)), value(70), value(45)},
      32,
      3,
      2,
      8};
  subjects.push_back(transpose);
  return subjects;
}

/// What came of a run.
struct Outcome {
  bool reported = false;
  bool wrong = false;
  std::string text;
};

class Mutator {
public:
  Mutator(const Subject &subject, Chip chip)
      : subject(subject), chip(chip), disassembler(chip) {}

  /// The subject as an ELF file.
  llvm::Error load();
  /// Runs the file under the schedules until one reports; compares results with
  /// the correct kernel's.
  Outcome run(llvm::ArrayRef<uint8_t> file);
  /// Addresses that the correct kernel executes.
  llvm::Expected<std::set<uint64_t>> trace();

  struct Mutation {
    std::string name;
    /// New contents of the file.
    std::vector<uint8_t> file;
    bool isBound = false;
  };
  /// Every mutation of an executed instruction.
  std::vector<Mutation> makeMutations(const std::set<uint64_t> &executed);

  std::vector<uint8_t> file;

private:
  llvm::Expected<Report> runOnce(const CodeObject &object,
                                 const LaunchOptions &options,
                                 std::vector<std::vector<uint32_t>> &results);
  uint64_t toOffset(uint64_t address) const;

  const Subject &subject;
  Chip chip;
  LLVMDisassembler disassembler;
  std::string kernel, assembly;
  std::vector<std::vector<uint32_t>> expected;
};

llvm::Error Mutator::load() {
  llvm::StringRef source = subject.source;
  if (source.ends_with(".s")) {
    auto text = llvm::MemoryBuffer::getFile(std::string(ATTN_MUTATION_DIR) +
                                            "/" + subject.source);
    if (!text)
      return llvm::errorCodeToError(text.getError());
    assembly = (*text)->getBuffer().str();
    kernel = "k";
    Snippet snippet;
    snippet.code = assembly;
    snippet.block = subject.block;
    auto bytes = assembleSnippetFile(snippet, chip);
    if (!bytes)
      return bytes.takeError();
    file = std::move(*bytes);
    return llvm::Error::success();
  }
  auto [name, function] = source.split(':');
  kernel = function.str();
  auto bytes = compileCorpusFile(name.str(), {chip, "-O3"});
  if (!bytes)
    return bytes.takeError();
  file = std::move(*bytes);
  return llvm::Error::success();
}

llvm::Expected<Report>
Mutator::runOnce(const CodeObject &object, const LaunchOptions &options,
                 std::vector<std::vector<uint32_t>> &results) {
  results.clear();
  for (const Argument &argument : subject.arguments)
    results.push_back(argument.words);
  Launcher launcher(object, kernel);
  launcher.grid(subject.gridX, subject.gridY)
      .block(subject.block, subject.blockY)
      .dynamicLDS(subject.dynamicLDS);
  for (size_t i = 0; i != results.size(); ++i) {
    const Argument &argument = subject.arguments[i];
    if (argument.isValue)
      launcher.value(argument.words[0]);
    else if (argument.role == BufferRole::Input)
      launcher.input(results[i]);
    else if (argument.role == BufferRole::Output)
      launcher.output(results[i]);
    else
      launcher.inout(results[i]);
  }
  return launcher.runOnce(options);
}

Outcome Mutator::run(llvm::ArrayRef<uint8_t> bytes) {
  Outcome outcome;
  auto object = CodeObject::create(llvm::MemoryBufferRef(
      llvm::StringRef(reinterpret_cast<const char *>(bytes.data()),
                      bytes.size()),
      "mutant"));
  if (!object) {
    outcome.reported = true;
    outcome.text = llvm::toString(object.takeError());
    return outcome;
  }
  struct {
    Schedule schedule;
    unsigned quantum;
  } schedules[] = {{Schedule::RoundRobin, 64},
                   {Schedule::Reversed, 1},
                   {Schedule::Random, 5}};
  for (auto [schedule, quantum] : schedules) {
    LaunchOptions options;
    options.checks = CheckSet::all();
    options.schedule = schedule;
    options.quantum = quantum;
    options.maxInstructionsPerWave = 100000;
    options.threads = 1;
    std::vector<std::vector<uint32_t>> results;
    auto report = runOnce(**object, options, results);
    if (!report) {
      outcome.reported = true;
      outcome.text = llvm::toString(report.takeError());
      return outcome;
    }
    if (!report->isClean()) {
      outcome.reported = true;
      outcome.text = describe(*report);
      return outcome;
    }
    if (expected.empty())
      expected = results;
    if (results != expected) {
      outcome.wrong = true;
      outcome.text = "wrong results under " + getScheduleName(schedule).str();
    }
  }
  return outcome;
}

llvm::Expected<std::set<uint64_t>> Mutator::trace() {
  auto object = CodeObject::create(llvm::MemoryBufferRef(
      llvm::StringRef(reinterpret_cast<const char *>(file.data()), file.size()),
      "kernel"));
  if (!object)
    return object.takeError();
  std::string text;
  llvm::raw_string_ostream os(text);
  LaunchOptions options;
  options.trace.os = &os;
  std::vector<std::vector<uint32_t>> results;
  auto report = runOnce(**object, options, results);
  if (!report)
    return report.takeError();
  // "GROUP wWAVE ADDRESS: text".
  std::set<uint64_t> executed;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    llvm::StringRef address = line.split(':').first.rsplit(' ').second;
    uint64_t pc;
    if (!address.getAsInteger(16, pc))
      executed.insert(pc);
  }
  return executed;
}

uint64_t Mutator::toOffset(uint64_t address) const {
  auto elf = llvm::cantFail(llvm::object::ELF64LEFile::create(llvm::StringRef(
      reinterpret_cast<const char *>(file.data()), file.size())));
  for (const auto &header : llvm::cantFail(elf.program_headers()))
    if (header.p_type == llvm::ELF::PT_LOAD && header.p_vaddr <= address &&
        address < header.p_vaddr + header.p_filesz)
      return address - header.p_vaddr + header.p_offset;
  llvm::report_fatal_error("address outside the file");
}

/// What the instruction word of a counter wait holds (gfx9).
struct WaitCounts {
  explicit WaitCounts(uint32_t word)
      : vm((word & 15) | (word >> 14 & 3) << 4), exp(word >> 4 & 7),
        lgkm(word >> 8 & 15) {}
  uint32_t encode() const {
    return 0xbf8c0000 | (vm & 15) | (vm >> 4) << 14 | exp << 4 | lgkm << 8;
  }
  uint32_t vm, exp, lgkm;
};

std::vector<Mutator::Mutation>
Mutator::makeMutations(const std::set<uint64_t> &executed) {
  std::vector<Mutation> mutations;
  std::map<std::string, unsigned> ordinals;
  auto add = [&](uint64_t offset, const std::string &text,
                 const std::string &what, uint32_t word, bool isBound) {
    if (isBound && !subject.shiftsBounds)
      return;
    std::string key = text + " " + what;
    Mutation mutation;
    mutation.name = text + " #" + std::to_string(++ordinals[key]) + " " + what;
    mutation.file = file;
    llvm::support::endian::write32le(mutation.file.data() + offset, word);
    mutation.isBound = isBound;
    mutations.push_back(std::move(mutation));
  };
  constexpr uint32_t nop = 0xbf800000;
  for (uint64_t address : executed) {
    uint64_t offset = toOffset(address), size;
    std::vector<uint8_t> window(file.begin() + offset,
                                file.begin() +
                                    std::min(offset + 20, file.size()));
    window.resize(20);
    std::string text = disassembler.decode(window, size);
    uint32_t word = llvm::support::endian::read32le(window.data());
    llvm::StringRef name = llvm::StringRef(text).split(' ').first;
    if (name == "s_waitcnt") {
      WaitCounts counts(word);
      if (counts.vm != 63) {
        WaitCounts dropped = counts;
        dropped.vm = 63;
        add(offset, text, "without vmcnt", dropped.encode(), false);
        if (counts.vm != 0) {
          dropped.vm = counts.vm + 1;
          add(offset, text, "with vmcnt + 1", dropped.encode(), false);
        }
      }
      if (counts.lgkm != 15) {
        WaitCounts dropped = counts;
        dropped.lgkm = 15;
        add(offset, text, "without lgkmcnt", dropped.encode(), false);
        if (counts.lgkm != 0) {
          dropped.lgkm = counts.lgkm + 1;
          add(offset, text, "with lgkmcnt + 1", dropped.encode(), false);
        }
      }
    } else if (name == "s_barrier") {
      add(offset, text, "removed", nop, false);
    } else if (name == "s_nop" && (word & 15) > 0) {
      add(offset, text, "one shorter", word - 1, false);
    } else if (name.starts_with("s_cmp_") && !name.contains("_eq_") &&
               !name.contains("_lg_")) {
      // gt and ge, lt and le differ in the low bit of the opcode.
      add(offset, text, "off by one", word ^ 1 << 16, true);
    } else if (name.starts_with("v_cmp_") && name.ends_with("32_e32") &&
               (name.contains("_lt_") || name.contains("_le_") ||
                name.contains("_gt_") || name.contains("_ge_"))) {
      add(offset, text, "off by one", word ^ 2 << 17, true);
    } else if (name.starts_with("v_cmp_") && name.ends_with("32_e64") &&
               (name.contains("_lt_") || name.contains("_le_") ||
                name.contains("_gt_") || name.contains("_ge_"))) {
      add(offset, text, "off by one", word ^ 2 << 16, true);
    }
  }
  // Wait states of hand-written kernels, removed from the text.
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(assembly).split(lines, '\n');
  unsigned ordinal = 0;
  for (size_t i = 0; i != lines.size(); ++i) {
    if (!lines[i].trim().starts_with("s_nop"))
      continue;
    Snippet snippet;
    snippet.block = subject.block;
    for (size_t k = 0; k != lines.size(); ++k)
      if (k != i)
        snippet.code += lines[k].str() + "\n";
    auto bytes = assembleSnippetFile(snippet, chip);
    if (!bytes)
      llvm::report_fatal_error(bytes.takeError());
    mutations.push_back({lines[i].trim().str() + " line " +
                             std::to_string(++ordinal) + " removed",
                         std::move(*bytes)});
  }
  return mutations;
}

/// "kernel chip: mutation" -> reason.
std::map<std::string, std::string> readSurvivors() {
  auto text = llvm::MemoryBuffer::getFile(std::string(ATTN_MUTATION_DIR) +
                                          "/survivors.txt");
  std::map<std::string, std::string> survivors;
  if (!text)
    return survivors;
  for (llvm::StringRef line : llvm::split((*text)->getBuffer(), '\n')) {
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [key, reason] = line.split(" | ");
    survivors[key.trim().str()] = reason.trim().str();
  }
  return survivors;
}

class MutationTest : public testing::TestWithParam<Chip> {};
INSTANTIATE_TEST_SUITE_P(, MutationTest,
                         testing::Values(Chip::GFX942, Chip::GFX950),
                         [](const testing::TestParamInfo<Chip> &info) {
                           return getChipName(info.param).str();
                         });

TEST_P(MutationTest, SlowEveryMutantIsReportedOrExplained) {
  Chip chip = GetParam();
  std::map<std::string, std::string> explained = readSurvivors();
  std::set<std::string> used;
  unsigned total = 0, reported = 0, wrongBounds = 0, survived = 0;
  for (const Subject &subject : makeSubjects()) {
    if (!(subject.chips >> unsigned(chip == Chip::GFX950) & 1))
      continue;
    Mutator mutator(subject, chip);
    if (llvm::Error error = mutator.load()) {
      ADD_FAILURE() << subject.source << ": "
                    << llvm::toString(std::move(error));
      continue;
    }
    Outcome original = mutator.run(mutator.file);
    EXPECT_FALSE(original.reported || original.wrong)
        << subject.source << ": " << original.text;
    if (original.reported)
      continue;
    auto executed = mutator.trace();
    if (!executed) {
      ADD_FAILURE() << llvm::toString(executed.takeError());
      continue;
    }
    ASSERT_FALSE(executed->empty());
    for (const Mutator::Mutation &mutation : mutator.makeMutations(*executed)) {
      ++total;
      Outcome outcome = mutator.run(mutation.file);
      std::string key =
          subject.source + " " + getChipName(chip).str() + ": " + mutation.name;
      if (outcome.reported) {
        ++reported;
        EXPECT_FALSE(explained.count(key)) << key << " is reported now; its "
                                           << "line in survivors.txt is stale";
        continue;
      }
      if (outcome.wrong && mutation.isBound) {
        ++wrongBounds;
        continue;
      }
      EXPECT_FALSE(outcome.wrong)
          << key << ": wrong results and no report: " << outcome.text;
      ++survived;
      used.insert(key);
      auto found = explained.find(key);
      EXPECT_TRUE(found != explained.end() && !found->second.empty())
          << "survivor without a reason: " << key;
    }
  }
  for (const auto &[key, reason] : explained)
    if (llvm::StringRef(key).contains(getChipName(chip))) {
      EXPECT_TRUE(used.count(key)) << "no such survivor: " << key;
    }
  RecordProperty("Mutants", int(total));
  RecordProperty("Reported", int(reported));
  RecordProperty("BoundsShownByResults", int(wrongBounds));
  RecordProperty("Survivors", int(survived));
  // A harness that mutates nothing proves nothing.
  EXPECT_GT(reported, 150u);
}

} // namespace
