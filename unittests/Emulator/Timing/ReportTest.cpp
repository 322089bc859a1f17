//===- ReportTest.cpp - Text, JSON, traces and pictures -------------------===//

#include "Microkernel.h"
#include "attn/Emulator/Timing/TimingReport.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace attn::emu;
using namespace llvm;

namespace {

const CUTiming &getTiming() {
  static const CUTiming timing = [] {
    Microkernel kernel;
    kernel.waves = 8;
    kernel.iterations = 12;
    kernel.body = mfma(Chip::GFX950, 32) + mfma(Chip::GFX950, 48) +
                  "  ds_read_b128 v[100:103], v1\n"
                  "  s_waitcnt lgkmcnt(0)\n  s_barrier\n";
    CUOptions options;
    options.events = true;
    return simulate(kernel, nullptr, options);
  }();
  return timing;
}

template <typename Fn> std::string print(Fn fn) {
  std::string text;
  raw_string_ostream os(text);
  fn(getTiming(), os);
  return text;
}

TEST(TimingReport, Text) {
  std::string text = print(printTiming);
  EXPECT_NE(text.find("kernel k on gfx950: 1 workgroup of 8 waves"),
            std::string::npos);
  EXPECT_NE(text.find("steady iteration"), std::string::npos);
  EXPECT_NE(text.find("12 iterations"), std::string::npos);
}

TEST(TimingReport, JSON) {
  json::Object object = toJSON(getTiming());
  EXPECT_EQ(object.getString("chip"), "gfx950");
  EXPECT_EQ(object.getNumber("iteration_clocks"),
            getTiming().getIterationClocks());
  ASSERT_EQ(object.getArray("waves")->size(), 8u);
  const json::Object *steady =
      (*object.getArray("waves"))[0].getAsObject()->getObject("steady");
  ASSERT_TRUE(steady);
  double sum = 0;
  for (const auto &[name, value] : *steady)
    sum += *value.getAsNumber();
  EXPECT_NEAR(sum, getTiming().getIterationClocks(), 4);
}

TEST(TimingReport, PerfettoIsATrace) {
  std::string text = print(writePerfetto);
  Expected<json::Value> value = json::parse(text);
  ASSERT_TRUE(bool(value)) << toString(value.takeError());
  const json::Array *events = value->getAsObject()->getArray("traceEvents");
  ASSERT_TRUE(events);
  unsigned matrix = 0, waves = 0;
  for (const json::Value &event : *events) {
    const json::Object &object = *event.getAsObject();
    StringRef phase = *object.getString("ph");
    ASSERT_TRUE(phase == "M" || phase == "X");
    if (phase == "M") {
      waves += object.getObject("args")->getString("name")->contains("wave");
      continue;
    }
    EXPECT_GT(*object.getInteger("dur"), 0);
    matrix += *object.getString("cat") == "pipe" &&
              object.getString("name")->starts_with("v_mfma");
  }
  EXPECT_EQ(waves, 8u);
  // Each MFMA is in the matrix and in the vector pipe; iterations 5 to 9 of 12
  // are left out, within one at the seams.
  EXPECT_NEAR(matrix, 2 * 2 * 8 * (12 - 5), 2 * 2 * 8);
}

TEST(TimingReport, TimelineIsAPicture) {
  std::string text = print(writeTimeline);
  EXPECT_TRUE(StringRef(text).starts_with("<svg"));
  EXPECT_TRUE(StringRef(text).trim().ends_with("</svg>"));
  EXPECT_NE(text.find(">wave 0.0<"), std::string::npos);
  EXPECT_NE(text.find(">wave 0.4<"), std::string::npos);
  EXPECT_NE(text.find(">matrix pipe<"), std::string::npos);
  EXPECT_LT(text.size(), 200000u);
}

} // namespace
