// SPDX-License-Identifier: GPL-3.0-or-later
#include "safetensors_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

using tiny::safetensors_file;
using tiny::StoredTensor;

Result<SafetensorsHeader> parse_header(std::string_view file) {
  return parse_safetensors_header(std::as_bytes(std::span(file)), "f.safetensors");
}

TEST(SafetensorsHeader, PlacesEveryTensorInTheFile) {
  const std::vector<StoredTensor> tensors{{"b", "F32", {2, 3}, std::string(24, 'b')},
                                          {"a", "BF16", {4}, std::string(8, 'a')},
                                          {"scalar", "F16", {}, std::string(2, 's')},
                                          {"empty", "I64", {0, 5}, ""}};
  const auto file = safetensors_file(tensors);
  const auto header = parse_header(file);
  ASSERT_TRUE(header) << header.error().message;
  ASSERT_EQ(header->entries.size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& entry = header->entries[i];
    EXPECT_EQ(entry.name, tensors[i].name);
    EXPECT_EQ(entry.dtype, tensors[i].dtype);
    EXPECT_EQ(entry.shape, tensors[i].shape);
    EXPECT_EQ(file.substr(entry.begin, entry.end - entry.begin), tensors[i].bytes);
  }
}

TEST(SafetensorsHeader, OrderInTheHeaderIsFree) {
  const auto header =
      parse_header(safetensors_file(R"({"later":{"shape":[1],"data_offsets":[1,2],"dtype":"U8"},)"
                                    R"("first":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})",
                                    2));
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->entries.front().name, "first");
}

TEST(SafetensorsHeader, AFileWithoutTensorsIsValid) {
  EXPECT_TRUE(parse_header(safetensors_file("{}", 0)));
  EXPECT_TRUE(parse_header(safetensors_file(R"({"__metadata__":{}}   )", 0)));
}

TEST(SafetensorsHeader, EveryPrefixOfAFileIsRefused) {
  const std::vector<StoredTensor> tensors{{"a", "BF16", {4}, std::string(8, 'a')}};
  const auto file = safetensors_file(tensors);
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    const auto header = parse_header(std::string_view(file).substr(0, bytes));
    ASSERT_FALSE(header) << bytes;
    EXPECT_THAT(header.error().message, testing::StartsWith("f.safetensors: "));
  }
}

struct HeaderDamage {
  const char* name;
  std::string header;
  std::size_t data_bytes;
  const char* expected;
};

class DamagedHeader : public testing::TestWithParam<HeaderDamage> {};

TEST_P(DamagedHeader, IsRefusedInOneLineThatSaysWhy) {
  const auto header = parse_header(safetensors_file(GetParam().header, GetParam().data_bytes));
  ASSERT_FALSE(header);
  EXPECT_THAT(header.error().message, testing::HasSubstr(GetParam().expected));
  EXPECT_THAT(header.error().message, testing::StartsWith("f.safetensors: "));
  EXPECT_THAT(header.error().message, testing::Not(testing::HasSubstr("\n")));
}

std::string entry(std::string_view fields) {
  return R"({"t":{)" + std::string(fields) + "}}";
}

