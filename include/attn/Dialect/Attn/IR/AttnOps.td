//===- AttnOps.td - The operations of the attn dialect -----*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
#define ATTN_DIALECT_ATTN_IR_ATTNOPS_TD

include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "attn/Dialect/Attn/IR/AttnBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

//===----------------------------------------------------------------------===//
// Types and bases
//===----------------------------------------------------------------------===//

class Attn_Shaped<list<Type> elements, string summary>
    : AnyTypeOf<[RankedTensorOf<elements>, StridedMemRefOf<elements>], summary>;

// 8-bit inputs are part of the language; what a target makes of them is its
// own decision (attn-verify-target). The fp8 formats are the two of OCP and the
// two of gfx942; wider and other floats (f80, f128, tf32, f4, f6) have no user.
defvar Attn_WideFloats = [F16, BF16, F32, F64];
defvar Attn_Floats = !listconcat(Attn_WideFloats,
    [F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ]);
def Attn_Input : Attn_Shaped<!listconcat(Attn_Floats, [I8]),
    "ranked tensor or strided memref of f16, bf16, f32, f64, fp8 or i8">;
def Attn_Output : Attn_Shaped<Attn_Floats,
    "ranked tensor or strided memref of f16, bf16, f32, f64 or fp8">;
def Attn_Float : Attn_Shaped<Attn_WideFloats,
    "ranked tensor or strided memref of f16, bf16, f32 or f64">;
def Attn_F32 : Attn_Shaped<[F32], "ranked tensor or strided memref of f32">;
def Attn_I32 : Attn_Shaped<[I32], "ranked tensor or strided memref of i32">;
def Attn_Mask : Attn_Shaped<[I1, I8], "ranked tensor or strided memref of i1 or i8">;
// One number for all batches, or one a batch.
def Attn_PerBatch
    : AnyTypeOf<[Index, I32, I64, RankedTensorOf<[I32]>, StridedMemRefOf<[I32]>],
                "index, i32, i64, or a [B] tensor or memref of i32">;

// An optional operand, which messages call by its name.
class Attn_Named<string name, Type type>
    : Optional<Type<type.predicate, name # ", " # type.summary, type.cppType>>;

