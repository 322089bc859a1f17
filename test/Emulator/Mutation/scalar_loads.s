; Scalar loads come back in any order, beside LDS operations.
  s_load_dword s20, s[6:7], 0x0
  s_load_dwordx2 s[22:23], s[6:7], 0x8
  s_load_dwordx4 s[24:27], s[6:7], 0x10
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v1
  s_add_u32 s20, s20, s22
  s_add_u32 s20, s20, s23
  s_add_u32 s24, s24, s27
  s_waitcnt lgkmcnt(0)
  v_add_u32 v2, s20, v2
  v_add_u32 v2, s24, v2
  global_store_dword v1, v2, s[4:5]
