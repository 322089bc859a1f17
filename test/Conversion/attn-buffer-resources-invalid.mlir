// RUN: attn-opt %s --attn-buffer-resources -split-input-file -verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %i: index) kernel {
      %zero = arith.constant 0.0 : f32
      // expected-error @+1 {{expects a subview of a kernel argument in attn-buffer-resources}}
      %x = vector.transfer_read %a[%i, %i], %zero {in_bounds = [false, false]} : memref<16x64xf32>, vector<1x4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %i: index) kernel {
      // expected-error @+1 {{expects kernel memrefs to be used through loads, reads, writes and stores in attn-buffer-resources}}
      memref.prefetch %a[%i, %i], read, locality<3>, data : memref<16x64xf32>
      gpu.return
    }
  }
}
