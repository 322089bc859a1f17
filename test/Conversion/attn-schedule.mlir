// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-schedule)))' | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: sed s/gfx950/gfx942/ %s | attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-schedule)))' | FileCheck %s --check-prefixes=CHECK,GFX942

gpu.module @m [#rocdl.target<chip = "gfx950">] {
  // Vector work goes behind the MFMAs in even shares: 24 clocks of work, three
  // windows. An exponential is 8 clocks on gfx950 and 16 on gfx942.
  // CHECK-LABEL: gpu.func @weave
  // CHECK:         rocdl.s.barrier
  // CHECK-NEXT:    amdgpu.mfma
  // CHECK-NEXT:    rocdl.sched.barrier 0
  // GFX950-NEXT:   rocdl.exp2
  // GFX950-NEXT:   rocdl.sched.barrier 0
  // GFX950-NEXT:   amdgpu.mfma
  // GFX950-NEXT:   rocdl.sched.barrier 0
  // GFX950-NEXT:   rocdl.exp2
  // GFX950-NEXT:   rocdl.sched.barrier 0
  // GFX950-NEXT:   amdgpu.mfma
  // GFX950-NEXT:   rocdl.sched.barrier 0
  // GFX950-NEXT:   rocdl.exp2
  // GFX942-NEXT:   rocdl.exp2
  // GFX942-NEXT:   rocdl.sched.barrier 0
  // GFX942-NEXT:   amdgpu.mfma
  // GFX942:        rocdl.exp2
  // GFX942:        amdgpu.mfma
  // GFX942:        rocdl.exp2
  // CHECK-NEXT:    rocdl.sched.barrier 0
  // CHECK-NEXT:    amdgpu.mfma
  // CHECK-NEXT:    rocdl.sched.barrier 0
  // CHECK-NEXT:    rocdl.s.barrier
  gpu.func @weave(%a: vector<4xf16>, %c: vector<16xf32>, %x: f32, %y: f32, %z: f32) kernel {
    rocdl.s.barrier
    %s0 = amdgpu.mfma 32x32x8 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %s1 = amdgpu.mfma 32x32x8 %a * %a + %s0 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %s2 = amdgpu.mfma 32x32x8 %a * %a + %s1 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %s3 = amdgpu.mfma 32x32x8 %a * %a + %s2 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %p0 = rocdl.exp2 %x f32 -> f32
    %p1 = rocdl.exp2 %y f32 -> f32
    %p2 = rocdl.exp2 %z f32 -> f32
    rocdl.s.barrier
    gpu.return
  }

  // Packed f32 hides behind an MFMA on gfx942 only. On gfx950 it stands right in
  // front of the next one.
  // CHECK-LABEL: gpu.func @packed
  // CHECK:         amdgpu.mfma
  // GFX942:        math.fma
  // GFX942:        amdgpu.mfma
  // GFX950:        rocdl.exp2
  // GFX950-NEXT:   rocdl.sched.barrier 0
  // GFX950-NEXT:   math.fma {{.*}} : vector<2xf32>
  // GFX950-NEXT:   rocdl.sched.barrier 0
  // GFX950-NEXT:   amdgpu.mfma
  // CHECK:         rocdl.s.barrier
  gpu.func @packed(%a: vector<4xf16>, %c: vector<16xf32>, %x: f32, %y: vector<2xf32>) kernel {
    rocdl.s.barrier
    %s0 = amdgpu.mfma 32x32x8 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %s1 = amdgpu.mfma 32x32x8 %a * %a + %s0 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %p0 = math.fma %y, %y, %y : vector<2xf32>
    %p1 = rocdl.exp2 %x f32 -> f32
    rocdl.s.barrier
    gpu.return
  }

  // The vector work reads an MFMA: nothing moves.
  // CHECK-LABEL: gpu.func @dependent
  // CHECK:         amdgpu.mfma
  // CHECK-NEXT:    amdgpu.mfma
  // CHECK-NEXT:    vector.extract
  // CHECK-NEXT:    rocdl.exp2
  gpu.func @dependent(%a: vector<4xf16>, %c: vector<16xf32>) kernel {
    rocdl.s.barrier
    %s0 = amdgpu.mfma 32x32x8 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %s1 = amdgpu.mfma 32x32x8 %a * %a + %s0 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %x = vector.extract %s1[0] : f32 from vector<16xf32>
    %p0 = rocdl.exp2 %x f32 -> f32
    rocdl.s.barrier
    gpu.return
  }

  // An operand's preparation stays in front of its MFMA.
  // CHECK-LABEL: gpu.func @prepare
  // CHECK:         rocdl.s.barrier
  // CHECK-NEXT:    vector.shuffle
  // CHECK-NEXT:    amdgpu.mfma
  // CHECK-NEXT:    rocdl.sched.barrier 0
  // CHECK-NEXT:    vector.shuffle
  // CHECK-NEXT:    math.fma
  // CHECK-NEXT:    rocdl.sched.barrier 0
  // CHECK-NEXT:    amdgpu.mfma
  gpu.func @prepare(%a: vector<8xf16>, %c: vector<16xf32>, %x: f32) kernel {
    rocdl.s.barrier
    %a0 = vector.shuffle %a, %a [0, 1, 2, 3] : vector<8xf16>, vector<8xf16>
    %s0 = amdgpu.mfma 32x32x8 %a0 * %a0 + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %a1 = vector.shuffle %a, %a [4, 5, 6, 7] : vector<8xf16>, vector<8xf16>
    %s1 = amdgpu.mfma 32x32x8 %a1 * %a1 + %s0 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %y = math.fma %x, %x, %x : f32
    rocdl.s.barrier
    gpu.return
  }
}
