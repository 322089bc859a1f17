// RUN: attn-compile %s --chip=gfx950 -o %t.hsaco --manifest=%t.json --kernel-stats 2>&1 | FileCheck %s --check-prefix=STATS
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t.json
// RUN: llvm-readobj --notes %t.hsaco | FileCheck %s --check-prefix=NOTE
// RUN: attn-compile %s --chip=gfx942 --emit=asm | FileCheck %s --check-prefixes=ASM,GFX942
// RUN: attn-compile %s --chip=gfx950 --emit=asm | FileCheck %s --check-prefixes=ASM,GFX950
// RUN: attn-compile %s --chip=gfx950 --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: attn-compile %s --chip=gfx950 --emit=rocdl | FileCheck %s --check-prefix=ROCDL
// RUN: not attn-compile %s --chip=gfx90a 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not attn-compile %s 2>&1 | FileCheck %s --check-prefix=NOCHIP
// RUN: not attn-compile %s --chip=gfx950 --emit=ptx 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not attn-compile %s --chip=gfx950 --entry=f -o %t.hsaco 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not attn-compile %s --chip=gfx950 -o %t.none --manifest=%t.no/such.json 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not test -e %t.none
// RUN: not attn-compile %s --chip=gfx950 --emit=asm --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=STAGE

// STATS: "agprs":0
// STATS-SAME: "scratch_bytes":0

// MANIFEST:      "alignment": 4,
// MANIFEST-NEXT: "dtype": "f16",
// MANIFEST-NEXT: "name": "query",
// MANIFEST-NEXT: "role": "input",
// MANIFEST-NEXT: "shape": [
// MANIFEST-NEXT:   "query.d0",
// MANIFEST-NEXT:   4,
// MANIFEST-NEXT:   "query.d2",
// MANIFEST-NEXT:   64
// MANIFEST:      "4 * query.d2 * 64",
// MANIFEST:      "name": "lse",
// MANIFEST-NEXT: "role": "output",
// MANIFEST:      "grid": [
// MANIFEST-NEXT:   "query.d0 * 4 * ceildiv(query.d2, 256)",

// NOTE:     .agpr_count:     0
// NOTE-NOT: hidden_

// Everything but kernel arguments goes through bounded buffers.
// ASM-NOT:  {{(global|flat|scratch)_(load|store)}}
// GFX942:   buffer_load_dword {{.*}} lds
// GFX950:   buffer_load_dwordx4 {{.*}} lds
// ASM:      v_exp_f32
// GFX950:   ds_read_b64_tr_b16
// ASM:      v_log_f32
// ASM:      buffer_store_dwordx4
// ASM-NOT:  {{(global|flat|scratch)_(load|store)}}
// ASM:      .private_segment_fixed_size: 0

// LLVM:  target triple = "amdgcn-amd-amdhsa"
// ROCDL: rocdl.raw.ptr.buffer.load.lds

// CHIP:      error: --chip: expects chip to be one of gfx942, gfx950, but got 'gfx90a'
// CHIP-NOT:  error
// NOCHIP:    error: --chip: expects chip to be one of gfx942, gfx950, but got ''
// EMIT:      error: --emit: expects rocdl, llvm, asm or hsaco, but got 'ptx'
// ENTRY:     error: --entry: expects --manifest, which describes the function
// OPEN:      error: cannot open output file
// STAGE:     error: --manifest: expects --emit=hsaco
// STAGE-NOT: error
func.func @f(%q: tensor<?x4x?x64xf16> {attn.name = "query"}, %k: tensor<?x4x?x64xf16> {attn.name = "key"}, %v: tensor<?x4x?x64xf16> {attn.name = "value"}, %o0: tensor<?x4x?x64xf16>, %l0: tensor<?x4x?xf32>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>) {
  %o, %l = attn.attention ins(%q, %k, %v : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>) outs(%o0, %l0 : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>) {causal}
  return %o, %l : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
}
