//===- Harness.cpp - Running single instructions --------------------------===//

#include "Harness.h"
#include "../Corpus/Corpus.h"
#include "../Corpus/Random.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::emu;

double attn::emu::H(uint32_t low16) {
  return fromBits(low16 & 0xffff, llvm::APFloat::IEEEhalf());
}
uint16_t attn::emu::toH(double value) { return toHalf(value); }

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static const uint32_t edgesF32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x80800000,
    0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000,
    0x4b000001, 0xcb7fffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x3effffff,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
    0x7f800001, 0x3f800001, 0x42f6e979, 0xc1a3d70a};
static const uint32_t edgesF16[] = {
    0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00,
    0x3800, 0x3e00, 0x4100, 0xc100, 0x6400, 0xe401, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x3c01, 0x57b2, 0xcd12};
static const uint32_t edgesI32[] = {
    0x00000000, 0x00000001, 0xffffffff, 0x7fffffff, 0x80000000, 0x80000001,
    0x0000ffff, 0xffff0000, 0x00008000, 0x00007fff, 0xffff8000, 0x00ff00ff,
    0x00000002, 0xfffffffe, 0x12345678, 0xdeadbeef, 0x00800000, 0x00ffffff,
    0xff7fffff, 0x0000001f, 0x55555555, 0xaaaaaaaa, 0x80808080, 0x7f7f7f7f};
static const double edgesF64[] = {
    0.0, -0.0, 0x1p-1074, -0x1.8p-1030, 0x1p-1022, 1.0, -1.0, 0.5, -2.5, 3.5,
    // Not an all-ones mantissa: LLVM's division
    // does not round 1 / that correctly.
    0x1.ffffffffffffep52, -2147483648.0, 2147483647.5, 4294967295.75, 1e300,
    -0x1.ffffffffffffep1023, HUGE_VAL, -HUGE_VAL,
    std::numeric_limits<double>::quiet_NaN(), 1.0 + 0x1p-24,
    3.4028235677973366e38};
static const uint64_t edgesI64[] = {0,
                                    1,
                                    ~uint64_t(0),
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0x00000000ffffffff,
                                    0xffffffff00000000,
                                    0x0000000100000000,
                                    0x0000000080000000,
                                    0x123456789abcdef0,
                                    0xfedcba9876543210,
                                    0x5555555555555555,
                                    0x00000000000000ff};

namespace {
/// The values of one operand, one or two registers each.
struct Operand {
  unsigned words = 1;
  std::vector<uint64_t> values;
};
} // namespace

