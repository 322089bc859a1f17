//===- OutputFilesTest.cpp - All files or none ----------------------------===//
//
// Part of the AttnMLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/OutputFiles.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace attn::rt;

namespace {

class OutputFilesTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("attn-output", directory));
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  std::string path(StringRef name) {
    SmallString<128> result = directory;
    sys::path::append(result, name);
    return result.str().str();
  }
  std::string read(StringRef name) {
    auto buffer = MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "(absent)";
  }
  unsigned countFiles() {
    unsigned count = 0;
    std::error_code ec;
    for (sys::fs::directory_iterator it(directory, ec), end; it != end && !ec;
         it.increment(ec))
      ++count;
    return count;
  }

  SmallString<128> directory;
};

auto text(StringRef content) {
  return [content](raw_ostream &os) { os << content; };
}

std::string message(Error error) {
  return error ? toString(std::move(error)) : "no error";
}

TEST_F(OutputFilesTest, NothingBeforeCommit) {
  OutputFiles files;
  ASSERT_EQ(message(files.add(path("a"), text("new a"))), "no error");
  ASSERT_EQ(message(files.add(path("b"), text("new b"))), "no error");
  EXPECT_EQ(read("a"), "(absent)");
  ASSERT_EQ(message(files.commit()), "no error");
  EXPECT_EQ(read("a"), "new a");
  EXPECT_EQ(read("b"), "new b");
  EXPECT_EQ(countFiles(), 2u);
}

TEST_F(OutputFilesTest, AbandonedLeavesNothing) {
  {
    OutputFiles files;
    ASSERT_EQ(message(files.add(path("a"), text("x"))), "no error");
    EXPECT_EQ(countFiles(), 1u);
  }
  EXPECT_EQ(countFiles(), 0u);
}

TEST_F(OutputFilesTest, ReplacesOldContent) {
  for (StringRef content : {"long old content", "new"}) {
    OutputFiles files;
    ASSERT_EQ(message(files.add(path("a"), text(content))), "no error");
    ASSERT_EQ(message(files.commit()), "no error");
  }
  EXPECT_EQ(read("a"), "new");
}

TEST_F(OutputFilesTest, WritesThroughLinks) {
  {
    std::error_code ec;
    raw_fd_ostream(path("real"), ec) << "old";
  }
  ASSERT_FALSE(sys::fs::create_link(path("real"), path("link")));
  OutputFiles files;
  ASSERT_EQ(message(files.add(path("link"), text("new"))), "no error");
  ASSERT_EQ(message(files.commit()), "no error");
  EXPECT_EQ(read("real"), "new");
  EXPECT_TRUE(sys::fs::is_symlink_file(path("link")));
}

TEST_F(OutputFilesTest, DevicesStayDevices) {
  OutputFiles files;
  ASSERT_EQ(message(files.add("/dev/null", text("x"))), "no error");
  ASSERT_EQ(message(files.commit()), "no error");
  sys::fs::file_status status;
  ASSERT_FALSE(sys::fs::status("/dev/null", status));
  EXPECT_EQ(status.type(), sys::fs::file_type::character_file);
}

TEST_F(OutputFilesTest, Errors) {
  OutputFiles files;
  EXPECT_EQ(message(files.add(directory, text("x"))),
            ("cannot write '" + directory + "': Is a directory").str());
  std::string missing = path("nowhere/a");
  EXPECT_EQ(message(files.add(missing, text("x"))),
            "cannot write '" + missing + "': No such file or directory");
  ASSERT_EQ(message(files.add(path("a"), text("x"))), "no error");
  EXPECT_EQ(message(files.add(path("a"), text("y"))),
            "cannot write '" + path("a") +
                "': it was already given for another output");
}

TEST_F(OutputFilesTest, FullDiskIsAnError) {
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "the system has no /dev/full";
  OutputFiles files;
  ASSERT_EQ(message(files.add(path("a"), text("x"))), "no error");
  ASSERT_EQ(message(files.add("/dev/full", text("x"))), "no error");
  EXPECT_EQ(message(files.commit()),
            "cannot write '/dev/full': No space left on device");
  // All or none.
  EXPECT_EQ(countFiles(), 0u);
}

} // namespace
