//===- ToyOps.td - The toy dialect -------------------------*- tablegen -*-===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ToyDialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}

def Toy_SdpaOp : Op<ToyDialect, "sdpa", [Pure]> {
  let summary = "what a frontend calls scaled dot product attention";
  let description = [{
    Operands are [batch, heads, length, head dim]. Scores are divided by
    the square root of the head dim; `causal` counts rows and keys from 0.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, UnitAttr:$causal);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`causal` $causal^)? attr-dict
    `:` functional-type(operands, results)
  }];
}
