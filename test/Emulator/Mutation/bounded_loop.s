; out[i] = 2 in[i] for i < 200, 64 at a time, from global memory without a
; descriptor: the bound is a compare.
  s_movk_i32 s20, 200
  v_mov_b32 v2, v0
  s_mov_b32 s21, 0
loop:
  v_cmp_gt_u32 vcc, s20, v2
  s_and_saveexec_b64 s[22:23], vcc
  v_lshlrev_b32 v3, 2, v2
  global_load_dword v4, v3, s[6:7]
  s_waitcnt vmcnt(0)
  v_lshlrev_b32 v4, 1, v4
  global_store_dword v3, v4, s[4:5]
  s_mov_b64 exec, s[22:23]
  v_add_u32 v2, 64, v2
  s_add_u32 s21, s21, 64
  s_cmp_lt_u32 s21, s20
  s_cbranch_scc1 loop
