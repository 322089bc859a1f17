//===- HSACO.cpp - LLVM IR to AMD code objects, in process ----------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/HSACO.h"
#include "attn/Target/ChipInfo.h"

#include "lld/Common/Driver.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace mlir::attn {

static Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(StringRef chip, unsigned optLevel) {
  Expected<const ChipInfo *> info = lookupChip(chip);
  if (!info)
    return info.takeError();
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  auto level = CodeGenOpt::getLevel(optLevel);
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, chip, /*Features=*/"", TargetOptions(), Reloc::PIC_, std::nullopt,
      level.value_or(CodeGenOptLevel::Aggressive)));
}

Error prepareModule(llvm::Module &module, StringRef chip) {
  auto machine = createTargetMachine(chip, 3);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  return Error::success();
}

Error optimizeModule(llvm::Module &module, StringRef chip, unsigned optLevel) {
  if (optLevel == 0)
    return Error::success();
  auto machine = createTargetMachine(chip, optLevel);
  if (!machine)
    return machine.takeError();
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(machine->get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  // Not a stock -O pipeline: unrolling and vectorising would undo the schedule,
  // hoisting would keep the sums of 64-bit addresses in more scalar registers
  // than there are, and everything else finds nothing to do but takes time.
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  LoopPassManager loopPasses;
  loopPasses.addPass(LoopRotatePass());
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loopPasses),
                                                 /*UseMemorySSA=*/false));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  ModulePassManager pipeline;
  pipeline.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
  return Error::success();
}

static Error emit(llvm::Module &module, StringRef chip, unsigned optLevel,
                  raw_pwrite_stream &os, CodeGenFileType type) {
  auto machine = createTargetMachine(chip, optLevel);
  if (!machine)
    return machine.takeError();
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr, type))
    return createStringError("the AMDGPU backend cannot emit this file type");
  passes.run(module);
  return Error::success();
}

Expected<std::string> emitAssembly(llvm::Module &module, StringRef chip,
                                   unsigned optLevel) {
  SmallVector<char, 0> text;
  raw_svector_ostream os(text);
  if (Error error =
          emit(module, chip, optLevel, os, CodeGenFileType::AssemblyFile))
    return std::move(error);
  return std::string(text.begin(), text.end());
}

Expected<SmallVector<char, 0>> emitObject(llvm::Module &module, StringRef chip,
                                          unsigned optLevel) {
  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  if (Error error =
          emit(module, chip, optLevel, os, CodeGenFileType::ObjectFile))
    return std::move(error);
  return object;
}

namespace {
/// A directory of our own under the system's temporary directory.
class TemporaryDirectory {
public:
  static Expected<TemporaryDirectory> create() {
    SmallString<128> path;
    if (std::error_code ec = sys::fs::createUniqueDirectory("attn-link", path))
      return createStringError(ec, "cannot create a temporary directory");
    return TemporaryDirectory(path);
  }
  TemporaryDirectory(TemporaryDirectory &&other)
      : path(std::exchange(other.path, {})) {}
  ~TemporaryDirectory() {
    if (!path.empty())
      sys::fs::remove_directories(path);
  }
  std::string file(StringRef name) const {
    SmallString<128> result(path);
    sys::path::append(result, name);
    return std::string(result);
  }

private:
  explicit TemporaryDirectory(StringRef path) : path(path) {}
  std::string path;
};
} // namespace

Expected<SmallVector<char, 0>> linkCodeObject(ArrayRef<char> object) {
  Expected<TemporaryDirectory> directory = TemporaryDirectory::create();
  if (!directory)
    return directory.takeError();
  std::string input = directory->file("kernel.o");
  std::string output = directory->file("kernel.hsaco");
  {
    std::error_code ec;
    raw_fd_ostream os(input, ec);
    if (ec)
      return createStringError(ec, "cannot write '" + input + "'");
    os.write(object.data(), object.size());
  }
  std::string messages;
  {
    // lld keeps global state.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    raw_string_ostream log(messages);
    const char *args[] = {"ld.lld", "-shared",      input.c_str(),
                          "-o",     output.c_str(), "--threads=1"};
    lld::Result result =
        lld::lldMain(args, log, log, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return createStringError("linking failed: " + StringRef(messages).trim());
  }
  auto buffer = MemoryBuffer::getFile(output, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read '" + output + "'");
  StringRef data = (*buffer)->getBuffer();
  return SmallVector<char, 0>(data.begin(), data.end());
}

json::Object KernelInfo::getStatistics() const {
  return json::Object{{"name", name},
                      {"vgprs", vgprs},
                      {"agprs", agprs},
                      {"sgprs", sgprs},
                      {"vgpr_spills", vgprSpills},
                      {"sgpr_spills", sgprSpills},
                      {"lds_bytes", ldsBytes},
                      {"scratch_bytes", scratchBytes},
                      {"kernarg_bytes", kernargBytes}};
}

static KernelInfo readKernel(msgpack::MapDocNode map) {
  KernelInfo info;
  auto number = [](msgpack::MapDocNode map, StringRef key) -> unsigned {
    auto it = map.find(key);
    return it == map.end() ? 0 : it->second.getUInt();
  };
  auto string = [](msgpack::MapDocNode map, StringRef key) -> std::string {
    auto it = map.find(key);
    return it == map.end() ? "" : it->second.getString().str();
  };
  info.name = string(map, ".name");
  info.vgprs = number(map, ".vgpr_count");
  info.agprs = number(map, ".agpr_count");
  info.sgprs = number(map, ".sgpr_count");
  info.vgprSpills = number(map, ".vgpr_spill_count");
  info.sgprSpills = number(map, ".sgpr_spill_count");
  info.ldsBytes = number(map, ".group_segment_fixed_size");
  info.scratchBytes = number(map, ".private_segment_fixed_size");
  info.kernargBytes = number(map, ".kernarg_segment_size");
  info.maxWorkgroupSize = number(map, ".max_flat_workgroup_size");
  auto args = map.find(".args");
  if (args != map.end())
    for (msgpack::DocNode &node : args->second.getArray()) {
      msgpack::MapDocNode arg = node.getMap();
      std::string kind = string(arg, ".value_kind");
      if (StringRef(kind).starts_with("hidden_"))
        continue;
      info.args.push_back({string(arg, ".name"), kind, number(arg, ".offset"),
                           number(arg, ".size")});
    }
  return info;
}

Expected<std::vector<KernelInfo>> readKernelInfo(ArrayRef<char> codeObject) {
  MemoryBufferRef buffer(StringRef(codeObject.data(), codeObject.size()),
                         "code object");
  auto file = object::ELFObjectFile<object::ELF64LE>::create(buffer);
  if (!file)
    return file.takeError();
  const object::ELFFile<object::ELF64LE> &elf = file->getELFFile();
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  std::vector<KernelInfo> kernels;
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE)
      continue;
    Error error = Error::success();
    for (const auto &note : elf.notes(section, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      msgpack::Document document;
      if (!document.readFromBlob(note.getDescAsStringRef(section.sh_addralign),
                                 /*Multi=*/false))
        return createStringError("malformed AMDGPU metadata note");
      msgpack::MapDocNode root = document.getRoot().getMap();
      auto list = root.find("amdhsa.kernels");
      if (list == root.end())
        continue;
      for (msgpack::DocNode &kernel : list->second.getArray())
        kernels.push_back(readKernel(kernel.getMap()));
    }
    if (error)
      return std::move(error);
  }
  return kernels;
}

} // namespace mlir::attn
