; Each of 4 waves copies 64 dwords to LDS by DMA; its neighbour reads them.
  s_mov_b32 s12, s6
  s_and_b32 s13, s7, 0xffff
  s_mov_b32 s14, 1024
  s_mov_b32 s15, 0x27000
  v_readfirstlane_b32 s20, v1
  s_mov_b32 m0, s20
  s_nop 0
  buffer_load_dword v1, s[12:15], 0 offen lds
  s_waitcnt vmcnt(0)
  s_barrier
  v_xor_b32 v2, 0x100, v1
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[4:5]
