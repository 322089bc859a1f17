; Two waves exchange f16 operands through LDS and multiply what they got.
  v_lshlrev_b32 v2, 3, v0
  global_load_dwordx2 v[4:5], v2, s[6:7]
  global_load_dwordx2 v[6:7], v2, s[6:7] offset:1024
  s_waitcnt vmcnt(1)
  ds_write_b64 v2, v[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b64 v2, v[6:7] offset:1024
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32 v3, 0x200, v2
  ds_read_b64 v[8:9], v3
  ds_read_b64 v[10:11], v3 offset:1024
  s_waitcnt lgkmcnt(1)
  v_pk_mul_f16 v8, v8, v8
  s_waitcnt lgkmcnt(0)
  v_pk_mul_f16 v10, v10, v10
  s_nop 1
  v_mfma_f32_32x32x8_f16 v[16:31], v[8:9], v[10:11], 0
  v_mfma_f32_32x32x8_f16 v[16:31], v[8:9], v[10:11], v[16:31]
  s_nop 11
  v_add_f32 v16, 1.0, v16
  v_mov_b32 v12, v8
.macro STORE r
  global_store_dword v1, v[16 + \r], s[4:5] offset:\r * 512
.endm
.macro STORE2 r
  v_add_u32 v13, \r * 512, v1
  global_store_dword v13, v[16 + \r], s[4:5]
.endm
  STORE 0
  STORE 1
  STORE 2
  STORE 3
  STORE2 8
  STORE2 15
