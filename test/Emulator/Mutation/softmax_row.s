; One row of 64 scores: maximum by DPP, exponentials, sum, logarithm.
  global_load_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_mov_b32 v3, v2
.macro FOLD op, ctrl:vararg
  s_nop 1
  v_\op\()_dpp v3, v3, v3 \ctrl
.endm
  FOLD max_f32, row_shr:1 row_mask:0xf bank_mask:0xf
  FOLD max_f32, row_shr:2 row_mask:0xf bank_mask:0xf
  FOLD max_f32, row_shr:4 row_mask:0xf bank_mask:0xf
  FOLD max_f32, row_shr:8 row_mask:0xf bank_mask:0xf
  FOLD max_f32, row_bcast:15 row_mask:0xa bank_mask:0xf
  FOLD max_f32, row_bcast:31 row_mask:0xc bank_mask:0xf
  s_nop 0
  v_readlane_b32 s20, v3, 63
  s_nop 1
  v_subrev_f32 v4, s20, v2
  v_mov_b32 v6, 0
  v_exp_f32 v5, v4
  s_nop 0
  v_mov_b32 v3, v5
.macro SUM ctrl:vararg
  s_nop 1
  v_mov_b32_dpp v6, v3 \ctrl bound_ctrl:1
  v_add_f32 v3, v3, v6
.endm
  SUM row_ror:8 row_mask:0xf bank_mask:0xf
  SUM row_ror:4 row_mask:0xf bank_mask:0xf
  SUM row_ror:2 row_mask:0xf bank_mask:0xf
  SUM row_ror:1 row_mask:0xf bank_mask:0xf
  s_nop 0
  v_readlane_b32 s21, v3, 0
  v_readlane_b32 s22, v3, 16
  v_readlane_b32 s23, v3, 32
  v_readlane_b32 s24, v3, 48
  s_nop 1
  v_mov_b32 v7, s24
  v_add_f32 v7, s23, v7
  v_add_f32 v7, s22, v7
  v_add_f32 v7, s21, v7
  v_rcp_f32 v8, v7
  s_nop 0
  v_mul_f32 v9, v5, v8
  global_store_dword v1, v9, s[4:5]
