// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns the pieces of a token sequence back into text, one piece at a time. Decoding a whole sequence and
// decoding a stream take the same steps.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/read_json.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {

struct ReplaceText {
  std::string from;
  std::string to;
};
/// A run of <0xHH> pieces becomes text if the whole run is valid UTF-8; otherwise one U+FFFD per byte.
struct ByteFallback {};
/// Removes up to `count` of a character from the start: of each piece, or of the whole text once pieces are
/// fused.
struct StripStart {
  std::string character;
  int count;
  bool fused;
};
struct MetaspaceToSpace {
  std::string replacement;
  bool drop_first;  ///< whether marks of the first piece are dropped instead of becoming spaces
};
/// Joins the pieces' bytes and reads them as UTF-8.
struct JoinBytes {
  bool mapped;  ///< whether pieces are spelt in the byte alphabet
};
/// The step for a file without a decoder: joins pieces with spaces.
struct JoinWithSpaces {};

using DecoderStep =
    std::variant<ReplaceText, ByteFallback, StripStart, MetaspaceToSpace, JoinBytes, JoinWithSpaces>;

[[nodiscard]] Result<std::vector<DecoderStep>> parse_decoder(const JsonField& field);

/// How many bytes a byte of a piece becomes at most (≥ 1).
[[nodiscard]] double decoded_growth(const std::vector<DecoderStep>& steps);

/// The state of one decoding. `steps` must outlive it.
class PieceDecoder {
 public:
  explicit PieceDecoder(const std::vector<DecoderStep>& steps);

  void feed(std::string_view piece, std::string& output);
  void finish(std::string& output);

 private:
  struct State {
    std::string bytes;    // ByteFallback: the run so far
    bool first = true;    // true until a piece has passed
    int stripped = 0;     // StripStart on fused text
    Utf8Joiner joiner{};  // JoinBytes
  };

  void pass(std::size_t step, std::string_view piece, std::string& output);
  void pass_through(const ReplaceText& step, std::size_t index, std::string_view piece, std::string& output);
  void pass_through(const ByteFallback& step, std::size_t index, std::string_view piece, std::string& output);
  void pass_through(const StripStart& step, std::size_t index, std::string_view piece, std::string& output);
  void pass_through(const MetaspaceToSpace& step, std::size_t index, std::string_view piece,
                    std::string& output);
  void pass_through(const JoinBytes& step, std::size_t index, std::string_view piece, std::string& output);
  void pass_through(const JoinWithSpaces& step, std::size_t index, std::string_view piece,
                    std::string& output);
  void end_byte_run(std::size_t index, std::string& output);

  const std::vector<DecoderStep>* steps_;
  std::vector<State> states_;
};

}  // namespace draftscope::engine::tokenizer