// An i64 option, signed as its value is.
def Attn_IntAttr
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signless integer attribute">;

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<AttnDialect, mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>])> {
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let hasCustomAssemblyFormat = 1;

  code destinationStyle = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

// What decides which keys a row sees and what a score goes through.
defvar Attn_ScoreOptions = (ins
  OptionalAttr<F64Attr>:$scale,
  OptionalAttr<F64Attr>:$softcap,
  UnitAttr:$causal,
  DefaultValuedOptionalAttr<Attn_IntAttr, "-1">:$window_left,
  DefaultValuedOptionalAttr<Attn_IntAttr, "-1">:$window_right,
  DefaultValuedOptionalAttr<Attn_IntAttr, "0">:$sink_tokens);

//===----------------------------------------------------------------------===//
// attn.attention
//===----------------------------------------------------------------------===//

def Attn_AttentionOp : Attn_Op<"attention", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue",
      "getIterationDomainTileFromResultTile"]>]> {
  let summary = "scaled dot product attention with an optional LSE";
  let description = [{
    `O = softmax(scale * Q K^T + ...) V` for every batch, head and query row,
    and, when a second destination is given, `LSE = log(sum(exp(scores)))` of
    every row in f32. Rows that see no key get O = 0 and LSE = -inf.

    ```mlir
    %o, %lse = attn.attention
        ins(%q, %k, %v : tensor<1x8x128x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
        outs(%o0, %lse0 : tensor<1x8x128x64xf16>, tensor<1x8x128xf32>) {causal}
    ```

    Optional operands are clauses between `ins` and `outs`, as in
    `bias(%b : tensor<128x256xf32>)`. Options in braces have these defaults, and
    a default is not printed; attributes that are not options of the op follow in
    `attributes {...}`:

    | option | default | meaning |
    |---|---|---|
    | `scale` | 1/sqrt(Dqk) | multiplies the products; any finite value |
    | `layout` | `bhsd` | `bhsd`, `bshd`, or `thd` (packed, with `cu_seqlens_q`) |
    | `causal` | off | row i sees keys j <= i + off |
    | `diagonal_alignment` | `bottom_right` | off = Skv - Sq, or 0 for `top_left` |
    | `window_left`, `window_right` | -1 | bounds of i + off - j; -1 is unbounded |
    | `sink_tokens` | 0 | so many first keys stay visible left of the window |
    | `softcap` | off | s = c * tanh(s / c) |
    | `lse_base` | `e` | `e` or `two` |
    | `lse_layout` | `bhs`, for `thd` `hs_packed` | order of the LSE dims |
    | `num_kv_splits` | 1 | parts to take the keys in (below); 0 lets the compiler choose |
    | `page_size` | none | keys a page, with `block_table` |

    Dims: B batch, Hq, Hk, Hv heads of query, key and value, Sq, Skv lengths,
    Dqk, Dv head dims. Optional operands:

    | clause | shape | meaning |
    |---|---|---|
    | `bias` | broadcasts to [B, Hq, Sq, Skv] | float, added to the scaled scores |
    | `mask` | broadcasts to [B, Hq, Sq, Skv] | i1 or i8, 0 hides the key |
    | `alibi_slopes` | [Hq] or [B, Hq] f32 | s -= slope * abs(i + off - j) |
    | `sink` | [Hq] f32 | a logit that joins max and sum, without a value |
    | `seqlens_q`, `seqlens_kv` | scalar or [B] i32 | valid lengths of a padded batch |
    | `cu_seqlens_q`, `cu_seqlens_kv` | [B + 1] i32 | where packed sequences begin |
    | `q_offset`, `kv_offset` | scalar or [B] i32 | off = q_offset - kv_offset |
    | `block_table` | [B, pages] i32 | key and value are page pools (below) |
    | `scale_value` | f32 scalar | a scale known at run time only |
    | `kv_split` | index | O and LSE of this one of `num_kv_splits` splits only; no keys if there is no such one |

    Splits: of n splits of Skv keys (those of the sequence, where lengths are
    given), split s has keys [s * c, (s + 1) * c), where c = ceil(Skv / n), rounded
    up to a multiple of 4, or of 64 if it is more than 64 or with `block_table`;
    late splits may be short or empty.
    Masks, windows and positions are those of the whole. With ordinary
    destinations `num_kv_splits` is no part of the result. With one more dim in
    front, of `num_kv_splits`, the destinations take the state of every split, for
    a caller that merges them (`attn.merge_states`):

    ```mlir
    %parts, %lses = attn.attention
        ins(%q, %k, %v : tensor<1x8x1x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>)
        outs(%o0, %lse0 : tensor<4x1x8x1x64xf32>, tensor<4x1x8x1xf32>) {num_kv_splits = 4}
    ```

    Pages: with `block_table` key and value are pools, whose batch dim counts pages
    and whose length is `page_size`; key j of sequence b is key j mod `page_size` of
    page `block_table[b, j / page_size]`, for j below the sequence's `seqlens_kv`.
    Entries behind that are not read. For `thd` pools are [pages, page_size, H, D]:

    ```mlir
    %o = attn.attention
        ins(%q, %k, %v : tensor<?x8x64xf16>, tensor<?x16x2x64xf16>, tensor<?x16x2x64xf16>)
        seqlens_kv(%n : tensor<3xi32>) cu_seqlens_q(%cu : tensor<4xi32>)
        block_table(%t : tensor<3x?xi32>)
        outs(%o0 : tensor<?x8x64xf16>) {causal, layout = thd, page_size = 16}
    ```

    `bias` and `mask` broadcast by NumPy's rules, through dims that are 1 in the
    type; a dynamic dim has the full size. With `thd` their rows and keys count
    from the start of each sequence.

    Tiles (TilingInterface): the loops are batch, query head and query row, for
    `thd` query head alone. A tile of heads lies in one group of every key and
    value head, or covers whole groups. A tile of rows gets an explicit
    `q_offset`; with lengths or offsets per batch it spans one batch.

    Constraints (shapes are compared where both sides are static):

    * C1: query, key, value and output have rank 4, for `thd` rank 3; page pools
      always have rank 4.
    * C2: query, key and value have one element type; the output has the same,
      or any float type if the inputs are 8 bits wide. Floats are f16, bf16, f32,
      f64 and the fp8 types f8E4M3FN, f8E5M2, f8E4M3FNUZ and f8E5M2FNUZ.
    * C3: key head dim equals query head dim.
    * C4: value length equals key length.
    * C5: query, key and value have one batch size.
    * C6: query heads are a multiple of key heads and of value heads.
    * C7: the output has the query's shape with the value's head dim.
    * C8: shaped operands are all tensors or all memrefs.
    * C9: the lse is f32 and has the shape of its `lse_layout`.
    * C10: `lse_base` and `lse_layout` come with an lse.
    * C11: `lse_layout` fits the layout: `bhs` for `bhsd` and `bshd`, the
      others for `thd`.
    * C12: `window_left` and `window_right` are between -1 and 2^31 - 1, so
      that positions can be added to them.
    * C13: `window_right` is at most 0 with `causal`, which bounds it already.
    * C14: `softcap` is finite, positive and not subnormal in f32.
    * C15: `scale` is finite in f32, and is given once, as attribute or operand.
    * C16: `diagonal_alignment` needs something that reads the diagonal
      (`causal`, a window or `alibi_slopes`) and no explicit offset.
    * C17: `sink_tokens` is between 0 and 2^31 - 1, and positive only with
      `window_left`.
    * C18: `bias` and `mask` broadcast to [B, Hq, Sq, Skv].
    * C19: `alibi_slopes` is [Hq] or [B, Hq], `sink` is [Hq].
    * C20: `seqlens_q` and `seqlens_kv`, if not scalars, are [B]; they are not
      for `thd`, but for `seqlens_kv` with `block_table`.
    * C21: `cu_seqlens_q` and `cu_seqlens_kv` come together, equally long, and
      exactly with `thd`; with `block_table` `cu_seqlens_q` comes alone.
    * C22: `block_table` and `page_size` come together, with `seqlens_kv`; the
      page dim of key and value is `page_size`, which is positive.
    * C23: `num_kv_splits` is between 0 and 65535, the limit of a grid dim.
    * C24: memrefs of query, key, value and output have unit inner stride, as far
      as their types tell.
    * C25: an offset given per batch is [B].
    * C26: there are one query, one key, one value, and one or two destinations.
    * C27: head counts and head dims are positive; every other dim may be 0.
    * C28: a memref destination is no input and no other destination.
    * C29: strides of memrefs are not negative, and those of destinations not 0
      except in dims of 1.
    * C30: states of splits (destinations with a split dim, or `kv_split`) need a
      positive `num_kv_splits`, which is the split dim, and no `sink`, which
      belongs to the merge. Their output may also be f32.
    * C31: destinations have no split dim with `kv_split`.
  }];

  let arguments = !con((ins
    Attn_Input:$query, Attn_Input:$key, Attn_Input:$value,
    Attn_Named<"bias", Attn_Float>:$bias,
    Attn_Named<"mask", Attn_Mask>:$mask,
    Attn_Named<"alibi_slopes", Attn_F32>:$alibi_slopes,
    Attn_Named<"sink", Attn_F32>:$sink,
    Attn_Named<"seqlens_q", Attn_PerBatch>:$seqlens_q,
    Attn_Named<"seqlens_kv", Attn_PerBatch>:$seqlens_kv,
    Attn_Named<"cu_seqlens_q", Attn_I32>:$cu_seqlens_q,
    Attn_Named<"cu_seqlens_kv", Attn_I32>:$cu_seqlens_kv,
    Attn_Named<"q_offset", Attn_PerBatch>:$q_offset,
    Attn_Named<"kv_offset", Attn_PerBatch>:$kv_offset,
    Attn_Named<"block_table", Attn_I32>:$block_table,
    Attn_Named<"scale_value", F32>:$scale_value,
    Attn_Named<"kv_split", Index>:$kv_split,
    Variadic<Attn_Output>:$inits,
    DefaultValuedOptionalAttr<Attn_LayoutAttr, "::mlir::attn::Layout::bhsd">:$layout,
    OptionalAttr<Attn_DiagonalAlignmentAttr>:$diagonal_alignment,
    OptionalAttr<Attn_LseBaseAttr>:$lse_base,
    OptionalAttr<Attn_LseLayoutAttr>:$lse_layout,
    DefaultValuedOptionalAttr<Attn_IntAttr, "1">:$num_kv_splits,
    OptionalAttr<Attn_IntAttr>:$page_size), Attn_ScoreOptions);
  let results = (outs Variadic<AnyRankedTensor>:$results);

  let builders = [
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
                   "::mlir::ValueRange":$inits,
                   CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$options)>
  ];

  let extraClassDeclaration = destinationStyle # [{
    /// The destination of O.
    ::mlir::Value getOutputInit() { return getInits().front(); }
    /// The destination of the LSE; null when the LSE is not asked for.
    ::mlir::Value getLseInit() { return hasLse() ? getInits()[1] : ::mlir::Value(); }
    bool hasLse() { return getInits().size() == 2; }
    bool hasPureTensorForm() { return ::mlir::isa<::mlir::TensorType>(getQuery().getType()); }

    /// Options with their defaults filled in.
    ::mlir::attn::LseBase getLseBaseOrDefault() {
      return getLseBase().value_or(::mlir::attn::LseBase::e);
    }
    ::mlir::attn::LseLayout getLseLayoutOrDefault() {
      return getLseLayout().value_or(getLayout() == ::mlir::attn::Layout::thd
                                         ? ::mlir::attn::LseLayout::hs_packed
                                         : ::mlir::attn::LseLayout::bhs);
    }
    ::mlir::attn::DiagonalAlignment getDiagonalAlignmentOrDefault() {
      return getDiagonalAlignment().value_or(::mlir::attn::DiagonalAlignment::bottom_right);
    }
    /// Whether the destinations have a first dim that counts splits.
    bool hasSplitDim() {
      return ::mlir::cast<::mlir::ShapedType>(getOutputInit().getType()).getRank() ==
             ::mlir::attn::getDimMap(getLayout()).rank() + 1;
    }
    /// Whether the results are states of splits, of all or of one.
    bool givesStates() { return getKvSplit() || hasSplitDim(); }
    /// Where the dims of key and value stand.
    ::mlir::attn::DimMap getKeyDimMap() {
      return ::mlir::attn::getKeyDimMap(getLayout(), bool(getBlockTable()));
    }
    /// Whether any row hides keys by their position relative to the diagonal.
    bool hasWindow() { return getWindowLeft() >= 0 || getWindowRight() >= 0; }
    /// Whether the offset of the diagonal has any influence on the result.
    bool readsDiagonal() { return getCausal() || hasWindow() || getAlibiSlopes(); }
  }];
}

