// What device libraries would provide: the corpus is compiled without them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define LX ((int)__builtin_amdgcn_workitem_id_x())
#define LY ((int)__builtin_amdgcn_workitem_id_y())
#define LZ ((int)__builtin_amdgcn_workitem_id_z())
#define GX ((int)__builtin_amdgcn_workgroup_id_x())
#define GY ((int)__builtin_amdgcn_workgroup_id_y())
#define GZ ((int)__builtin_amdgcn_workgroup_id_z())
#define SX ((int)__builtin_amdgcn_workgroup_size_x())
#define SY ((int)__builtin_amdgcn_workgroup_size_y())
#define SZ ((int)__builtin_amdgcn_workgroup_size_z())
#define ID (GX * SX + LX)

// clang's kernels call an outlined body, in which a `local` variable cannot be
// lowered; inlined (at -O0 too) it can.
#define LDS_KERNEL __attribute__((always_inline)) kernel

#define BARRIER()                                                              \
  do {                                                                         \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                     \
    __builtin_amdgcn_s_barrier();                                              \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                     \
  } while (0)

#define LANE                                                                   \
  ((int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)))

typedef float float16v __attribute__((ext_vector_type(16)));
typedef float float4v __attribute__((ext_vector_type(4)));
typedef double double4v __attribute__((ext_vector_type(4)));
typedef half half4v __attribute__((ext_vector_type(4)));
typedef half half8v __attribute__((ext_vector_type(8)));
typedef short short4v __attribute__((ext_vector_type(4)));
typedef __bf16 bf8v __attribute__((ext_vector_type(8)));
typedef int int4v __attribute__((ext_vector_type(4)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef int int16v __attribute__((ext_vector_type(16)));
typedef int int2v __attribute__((ext_vector_type(2)));
