//===- Passes.td - From attn.attention to ROCDL ------------*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnVerifyTarget : Pass<"attn-verify-target"> {
  let summary = "check that a chip can do every attention of the module";
  let description = [{
    Takes any IR with `attn.attention` or `attn.merge_states`; changes nothing. Fails with one
    diagnostic an op that says what is not supported, the value found, what is
    supported and the nearest rewrite. `attn-opt --attn-print-capabilities`
    prints the table behind it.

    ```mlir
    // error: expects head dims to be multiples of 8 in 8..256 on gfx950, but
    // got Dqk = 100 and Dv = 100; pad to 104 and 104
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"gfx950\"", "Target chip: gfx942 or gfx950">
  ];
}

def AttnChooseSplits : Pass<"attn-choose-splits"> {
  let summary = "give a number to num_kv_splits = 0";
  let description = [{
    Takes any IR; where an `attn.attention` leaves `num_kv_splits` to the compiler
    (0), its grid is known and has fewer workgroups than the chip has compute
    units, the keys are taken in as many splits as fill the chip, of at least 256
    keys each; else in one. Behind a window (with an end on both sides) it is the
    splits that a tile of rows sees which are to fill the chip, so there are more
    of them, up to four times as many as fill it.

    ```mlir
    // B = 1, 8 key heads, 16384 keys on gfx950 (256 compute units)
    attn.attention ... {num_kv_splits = 0}   // becomes {num_kv_splits = 32}
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"gfx950\"", "Target chip: gfx942 or gfx950">
  ];
}

def AttnToGPU : Pass<"attn-to-gpu", "::mlir::ModuleOp"> {
  let summary = "attention on memrefs to a GPU kernel and its launch";
  let description = [{
    Takes functions with `attn.attention` and `attn.merge_states` on memrefs that
    `attn-verify-target` accepts. Leaves, for each, a `gpu.module` with a `gpu.func` that is one
    wave's program in gpu, scf, arith, vector, memref, amdgpu and rocdl, and a
    `gpu.launch_func` with the grid in place of the op. The module becomes a
    `gpu.container_module`; every `gpu.module` carries the `#rocdl.target` of
    the chip.

    Global memory is read and written by `vector.transfer_read` and
    `vector.transfer_write` on the slice of one (batch, head), whose
    out-of-bounds semantics are the ragged edges; the LSE by a `memref.store`
    under an `scf.if`. Tiles reach LDS by a read and a `vector.store` at a
    wave-uniform offset plus lane times width. A merge reads and writes its
    operands by `vector.load`, `vector.store` and their scalar forms, under an
    `scf.if` that holds the rows there are. Arguments of the
    function get `attn.alignment` where a kernel needs more than the width of an
    element, and `attn.reach` where only a launch tells how far apart rows are.

    ```mlir
    attn.attention ins(%q, %k, %v : ...) outs(%o : ...)
    // becomes
    gpu.launch_func @f_attention::@f_attention blocks in (%g, %c1, %c1)
        threads in (%c512, %c1, %c1) args(%q : ..., %k : ..., %v : ..., %o : ...)
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"gfx950\"", "Target chip: gfx942 or gfx950">
  ];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def AttnSchedule : Pass<"attn-schedule", "::mlir::gpu::GPUFuncOp"> {
  let summary = "weave the softmax between the MFMAs of a cluster";
  let description = [{
    Takes kernels as `attn-to-gpu` leaves them. Between two workgroup barriers of
    one block, where MFMAs and vector arithmetic that neither feeds nor reads
    them stand together, the arithmetic is dealt out evenly behind the MFMAs: at
    most as many issue clocks behind one as hide in its shadow on the chip of
    the module's `#rocdl.target`. `rocdl.sched.barrier 0` on both sides of each
    MFMA makes LLVM keep the order. Nothing is left to do behind the last MFMA,
    where the other wave group waits at the barrier. Arithmetic on
    `vector<2xf32>`, which becomes packed instructions, stands right in front of
    the next MFMA where the chip cannot run it beside one.

    Clusters where the two lists depend on each other stay as they are. The
    result computes the same values in another order.

    ```mlir
    %s = amdgpu.mfma ...          // becomes  %s = amdgpu.mfma ...
    %t = amdgpu.mfma ...          //          rocdl.sched.barrier 0
    %x = math.fma ...             //          %x = math.fma ...
    %p = rocdl.exp2 %x ...        //          %p = rocdl.exp2 %x ...
                                  //          rocdl.sched.barrier 0
                                  //          %t = amdgpu.mfma ...
    ```
  }];
  let dependentDialects = ["::mlir::ROCDL::ROCDLDialect"];
}

def AttnBufferResources : Pass<"attn-buffer-resources", "::mlir::ModuleOp"> {
  let summary = "global accesses to bounded buffer resources";
  let description = [{
    Takes what `attn-to-gpu` leaves. Leaves kernels whose arguments are
    pointers (`!llvm.ptr<1>`, at the first element) and the dynamic sizes (i32)
    and strides (i64) of their memrefs, with the launches adapted, and in which
    every access to global memory is a `rocdl.raw.ptr.buffer` op on a resource
    that ends with the matrix.

    * The base is 64-bit arithmetic: batch, head, and the wave-uniform part of
      the row. `num_records` is the exact byte count of the rows left, 0 beyond
      the end, so a row outside reads 0 and its store is dropped.
    * Lanes add row times row stride plus column, in 32 bits. Columns outside
      the matrix, and stores under an `scf.if`, become an offset beyond every
      resource; no branch is left.
    * A load at a wave-uniform place is a scalar load, without a range check;
      any other load goes through a resource.
    * A read whose only user stores it to LDS at a wave-uniform offset plus lane
      times width becomes a DMA. No verdict of a range check depends on the
      scalar offset.
    * A load or store on an argument itself, not on a slice, becomes one at its
      64-bit address; its guard stays. Arguments are `noalias` unless the kernel
      has `attn.may_alias`.

    ```mlir
    %x = vector.transfer_read %slice[%row, %col], %zero {in_bounds = [false, true]} : ...
    // becomes
    %rsrc = rocdl.make.buffer.rsrc %base, %c0_i16, %records, %flags : !llvm.ptr<1> to <8>
    %x = rocdl.raw.ptr.buffer.load %rsrc, %offset, %c0, %c0 : vector<4xi32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ConvertAttnToROCDL : Pass<"convert-attn-to-rocdl", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels to the LLVM dialect";
  let description = [{
    Takes a `gpu.module` that `attn-buffer-resources` left, with its
    `#rocdl.target`. Leaves gpu, llvm and rocdl only, ready for translation to
    LLVM IR: upstream's conversion patterns with `index` as i32 (every access
    that needs more is a resource by now) and none of the device library's
    functions.
  }];
  let dependentDialects = [
    "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect"
  ];
}

def AttnGPUToBinary : Pass<"attn-gpu-to-binary", "::mlir::ModuleOp"> {
  let summary = "kernels to code objects";
  let description = [{
    Takes `gpu.module`s that `convert-attn-to-rocdl` left. Leaves a `gpu.binary`
    of the same name in place of each, with the linked code object; launches
    keep their symbols. LLVM's AMDGPU backend and lld run in process.
  }];
  let options = [
    Option<"optLevel", "opt-level", "unsigned", "3", "LLVM optimization level, 0 to 3">
  ];
}

#endif // ATTN_CONVERSION_PASSES_TD