//===----------------------------------------------------------------------===//
// attn.online_attention
//===----------------------------------------------------------------------===//

def Attn_OnlineAttentionOp : Attn_Op<"online_attention", [AttrSizedOperandSegments]> {
  let summary = "one KV tile of the online softmax";
  let description = [{
    Takes the state (acc, m, l) of M query rows over N more keys of one head:

    ```
    s      = scores of the tile, hidden ones -inf     [M, N]
    m'     = max(m, max_j s)                          [M]
    p      = exp(s - m')                              [M, N]
    l'     = exp(m - m') * l + sum_j p                [M]
    acc'   = exp(m - m') * acc + p V                  [M, Dv]
    ```

    where a row that has seen no key keeps m = -inf, l = 0, acc = 0. The state
    starts as (0, -inf, 0) and is in natural units. Row i of the tile stands at
    `row` + i relative to the diagonal (the offset is already in it), key j at
    `col` + j; options and score operands are as in `attn.attention`. Keys
    beyond the valid length are not part of the tile.

    ```mlir
    %acc1, %m1, %l1 = attn.online_attention
        ins(%q, %k, %v : tensor<64x128xf16>, tensor<64x128xf16>, tensor<64x128xf16>)
        at(%row, %col)
        outs(%acc, %m, %l : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>) {causal}
    ```

    Constraints:

    * O1: query, key and value have rank 2 and one element type; key head dim
      equals query head dim, value length equals key length.
    * O2: acc is [M, Dv], m and l are [M], all of one type, f32 or f64.
    * O3: shaped operands are all tensors or all memrefs.
    * O4: a position is given if `causal`, a window or `alibi_slope` reads it.
    * O5: `bias` and `mask` broadcast to [M, N].
    * O6: the score options obey C12 to C15 and C17.
    * O7: there are one query, one key, one value, and three destinations.
    * O8: head dims are positive.
    * O9: memrefs obey C24 (query, key, value, acc), C28 and C29.
  }];

  let arguments = !con((ins
    Attn_Input:$query, Attn_Input:$key, Attn_Input:$value,
    Attn_Named<"row", Index>:$row, Attn_Named<"col", Index>:$col,
    Attn_Named<"bias", Attn_Float>:$bias,
    Attn_Named<"mask", Attn_Mask>:$mask,
    Attn_Named<"alibi_slope", F32>:$alibi_slope,
    Attn_Named<"scale_value", F32>:$scale_value,
    Variadic<Attn_Float>:$inits), Attn_ScoreOptions);
  let results = (outs Variadic<AnyRankedTensor>:$results);

  let extraClassDeclaration = destinationStyle # [{
    ::mlir::Value getAcc() { return getInits()[0]; }
    ::mlir::Value getMax() { return getInits()[1]; }
    ::mlir::Value getSum() { return getInits()[2]; }
    bool hasWindow() { return getWindowLeft() >= 0 || getWindowRight() >= 0; }
    bool readsDiagonal() { return getCausal() || hasWindow() || getAlibiSlope(); }
  }];
}

