//===- CodeObject.cpp - AMDHSA code objects -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout facts: LLVM's AMDGPU usage guide, "Code Object" and "Kernel
// Descriptor".
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/CodeObject.h"
#include "MetadataTree.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <atomic>

using namespace attn::emu;
using namespace llvm;
using ELFT = object::ELF64LE;

/// A code object is megabytes at most; an image far beyond is a broken file.
static constexpr uint64_t maxImageBytes = uint64_t(1) << 30;

bool KernelArg::isHidden() const {
  return StringRef(valueKind).starts_with("hidden_");
}

const KernelArg *Kernel::lookupArg(StringRef name) const {
  for (const KernelArg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

uint32_t Kernel::getExplicitKernargBytes() const {
  uint32_t bytes = 0;
  for (const KernelArg &arg : args)
    if (!arg.isHidden())
      bytes = std::max(bytes, arg.offset + arg.size);
  // Without metadata the descriptor's size is all there is to go by.
  return args.empty() ? kernargSegmentBytes : bytes;
}

namespace attn::emu {
/// Fills a CodeObject step by step; every step checks what it reads.
class CodeObjectReader {
public:
  CodeObjectReader(MemoryBufferRef buffer, const object::ELFFile<ELFT> &elf)
      : buffer(buffer), elf(elf), result(new CodeObject()) {}

  Expected<std::unique_ptr<CodeObject>> read();

private:
  template <typename... Ts> Error fail(const char *format, Ts &&...values) {
    return createStringError(
        buffer.getBufferIdentifier() + ": " +
        formatv(format, std::forward<Ts>(values)...).str());
  }

  Error readHeader();
  Error readSegments();
  Error readSymbols();
  Error readDynamic();
  Error applyRelocations(uint64_t address, uint64_t bytes);
  Error readDescriptor(Kernel &kernel);
  Error readNotes();
  Error readMetadata(StringRef blob);
  Error readKernelMetadata(const MetadataNode &map);

  /// Bytes [address, address + bytes) of the image, or empty.
  ArrayRef<uint8_t> getBytes(uint64_t address, uint64_t bytes) const {
    ArrayRef<uint8_t> image = result->image;
    if (address > image.size() || bytes > image.size() - address)
      return {};
    return image.slice(address, bytes);
  }

  MemoryBufferRef buffer;
  const object::ELFFile<ELFT> &elf;
  std::unique_ptr<CodeObject> result;
};
} // namespace attn::emu

Error CodeObjectReader::readHeader() {
  const auto &header = elf.getHeader();
  if (header.e_machine != ELF::EM_AMDGPU)
    return fail("expects an AMDGPU code object, but the ELF machine is {0}",
                unsigned(header.e_machine));
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return fail("expects OS ABI amdhsa, but got {0}",
                unsigned(header.e_ident[ELF::EI_OSABI]));
  switch (header.e_ident[ELF::EI_ABIVERSION]) {
  case ELF::ELFABIVERSION_AMDGPU_HSA_V4:
    result->version = 4;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V5:
    result->version = 5;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V6:
    result->version = 6;
    break;
  default:
    return fail("expects code object version 4, 5 or 6, but the ELF ABI "
                "version is {0}",
                unsigned(header.e_ident[ELF::EI_ABIVERSION]));
  }
  if (header.e_type != ELF::ET_DYN)
    return fail("expects a linked code object (ET_DYN), but the ELF type is "
                "{0}; link it with ld.lld -shared",
                unsigned(header.e_type));
  unsigned mach = header.e_flags & ELF::EF_AMDGPU_MACH;
  if (mach == ELF::EF_AMDGPU_MACH_AMDGCN_GFX942)
    result->chip = Chip::GFX942;
  else if (mach == ELF::EF_AMDGPU_MACH_AMDGCN_GFX950)
    result->chip = Chip::GFX950;
  else
    return fail("expects a code object for gfx942 or gfx950, but its machine "
                "flag is {0:x}",
                mach);
  return Error::success();
}

Error CodeObjectReader::readSegments() {
  auto headers = elf.program_headers();
  if (!headers)
    return fail("bad program headers: {0}", toString(headers.takeError()));
  uint64_t end = 0;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    if (header.p_filesz > header.p_memsz || header.p_memsz > maxImageBytes ||
        header.p_vaddr > maxImageBytes)
      return fail("bad size of the segment at {0:x}", uint64_t(header.p_vaddr));
    if (header.p_offset > buffer.getBufferSize() ||
        header.p_filesz > buffer.getBufferSize() - header.p_offset)
      return fail("truncated: the segment at {0:x} ends past the end of the "
                  "file",
                  uint64_t(header.p_vaddr));
    end = std::max<uint64_t>(end, header.p_vaddr + header.p_memsz);
  }
  if (end == 0)
    return fail("has no loadable segment");
  result->image.resize(end);
  result->textBegin = end;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    std::copy_n(reinterpret_cast<const uint8_t *>(buffer.getBufferStart()) +
                    header.p_offset,
                header.p_filesz, result->image.begin() + header.p_vaddr);
    if (header.p_flags & ELF::PF_X) {
      result->textBegin = std::min<uint64_t>(result->textBegin, header.p_vaddr);
      result->textEnd =
          std::max<uint64_t>(result->textEnd, header.p_vaddr + header.p_memsz);
    }
  }
  if (result->textEnd == 0)
    return fail("has no executable segment");
  return Error::success();
}

