//===- TimingTableTest.cpp - Constants and overrides ----------------------===//

#include "attn/Emulator/Timing/TimingTable.h"
#include "gtest/gtest.h"

using namespace attn::emu;

namespace {

TEST(TimingTable, Chips) {
  TimingTable gfx942 = TimingTable::get(Chip::GFX942);
  TimingTable gfx950 = TimingTable::get(Chip::GFX950);
  EXPECT_EQ(gfx942.transcendental, 16u);
  EXPECT_EQ(gfx950.transcendental, 8u);
  EXPECT_EQ(gfx942.ldsBanks, getNumLDSBanks(Chip::GFX942));
  EXPECT_EQ(gfx950.ldsBanks, getNumLDSBanks(Chip::GFX950));
  EXPECT_EQ(gfx942.ldsBytes, getMaxLDSBytes(Chip::GFX942));
  EXPECT_EQ(gfx950.ldsBytes, getMaxLDSBytes(Chip::GFX950));
}

TEST(TimingTable, Overrides) {
  TimingTable table = TimingTable::get(Chip::GFX950);
  EXPECT_FALSE(bool(table.set("barrierClocks=32,ldsBytesPerClock=128")));
  EXPECT_EQ(table.barrierClocks, 32u);
  EXPECT_EQ(table.ldsBytesPerClock, 128u);
  EXPECT_EQ(llvm::toString(table.set("barriers=1")),
            "expects the name of a timing constant, but got 'barriers'");
  EXPECT_EQ(llvm::toString(table.set("valu=fast")),
            "timing constant 'valu' expects a number, but got 'fast'");
  EXPECT_EQ(llvm::toString(table.set("xcds=0")),
            "timing constant 'xcds' expects a positive number, but got 0");
}

TEST(TimingTable, EachHasASource) {
#define ATTN_TIMING_CONSTANT(name, gfx942, gfx950, unit, meaning, source)      \
  EXPECT_NE(llvm::StringRef(source).find('['), llvm::StringRef::npos) << #name;
#include "attn/Emulator/Timing/Constants.def"
}

TEST(TimingTable, JSON) {
  llvm::json::Object json = TimingTable::get(Chip::GFX950).toJSON();
  EXPECT_EQ(json.getInteger("mfmaIssue"), 8);
  EXPECT_GT(json.size(), 30u);
}

} // namespace