//===----------------------------------------------------------------------===//
// attn.finalize
//===----------------------------------------------------------------------===//

def Attn_FinalizeOp : Attn_Op<"finalize", [AttrSizedOperandSegments]> {
  let summary = "state of the online softmax to O and LSE";
  let description = [{
    `O = acc / l` and `LSE = m + ln l` (times log2(e) for `lse_base = two`).
    A row with l = 0 gets O = 0 and LSE = -inf. An optional sink logit joins max
    and sum first: a row without keys and a finite sink z gets O = 0, LSE = z.

    ```mlir
    %o, %lse = attn.finalize
        ins(%acc, %m, %l : tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>)
        outs(%o0, %lse0 : tensor<64x128xf16>, tensor<64xf32>)
    ```

    Constraints:

    * F1: acc is [M, Dv], m and l are [M], all of one type, f32 or f64.
    * F2: the output is [M, Dv], the lse [M] f32.
    * F3: shaped operands are all tensors or all memrefs.
    * F4: `lse_base` comes with an lse.
    * F5: there are one acc, one max, one sum, and one or two destinations.
    * F6: memrefs obey C24 (acc, output), C28 and C29.
  }];

  let arguments = (ins
    Attn_Float:$acc, Attn_Float:$max, Attn_Float:$sum,
    Attn_Named<"sink", F32>:$sink,
    Variadic<Attn_Output>:$inits,
    OptionalAttr<Attn_LseBaseAttr>:$lse_base);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$acc, "::mlir::Value":$max, "::mlir::Value":$sum,
                   "::mlir::Value":$sink, "::mlir::ValueRange":$inits,
                   "::mlir::attn::LseBaseAttr":$lseBase)>
  ];

  let extraClassDeclaration = destinationStyle # [{
    ::mlir::Value getOutputInit() { return getInits().front(); }
    ::mlir::Value getLseInit() { return hasLse() ? getInits()[1] : ::mlir::Value(); }
    bool hasLse() { return getInits().size() == 2; }
    ::mlir::attn::LseBase getLseBaseOrDefault() {
      return getLseBase().value_or(::mlir::attn::LseBase::e);
    }
  }];
}