Error CodeObjectReader::readSymbols() {
  auto sections = elf.sections();
  if (!sections)
    return fail("bad section headers: {0}", toString(sections.takeError()));
  // The dynamic table is what loaders use; the static one adds local data.
  const ELFT::Shdr *table = nullptr;
  for (const auto &section : *sections)
    if (section.sh_type == ELF::SHT_SYMTAB ||
        (section.sh_type == ELF::SHT_DYNSYM && !table))
      table = &section;
  if (!table)
    return fail("has no symbol table");
  auto symbols = elf.symbols(table);
  if (!symbols)
    return fail("bad symbol table: {0}", toString(symbols.takeError()));
  auto strings = elf.getStringTableForSymtab(*table);
  if (!strings)
    return fail("bad symbol names: {0}", toString(strings.takeError()));
  for (const auto &symbol : *symbols) {
    auto name = symbol.getName(*strings);
    if (!name)
      return fail("bad symbol name: {0}", toString(name.takeError()));
    if (name->empty() || symbol.st_shndx == ELF::SHN_UNDEF)
      continue;
    if (symbol.st_shndx != ELF::SHN_ABS)
      result->symbols.emplace_back(
          name->str(), CodeObject::Symbol{symbol.st_value, symbol.st_size});
    StringRef kernelName = *name;
    if (symbol.getType() != ELF::STT_OBJECT || !kernelName.consume_back(".kd"))
      continue;
    Kernel kernel;
    kernel.name = kernelName.str();
    kernel.descriptorAddress = symbol.st_value;
    if (Error error = readDescriptor(kernel))
      return error;
    result->kernels.push_back(std::move(kernel));
  }
  return Error::success();
}

Error CodeObjectReader::readDescriptor(Kernel &kernel) {
  ArrayRef<uint8_t> bytes = getBytes(kernel.descriptorAddress, 64);
  if (bytes.empty())
    return fail("the descriptor of kernel '{0}' is outside the file",
                kernel.name);
  auto read32 = [&](unsigned offset) {
    return support::endian::read32le(bytes.data() + offset);
  };
  kernel.groupSegmentBytes = read32(0);
  kernel.privateSegmentBytes = read32(4);
  kernel.kernargSegmentBytes = read32(8);
  kernel.rsrc3 = read32(44);
  kernel.rsrc1 = read32(48);
  kernel.rsrc2 = read32(52);
  kernel.properties = support::endian::read16le(bytes.data() + 56);
  uint16_t preload = support::endian::read16le(bytes.data() + 58);
  kernel.preloadDwords = preload & 0x7f;
  kernel.preloadOffset = preload >> 7;
  kernel.usesDynamicStack = kernel.properties >> 11 & 1;
  if (kernel.properties >> 10 & 1)
    return fail("kernel '{0}' wants wave32, which the chip does not have",
                kernel.name);
  kernel.totalVGPRs = ((kernel.rsrc1 & 0x3f) + 1) * 8;
  kernel.accumOffset = ((kernel.rsrc3 & 0x3f) + 1) * 4;
  if (kernel.privateSegmentBytes > (1u << 20))
    return fail("kernel '{0}' wants {1} bytes of scratch a lane, more than "
                "1 MiB",
                kernel.name, kernel.privateSegmentBytes);
  if (kernel.kernargSegmentBytes > (1u << 16))
    return fail("kernel '{0}' wants {1} bytes of kernel arguments, more than "
                "64 KiB",
                kernel.name, kernel.kernargSegmentBytes);

  int64_t offset =
      static_cast<int64_t>(support::endian::read64le(bytes.data() + 16));
  kernel.entryAddress = kernel.descriptorAddress + offset;
  if (kernel.entryAddress < result->textBegin ||
      kernel.entryAddress >= result->textEnd || kernel.entryAddress % 4)
    return fail("the entry of kernel '{0}' ({1:x}) is not in the code",
                kernel.name, kernel.entryAddress);
  return Error::success();
}

