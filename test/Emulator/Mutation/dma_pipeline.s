; Six tiles of 256 dwords through two LDS buffers; each wave reads what its
; neighbour copied. Two tiles are on their way while one is read.
  s_mov_b32 s12, s6
  s_and_b32 s13, s7, 0xffff
  s_mov_b32 s14, 6144
  s_mov_b32 s15, 0x27000
  v_readfirstlane_b32 s20, v1
  v_xor_b32 v2, 0x100, v1
  s_mov_b32 m0, s20
  s_mov_b32 s21, 0
  buffer_load_dword v1, s[12:15], s21 offen lds
  s_add_u32 m0, s20, 1024
  s_mov_b32 s21, 1024
  buffer_load_dword v1, s[12:15], s21 offen lds
.macro STEP tile, buffer, wait
  s_waitcnt vmcnt(\wait)
  s_barrier
  ds_read_b32 v3, v2 offset:\buffer
  s_waitcnt lgkmcnt(0)
  .if \tile < 4
  s_barrier
  .endif
  v_add_u32 v4, \tile * 1024, v1
  global_store_dword v4, v3, s[4:5]
  .if \tile < 4
  s_add_u32 m0, s20, \buffer
  s_mov_b32 s21, (\tile + 2) * 1024
  buffer_load_dword v1, s[12:15], s21 offen lds
  .endif
.endm
  STEP 0, 0, 1
  STEP 1, 1024, 2
  STEP 2, 0, 2
  STEP 3, 1024, 2
  STEP 4, 0, 2
  STEP 5, 1024, 1
