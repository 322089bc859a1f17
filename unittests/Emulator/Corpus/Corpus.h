//===- Corpus.h - Compiling and running OpenCL C on the emulator *- C++ -*-===//
//
// Kernels of test/Emulator/OpenCL are compiled by clang for a chip and an
// optimisation level and run with all checks under several wave schedules. A
// run that a check complains about, or whose results depend on the schedule,
// fails the test.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_EMULATOR_CORPUS_CORPUS_H
#define ATTN_UNITTESTS_EMULATOR_CORPUS_CORPUS_H

#include "attn/Emulator/CodeObject.h"
#include "attn/Emulator/Machine.h"
#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace attn::emu {

/// How a kernel is compiled.
struct Variant {
  Chip chip;
  const char *level; ///< "-O0" or "-O3"
  /// Up to 14 explicit kernarg dwords come in SGPRs.
  bool preload = false;

  std::string getName() const;
};
inline void PrintTo(const Variant &variant, std::ostream *os) {
  *os << variant.getName();
}

/// gfx942 and gfx950 at -O0 and -O3, and -O3 with kernarg preload.
std::vector<Variant> getVariants();

/// Compiles `file` of the corpus directory; cached. Aborts the test process
/// with clang's messages if the source does not compile.
const CodeObject &compileCorpus(const std::string &file,
                                const Variant &variant);

/// Assembles `text` (a whole .s file) for `chip` in process; an error holds the
/// assembler's messages.
llvm::Expected<std::unique_ptr<CodeObject>> assemble(const std::string &text,
                                                     Chip chip);

/// The same two as the bytes of an ELF file.
llvm::Expected<std::vector<uint8_t>> compileCorpusFile(const std::string &file,
                                                       const Variant &variant);
llvm::Expected<std::vector<uint8_t>> assembleFile(const std::string &text,
                                                  Chip chip);

/// Kernel arguments in order and the launch they go to.
class Launcher {
public:
  Launcher(const CodeObject &object, std::string kernel)
      : object(object), kernel(std::move(kernel)) {}

  Launcher &grid(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
    config.grid = {x, y, z};
    return *this;
  }
  Launcher &block(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
    config.block = {x, y, z};
    return *this;
  }
  Launcher &dynamicLDS(uint32_t bytes) {
    config.dynamicLDSBytes = bytes;
    return *this;
  }
  template <typename T> Launcher &input(const std::vector<T> &data) {
    auto *bytes = const_cast<T *>(data.data());
    return buffer(bytes, data.size() * sizeof(T), BufferRole::Input);
  }
  template <typename T> Launcher &output(std::vector<T> &data) {
    return buffer(data.data(), data.size() * sizeof(T), BufferRole::Output);
  }
  template <typename T> Launcher &inout(std::vector<T> &data) {
    return buffer(data.data(), data.size() * sizeof(T), BufferRole::InOut);
  }
  template <typename T> Launcher &value(T scalar) {
    Argument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &scalar, sizeof(T));
    arguments.push_back(std::move(argument));
    return *this;
  }

  /// Runs under every schedule from the same initial contents. The buffers hold
  /// the results of the last run.
  void run();
  /// The results of one run; no expectation about findings.
  llvm::Expected<Report> runOnce(const LaunchOptions &options);

private:
  struct Argument {
    std::vector<uint8_t> bytes; ///< a by-value argument
    uint8_t *host = nullptr;    ///< or a buffer
    size_t size = 0;
    BufferRole role = BufferRole::InOut;
  };
  Launcher &buffer(void *host, size_t size, BufferRole role);

  const CodeObject &object;
  std::string kernel;
  LaunchConfig config;
  std::vector<Argument> arguments;
};

class CorpusTest : public testing::TestWithParam<Variant> {
protected:
  const Variant &variant() const { return GetParam(); }
  bool isGfx950() const { return GetParam().chip == Chip::GFX950; }
  Launcher launch(const char *file, const char *kernel) {
    return Launcher(compileCorpus(file, GetParam()), kernel);
  }
};

#define ATTN_INSTANTIATE_CORPUS(Suite)                                         \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(getVariants()),          \
                           [](const testing::TestParamInfo<Variant> &info) {   \
                             return info.param.getName();                      \
                           })

} // namespace attn::emu

#endif // ATTN_UNITTESTS_EMULATOR_CORPUS_CORPUS_H