Error CodeObjectReader::applyRelocations(uint64_t address, uint64_t bytes) {
  // Addresses inside the object are the only thing there is to relocate, and
  // the machine adds its load address when it maps the image; so record them.
  ArrayRef<uint8_t> table = getBytes(address, bytes);
  if (table.empty() && bytes)
    return fail("the relocation table is outside the file");
  for (uint64_t at = 0; at + 24 <= table.size(); at += 24) {
    uint64_t where = support::endian::read64le(table.data() + at);
    uint32_t type = support::endian::read32le(table.data() + at + 8);
    uint32_t symbol = support::endian::read32le(table.data() + at + 12);
    uint64_t addend = support::endian::read64le(table.data() + at + 16);
    if (where > result->image.size() || result->image.size() - where < 8)
      return fail("a relocation points outside the file ({0:x})", where);
    if (type == ELF::R_AMDGPU_NONE)
      continue;
    if (type != ELF::R_AMDGPU_RELATIVE64 || symbol != 0)
      return fail("relocation type {0} at {1:x} is not supported: the code "
                  "object refers to a symbol it does not define",
                  type, where);
    support::endian::write64le(result->image.data() + where, addend);
    result->relativeRelocations.push_back(where);
  }
  return Error::success();
}

Error CodeObjectReader::readDynamic() {
  auto headers = elf.program_headers();
  if (!headers)
    return fail("bad program headers: {0}", toString(headers.takeError()));
  uint64_t rela = 0, relaBytes = 0;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_DYNAMIC)
      continue;
    ArrayRef<uint8_t> bytes = getBytes(header.p_vaddr, header.p_filesz);
    for (uint64_t at = 0; at + 16 <= bytes.size(); at += 16) {
      uint64_t tag = support::endian::read64le(bytes.data() + at);
      uint64_t value = support::endian::read64le(bytes.data() + at + 8);
      if (tag == ELF::DT_RELA)
        rela = value;
      if (tag == ELF::DT_RELASZ)
        relaBytes = value;
    }
  }
  return relaBytes ? applyRelocations(rela, relaBytes) : Error::success();
}

Error CodeObjectReader::readKernelMetadata(const MetadataNode &map) {
  StringRef symbol = map.getString(".symbol");
  symbol.consume_back(".kd");
  if (symbol.empty())
    symbol = map.getString(".name");
  auto it = find_if(result->kernels, [&](const Kernel &kernel) {
    return kernel.name == symbol;
  });
  if (it == result->kernels.end())
    return fail("the metadata names kernel '{0}', which has no descriptor",
                symbol);
  Kernel &kernel = *it;
  kernel.vgprCount = map.getInteger(".vgpr_count");
  kernel.agprCount = map.getInteger(".agpr_count");
  kernel.sgprCount = map.getInteger(".sgpr_count");
  kernel.vgprSpills = map.getInteger(".vgpr_spill_count");
  kernel.sgprSpills = map.getInteger(".sgpr_spill_count");
  kernel.maxFlatWorkgroupSize = map.getInteger(".max_flat_workgroup_size");
  uint64_t segment = map.getInteger(".kernarg_segment_size");
  if (segment > (1u << 16))
    return fail("kernel '{0}' wants {1} bytes of kernel arguments, more than "
                "64 KiB",
                kernel.name, segment);
  kernel.kernargSegmentBytes =
      std::max<uint32_t>(kernel.kernargSegmentBytes, segment);

  const auto &required = map.getArray(".reqd_workgroup_size");
  for (unsigned i = 0; i < 3 && i < required.size(); ++i)
    kernel.requiredWorkgroupSize[i] = required[i].integer;
  for (const MetadataNode &argMap : map.getArray(".args")) {
    uint64_t offset = argMap.getInteger(".offset");
    uint64_t size = argMap.getInteger(".size");
    if (offset > kernel.kernargSegmentBytes ||
        size > kernel.kernargSegmentBytes - offset)
      return fail("an argument of kernel '{0}' (offset {1}, {2} bytes) is "
                  "outside its kernarg segment of {3} bytes",
                  kernel.name, offset, size, kernel.kernargSegmentBytes);
    KernelArg arg;
    arg.name = argMap.getString(".name").str();
    arg.valueKind = argMap.getString(".value_kind").str();
    arg.offset = offset;
    arg.size = size;
    kernel.args.push_back(std::move(arg));
  }
  return Error::success();
}

