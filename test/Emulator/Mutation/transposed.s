; gfx950: a wide DMA, transposed reads of the other wave's tile, a double-depth
; product, half-wave exchange and packing.
  s_mov_b32 s12, s6
  s_and_b32 s13, s7, 0xffff
  s_mov_b32 s14, 2048
  s_mov_b32 s15, 0x27000
  v_lshlrev_b32 v2, 4, v0
  s_nop 0
  v_readfirstlane_b32 s20, v2
  s_mov_b32 m0, s20
  s_nop 0
  buffer_load_dwordx4 v2, s[12:15], 0 offen lds
  s_waitcnt vmcnt(0)
  s_barrier
  v_lshlrev_b32 v3, 3, v0
  v_and_b32 v3, 0x1ff, v3
  v_xor_b32 v4, 0x400, v2
  v_and_b32 v4, 0x400, v4
  v_add_u32 v3, v3, v4
  ds_read_b64_tr_b16 v[8:9], v3
  ds_read_b64_tr_b16 v[10:11], v3 offset:512
  s_waitcnt lgkmcnt(0)
  v_mfma_f32_32x32x16_bf16 v[16:31], v[8:11], v[8:11], 0
  s_nop 11
  v_cvt_pk_bf16_f32 v12, v16, v17
  v_cvt_pk_bf16_f32 v13, v18, v19
  s_nop 1
  v_permlane32_swap_b32 v12, v13
  v_lshlrev_b32 v14, 3, v0
  global_store_dwordx2 v14, v[12:13], s[4:5]
