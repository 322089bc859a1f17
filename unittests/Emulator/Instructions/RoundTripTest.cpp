//===- RoundTripTest.cpp - Every mnemonic through LLVM's assembler --------===//
//
// All opcodes of every encoding family are offered to LLVM's disassembler. What
// it knows is assembled again by LLVM's assembler and must give the same bytes,
// and what the emulator claims must be exactly what its decoder accepts there.
//
//===----------------------------------------------------------------------===//

#include "../Corpus/LLVMDisassembler.h"
#include "Harness.h"
#include "attn/Emulator/ISA.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>
#include <set>

using namespace attn::emu;
using namespace llvm;

namespace {

struct Encoding {
  std::vector<uint8_t> bytes;
  std::string text;
};

std::vector<uint8_t> toBytes(std::initializer_list<uint32_t> words) {
  std::vector<uint8_t> bytes;
  for (uint32_t word : words)
    for (int i = 0; i != 4; ++i)
      bytes.push_back(uint8_t(word >> (8 * i)));
  return bytes;
}

/// One candidate an opcode of every family; operands are even registers that
/// suit tuples: s8, s16, s24, v16, v32, v48, v64.
std::vector<std::vector<uint8_t>> makeCandidates() {
  std::vector<std::vector<uint8_t>> all;
  auto add = [&](std::initializer_list<uint32_t> words) {
    all.push_back(toBytes(words));
  };
  for (uint32_t op = 0; op != 128; ++op) {
    add({0x80000000 | op << 23 | 8 << 16 | 24 << 8 | 16}); // SOP2
    add({0xbf000000 | op << 16 | 24 << 8 | 16});           // SOPC
    add({0xbf000000 | op << 16 | 1 << 8 | 16});            // s_set_gpr_idx_on
    if (op < 32)
      add({0xb0000000 | op << 23 | 8 << 16 | 0x0801}); // SOPK
    if (op < 32)
      add({0xb0000000 | op << 23 | 0xf801, 0x12345678}); // s_setreg_imm32_b32
    add({0xbf800000 | op << 16 | 4});                    // SOPP
    add({0xbf800000 | op << 16});
  }
  for (uint32_t op = 0; op != 256; ++op) {
    add({0xbe800000 | 8 << 16 | op << 8 | 16}); // SOP1
    add({0xc0000000 | op << 18 | 1 << 17 | 8 << 6 | 8,
         0x10}); // SMEM, immediate
    add({0xc0000000 | op << 18 | 1 << 14 | 8 << 6 | 8, 30u << 25}); // register
    add({0x7c000000 | op << 17 | 32 << 9 | 304});                   // VOPC
    add({0x7e000000 | 16 << 17 | op << 9 | 304});                   // VOP1
    add({0x7e000000 | 8 << 17 | op << 9 | 304}); // s8 as destination
    for (uint32_t special : {249u, 250u}) {      // SDWA, DPP
      uint32_t extra = special == 249 ? 0x06060600 | 48 : 0xff011100 | 48;
      add({0x7c000000 | op << 17 | 32 << 9 | special, extra});
      add({0x7e000000 | 16 << 17 | op << 9 | special, extra});
      if (op < 64)
        add({op << 25 | 16 << 17 | 32 << 9 | special, extra});
    }
    if (op < 64) {
      add({op << 25 | 16 << 17 | 32 << 9 | 304});         // VOP2
      add({op << 25 | 16 << 17 | 32 << 9 | 304, 0x1234}); // with a constant
    }
    for (uint32_t data : {0x10203020u, 0x10000000u, 0x00003020u, 0x00303020u,
                          0x10303020u, 0u, 0x00000020u, 0x10000020u})
      add({0xd8000000 | op << 17, data}); // DS
  }
  add({0x7e000000}); // v_nop
  for (uint32_t op = 0; op != 1024; ++op)
    for (uint32_t sources :
         {304u | 288u << 9 | 320u << 18, 304u | 288u << 9, 304u,
          304u | 24u << 9, 304u | 288u << 9 | 24u << 18, 16u | 16u << 9})
      for (uint32_t destination : {16u, 16u | 8u << 8})
        add({0xd0000000 | op << 16 | destination, sources}); // VOP3
  for (uint32_t op = 0; op != 128; ++op) {
    for (uint32_t sources : {304u | 288u << 9 | 272u << 18, 304u | 288u << 9,
                             304u, 304u | 288u << 9 | 272u << 18 | 3u << 27}) {
      add({0xd3800000 | op << 16 | 1 << 14 | 16, sources | 3u << 27}); // VOP3P
      add({0xd3800000 | op << 16 | 16, sources & ~(3u << 27)});        // MAI
      // The scale prefix of the scaled forms.
      add({0xd3ac0000, 320u | 328u << 9, 0xd3800000 | op << 16 | 1 << 11 | 16,
           sources & ~(3u << 27)});
    }
    for (uint32_t segment : {0u, 1u, 2u})
      for (uint32_t data : {0x107f3020u, 0x10183020u, 0x107f0020u, 0x007f3020u,
                            0x10180020u, 0x00183020u, 0x007f0020u})
        for (uint32_t flags : {0u, 1u << 16, 1u << 13})
          add({0xdc000000 | op << 18 | segment << 14 | flags, data}); // FLAT
    for (uint32_t data : {0x10003020u, 0x00003020u, 0x10000020u})
      for (uint32_t flags : {0u, 1u << 16})
        add({0xdc000000 | op << 18 | flags, data});
    for (uint32_t flags : {0u, 1u << 12, 1u << 14, 1u << 16 | 1u << 12})
      add({0xe0000000 | op << 18 | flags, 0x80043020}); // MUBUF
  }
  return all;
}

std::string baseName(StringRef text) {
  StringRef name = text.split(' ').first;
  for (StringRef suffix : {"_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa"})
    if (name.consume_back(suffix))
      break;
  return name.str();
}

class RoundTrip : public testing::TestWithParam<Chip> {};
INSTANTIATE_TEST_SUITE_P(, RoundTrip,
                         testing::Values(Chip::GFX942, Chip::GFX950),
                         [](const testing::TestParamInfo<Chip> &info) {
                           return getChipName(info.param).str();
                         });

TEST_P(RoundTrip, EveryMnemonic) {
  Chip chip = GetParam();
  LLVMDisassembler llvm(chip);
  std::map<std::string, Encoding> byText;
  for (std::vector<uint8_t> &bytes : makeCandidates()) {
    uint64_t size;
    std::vector<uint8_t> padded = bytes;
    padded.resize(20);
    std::string text = llvm.decode(padded, size);
    if (text.empty() || size > bytes.size())
      continue;
    // Branch targets print as numbers that depend on the place.
    if (StringRef(text).starts_with("s_cbranch") ||
        StringRef(text).starts_with("s_branch") ||
        StringRef(text).starts_with("s_call"))
      text = text.substr(0, text.find(' ')) +
             (StringRef(text).starts_with("s_call") ? " s[8:9], 4" : " 4");
    bytes.resize(size);
    byText.insert({text, {bytes, text}});
  }
  ASSERT_GT(byText.size(), 1500u);

  // Assemble all of it; drop lines that the assembler does not take back.
  std::vector<const Encoding *> lines;
  for (const auto &[text, encoding] : byText)
    lines.push_back(&encoding);
  std::unique_ptr<CodeObject> object;
  std::set<std::string> refused;
  for (int attempt = 0; attempt != 2 && !object; ++attempt) {
    Snippet snippet;
    for (const Encoding *line : lines)
      snippet.code += line->text + "\n";
    auto result = assembleSnippet(snippet, chip);
    if (result) {
      object = std::move(*result);
      break;
    }
    std::string log = toString(result.takeError());
    // "file.s:LINE:COLUMN: error"; code starts after the header and prologue.
    constexpr size_t firstLine = 11;
    std::set<size_t> bad;
    for (StringRef line : split(log, '\n')) {
      size_t at = line.find(".s:");
      size_t number;
      if (at != StringRef::npos && line.contains("error:") &&
          !line.substr(at + 3).split(':').first.getAsInteger(10, number))
        bad.insert(number - firstLine);
    }
    ASSERT_FALSE(bad.empty()) << log;
    std::vector<const Encoding *> kept;
    for (size_t i = 0; i != lines.size(); ++i) {
      if (bad.count(i))
        refused.insert(lines[i]->text);
      else
        kept.push_back(lines[i]);
    }
    lines = std::move(kept);
  }
  ASSERT_TRUE(object);

  // The same bytes came out, instruction by instruction.
  ArrayRef<uint8_t> text = object->getImage();
  uint64_t at = object->getTextBegin();
  for (int prologue = 0; prologue != 3; ++prologue) {
    uint64_t size;
    ASSERT_NE(llvm.decode(text.slice(at, 16), size), "");
    at += size;
  }
  std::vector<std::string> changed;
  for (const Encoding *line : lines) {
    uint64_t size;
    std::vector<uint8_t> window(20, 0);
    size_t available = std::min<size_t>(20, text.size() - at);
    std::copy_n(text.begin() + at, available, window.begin());
    std::string again = llvm.decode(window, size);
    // Bits that the instruction ignores may differ, what it says may not.
    if (again != line->text && baseName(again) != "s_cbranch")
      changed.push_back(line->text + " became " + again);
    at += size;
  }
  for (size_t i = 0; i < std::min<size_t>(changed.size(), 5); ++i)
    ADD_FAILURE() << changed[i];

  // What the decoder accepts is what is claimed.
  std::vector<std::string> claimedList = getSupportedMnemonics(chip);
  std::set<std::string> claimed(claimedList.begin(), claimedList.end());
  auto unsupported = findUnsupportedInstructions(*object);
  ASSERT_TRUE(bool(unsupported)) << toString(unsupported.takeError());
  std::map<std::string, unsigned> rejected;
  for (const std::string &entry : *unsupported)
    for (StringRef word : split(entry, ' '))
      if (word.contains('_') && !word.starts_with("0x")) {
        ++rejected[baseName(word.trim(':'))];
        break;
      }
  std::set<std::string> seen;
  std::map<std::string, unsigned> total;
  for (const Encoding *line : lines) {
    seen.insert(baseName(line->text));
    ++total[baseName(line->text)];
  }
  std::string unclaimed, wrong, absent;
  for (const std::string &name : seen)
    if (!claimed.count(name))
      unclaimed += name + " ";
  for (const auto &[name, count] : rejected)
    if (claimed.count(name))
      wrong += name + " ";
  for (const std::string &name : claimed)
    if (!seen.count(name))
      absent += name + " ";
  EXPECT_EQ(wrong, "") << "claimed, but some forms are not decoded";
  EXPECT_EQ(absent, "") << "claimed, but unknown to LLVM on this chip";
  RecordProperty("KnownToLLVMButNotClaimed", unclaimed);
  RecordProperty("RefusedByTheAssembler", int(refused.size()));
}

} // namespace