static std::vector<Operand> makeOperands(llvm::StringRef letters) {
  std::vector<Operand> operands;
  uint32_t rubbish = 0x5eed0000;
  for (char letter : letters) {
    Operand operand;
    switch (letter) {
    case 'f':
      operand.values.assign(std::begin(edgesF32), std::end(edgesF32));
      break;
    case 'h':
      for (uint32_t value : edgesF16)
        operand.values.push_back((rubbish += 0x1230000) | value);
      for (uint64_t &value : operand.values)
        value = uint32_t(value);
      break;
    case 'p':
      for (unsigned i = 0; i != std::size(edgesF16); ++i)
        operand.values.push_back(
            edgesF16[i] |
            edgesF16[(i * 7 + operands.size() * 5) % std::size(edgesF16)]
                << 16);
      break;
    case 'i':
      operand.values.assign(std::begin(edgesI32), std::end(edgesI32));
      break;
    case 's':
      for (uint32_t value = 0; value <= 70; value += 5)
        operand.values.push_back(value);
      break;
    case 'd':
      operand.words = 2;
      for (double value : edgesF64)
        operand.values.push_back(std::bit_cast<uint64_t>(value));
      break;
    case 'l':
      operand.words = 2;
      operand.values.assign(std::begin(edgesI64), std::end(edgesI64));
      break;
    default:
      llvm::report_fatal_error("bad input letter");
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

namespace {
/// Input registers for a number of waves: [wave][register][64].
struct Inputs {
  unsigned registers = 0;
  unsigned waves = 0;
  std::vector<uint32_t> words;
};
} // namespace

static Inputs makeInputs(llvm::StringRef letters, bool uniform) {
  std::vector<Operand> operands = makeOperands(letters);
  Inputs inputs;
  uint64_t combinations = 1;
  for (const Operand &operand : operands) {
    inputs.registers += operand.words;
    combinations *= operand.values.size();
  }
  unsigned perWave = uniform ? 1 : 64;
  uint64_t limit = uniform ? 600 : 24 * 64;
  bool sample = combinations > limit;
  uint64_t count = sample ? limit : combinations;
  inputs.waves = unsigned((count + perWave - 1) / perWave);
  inputs.words.resize(size_t(inputs.waves) * inputs.registers * 64);
  std::mt19937_64 random(1);
  for (unsigned wave = 0; wave != inputs.waves; ++wave) {
    uint64_t index = 0;
    for (unsigned lane = 0; lane != 64; ++lane) {
      if (!uniform || lane == 0)
        index = sample ? random() : (wave * perWave + lane) % combinations;
      uint64_t rest = index;
      unsigned reg = 0;
      for (const Operand &operand : operands) {
        uint64_t value = operand.values[rest % operand.values.size()];
        rest = sample ? rest >> 9 : rest / operand.values.size();
        for (unsigned word = 0; word != operand.words; ++word, ++reg)
          inputs.words[(size_t(wave) * inputs.registers + reg) * 64 + lane] =
              uint32_t(value >> (32 * word));
      }
    }
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static unsigned countResults(llvm::StringRef letters) {
  unsigned count = 0;
  for (char letter : letters)
    count += letter == 'd' ? 2 : 1;
  return count;
}

static void writeHeader(llvm::raw_ostream &os, Chip chip) {
  os << ".amdgcn_target \"amdgcn-amd-amdhsa--" << getChipName(chip)
     << "\"\n.amdhsa_code_object_version 5\n";
}

static void writeDescriptor(llvm::raw_ostream &os, const std::string &name,
                            unsigned ldsBytes) {
  os << ".rodata\n.p2align 6\n.amdhsa_kernel " << name << "\n"
     << "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
        "  .amdhsa_system_sgpr_workgroup_id_x 1\n"
        "  .amdhsa_enable_private_segment 1\n"
        "  .amdhsa_private_segment_fixed_size 64\n"
     << "  .amdhsa_group_segment_fixed_size " << ldsBytes << "\n"
     << "  .amdhsa_next_free_vgpr 96\n"
        "  .amdhsa_accum_offset 64\n"
        "  .amdhsa_next_free_sgpr 48\n"
        "  .amdhsa_float_denorm_mode_32 3\n"
        "  .amdhsa_float_denorm_mode_16_64 3\n"
        "  .amdhsa_ieee_mode 0\n"
        "  .amdhsa_dx10_clamp 1\n"
        ".end_amdhsa_kernel\n";
}

static void writeKernel(llvm::raw_ostream &os, const std::string &name,
                        unsigned inputs, unsigned results,
                        llvm::StringRef code) {
  os << ".text\n.globl " << name << "\n.p2align 8\n.type " << name
     << ",@function\n"
     << name << ":\n"
     << "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
        "  v_lshlrev_b32 v1, 2, v0\n"
     << "  s_mul_i32 s8, s2, " << inputs * 256 << "\n"
     << "  s_mul_i32 s9, s2, " << results * 256 << "\n"
     << "  s_waitcnt lgkmcnt(0)\n"
        "  s_add_u32 s6, s6, s8\n  s_addc_u32 s7, s7, 0\n"
        "  s_add_u32 s4, s4, s9\n  s_addc_u32 s5, s5, 0\n";
  for (unsigned i = 0; i != inputs; ++i)
    os << "  global_load_dword v" << 2 + i << ", v1, s[6:7] offset:" << 256 * i
       << "\n";
  os << "  s_mov_b32 s10, 0xdeadbeef\n";
  for (unsigned i = 0; i != results; ++i)
    os << "  v_mov_b32 v" << 20 + i << ", s10\n";
  os << "  s_waitcnt vmcnt(0)\n" << code << "\n";
  // Results of any instruction class are there after these.
  os << "  s_nop 7\n  s_nop 7\n  s_nop 7\n"
        "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
        "  s_mov_b64 exec, -1\n";
  // Offsets of global instructions end at 4095.
  os << "  v_add_u32 v61, 0x1000, v1\n";
  for (unsigned i = 0; i != results; ++i)
    os << "  global_store_dword " << (i < 16 ? "v1" : "v61") << ", v" << 20 + i
       << ", s[4:5] offset:" << 256 * (i % 16) << "\n";
  os << "  s_endpgm\n";
  writeDescriptor(os, name, 4096);
}

static void writeMetadata(llvm::raw_ostream &os, Chip chip,
                          const std::vector<std::string> &names,
                          unsigned ldsBytes = 4096, unsigned block = 64) {
  os << ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
     << "amdhsa.target: amdgcn-amd-amdhsa--" << getChipName(chip) << "\n"
     << "amdhsa.kernels:\n";
  for (const std::string &name : names)
    os << "  - .name: " << name << "\n    .symbol: " << name
       << ".kd\n"
          "    .kernarg_segment_size: 16\n"
          "    .kernarg_segment_align: 8\n"
          "    .group_segment_fixed_size: "
       << ldsBytes
       << "\n"
          "    .private_segment_fixed_size: 64\n"
          "    .wavefront_size: 64\n"
          "    .sgpr_count: 54\n    .vgpr_count: 96\n    .agpr_count: 32\n"
          "    .max_flat_workgroup_size: "
       << block
       << "\n"
          "    .args:\n"
          "      - {.name: out, .offset: 0, .size: 8, .value_kind: "
          "global_buffer, .address_space: global}\n"
          "      - {.name: in, .offset: 8, .size: 8, .value_kind: "
          "global_buffer, .address_space: global}\n";
  os << "...\n.end_amdgpu_metadata\n";
}

LaunchOptions attn::emu::getCheckedOptions() {
  LaunchOptions options;
  options.checks = CheckSet::all();
  options.maxInstructionsPerWave = 100000;
  return options;
}

std::string attn::emu::describe(const Report &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  report.printFindings(os);
  return text;
}

static std::string makeFile(const Snippet &snippet, Chip chip) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeHeader(os, chip);
  os << ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
        "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
        "  v_lshlrev_b32 v1, 2, v0\n"
        "  s_waitcnt lgkmcnt(0)\n"
     << snippet.code << "\n  s_endpgm\n";
  writeDescriptor(os, "k", snippet.ldsBytes);
  writeMetadata(os, chip, {"k"}, snippet.ldsBytes, snippet.block);
  return text;
}

llvm::Expected<std::unique_ptr<CodeObject>>
attn::emu::assembleSnippet(const Snippet &snippet, Chip chip) {
  return assemble(makeFile(snippet, chip), chip);
}

llvm::Expected<std::vector<uint8_t>>
attn::emu::assembleSnippetFile(const Snippet &snippet, Chip chip) {
  return assembleFile(makeFile(snippet, chip), chip);
}

llvm::Expected<Report> attn::emu::runSnippet(const Snippet &snippet, Chip chip,
                                             std::vector<uint32_t> &in,
                                             std::vector<uint32_t> &out,
                                             const LaunchOptions &options) {
  auto object = assembleSnippet(snippet, chip);
  if (!object)
    return object.takeError();
  Launcher launcher(**object, "k");
  launcher.grid(snippet.grid).block(snippet.block).inout(out).input(in);
  return launcher.runOnce(options);
}

void attn::emu::expectSnippet(const Snippet &snippet, Chip chip,
                              std::vector<uint32_t> &in,
                              std::vector<uint32_t> &out) {
  auto report = runSnippet(snippet, chip, in, out, getCheckedOptions());
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_TRUE(report->isClean()) << describe(*report);
}

/// Bits of a result and what is left to compare when it is a NaN.
static bool matches(char letter, const uint32_t *actual,
                    const uint32_t *expected) {
  auto isHalfNaN = [](uint32_t half) { return (half & 0x7fff) > 0x7c00; };
  auto sameHalf = [&](uint32_t a, uint32_t b) {
    return isHalfNaN(b & 0xffff) ? isHalfNaN(a & 0xffff)
                                 : (a & 0xffff) == (b & 0xffff);
  };
  switch (letter) {
  case 'f':
    if (std::isnan(F(*expected)))
      return std::isnan(F(*actual));
    return *actual == *expected;
  case 'h':
    return sameHalf(*actual, *expected) && *actual >> 16 == *expected >> 16;
  case 'p':
    return sameHalf(*actual, *expected) &&
           sameHalf(*actual >> 16, *expected >> 16);
  case 'd':
    if (std::isnan(D(expected)))
      return std::isnan(D(actual));
    return L(actual) == L(expected);
  default:
    return *actual == *expected;
  }
}

void attn::emu::runWaveCases(const std::vector<WaveCase> &cases) {
  for (Chip chip : {Chip::GFX942, Chip::GFX950}) {
    SCOPED_TRACE(getChipName(chip).str());
    std::string text;
    llvm::raw_string_ostream os(text);
    writeHeader(os, chip);
    std::vector<std::string> names;
    std::vector<const WaveCase *> chosen;
    std::vector<Inputs> inputs;
    for (const WaveCase &c : cases) {
      if (!(c.chips >> unsigned(chip == Chip::GFX950) & 1))
        continue;
      names.push_back("k" + std::to_string(names.size()));
      chosen.push_back(&c);
      llvm::StringRef letters = c.inputs;
      bool uniform = letters.consume_front("=");
      inputs.push_back(makeInputs(letters, uniform));
      writeKernel(os, names.back(), inputs.back().registers,
                  countResults(c.results), c.code);
    }
    if (chosen.empty())
      continue;
    writeMetadata(os, chip, names);
    auto object = assemble(text, chip);
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());

    for (size_t index = 0; index != chosen.size(); ++index) {
      const WaveCase &c = *chosen[index];
      const Inputs &input = inputs[index];
      unsigned results = countResults(c.results);
      std::vector<uint32_t> out(size_t(input.waves) * results * 64);
      Launcher launcher(**object, names[index]);
      launcher.grid(input.waves).block(64).output(out).input(input.words);
      auto report = launcher.runOnce(getCheckedOptions());
      if (!report) {
        ADD_FAILURE() << c.name << ": " << llvm::toString(report.takeError());
        continue;
      }
      EXPECT_TRUE(report->isClean()) << c.name << ": " << describe(*report);

      unsigned shown = 0;
      for (unsigned wave = 0; wave != input.waves && shown < 3; ++wave) {
        uint32_t in[40][64], expected[40][64];
        for (unsigned reg = 0; reg != input.registers; ++reg)
          std::copy_n(&input.words[(size_t(wave) * input.registers + reg) * 64],
                      64, in[reg]);
        std::fill_n(&expected[0][0], 40 * 64, untouched);
        c.expected(in, expected);
        for (unsigned lane = 0; lane != 64 && shown < 3; ++lane) {
          unsigned reg = 0;
          for (char letter : llvm::StringRef(c.results)) {
            uint32_t a[2], e[2];
            unsigned words = letter == 'd' ? 2 : 1;
            for (unsigned word = 0; word != words; ++word) {
              a[word] = out[(size_t(wave) * results + reg + word) * 64 + lane];
              e[word] = expected[reg + word][lane];
            }
            if (!matches(letter, a, e)) {
              std::string values;
              for (unsigned i = 0; i != input.registers; ++i)
                values += " 0x" + llvm::utohexstr(in[i][lane]);
              ADD_FAILURE() << c.name << " of" << values << " (lane " << lane
                            << ") result " << reg << ": got 0x"
                            << llvm::utohexstr(a[words - 1]) << " 0x"
                            << llvm::utohexstr(a[0]) << ", expected 0x"
                            << llvm::utohexstr(e[words - 1]) << " 0x"
                            << llvm::utohexstr(e[0]);
              ++shown;
            }
            reg += words;
          }
        }
      }
    }
  }
}

void attn::emu::runCases(const std::vector<Case> &cases) {
  std::vector<WaveCase> waves;
  std::vector<std::string> letters;
  letters.reserve(cases.size());
  for (const Case &c : cases) {
    letters.push_back((c.uniform ? "=" : "") + std::string(c.inputs));
    unsigned inputs = 0, results = countResults(c.results);
    for (char letter : llvm::StringRef(c.inputs))
      inputs += letter == 'd' || letter == 'l' ? 2 : 1;
    waves.push_back(
        {c.name, letters.back().c_str(), c.results, c.code,
         [&c, inputs, results](const uint32_t (*in)[64], uint32_t (*out)[64]) {
           for (unsigned lane = 0; lane != 64; ++lane) {
             uint32_t laneIn[40], laneOut[40];
             for (unsigned i = 0; i != inputs; ++i)
               laneIn[i] = in[i][lane];
             std::fill_n(laneOut, 40, untouched);
             c.expected(laneIn, laneOut);
             for (unsigned i = 0; i != results; ++i)
               out[i][lane] = laneOut[i];
           }
         },
         c.chips});
  }
  runWaveCases(waves);
}