//===----------------------------------------------------------------------===//
// attn.merge_states
//===----------------------------------------------------------------------===//

def Attn_MergeStatesOp : Attn_Op<"merge_states", [AttrSizedOperandSegments]> {
  let summary = "combines partial attention results";
  let description = [{
    Merges n states (O_s, LSE_s) over disjoint sets of keys into the state of
    their union, in the order given:

    ```
    LSE = log(sum_s exp(LSE_s)),  O = sum_s exp(LSE_s - LSE) * O_s
    ```

    (0, -inf) is the neutral element; a state with LSE = -inf is ignored even if
    its O holds NaN; only empty states give (0, -inf). All states and the result
    have one base. An optional sink logit [Hq] is folded in once.

    ```mlir
    %o, %lse = attn.merge_states
        (%o1, %lse1 : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>),
        (%o2, %lse2 : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>)
        outs(%o0, %lse0 : tensor<2x8x64x128xf32>, tensor<2x8x64xf32>)
    ```

    With the default layout any rank goes: O is [..., Dv] and LSE [...]. For
    `bshd` and `thd` O has that layout and LSE its `lse_layout`. A single state
    may be a stack of n states, with a first dim that counts them:

    ```mlir
    %o, %lse = attn.merge_states
        (%parts, %lses : tensor<4x2x8x64x128xf32>, tensor<4x2x8x64xf32>)
        outs(%o0, %lse0 : tensor<2x8x64x128xbf16>, tensor<2x8x64xf32>)
    ```

    A merge may work in place: a destination may be the O or the lse of a state.
    With `cu_seqlens_q` ([B + 1], layout `thd`) rows of no sequence, before its
    first element and from its last one on, are not merged: there destinations
    keep what they hold, and states are not read.

    Constraints:

    * M1: there is at least one state.
    * M2: all states have one output type up to memref layout and dynamic dims,
      and one lse shape; the destination output has the same shape, or a stack
      has one more dim in front, which is positive.
    * M3: each lse is f32 and has the shape its output and layout ask for.
    * M4: a state that comes straight from an op of this dialect has the merge's
      `lse_base`.
    * M5: shaped operands are all tensors or all memrefs.
    * M6: `sink` is [Hq] and needs a layout with a head dim.
    * M7: `lse_layout` fits the layout, and is not `bhs_padded`.
    * M8: there are one or two destinations, and one lse a state.
    * M9: memrefs obey C24 (outputs), C29, and C28 between destinations.
    * M10: `cu_seqlens_q` is [B + 1] and needs layout `thd`.
  }];

  let arguments = (ins
    Variadic<Attn_Float>:$outputs,
    Variadic<Attn_F32>:$lses,
    Attn_Named<"sink", Attn_F32>:$sink,
    Attn_Named<"cu_seqlens_q", Attn_I32>:$cu_seqlens_q,
    Variadic<Attn_Output>:$inits,
    DefaultValuedOptionalAttr<Attn_LayoutAttr, "::mlir::attn::Layout::bhsd">:$layout,
    DefaultValuedOptionalAttr<Attn_LseBaseAttr, "::mlir::attn::LseBase::e">:$lse_base,
    OptionalAttr<Attn_LseLayoutAttr>:$lse_layout);
  let results = (outs Variadic<AnyRankedTensor>:$results);

  let extraClassDeclaration = destinationStyle # [{
    ::mlir::Value getOutputInit() { return getInits().front(); }
    ::mlir::Value getLseInit() { return hasLse() ? getInits()[1] : ::mlir::Value(); }
    bool hasLse() { return getInits().size() == 2; }
    /// Whether the one state is a stack of them, along a first dim of its own.
    bool isStacked();
    /// The dims of O that are the dims of an lse, in the lse's order.
    ::llvm::SmallVector<unsigned> getLseDims();
    ::mlir::attn::LseLayout getLseLayoutOrDefault() {
      return getLseLayout().value_or(getLayout() == ::mlir::attn::Layout::thd
                                         ? ::mlir::attn::LseLayout::hs_packed
                                         : ::mlir::attn::LseLayout::bhs);
    }
  }];
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNOPS_TD
