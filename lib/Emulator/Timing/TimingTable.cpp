//===- TimingTable.cpp - The constants of the timing model ----------------===//

#include "attn/Emulator/Timing/TimingTable.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::emu;
using namespace llvm;

TimingTable TimingTable::get(Chip chip) {
  TimingTable table;
  table.chip = chip;
  bool isGFX950 = chip == Chip::GFX950;
#define ATTN_TIMING_CONSTANT(name, gfx942, gfx950, unit, meaning, source)      \
  table.name = isGFX950 ? gfx950 : gfx942;
#include "attn/Emulator/Timing/Constants.def"
  return table;
}

Error TimingTable::set(StringRef text) {
  while (!text.empty()) {
    StringRef item;
    std::tie(item, text) = text.split(',');
    auto [key, value] = item.split('=');
    unsigned *constant = nullptr;
#define ATTN_TIMING_CONSTANT(name, gfx942, gfx950, unit, meaning, source)      \
  if (key == #name)                                                            \
    constant = &this->name;
#include "attn/Emulator/Timing/Constants.def"
    if (!constant)
      return createStringError("expects the name of a timing constant, but got "
                               "'" +
                               key + "'");
    unsigned number;
    if (value.getAsInteger(10, number))
      return createStringError("timing constant '" + key +
                               "' expects a number, but got '" + value + "'");
    *constant = number;
  }
  for (auto [value, name] :
       {std::pair(issueClocks, "issueClocks"), std::pair(simds, "simds"),
        std::pair(wavesPerSIMD, "wavesPerSIMD"),
        std::pair(ldsBytesPerClock, "ldsBytesPerClock"),
        std::pair(ldsBanks, "ldsBanks"), std::pair(lgkmcntMax, "lgkmcntMax"),
        std::pair(vmcntMax, "vmcntMax"),
        std::pair(vmemBytesPerClock, "vmemBytesPerClock"),
        std::pair(lineBytes, "lineBytes"),
        std::pair(vmemMaxLines, "vmemMaxLines"),
        std::pair(computeUnits, "computeUnits"), std::pair(xcds, "xcds"),
        std::pair(clockMHz, "clockMHz"),
        std::pair(hbmGBPerSecond, "hbmGBPerSecond"),
        std::pair(l2BytesPerClock, "l2BytesPerClock")})
    if (value == 0)
      return createStringError(Twine("timing constant '") + name +
                               "' expects a positive number, but got 0");
  return Error::success();
}

json::Object TimingTable::toJSON() const {
  json::Object result;
#define ATTN_TIMING_CONSTANT(name, gfx942, gfx950, unit, meaning, source)      \
  result[#name] = this->name;
#include "attn/Emulator/Timing/Constants.def"
  return result;
}

std::vector<Sensitivity> attn::emu::getSensitivities(const TimingTable &table) {
  std::vector<Sensitivity> result;
  auto add = [&](const char *name, auto change) {
    TimingTable changed = table;
    change(changed);
    result.push_back({name, changed});
  };
  auto barrier = [](TimingTable &t) { t.barrierClocks = 32; };
  auto operands = [](TimingTable &t) { t.mfmaIssue += 4; };
  auto exponential = [](TimingTable &t) {
    t.transcendental += t.transcendental / 2;
    t.transcendentalBlocksMFMA += t.transcendentalBlocksMFMA / 2;
  };
  add("barrier 32 clk", barrier);
  add("MFMA read + 4 clk", operands);
  add("exp x 1.5", exponential);
  add("all three", [&](TimingTable &t) {
    barrier(t);
    operands(t);
    exponential(t);
  });
  add("half LDS bandwidth", [](TimingTable &t) { t.ldsBytesPerClock /= 2; });
  add("LDS latency x 2", [](TimingTable &t) { t.ldsLatency *= 2; });
  add("memory latency x 2", [](TimingTable &t) { t.vmemLatency *= 2; });
  return result;
}
