//===- Tracer.cpp - One line an instruction -------------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Observers.h"

using namespace attn::emu;
using namespace llvm;

namespace {

class Tracer : public Observer {
public:
  explicit Tracer(LaunchContext &ctx)
      : ctx(ctx), trace(ctx.options.trace), os(*trace.os) {}

  void before(Wave &wave, const Inst &inst) override {
    if (!wanted(wave, inst))
      return;
    os << formatv("{0} w{1} {2,6:x-}: {3}", wave.wg->linear, wave.id, inst.pc,
                  ctx.program->getText(inst));
    printRegs(wave, inst, /*written=*/false);
  }

  void after(Wave &wave, const Inst &inst) override {
    if (!wanted(wave, inst))
      return;
    printRegs(wave, inst, /*written=*/true);
    os << '\n';
  }

private:
  bool wanted(const Wave &wave, const Inst &inst) const {
    return (!trace.workgroup || *trace.workgroup == wave.wg->linear) &&
           (!trace.wave || *trace.wave == wave.id) &&
           inst.pc >= trace.pcBegin && inst.pc < trace.pcEnd;
  }

  /// Values of the registers read (" | ") or written (" -> ").
  void printRegs(Wave &wave, const Inst &inst, bool written) {
    bool first = true;
    for (const RegRange &range : ctx.program->getRegs(inst)) {
      if (range.write != written || isExec(range))
        continue;
      os << (first ? (written ? " -> " : " | ") : " ");
      first = false;
      if (range.kind == RegRange::SCC) {
        os << "scc=" << wave.scc;
        continue;
      }
      bool vector = range.kind == RegRange::Vector;
      bool acc = vector && range.first >= accBase;
      os << (vector ? (acc ? "a" : "v") : "s")
         << (acc ? range.first - accBase : range.first) << '=';
      // Wide tuples would drown the line.
      unsigned shown = std::min<unsigned>(range.count, 4);
      for (unsigned n = 0; n < shown; ++n) {
        uint32_t value = vector ? wave.vgpr(range.first + n)[trace.lane & 63]
                                : wave.sgpr[(range.first + n) & 127];
        os << (n ? "," : "") << formatv("{0:x-}", value);
      }
      if (shown < range.count)
        os << ",..";
    }
  }

  /// EXEC is read by almost everything; show it only where it is an operand.
  static bool isExec(const RegRange &range) {
    return range.implicit && range.kind == RegRange::Scalar &&
           range.first >= regEXEC;
  }

  LaunchContext &ctx;
  const TraceOptions &trace;
  raw_ostream &os;
};

} // namespace

std::unique_ptr<Observer> attn::emu::makeTracer(LaunchContext &ctx) {
  return std::make_unique<Tracer>(ctx);
}
