// SPDX-License-Identifier: GPL-3.0-or-later
#include "named_question.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/speculation/published_models.h>
#include <algorithm>
#include <span>
#include <vector>

namespace draftscope::gui {

namespace {

using Words = std::vector<std::string>;

bool is_digit_letter(char letter) {
  return letter >= '0' && letter <= '9';
}

Words words_of(std::string_view text) {
  Words words;
  bool is_inside = false;
  for (char letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    const bool is_part = (letter >= 'a' && letter <= 'z') || is_digit_letter(letter);
    if (is_part && !is_inside) words.emplace_back();
    if (is_part) words.back() += letter;
    is_inside = is_part;
  }
  return words;
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// Whether neighbouring words of a name make this text: "Llama-3-8B" has "llama38b", "38b" and "8b".
bool has_part(const Words& name, const std::string& text) {
  for (std::size_t first = 0; first < name.size(); ++first)
    for (std::size_t count = 1; count <= name.size() - first; ++count)
      if (joined(std::span(name).subspan(first, count)) == text) return true;
  return false;
}

/// The shortest of the names with this part. Names of machines and models have digits; other words ("next")
/// are left to commands.
const std::string* shortest_with(const std::vector<std::string>& names, const std::string& part) {
  if (part.size() < 2 || std::ranges::none_of(part, is_digit_letter)) return nullptr;
  const std::string* shortest = nullptr;
  for (const std::string& name : names)
    if ((shortest == nullptr || name.size() < shortest->size()) && has_part(words_of(name), part))
      shortest = &name;
  return shortest;
}

struct KnownNames {
  std::vector<std::string> gpus;
  std::vector<std::string> models;
};

const KnownNames& known_names() {
  static const KnownNames names = [] {
    KnownNames known;
    for (const simulator::GpuSpecification& gpu : simulator::known_gpus()) known.gpus.emplace_back(gpu.name);
    if (const auto shapes = speculation::known_model_shapes())
      for (const simulator::ModelShape& shape : *shapes) known.models.push_back(shape.name);
    return known;
  }();
  return names;
}

/// Gives the question what the part names, unless it has that already.
bool take_part(Question& question, const std::string& part) {
  for (const simulator::WeightType type : simulator::all_weight_types)
    if (!question.weights && joined(words_of(simulator::weight_type_name(type))) == part) {
      question.weights = type;
      return true;
    }
  for (const auto& [names, field] :
       {std::pair(&known_names().gpus, &question.gpu), std::pair(&known_names().models, &question.model)}) {
    const std::string* name = field->empty() ? shortest_with(*names, part) : nullptr;
    if (name == nullptr) continue;
    *field = *name;
    return true;
  }
  return false;
}

/// Takes the longest part that names something out of the words, and then what stands on both sides of it.
bool take_words(Question& question, std::span<const std::string> words) {
  for (std::size_t count = words.size(); count > 0; --count)
    for (std::size_t first = 0; first + count <= words.size(); ++first)
      if (take_part(question, joined(words.subspan(first, count))))
        return take_words(question, words.first(first)) && take_words(question, words.subspan(first + count));
  return words.empty();
}

}  // namespace

std::optional<Question> named_question(std::string_view words) {
  Question question;
  if (!take_words(question, words_of(words))) return std::nullopt;
  if (question.gpu.empty() && question.model.empty()) return std::nullopt;
  return question;
}

std::string machine_words(const Question& question) {
  std::string words = question.model;
  if (!question.gpu.empty()) words += (words.empty() ? "" : " on ") + question.gpu;
  if (question.weights) words += ", " + std::string(simulator::weight_type_name(*question.weights));
  return words;
}

}  // namespace draftscope::gui