Error CodeObjectReader::readMetadata(StringRef blob) {
  auto root = parseMetadata(blob);
  if (!root)
    return fail("{0}", toString(root.takeError()));
  const MetadataNode *kernels = root->lookup("amdhsa.kernels");
  if (!kernels || kernels->kind != MetadataNode::Array)
    return fail("the metadata note has no list amdhsa.kernels");
  for (const MetadataNode &kernel : kernels->elements)
    if (Error error = readKernelMetadata(kernel))
      return error;
  return Error::success();
}

Error CodeObjectReader::readNotes() {
  auto headers = elf.program_headers();
  if (!headers)
    return fail("bad program headers: {0}", toString(headers.takeError()));
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_NOTE)
      continue;
    Error noteError = Error::success();
    for (const auto &note : elf.notes(header, noteError)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      ArrayRef<uint8_t> desc =
          note.getDesc(std::max<uint64_t>(4, header.p_align));
      if (Error error = readMetadata(toStringRef(desc)))
        return joinErrors(std::move(error), std::move(noteError));
      return noteError;
    }
    if (noteError)
      return fail("bad notes: {0}", toString(std::move(noteError)));
  }
  return Error::success();
}

Expected<std::unique_ptr<CodeObject>> CodeObjectReader::read() {
  static std::atomic<uint64_t> nextId{1};
  result->id = nextId++;
  result->name = buffer.getBufferIdentifier().str();
  if (Error error = readHeader())
    return error;
  if (Error error = readSegments())
    return error;
  if (Error error = readDynamic())
    return error;
  if (Error error = readSymbols())
    return error;
  if (Error error = readNotes())
    return error;
  sort(result->kernels,
       [](const Kernel &a, const Kernel &b) { return a.name < b.name; });
  return std::move(result);
}

CodeObject::~CodeObject() = default;

Expected<std::unique_ptr<CodeObject>>
CodeObject::create(MemoryBufferRef buffer) {
  StringRef contents = buffer.getBuffer();
  if (!contents.starts_with("\x7f"
                            "ELF"))
    return createStringError(buffer.getBufferIdentifier() +
                             ": is not an ELF file");
  if (contents.size() < sizeof(ELFT::Ehdr))
    return createStringError(buffer.getBufferIdentifier() + ": truncated");
  if (contents[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      contents[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return createStringError(buffer.getBufferIdentifier() +
                             ": expects a 64-bit little-endian ELF file");
  // The ELF reader wants natural alignment, which a caller's bytes may lack.
  auto copy = WritableMemoryBuffer::getNewUninitMemBuffer(
      contents.size(), buffer.getBufferIdentifier(), Align(64));
  std::copy(contents.begin(), contents.end(), copy->getBufferStart());
  auto elf = object::ELFFile<ELFT>::create(
      StringRef(copy->getBufferStart(), copy->getBufferSize()));
  if (!elf)
    return createStringError(buffer.getBufferIdentifier() + ": " +
                             toString(elf.takeError()));
  return CodeObjectReader(copy->getMemBufferRef(), *elf).read();
}

Expected<std::unique_ptr<CodeObject>> CodeObject::load(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError(file.getError(), "cannot read '" + path + "': " +
                                                  file.getError().message());
  return create((*file)->getMemBufferRef());
}

Expected<const Kernel *> CodeObject::getKernel(StringRef wanted) const {
  if (wanted.empty() && kernels.size() == 1)
    return &kernels.front();
  std::string known;
  for (const Kernel &kernel : kernels) {
    if (kernel.name == wanted)
      return &kernel;
    known += (known.empty() ? "" : ", ") + kernel.name;
  }
  if (wanted.empty())
    return createStringError(name +
                             ": expects a kernel name, the code object "
                             "has " +
                             Twine(kernels.size()) + " kernels: " + known);
  return createStringError(name + ": has no kernel '" + wanted +
                           "', it has: " + known);
}

std::optional<CodeObject::Symbol>
CodeObject::lookupSymbol(StringRef wanted) const {
  for (const auto &[symbolName, symbol] : symbols)
    if (symbolName == wanted)
      return symbol;
  return std::nullopt;
}
