//===- CodeObject.h - AMDHSA code objects -----------------------*- C++ -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads an AMDHSA ELF (code object version 4 to 6): the loadable segments, the
/// kernel descriptors and the metadata note. Everything the file says is
/// checked before it is believed; a bad file is an error, never a crash.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_CODEOBJECT_H
#define ATTN_EMULATOR_CODEOBJECT_H

#include "attn/Emulator/Chip.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace attn::emu {

/// One entry of a kernel's `.args` metadata.
struct KernelArg {
  std::string name;
  /// Bytes from the start of the kernarg segment.
  uint32_t offset = 0;
  /// Bytes.
  uint32_t size = 0;
  /// `.value_kind`, e.g. "global_buffer", "by_value", "hidden_block_count_x".
  std::string valueKind;

  bool isHidden() const;
};

/// One kernel: its descriptor and its metadata.
struct Kernel {
  std::string name;
  /// Virtual addresses inside the code object.
  uint64_t descriptorAddress = 0;
  uint64_t entryAddress = 0;

  /// Static LDS and scratch per lane, bytes.
  uint32_t groupSegmentBytes = 0;
  uint32_t privateSegmentBytes = 0;
  /// Kernarg segment with hidden arguments, bytes.
  uint32_t kernargSegmentBytes = 0;
  bool usesDynamicStack = false;

  /// Raw descriptor words (COMPUTE_PGM_RSRC1..3, kernel code properties,
  /// preload).
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  /// Kernarg preload: dwords, and the dword offset they start at.
  uint8_t preloadDwords = 0;
  uint16_t preloadOffset = 0;

  /// Register counts: per lane for vector registers (architected and
  /// accumulation share one file; accumulation registers start at accumOffset).
  uint32_t totalVGPRs = 0;
  uint32_t accumOffset = 0;

  /// From the metadata note; 0 or empty when it says nothing.
  uint32_t vgprCount = 0, agprCount = 0, sgprCount = 0;
  uint32_t vgprSpills = 0, sgprSpills = 0;
  uint32_t maxFlatWorkgroupSize = 0;
  std::array<uint32_t, 3> requiredWorkgroupSize = {0, 0, 0};
  std::vector<KernelArg> args;

  /// The argument called \p name, or null.
  const KernelArg *lookupArg(llvm::StringRef name) const;
  /// Bytes of explicit (not hidden) arguments.
  uint32_t getExplicitKernargBytes() const;
};

/// A loaded code object. Owns a relocated copy of its segments.
class CodeObject {
public:
  /// Parses \p buffer. Errors: not an ELF, truncated, wrong machine, ABI, chip
  /// or wave size, bad descriptor or note, relocation that is not supported.
  static llvm::Expected<std::unique_ptr<CodeObject>>
  create(llvm::MemoryBufferRef buffer);

  /// Reads the file at \p path and parses it.
  static llvm::Expected<std::unique_ptr<CodeObject>> load(llvm::StringRef path);

  ~CodeObject();

  Chip getChip() const { return chip; }
  /// 4, 5 or 6.
  unsigned getVersion() const { return version; }
  llvm::StringRef getName() const { return name; }
  /// Unique in this process.
  uint64_t getId() const { return id; }

  llvm::ArrayRef<Kernel> getKernels() const { return kernels; }
  /// The kernel called \p name; an error that lists the kernels if there is
  /// none. An empty name asks for the only kernel.
  llvm::Expected<const Kernel *> getKernel(llvm::StringRef name) const;

  /// The memory image; index 0 is virtual address 0 of the code object.
  llvm::ArrayRef<uint8_t> getImage() const { return image; }
  /// [begin, end) of the executable part, virtual addresses.
  uint64_t getTextBegin() const { return textBegin; }
  uint64_t getTextEnd() const { return textEnd; }

  /// Address and size of a data symbol of this code object; nullopt if absent.
  struct Symbol {
    uint64_t address = 0, size = 0;
  };
  std::optional<Symbol> lookupSymbol(llvm::StringRef name) const;

  /// Where the image holds addresses of itself, to which a loader adds its
  /// load address (64-bit words).
  llvm::ArrayRef<uint64_t> getRelativeRelocations() const {
    return relativeRelocations;
  }

private:
  friend class CodeObjectReader;
  CodeObject() = default;

  std::string name;
  uint64_t id = 0;
  Chip chip = Chip::GFX942;
  unsigned version = 0;
  std::vector<uint8_t> image;
  uint64_t textBegin = 0, textEnd = 0;
  std::vector<Kernel> kernels;
  std::vector<std::pair<std::string, Symbol>> symbols;
  /// Image offsets of 64-bit words that hold an address inside the image.
  std::vector<uint64_t> relativeRelocations;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_CODEOBJECT_H
