// SPDX-License-Identifier: GPL-3.0-or-later
// Files of every text format, cut anywhere, with a line lost, doubled or moved: each becomes a trace in which
// every rule holds, or is refused in one line and leaves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../sample.h"
#include "imported.h"

namespace draftscope::traces {
namespace {

class Damaged : public ::testing::TestWithParam<Seed> {
 protected:
  Damaged() {
    options_.format = GetParam().format;
    options_.overwrite = true;
    text_ = test::bytes_of(fixture(GetParam().fixture));
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
      lines_.push_back(text_.substr(begin, end - begin));
      begin = end;
    }
  }

  /// Expects a sound trace, or a refusal in one line that leaves no file.
  void expect_sound_or_refused(const std::string& text) {
    const auto file = folder_.write("input", text);
    const auto imported = import_recordings({file}, options_, folder_ / "out.dstrace");
    if (!imported) {
      EXPECT_THAT(imported.error().message, ::testing::HasSubstr(file.string()));
      EXPECT_EQ(imported.error().message.find('\n'), std::string::npos);
      EXPECT_EQ(folder_.files(), 1U) << imported.error().message;
      return;
    }
    auto reader = value_of(Reader::open(folder_ / "out.dstrace"));
    expect_sound(reader);
    std::filesystem::remove(folder_ / "out.dstrace");
  }

  [[nodiscard]] static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
  }

  const ImportFolder folder_;
  ImportOptions options_;
  std::string text_;
  std::vector<std::string> lines_;
};

TEST_P(Damaged, ByACutAnywhere) {
  for (std::size_t i = 0; i < 12; ++i) {
    const std::size_t bytes = text_.size() * i / 12;
    SCOPED_TRACE(bytes);
    for (const bool partial : {false, true}) {
      options_.partial = partial;
      expect_sound_or_refused(text_.substr(0, bytes));
    }
  }
}

TEST_P(Damaged, ByALineThatIsLostDoubledOrElsewhere) {
  const std::size_t step = std::max<std::size_t>(lines_.size() / 6, 1);
  for (std::size_t i = 0; i < lines_.size(); i += step) {
    SCOPED_TRACE(lines_[i]);
    const auto place = static_cast<std::ptrdiff_t>(i);
    auto lines = lines_;
    lines.erase(lines.begin() + place);
    expect_sound_or_refused(joined(lines));
    lines = lines_;
    lines.insert(lines.begin() + place, lines_[i]);
    expect_sound_or_refused(joined(lines));
    lines = lines_;
    std::rotate(lines.begin(), lines.begin() + place, lines.end());
    expect_sound_or_refused(joined(lines));
    std::reverse(lines.begin(), lines.end());
    expect_sound_or_refused(joined(lines));
  }
}

std::vector<Seed> seeds_in_text() {
  std::vector<Seed> text = seeds();
  std::erase_if(text, [](const Seed& seed) { return seed.format == "nsys"; });
  return text;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Damaged, ::testing::ValuesIn(seeds_in_text()),
                         [](const auto& seed) { return seed.param.test_name(); });

TEST(RoundsImport, TakesRequestsThatInterleaveAndRefusesARoundThatComesTwice) {
  const std::string head =
      "{\"record\":\"header\",\"format\":\"draftscope-rounds\",\"version\":1}\n"
      "{\"record\":\"request\",\"request\":\"a\",\"run\":\"x\",\"start_ns\":100}\n"
      "{\"record\":\"request\",\"request\":\"b\",\"run\":\"x\",\"start_ns\":110}\n";
  const std::string of_a =
      "{\"record\":\"round\",\"request\":\"a\",\"accepted\":1,\"drafted\":2,\"start_ns\":120,\"end_ns\":130}"
      "\n";
  const std::string of_b =
      "{\"record\":\"round\",\"request\":\"b\",\"accepted\":2,\"drafted\":2,\"start_ns\":115,\"end_ns\":140}"
      "\n";
  const std::string tail =
      "{\"record\":\"end\",\"request\":\"b\",\"end_ns\":150}\n{\"record\":\"end\",\"request\":\"a\",\"end_"
      "ns\":160}\n";
  const ImportFolder folder;
  const Imported log = import_text(
      "a.jsonl", head + of_a + of_b + of_a.substr(0, of_a.find("120")) + "130,\"end_ns\":135}\n" + tail);
  ASSERT_EQ(log.recording.requests.size(), 2U);
  EXPECT_EQ(log.recording.rounds.size(), 3U);
  for (const std::string& twice : {of_a, of_b}) {
    const auto refused = import_recordings({folder.write("b.jsonl", head + of_a + of_b + twice + tail)}, {},
                                           folder / "b.dstrace");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("line 6: start_ns is"));
  }
}

}  // namespace
}  // namespace draftscope::traces
