//===- CompareTest.cpp - Every vector compare -----------------------------===//

#include "Harness.h"

using namespace attn::emu;

namespace {

enum class Relation { Less, Equal, Greater, Unordered };

/// A compare's truth table over the four relations.
struct Operation {
  const char *name;
  bool less, equal, greater, unordered;
};
constexpr Operation floatOperations[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false},
    {"eq", false, true, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"lg", true, false, true, false},
    {"ge", false, true, true, false},  {"o", true, true, true, false},
    {"u", false, false, false, true},  {"nge", true, false, false, true},
    {"nlg", false, true, false, true}, {"ngt", true, true, false, true},
    {"nle", false, false, true, true}, {"neq", true, false, true, true},
    {"nlt", false, true, true, true},  {"tru", true, true, true, true}};
constexpr Operation integerOperations[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false},
    {"eq", false, true, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ne", true, false, true, false},
    {"ge", false, true, true, false},  {"t", true, true, true, false}};

template <typename T> Relation relate(T a, T b) {
  return a < b    ? Relation::Less
         : a > b  ? Relation::Greater
         : a == b ? Relation::Equal
                  : Relation::Unordered;
}

struct Type {
  const char *name;
  const char *inputs;
  bool wide, isFloat;
  Relation (*relation)(const uint32_t *in);
};
const Type types[] = {
    {"f16", "hh", false, true,
     [](const uint32_t *in) { return relate(H(in[0]), H(in[1])); }},
    {"f32", "ff", false, true,
     [](const uint32_t *in) { return relate(F(in[0]), F(in[1])); }},
    {"f64", "dd", true, true,
     [](const uint32_t *in) { return relate(D(in), D(in + 2)); }},
    {"i16", "ii", false, false,
     [](const uint32_t *in) { return relate(int16_t(in[0]), int16_t(in[1])); }},
    {"u16", "ii", false, false,
     [](const uint32_t *in) {
       return relate(uint16_t(in[0]), uint16_t(in[1]));
     }},
    {"i32", "ii", false, false,
     [](const uint32_t *in) { return relate(int32_t(in[0]), int32_t(in[1])); }},
    {"u32", "ii", false, false,
     [](const uint32_t *in) { return relate(in[0], in[1]); }},
    {"i64", "ll", true, false,
     [](const uint32_t *in) {
       return relate(int64_t(L(in)), int64_t(L(in + 2)));
     }},
    {"u64", "ll", true, false,
     [](const uint32_t *in) { return relate(L(in), L(in + 2)); }},
};

TEST(Compare, AllRelationsOfAllTypes) {
  std::vector<std::string> texts;
  texts.reserve(1000);
  std::vector<Case> cases;
  for (const Type &type : types) {
    llvm::ArrayRef<Operation> operations =
        type.isFloat ? llvm::ArrayRef<Operation>(floatOperations)
                     : llvm::ArrayRef<Operation>(integerOperations);
    std::string sources = type.wide ? "v[2:3], v[4:5]" : "v2, v3";
    for (bool isCmpx : {false, true}) {
      // One kernel a type: bit n of the result is operation n.
      std::string code = "v_mov_b32 v20, 0\n";
      for (size_t n = 0; n != operations.size(); ++n) {
        std::string bit = std::to_string(1u << n);
        std::string name = std::string(isCmpx ? "v_cmpx_" : "v_cmp_") +
                           operations[n].name + "_" + type.name;
        if (isCmpx)
          // Lanes that stay on set the bit; the mask is written too.
          code += name + " s[12:13], " + sources + "\nv_or_b32 v20, " + bit +
                  ", v20\ns_mov_b64 exec, -1\ns_nop 1\n"
                  "v_cndmask_b32 v40, 0, 1, s[12:13]\n"
                  "v_lshl_or_b32 v20, v40, " +
                  std::to_string(n + 16) + ", v20\n";
        else
          code += name + "_e32 vcc, " + sources +
                  "\ns_nop 1\nv_cndmask_b32 v40, 0, 1, vcc\n"
                  "v_lshl_or_b32 v20, v40, " +
                  std::to_string(n) + ", v20\n";
      }
      texts.push_back(std::string(isCmpx ? "cmpx " : "cmp ") + type.name);
      const char *name = texts.back().c_str();
      texts.push_back(code);
      cases.push_back({name, type.inputs, "u", texts.back().c_str(),
                       [=, &type](const uint32_t *in, uint32_t *out) {
                         Relation relation = type.relation(in);
                         out[0] = 0;
                         for (size_t n = 0; n != operations.size(); ++n) {
                           const Operation &op = operations[n];
                           const bool truth[] = {op.less, op.equal, op.greater,
                                                 op.unordered};
                           if (truth[int(relation)])
                             out[0] |= (isCmpx ? 0x10001u : 1u) << n;
                         }
                       }});
    }
  }
  runCases(cases);
}

/// Bits of v_cmp_class: sNaN, qNaN, -inf, -normal, -denormal, -0, +0,
/// +denormal, +normal, +inf.
uint32_t classOf(uint64_t bits, unsigned width, unsigned manBits) {
  uint64_t sign = bits >> (width - 1) & 1;
  uint64_t magnitude = bits & ((uint64_t(1) << (width - 1)) - 1);
  uint64_t infinity = ((uint64_t(1) << (width - 1 - manBits)) - 1) << manBits;
  if (magnitude > infinity)
    return magnitude >> (manBits - 1) & 1 ? 2 : 1;
  if (magnitude == infinity)
    return sign ? 1 << 2 : 1 << 9;
  if (magnitude >> manBits)
    return sign ? 1 << 3 : 1 << 8;
  if (magnitude)
    return sign ? 1 << 4 : 1 << 7;
  return sign ? 1 << 5 : 1 << 6;
}

TEST(Compare, Classes) {
  std::string f16 = "v_mov_b32 v20, 0\n", f64 = f16;
  for (int bit = 0; bit != 10; ++bit) {
    std::string mask = "v_mov_b32 v42, " + std::to_string(1 << bit) + "\n";
    std::string set = "s_nop 1\nv_cndmask_b32 v40, 0, 1, vcc\n"
                      "v_lshl_or_b32 v20, v40, " +
                      std::to_string(bit) + ", v20\n";
    f16 += mask + "v_cmp_class_f16 vcc, v2, v42\n" + set;
    f64 += mask + "v_cmp_class_f64 vcc, v[2:3], v42\n" + set;
  }
  runCases({
      {"v_cmp_class_f16", "h", "u", f16.c_str(),
       [](const uint32_t *in, uint32_t *out) {
         out[0] = classOf(in[0] & 0xffff, 16, 10);
       }},
      {"v_cmp_class_f64", "d", "u", f64.c_str(),
       [](const uint32_t *in, uint32_t *out) {
         out[0] = classOf(L(in), 64, 52);
       }},
  });
}

} // namespace
