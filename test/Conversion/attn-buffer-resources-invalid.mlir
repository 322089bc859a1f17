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

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    // expected-error @+1 {{expects strided kernel memrefs in attn-buffer-resources, but got 'memref<16x64xf32}}
    gpu.func @k(%a: memref<16x64xf32, affine_map<(i, j) -> (i floordiv 2, j)>>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %i: index) kernel {
      %view = memref.subview %a[%i, 0] [4, 64] [1, 1] : memref<16x64xf32> to memref<4x64xf32, strided<[64, 1], offset: ?>>
      // expected-error @+1 {{expects a slice of rank 1 in attn-buffer-resources, but got rank 2}}
      %x = memref.load %view[%i, %i] : memref<4x64xf32, strided<[64, 1], offset: ?>>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16xf32>, %i: index) kernel {
      %zero = arith.constant 0.0 : f32
      // expected-error @+1 {{expects a slice of rank 2 in attn-buffer-resources, but got rank 1}}
      %x = vector.transfer_read %a[%i], %zero {in_bounds = [true]} : memref<16xf32>, vector<4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %i: index) kernel {
      %view = memref.subview %a[%i, 0] [4, 64] [1, 1] : memref<16x64xf32> to memref<4x64xf32, strided<[64, 1], offset: ?>>
      %zero = arith.constant 0.0 : f32
      // expected-error @+1 {{expects an unmasked part of one row in attn-buffer-resources}}
      %x = vector.transfer_read %view[%i, %i], %zero {in_bounds = [true, true]} : memref<4x64xf32, strided<[64, 1], offset: ?>>, vector<2x4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %i: index) kernel {
      %view = memref.subview %a[%i, 0] [4, 64] [1, 1] : memref<16x64xf32> to memref<4x64xf32, strided<[64, 1], offset: ?>>
      %one = arith.constant 1.0 : f32
      // expected-error @+1 {{expects a padding of 0 in attn-buffer-resources}}
      %x = vector.transfer_read %view[%i, %i], %one : memref<4x64xf32, strided<[64, 1], offset: ?>>, vector<1x4xf32>
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %i: index) kernel {
      // expected-error @+1 {{expects kernel memrefs to be used through loads, reads, writes and stores in attn-buffer-resources}}
      %view = memref.subview %a[%i, 0] [4, 64] [1, 1] : memref<16x64xf32> to memref<4x64xf32, strided<[64, 1], offset: ?>>
      %zero = arith.constant 0.0 : f32
      %x = vector.transfer_read %view[%i, %i], %zero : memref<4x64xf32, strided<[64, 1], offset: ?>>, vector<1x4xf32>
      memref.prefetch %view[%i, %i], read, locality<3>, data : memref<4x64xf32, strided<[64, 1], offset: ?>>
      gpu.return
    }
  }
}
