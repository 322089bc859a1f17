; Wave 0 produces, wave 1 consumes through a ring of two LDS slots.
  v_and_b32 v2, 0xff, v1
  v_readfirstlane_b32 s20, v1
  s_mov_b32 s21, 0
  s_mov_b32 s22, 0
next:
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 wait_for_it
  s_lshl_b32 s23, s21, 8
  v_add_u32 v3, s23, v2
  global_load_dword v4, v3, s[6:7]
  v_add_u32 v5, s22, v2
  s_waitcnt vmcnt(0)
  ds_write_b32 v5, v4
  s_waitcnt lgkmcnt(0)
wait_for_it:
  s_barrier
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 produced
  v_add_u32 v5, s22, v2
  ds_read_b32 v4, v5
  s_lshl_b32 s23, s21, 8
  v_add_u32 v3, s23, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v3, v4, s[4:5]
produced:
  s_xor_b32 s22, s22, 0x100
  s_add_u32 s21, s21, 1
  s_cmp_lt_u32 s21, 5
  s_cbranch_scc1 next