std::vector<HeaderDamage> header_damages() {
  return {
      {"Empty", "", 0, "header begins with '', expected '{'"},
      {"LeadingSpace", " {}", 0, "header begins with ' ', expected '{'"},
      {"Array", "[]", 0, "header begins with '[', expected '{'"},
      {"CutOff", R"({"t":{"dtype":"F32")", 0, "not valid JSON at byte"},
      {"TrailingText", "{}x", 0, "not valid JSON at byte"},
      {"TrailingZeros", std::string("{}\0\0", 4), 0, "holds a zero byte at byte 10"},
      {"InvalidUtf8", "{\"\xff\":{}}", 0, "not valid JSON at byte"},
      {"TensorIsNumber", R"({"t":3})", 0, "'t' is 3, expected an object"},
      {"TensorIsArray", R"({"t":[1]})", 0, "'t' is an array, expected an object"},
      {"TensorIsNull", R"({"t":null})", 0, "'t' is null, expected an object"},
      {"TensorIsText", R"({"t":"x"})", 0, "'t' is 'x', expected an object"},
      {"NoDtype", entry(R"("shape":[1],"data_offsets":[0,4])"), 4, "tensor 't' has no dtype"},
      {"NoShape", entry(R"("dtype":"F32","data_offsets":[0,4])"), 4, "tensor 't' has no shape"},
      {"NoOffsets", entry(R"("dtype":"F32","shape":[1])"), 4, "tensor 't' has no data_offsets"},
      {"UnknownField", entry(R"("dtype":"F32","stride":[1])"), 4, "has the field 'stride', expected dtype"},
      {"FieldTwice", entry(R"("dtype":"F32","dtype":"F32")"), 4, "has two fields dtype"},
      {"NameTwice",
       R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "tensor 't' occurs twice"},
      {"MetadataTwice", R"({"__metadata__":{},"__metadata__":{}})", 0, "'__metadata__' occurs twice"},
      {"MetadataHoldsNumber", R"({"__metadata__":{"a":1}})", 0, "__metadata__ 'a' is 1, expected a string"},
      {"MetadataHoldsObject", R"({"__metadata__":{"a":{}}})", 0, "'a' is an object, expected a string"},
      {"MetadataIsText", R"({"__metadata__":"x"})", 0, "'__metadata__' is 'x', expected an object"},
      {"UnknownDtype", entry(R"("dtype":"Q4_K","shape":[1],"data_offsets":[0,4])"), 4,
       "unknown dtype 'Q4_K'"},
      {"DtypeIsNumber", entry(R"("dtype":1,"shape":[1],"data_offsets":[0,4])"), 4,
       "dtype is 1, expected a string"},
      {"DtypeIsArray", entry(R"("dtype":["F32"])"), 4, "dtype is an array, expected a string"},
      {"ShapeIsNumber", entry(R"("dtype":"F32","shape":1)"), 4, "shape is 1, expected an array"},
      {"ShapeIsNegative", entry(R"("dtype":"F32","shape":[-1])"), 4, "shape holds -1, expected unsigned"},
      {"ShapeIsFraction", entry(R"("dtype":"F32","shape":[1.5])"), 4, "shape holds '1.5', expected unsigned"},
      {"ShapeIsBeyond64Bits", entry(R"("dtype":"F32","shape":[18446744073709551616])"), 4,
       "shape holds '18446744073709551616', expected unsigned"},
      {"ShapeIsNested", entry(R"("dtype":"F32","shape":[[1]])"), 4,
       "shape holds an array, expected unsigned"},
      {"ShapeHoldsBoolean", entry(R"("dtype":"F32","shape":[true])"), 4,
       "shape holds true, expected unsigned"},
      {"ShapeOverflows", entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), 4,
       "found shape [4294967296, 4294967296], expected a number of bytes that fits 64 bits"},
      {"OneOffset", entry(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4,
       "data_offsets has 1 numbers"},
      {"ThreeOffsets", entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 4,
       "data_offsets has 3 numbers"},
      {"OffsetsAreText", entry(R"("dtype":"F32","shape":[1],"data_offsets":["0","4"])"), 4,
       "data_offsets holds '0', expected unsigned"},
      {"OffsetsReversed", entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4,
       "[4, 0], expected begin"},
      {"BeyondTheFile", entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 4,
       "data ends at byte 8, expected at most 4"},
      {"EnormousOffset", entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615])"), 4,
       "data ends at byte 18446744073709551615, expected at most 4"},
      {"TooShortForShape", entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4,
       "4 bytes of data, expected 8 for F32 [2]"},
      {"TooLongForShape", entry(R"("dtype":"BF16","shape":[1],"data_offsets":[0,4])"), 4,
       "4 bytes of data, expected 2 for BF16 [1]"},
      {"HalfAByte", entry(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"), 1,
       "12 bits, expected whole bytes"},
      {"HoleAtTheStart", entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8,
       "data begins at byte 4, expected 0 (hole)"},
      {"Overlap",
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "tensor 'b': data begins at byte 1, expected 2 (overlap)"},
      {"DataOfNoTensor", entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 6,
       "2 data bytes belong to no tensor"},
      {"ControlBytesInName", "{\"a\\nb\":1}", 0, "'a\\x0ab' is 1"},
  };
}

INSTANTIATE_TEST_SUITE_P(Table, DamagedHeader, testing::ValuesIn(header_damages()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(SafetensorsHeader, LengthBeyondTheFormatsBoundIsRefusedBeforeAnythingIsRead) {
  std::string file("\x01\xe1\xf5\x05\x00\x00\x00\x00{}", 10);
  EXPECT_THAT(parse_header(file).error().message,
              testing::HasSubstr("header of 100000001 bytes, expected at most"));
  file[7] = '\x7f';
  EXPECT_THAT(parse_header(file).error().message, testing::HasSubstr("expected at most 100000000"));
}

TEST(SafetensorsHeader, LengthBeyondTheFileIsATruncatedFile) {
  EXPECT_THAT(parse_header(std::string("\x03\0\0\0\0\0\0\0{}", 10)).error().message,
              testing::HasSubstr(
                  "header of 3 bytes in a file of 10, expected a header that fits; the file is truncated"));
}

TEST(SafetensorsHeader, DeepNestingCostsNothing) {
  const auto header = parse_header(safetensors_file("{\"t\":" + std::string(1'000'000, '['), 0));
  ASSERT_FALSE(header);
  EXPECT_THAT(header.error().message, testing::HasSubstr("'t' is an array, expected an object"));
}

}  // namespace
}  // namespace draftscope::engine
