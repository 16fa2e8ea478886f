// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From the pieces of a token sequence back to text, one piece at a time: decoding a whole sequence and
// decoding a stream are the same steps.

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
/// A run of <0xHH> pieces is text if the whole run is valid UTF-8, else one U+FFFD a byte.
struct ByteFallback {};
/// Takes up to `count` of a character off the start: of each piece, or of the whole text once pieces are
/// fused.
struct StripStart {
  std::string character;
  int count;
  bool fused;
};
struct MetaspaceToSpace {
  std::string replacement;
  bool drop_first;  ///< The marks of the first piece are no spaces.
};
/// Joins the pieces' bytes and reads them as UTF-8.
struct JoinBytes {
  bool mapped;  ///< pieces are spelt in the byte alphabet
};
/// The step of a file without a decoder: pieces are joined with spaces.
struct JoinWithSpaces {};

using DecoderStep =
    std::variant<ReplaceText, ByteFallback, StripStart, MetaspaceToSpace, JoinBytes, JoinWithSpaces>;

[[nodiscard]] Result<std::vector<DecoderStep>> parse_decoder(const JsonField& field);

/// The state of one decoding. `steps` must outlive it.
class PieceDecoder {
 public:
  explicit PieceDecoder(const std::vector<DecoderStep>& steps);

  void feed(std::string_view piece, std::string& output);
  void finish(std::string& output);

 private:
  struct State {
    std::string bytes;    // ByteFallback: the run so far
    bool first = true;    // no piece has passed
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
