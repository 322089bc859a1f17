//===- BufferizableOpInterfaceImpl.cpp - Bufferization of the attn ops ----===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/BufferizableOpInterfaceImpl.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
template <typename OpTy>
struct AttnOpInterface : bufferization::DstBufferizableOpInterfaceExternalModel<
                             AttnOpInterface<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    // Only the state of the online softmax is updated; all other destinations
    // are written without being looked at.
    return isa<OnlineAttentionOp>(op) ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    auto destinationStyle = cast<DestinationStyleOpInterface>(op);
    SmallVector<Value> results;
    for (OpOperand &init : destinationStyle.getDpsInitsMutable())
      results.push_back(operands[init.getOperandNumber()]);
    rewriter.setInsertionPoint(op);
    clone(rewriter, op, /*newResultTypes=*/TypeRange(), operands);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

void attn::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    AttentionOp::attachInterface<AttnOpInterface<AttentionOp>>(*context);
    OnlineAttentionOp::attachInterface<AttnOpInterface<OnlineAttentionOp>>(
        *context);
    FinalizeOp::attachInterface<AttnOpInterface<FinalizeOp>>(*context);
    MergeStatesOp::attachInterface<AttnOpInterface<MergeStatesOp>>(*context);
  });
}
