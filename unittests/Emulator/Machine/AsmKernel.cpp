//===- AsmKernel.cpp - Kernels written in assembly ------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsmKernel.h"
#include "../Assembler.h"

using namespace attn::emu;
using namespace llvm;

static std::string getSource(Chip chip, const AsmKernel &kernel) {
  std::string text;
  raw_string_ostream os(text);
  os << ".amdgcn_target \"amdgcn-amd-amdhsa--" << getChipName(chip) << "\"\n"
     << ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n";
  if (!kernel.bare)
    os << "s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
          "s_waitcnt lgkmcnt(0)\n";
  os << kernel.body << "\ns_endpgm\n"
     << ".Lend:\n.size k, .Lend-k\n"
     << ".rodata\n.p2align 6\n.amdhsa_kernel k\n"
     << ".amdhsa_group_segment_fixed_size " << kernel.ldsBytes << "\n"
     << ".amdhsa_private_segment_fixed_size " << kernel.scratchBytes << "\n"
     << ".amdhsa_kernarg_size 32\n"
     << ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
     << ".amdhsa_user_sgpr_count 2\n"
     << ".amdhsa_enable_private_segment " << (kernel.scratchBytes != 0) << "\n"
     << ".amdhsa_system_sgpr_workgroup_id_y 1\n"
     << ".amdhsa_system_sgpr_workgroup_id_z 1\n"
     << ".amdhsa_system_vgpr_workitem_id 2\n"
     << ".amdhsa_float_denorm_mode_32 3\n"
     << ".amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 96\n"
     << ".amdhsa_accum_offset 128\n.end_amdhsa_kernel\n"
     << ".amdgpu_metadata\n---\namdhsa.version:\n  - 1\n  - 2\n"
        "amdhsa.target: amdgcn-amd-amdhsa--"
     << getChipName(chip)
     << "\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n"
        "    .kernarg_segment_size: 32\n    .group_segment_fixed_size: "
     << kernel.ldsBytes
     << "\n    .private_segment_fixed_size: " << kernel.scratchBytes
     << "\n    .kernarg_segment_align: 8\n    .wavefront_size: 64\n"
        "    .sgpr_count: 96\n    .vgpr_count: 128\n    .agpr_count: 128\n"
        "    .max_flat_workgroup_size: 1024\n"
        "    .args:\n"
        "      - {.name: in, .offset: 0, .size: 8, .value_kind: "
        "global_buffer, .address_space: global}\n"
        "      - {.name: out, .offset: 8, .size: 8, .value_kind: "
        "global_buffer, .address_space: global}\n"
        "      - {.offset: 16, .size: 4, .value_kind: hidden_block_count_x}\n"
        "      - {.offset: 20, .size: 2, .value_kind: hidden_group_size_x}\n"
        "      - {.offset: 24, .size: 4, .value_kind: "
        "hidden_dynamic_lds_size}\n"
        "...\n.end_amdgpu_metadata\n";
  return text;
}

Expected<std::vector<char>> attn::emu::assembleBytes(Chip chip,
                                                     const AsmKernel &kernel) {
  auto bytes = assembleText(getSource(chip, kernel), chip);
  if (!bytes)
    return bytes.takeError();
  return std::vector<char>(bytes->begin(), bytes->end());
}

Expected<std::unique_ptr<CodeObject>>
attn::emu::assemble(Chip chip, const AsmKernel &kernel) {
  auto bytes = assembleBytes(chip, kernel);
  if (!bytes)
    return bytes.takeError();
  return CodeObject::create(
      MemoryBufferRef(StringRef(bytes->data(), bytes->size()), "test"));
}

Expected<Report> AsmRun::run(Chip chip, const AsmKernel &kernel) {
  auto object = assemble(chip, kernel);
  if (!object)
    return object.takeError();
  Machine machine(chip);
  auto words = [](std::vector<uint32_t> &data) {
    return MutableArrayRef(reinterpret_cast<uint8_t *>(data.data()),
                           data.size() * 4);
  };
  auto inAddress = machine.registerBuffer("in", words(in), BufferRole::Input);
  if (!inAddress)
    return inAddress.takeError();
  auto outAddress = machine.registerBuffer("out", words(out), outRole);
  if (!outAddress)
    return outAddress.takeError();
  KernargBuilder args(*(*object)->getKernels().begin());
  if (Error error = args.setValue<uint64_t>(0, *inAddress))
    return error;
  if (Error error = args.setValue<uint64_t>(1, *outAddress))
    return error;
  LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.dynamicLDSBytes = dynamicLDSBytes;
  auto report = machine.launch(**object, config, args.getBytes(), options);
  if (report && checkOutputs)
    machine.checkOutputs(*report);
  return report;
}

std::string attn::emu::getChecksFired(const Report &report) {
  std::string text;
  for (const Finding &finding : report.findings)
    text += (text.empty() ? "" : " ") + getCheckName(finding.check).str();
  return text;
}
