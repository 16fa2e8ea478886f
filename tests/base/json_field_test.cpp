// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "../value_of.h"

namespace draftscope {
namespace {

using nlohmann::json;

template <typename T>
std::string refusal(const Result<T>& result) {
  return result ? "was read" : result.error().message;
}

TEST(JsonField, NamesFileAndPathOfWhatIsWrong) {
  const json document = json::parse(R"({"a": {"list": [1, {"deep": "x"}]}, "null": null})");
  const JsonField root(document, "file.json");
  const auto list = value_of(root["a"]["list"].list());
  EXPECT_EQ(refusal((list)[1]["deep"].number()), "file.json: a.list[1].deep is 'x', expected a number");
  EXPECT_EQ(refusal((list)[1]["none"].text()), "file.json: a.list[1].none is missing, expected a string");
  EXPECT_EQ(refusal(root["null"].boolean()), "file.json: null is null, expected true or false");
  EXPECT_EQ(refusal(root["a"].list()), "file.json: a is an object, expected a list");
  EXPECT_EQ(refusal(root.text()), "file.json is an object, expected a string");
  EXPECT_EQ(refusal(root["none"]["below"].object()), "file.json: none.below is missing, expected an object");
}

TEST(JsonField, RefusesANumberThatPythonWritesAndJsonLacksOnlyWhereItIsRead) {
  const json document = value_of(parse_json_object(
      R"({"NaN": "\"NaN\" Infinity", "x": NaN, "limits": [0.0, Infinity, -Infinity], "eps": 1e-05})", "f"));
  const JsonField root(document, "f");
  EXPECT_EQ(value_of(root["NaN"].text()), "\"NaN\" Infinity");
  EXPECT_EQ(value_of(root["eps"].number()), 1e-05);
  EXPECT_EQ(refusal(root["x"].number_or({}, 7.0)), "f: x is 'NaN', expected a number");
  EXPECT_EQ(refusal(root["limits"].numbers()), "f: limits holds 'Infinity', expected numbers");
  EXPECT_FALSE(parse_json_object(R"({"x": NaNny})", "f"));
}

TEST(JsonField, TellsAbsentFromNull) {
  const json document = json::parse(R"({"null": null, "one": 1})");
  const JsonField root(document, "f");
  EXPECT_TRUE(root.has("null"));
  EXPECT_FALSE(root.has("none"));
  EXPECT_TRUE(root["null"].is_null());
  EXPECT_TRUE(root["none"].is_null());
  EXPECT_EQ(root["none"].integer_or(Range<std::int32_t>{}, 7).value(), 7);
  EXPECT_EQ(root["null"].text_or("seven").value(), "seven");
  EXPECT_EQ(root["one"].integer_or(Range<std::int32_t>{}, 7).value(), 1);
  EXPECT_FALSE(root["one"].text_or("seven"));
}

TEST(JsonField, ReadsAnIntegerOnlyIfItsTypeHoldsIt) {
  const json document = json::parse(
      R"({"most": 18446744073709551615, "beyond": 18446744073709551616, "low": -2147483649, "real": 2.0})");
  const JsonField root(document, "f");
  EXPECT_EQ(root["most"].integer<std::uint64_t>().value(), std::numeric_limits<std::uint64_t>::max());
  for (const char* name : {"most", "beyond", "low", "real"}) {
    EXPECT_FALSE(root[name].integer<std::int32_t>()) << name;
    EXPECT_FALSE(root[name].integer(Range<std::int32_t>{-10, 10})) << name;
  }
  EXPECT_FALSE(root["most"].integer<std::int64_t>());
  EXPECT_EQ(root["low"].integer<std::int64_t>().value(), -2147483649);
  EXPECT_FALSE(root["low"].integer<std::uint64_t>());
  EXPECT_EQ(refusal(root["low"].integer(Range<std::int32_t>{1, 5})),
            "f: low is -2147483649, expected an integer from 1 to 5");
}

TEST(JsonField, ReadsFiniteNumbersOfTheRangeEndsIncluded) {
  const json document = json::parse(R"({"one": 1, "two": 2.0})");
  const JsonField root(document, "f");
  EXPECT_EQ(root["one"].number({1.0, 2.0}).value(), 1.0);
  EXPECT_EQ(root["two"].number({1.0, 2.0}).value(), 2.0);
  EXPECT_EQ(refusal(root["two"].number({0.0, 1.5})), "f: two is 2.0, expected a number from 0 to 1.5");
  EXPECT_EQ(refusal(root["one"].number({.min = 2.0})), "f: one is 1, expected a number from 2");
  const json infinite(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(JsonField(infinite, "f").number());
}

TEST(JsonField, RefusesMembersThatNobodyKnows) {
  const json document = json::parse(R"({"a": {"known": 1, "un\nknown": 2}})");
  constexpr std::array known{"known"};
  EXPECT_EQ(refusal(JsonField(document, "f")["a"].knows_only(known, "none beside")),
            R"(f: unknown field a.'un\x0aknown', expected none beside)");
}

TEST(JsonField, KeepsAMessageOnOneLineWhateverAKeyHolds) {
  const json document = json::parse(R"({"line\nbreak": 1})");
  const auto members = value_of(JsonField(document, "f").members());
  EXPECT_EQ(refusal(members.front().second.text()).find('\n'), std::string::npos);
}

enum class Colour : std::uint8_t { red, green, blue };
std::string_view name_of(Colour colour) {
  constexpr std::array<std::string_view, 3> names{"red", "green", "blue"};
  return names[static_cast<std::size_t>(colour)];
}

TEST(JsonField, ReadsAnEnumerationByItsNames) {
  const json document = json::parse(R"({"a": "green", "b": "grey"})");
  const JsonField root(document, "f");
  EXPECT_EQ(root["a"].named(name_of, Colour::blue).value(), Colour::green);
  EXPECT_EQ(refusal(root["b"].named(name_of, Colour::blue)), "f: b is 'grey', expected red, green or blue");
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(JsonTextOfUnknownSource, IsRefusedBeforeItTakesTheStackOrTheMemory) {
  const auto parsed = [](const std::string& value) {
    return refusal(parse_json_object(R"({"[{": "\"[", "a": )" + value + "}", "f"));
  };
  EXPECT_EQ(parsed(repeated("[", 127) + repeated("]", 127)), "was read");
  EXPECT_EQ(parsed(repeated("[", 128) + repeated("]", 128)),
            "f: found brackets 129 deep, expected at most 128");
  EXPECT_EQ(parsed(repeated(R"({"":)", 3'000'000)), "f: found brackets 3000001 deep, expected at most 128");
  constexpr std::size_t many = 7'000'000;
  for (const char* const value : {"[],", "{},", R"({"":0},)"})
    EXPECT_TRUE(parsed("[" + repeated(value, many) + "0]").starts_with("f: found JSON whose values need "))
        << value;
}

}  // namespace
}  // namespace draftscope
