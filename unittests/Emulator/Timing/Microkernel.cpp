//===- Microkernel.cpp - Timing a few lines of assembly -------------------===//

#include "Microkernel.h"
#include "../Corpus/Corpus.h"
#include "attn/Emulator/Machine.h"
#include "gtest/gtest.h"

using namespace attn::emu;

static std::string makeSource(const Microkernel &kernel) {
  std::string name = getChipName(kernel.chip).str();
  std::string target = "amdgcn-amd-amdhsa--" + name;
  std::string block = std::to_string(64 * kernel.waves);
  std::string lds = std::to_string(kernel.ldsBytes);
  return ".amdgcn_target \"" + target +
         "\"\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n"
         "  s_load_dwordx2 s[8:9], s[0:1], 0x0\n"
         "  v_readfirstlane_b32 s21, v0\n"
         "  v_and_b32 v0, 63, v0\n"
         "  v_lshlrev_b32 v1, 4, v0\n"
         "  s_lshr_b32 s21, s21, 6\n"
         "  s_waitcnt lgkmcnt(0)\n"
         "  s_mov_b32 s12, s8\n  s_mov_b32 s13, s9\n"
         "  s_mov_b32 s14, " +
         std::to_string(kernel.bufferBytes) + "\n  s_mov_b32 s15, 0x27000\n" +
         kernel.prologue + "\n  s_movk_i32 s20, " +
         std::to_string(kernel.iterations) + "\nloop:\n" + kernel.body +
         "\n  s_sub_u32 s20, s20, 1\n"
         "  s_cmp_lg_u32 s20, 0\n"
         "  s_cbranch_scc1 loop\n" +
         kernel.epilogue +
         "\n  s_endpgm\n"
         ".rodata\n.p2align 6\n.amdhsa_kernel k\n"
         "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
         "  .amdhsa_group_segment_fixed_size " +
         lds +
         "\n  .amdhsa_next_free_vgpr 256\n"
         "  .amdhsa_accum_offset 256\n"
         "  .amdhsa_next_free_sgpr 96\n"
         ".end_amdhsa_kernel\n"
         ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
         "amdhsa.target: " +
         target +
         "\namdhsa.kernels:\n"
         "  - .name: k\n    .symbol: k.kd\n"
         "    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n"
         "    .group_segment_fixed_size: " +
         lds +
         "\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
         "    .sgpr_count: 102\n    .vgpr_count: 256\n    .agpr_count: 0\n"
         "    .max_flat_workgroup_size: " +
         block +
         "\n    .args:\n"
         "      - {.name: data, .offset: 0, .size: 8, .value_kind: "
         "global_buffer, .address_space: global}\n"
         "...\n.end_amdgpu_metadata\n";
}

std::vector<WorkgroupTrace> attn::emu::record(const Microkernel &kernel) {
  auto object = assemble(makeSource(kernel), kernel.chip);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return {};
  }
  TraceRecorder recorder;
  LaunchOptions options;
  options.observerFactory = &recorder;
  std::vector<uint8_t> data(kernel.bufferBytes);
  Machine machine(kernel.chip);
  uint64_t address = llvm::cantFail(machine.registerBuffer("data", data));
  LaunchConfig config;
  config.grid = {kernel.workgroups, 1, 1};
  config.block = {64 * kernel.waves, 1, 1};
  auto report = machine.launch(
      **object, config,
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&address), 8), options);
  if (!report) {
    ADD_FAILURE() << llvm::toString(report.takeError());
    return {};
  }
  return recorder.takeWorkgroups();
}

CUTiming attn::emu::simulate(const Microkernel &kernel,
                             const TimingTable *table,
                             const CUOptions &options) {
  std::vector<WorkgroupTrace> groups = record(kernel);
  std::vector<const WorkgroupTrace *> pointers;
  for (const WorkgroupTrace &group : groups)
    pointers.push_back(&group);
  auto timing = simulateCU(table ? *table : TimingTable::get(kernel.chip),
                           pointers, options);
  if (!timing) {
    ADD_FAILURE() << llvm::toString(timing.takeError());
    return {};
  }
  return std::move(*timing);
}

std::string attn::emu::repeat(unsigned count, const std::string &text,
                              unsigned first) {
  std::string result;
  for (unsigned n = 0; n < count; ++n) {
    std::string copy = text;
    for (auto [mark, step] :
         {std::pair("#16", 16u), std::pair("#4", 4u), std::pair("#0", 1u)})
      for (size_t at; (at = copy.find(mark)) != std::string::npos;)
        copy.replace(at, strlen(mark), std::to_string(first + step * n));
    result += copy;
  }
  return result;
}

std::string attn::emu::mfma(Chip chip, unsigned accumulator) {
  std::string tuple = "v[" + std::to_string(accumulator) + ":" +
                      std::to_string(accumulator + 15) + "]";
  return chip == Chip::GFX950 ? "  v_mfma_f32_32x32x16_bf16 " + tuple +
                                    ", v[2:5], v[6:9], " + tuple + "\n"
                              : "  v_mfma_f32_32x32x8_bf16 " + tuple +
                                    ", v[2:3], v[6:7], " + tuple + "\n";
}
