// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "terminal/glyphs.h"
#include "terminal/numbers.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {
namespace {

TEST(Table, AlignsWideAndCombiningCharactersByTheCellsThatTheyTake) {
  Table table({{"name", Align::left}, {"n"}});
  table.add_row({"日本", "1"});
  table.add_row({"e\u0301e", "22"});
  table.add_row({"abcde"});
  EXPECT_EQ(table.text(1), " name    n\n 日本    1\n e\u0301e     22\n abcde\n");
}

TEST(Table, GoesOnBelowItselfWhereTheLineEnds) {
  Table table({{"run", Align::left}, {"tokens"}, {"speedup"}, {"text", Align::left}});
  table.add_row({"vanilla", "12", "1.00", "yes"});
  table.add_row({"fs", "1234", "0.97", "no"});
  EXPECT_EQ(table.text(0, 24),
            "run      tokens  speedup\nvanilla      12     1.00\nfs         1234     0.97\n\n"
            "run      text\nvanilla  yes\nfs       no\n");
  EXPECT_EQ(table.text(0, 1), table.text(0, 17)) << "one column beside the first is the least";
  for (std::size_t width = 17; width < 40; ++width) {
    std::istringstream lines(table.text(1, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width);
  }
  EXPECT_EQ(table.text(1, 31), table.text(1));
}

TEST(Table, KeepsControlCharactersOfAFileFromTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\nc"), "a?[31mb?c");
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("naïve ×"), "naïve ×");
}

TEST(Bar, IsAsLongAsItsShare) {
  EXPECT_EQ(bar(0.5, 8, {false}), "####");
  EXPECT_EQ(bar(0.5, 8, {true}), "████");
  EXPECT_EQ(bar(0.3125, 8, {true}), "██▌");
  EXPECT_EQ(bar(-1.0, 8, {true}), "");
  EXPECT_EQ(display_width(bar(2.0, 8, {true})), 8U);
}

TEST(Numbers, UseTheCharactersOfTheTerminal) {
  EXPECT_EQ(duration(4210, {}), "4.21 us");
  EXPECT_EQ(duration(4210, {true}), "4.21 µs");
  EXPECT_EQ(factor(1.517, {}), "1.52x");
  EXPECT_EQ(factor(1.517, {true}), "1.52×");
  EXPECT_EQ(number(std::nullopt, {}), "-");
  EXPECT_EQ(percent(std::nullopt, {true}), "–");
}

TEST(Progress, SaysHowMuchIsLeft) {
  EXPECT_EQ(progress_text("exporting", 1, 4, 3'000'000'000), "exporting   25 %  about 9 s left");
  EXPECT_EQ(progress_text("exporting", 0, 4, 3'000'000'000), "exporting    0 %");
  EXPECT_EQ(progress_text("exporting", 1, 61, 2'000'000'000), "exporting    2 %  about 2 min 00 s left");
  EXPECT_EQ(progress_text("exporting", 5, 0, 1), "exporting");
}

}  // namespace
}  // namespace draftscope::cli
