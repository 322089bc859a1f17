//===- CodeObjectTest.cpp - Good and bad code objects ---------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsmKernel.h"
#include "llvm/BinaryFormat/ELF.h"
#include <cstring>
#include <random>

using namespace attn::emu;
using namespace llvm;

namespace {

std::string getError(const std::vector<char> &bytes) {
  auto object = CodeObject::create(
      MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "f.hsaco"));
  return object ? "" : toString(object.takeError());
}

std::vector<char> makeObject(Chip chip = Chip::GFX942) {
  AsmKernel kernel;
  kernel.body = "s_nop 0";
  kernel.ldsBytes = 512;
  kernel.scratchBytes = 32;
  return cantFail(assembleBytes(chip, kernel));
}

ELF::Elf64_Ehdr &getHeader(std::vector<char> &bytes) {
  return *reinterpret_cast<ELF::Elf64_Ehdr *>(bytes.data());
}

TEST(CodeObject, ReadsKernel) {
  std::vector<char> bytes = makeObject(Chip::GFX950);
  auto object = cantFail(CodeObject::create(
      MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "f.hsaco")));
  EXPECT_EQ(object->getChip(), Chip::GFX950);
  EXPECT_EQ(object->getVersion(), 6u);
  const Kernel *kernel = cantFail(object->getKernel("k"));
  EXPECT_EQ(kernel->groupSegmentBytes, 512u);
  EXPECT_EQ(kernel->privateSegmentBytes, 32u);
  EXPECT_EQ(kernel->kernargSegmentBytes, 32u);
  EXPECT_EQ(kernel->totalVGPRs, 256u);
  EXPECT_EQ(kernel->accumOffset, 128u);
  EXPECT_EQ(kernel->maxFlatWorkgroupSize, 1024u);
  ASSERT_EQ(kernel->args.size(), 5u);
  EXPECT_EQ(kernel->args[1].name, "out");
  EXPECT_EQ(kernel->args[1].offset, 8u);
  EXPECT_TRUE(kernel->args[2].isHidden());
  EXPECT_EQ(kernel->getExplicitKernargBytes(), 16u);
  EXPECT_TRUE(object->lookupSymbol("k"));
  EXPECT_FALSE(object->lookupSymbol("nothing"));
  // The only kernel needs no name.
  EXPECT_EQ(cantFail(object->getKernel("")), kernel);
  auto missing = object->getKernel("other");
  ASSERT_FALSE(missing);
  EXPECT_EQ(toString(missing.takeError()),
            "f.hsaco: has no kernel 'other', it has: k");
}

TEST(CodeObject, RejectsForeignFiles) {
  EXPECT_EQ(getError({'h', 'i'}), "f.hsaco: is not an ELF file");
  EXPECT_EQ(getError({}), "f.hsaco: is not an ELF file");
  std::vector<char> bytes = makeObject();
  EXPECT_EQ(getError(bytes), "");
  std::vector<char> changed = bytes;
  getHeader(changed).e_machine = ELF::EM_X86_64;
  EXPECT_EQ(getError(changed),
            "f.hsaco: expects an AMDGPU code object, but the ELF machine is "
            "62");
  changed = bytes;
  changed[ELF::EI_CLASS] = ELF::ELFCLASS32;
  EXPECT_EQ(getError(changed),
            "f.hsaco: expects a 64-bit little-endian ELF file");
  changed = bytes;
  changed[ELF::EI_OSABI] = ELF::ELFOSABI_LINUX;
  EXPECT_EQ(getError(changed), "f.hsaco: expects OS ABI amdhsa, but got 3");
  changed = bytes;
  changed[ELF::EI_ABIVERSION] = 0;
  EXPECT_EQ(getError(changed), "f.hsaco: expects code object version 4, 5 or "
                               "6, but the ELF ABI version is 0");
  changed = bytes;
  getHeader(changed).e_type = ELF::ET_REL;
  EXPECT_NE(getError(changed).find("expects a linked code object"),
            std::string::npos);
  changed = bytes;
  getHeader(changed).e_flags =
      (getHeader(changed).e_flags & ~ELF::EF_AMDGPU_MACH) |
      ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A;
  EXPECT_NE(
      getError(changed).find("expects a code object for gfx942 or gfx950"),
      std::string::npos);
}

TEST(CodeObject, EveryTruncationIsAnError) {
  std::vector<char> bytes = makeObject();
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 64) {
    std::vector<char> cut(bytes.begin(), bytes.begin() + size);
    EXPECT_NE(getError(cut), "") << size << " bytes of " << bytes.size();
  }
}

TEST(CodeObject, SurvivesFlippedBytes) {
  std::vector<char> bytes = makeObject();
  std::mt19937 random(42);
  unsigned rejected = 0;
  for (unsigned n = 0; n < 2000; ++n) {
    std::vector<char> changed = bytes;
    for (unsigned flips = 1 + random() % 4; flips; --flips)
      changed[random() % changed.size()] = char(random());
    rejected += !getError(changed).empty();
  }
  EXPECT_GT(rejected, 0u);
}

TEST(CodeObject, MissingFile) {
  auto object = CodeObject::load("no/such/file.hsaco");
  ASSERT_FALSE(object);
  EXPECT_EQ(toString(object.takeError()),
            "cannot read 'no/such/file.hsaco': No such file or directory");
}

TEST(CodeObject, ChipNames) {
  EXPECT_EQ(cantFail(parseChip("gfx950")), Chip::GFX950);
  auto chip = parseChip("gfx90a");
  ASSERT_FALSE(chip);
  EXPECT_EQ(toString(chip.takeError()),
            "expects chip to be gfx942 or gfx950, but got 'gfx90a'");
}

} // namespace
