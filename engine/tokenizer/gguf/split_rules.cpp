// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/gguf/split_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace draftscope::engine::tokenizer {
namespace {

/// Steps of a split, in order: expressions whose matches become separate pieces, single digits, GPT-2's
/// words.
struct SplitRule {
  std::array<const char*, 5> expressions{};  ///< null after the last expression
  bool digits = false;
  bool words = false;
  bool composed = false;  ///< whether Unicode's NFC comes first
  bool ignore_merges = false;
  bool add_bos = false;
};

// The expressions are those of the tokenizer.json that each name represents (ggml's converter names them, its
// reader cites them). The tests compare them with Hugging Face's tokenizers.
#define DRAFTSCOPE_WORDS_AND_NUMBERS(digits)                                                         \
  R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)" digits R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)" \
  R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
constexpr auto words_and_numbers = DRAFTSCOPE_WORDS_AND_NUMBERS(R"(\p{N}{1,3})");
constexpr auto words_and_digits = DRAFTSCOPE_WORDS_AND_NUMBERS(R"(\p{N})");
constexpr auto words_and_all_digits = DRAFTSCOPE_WORDS_AND_NUMBERS(R"(\p{N}+)");
#undef DRAFTSCOPE_WORDS_AND_NUMBERS

/// Splits words by their capitals; `suffix` may follow one.
#define DRAFTSCOPE_CASED_WORDS(suffix, digits)                                                         \
  R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)" suffix             \
  R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)" suffix "|" digits \
  R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
constexpr auto cased_words = DRAFTSCOPE_CASED_WORDS("", R"(\p{N})");
constexpr auto cased_words_and_suffixes =
    DRAFTSCOPE_CASED_WORDS(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)", R"(\p{N}{1,3})");
#undef DRAFTSCOPE_CASED_WORDS

/// Signs with no line end after them.
constexpr auto seed_words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr auto line_ends = R"([\r\n])";
/// Letters that have cases, according to DeepSeek LLM.
constexpr auto deepseek_llm_words =
    R"(\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF)"
    R"(\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5)"
    R"(\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA)"
    R"(\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45)"
    R"(\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE)"
    R"(\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC)"
    R"(\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139)"
    R"(\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3)"
    R"(\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06)"
    R"(\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A)"
    "\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-\U00010CB2"
    "\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943]+";
constexpr auto deepseek_llm_signs = R"(\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+)";
constexpr auto space_at_end = R"(\s+$)";
constexpr auto deepseek_ideographs = R"([\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+)";
constexpr auto three_digits = R"(\p{N}{1,3})";
constexpr auto ideographs_and_kana = R"([\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+)";
constexpr auto deepseek_v3_words =
    R"x([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)x"
    R"x(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)x";

constexpr SplitRule gpt2{.words = true};
constexpr SplitRule digits_and_words{.digits = true, .words = true};
constexpr SplitRule llama3{.expressions = {words_and_numbers}, .ignore_merges = true, .add_bos = true};
/// Llama 3's pieces without its first token; SmolLM3 uses them.
constexpr SplitRule smaug{.expressions = {words_and_numbers}, .ignore_merges = true};
constexpr SplitRule dbrx{.expressions = {words_and_numbers}};
constexpr SplitRule qwen2{.expressions = {words_and_digits}, .composed = true};
constexpr SplitRule tekken{.expressions = {cased_words}, .ignore_merges = true, .add_bos = true};
constexpr SplitRule gpt4o{.expressions = {cased_words_and_suffixes}};
constexpr SplitRule deepseek_llm{
    .expressions = {line_ends, deepseek_llm_words, deepseek_llm_signs, space_at_end, deepseek_ideographs},
    .digits = true};
constexpr SplitRule deepseek_coder{
    .expressions = {line_ends, R"(\s?\p{L}+)", R"(\s?\p{P}+)", deepseek_ideographs}, .digits = true};
constexpr SplitRule deepseek_v3{.expressions = {three_digits, ideographs_and_kana, deepseek_v3_words}};
constexpr SplitRule minicpm5{.expressions = {three_digits, words_and_all_digits}, .ignore_merges = true};
constexpr SplitRule seed_coder{.expressions = {seed_words}};
/// The rule that ggml's reader uses for files without a name.
constexpr SplitRule ggml_default{
    .expressions = {R"([\p{P}\$\+<=>\^~\|]+)",
                    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", R"(\p{N}+)",
                    R"([0-9][0-9][0-9])"}};

constexpr std::array<std::pair<std::string_view, const SplitRule*>, 36> rules{{
    {"default", &ggml_default},
    {"gpt-2", &gpt2},
    {"llama-bpe", &llama3},
    {"llama3", &llama3},
    {"llama-v3", &llama3},
    {"falcon3", &llama3},
    {"midm-2.0", &llama3},
    {"pixtral", &llama3},
    {"smaug-bpe", &smaug},
    {"dbrx", &dbrx},
    {"qwen2", &qwen2},
    {"deepseek-r1-qwen", &qwen2},
    {"smollm", &digits_and_words},
    {"starcoder", &digits_and_words},
    {"refact", &digits_and_words},
    {"codeshell", &digits_and_words},
    {"tekken", &tekken},
    {"gpt-4o", &gpt4o},
    {"llama4", &gpt4o},
    {"deepseek-llm", &deepseek_llm},
    {"deepseek-coder", &deepseek_coder},
    {"deepseek-v3", &deepseek_v3},
    {"seed-coder", &seed_coder},
    {"exaone4", &gpt2},
    {"a.x-4.0", &gpt2},
    {"mellum", &gpt2},
    {"trillion", &gpt2},
    {"olmo", &gpt2},
    {"granite-docling", &gpt2},
    {"gigachat", &gpt2},
    {"minerva-7b", &digits_and_words},
    {"mellum2", &digits_and_words},
    {"glm4", &dbrx},
    {"kanana2", &gpt4o},
    {"hunyuan-dense", &deepseek_v3},
    {"minicpm5", &minicpm5},
}};

std::string known_names() {
  std::string names;
  for (const auto& [name, rule] : rules) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace

Result<SplitStages> split_stages(const gguf::Metadata& metadata) {
  constexpr std::string_view key = "tokenizer.ggml.pre";
  const std::string expected = fmt::format("one of {}", known_names());
  if (!metadata.has(key)) return metadata.wrong(key, expected);
  DRAFTSCOPE_TRY_ASSIGN(const auto name, metadata.text(key));
  const auto* const found =
      std::find_if(rules.begin(), rules.end(), [&](const auto& row) { return row.first == name; });
  if (found == rules.end()) return metadata.wrong(key, expected);
  const SplitRule& rule = *found->second;
  std::vector<PreTokenizerStep> steps;
  for (const char* const expression : rule.expressions) {
    if (expression == nullptr) break;
    DRAFTSCOPE_TRY_ASSIGN(auto pattern, Pattern::regex(expression, key));
    steps.emplace_back(Split{std::move(pattern), SplitBehavior::isolated, false});
  }
  if (rule.digits) steps.emplace_back(Digits{true});
  DRAFTSCOPE_TRY_ASSIGN(auto byte_level, make_byte_level(false, rule.words, key));
  steps.emplace_back(std::move(byte_level));
  SplitStages stages;
  if (rule.composed) stages.normalizer = Normalizer({UnicodeForm{true, false}});
  stages.pre_tokenizer = PreTokenizer(std::move(steps));
  stages.ignore_merges = rule.ignore_merges;
  stages.add_bos = rule.add_bos;
  return stages;
}

}  // namespace draftscope::engine::tokenizer
