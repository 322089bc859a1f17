; Accumulation registers: written, accumulated into, read back, and an operand
; overwritten after the matrix instruction that reads it.
  global_load_dword v2, v1, s[6:7]
  global_load_dword v3, v1, s[6:7] offset:256
  v_mov_b32 v8, 1.0
  v_accvgpr_write_b32 a0, v8
  v_accvgpr_write_b32 a1, v8
  v_accvgpr_write_b32 a2, v8
  v_accvgpr_write_b32 a3, v8
  s_waitcnt vmcnt(0)
  v_add_f32 v2, v2, v3
  s_nop 1
  v_mfma_f32_16x16x4_f32 a[0:3], v2, v3, a[0:3]
  v_mfma_f32_16x16x4_f32 a[0:3], v3, v2, a[0:3]
  s_nop 9
  v_accvgpr_read_b32 v4, a0
  v_accvgpr_read_b32 v5, a1
  v_accvgpr_read_b32 v6, a2
  v_accvgpr_read_b32 v7, a3
  v_lshlrev_b32 v9, 4, v0
  global_store_dwordx4 v9, v[4:7], s[4:5]
