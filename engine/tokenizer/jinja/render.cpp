// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/render.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

// Loops over messages need far less; a hostile template could ask for any amount.
constexpr std::int64_t max_statements = 10'000'000;

bool is_namespace(const Value& value) {
  return value.name_space() != nullptr;
}

class Renderer {
 public:
  explicit Renderer(Dictionary variables) { scopes_.push_back(std::move(variables)); }

  Result<std::string> run(const Block& block) {
    DRAFTSCOPE_TRY(execute(block));
    return std::move(output_);
  }

 private:
  Result<void> execute(const Block& block) {
    for (const Statement& statement : block) {
      DRAFTSCOPE_TRY(execute(statement));
      if (++statements_ > max_statements || output_.size() > longest_value)
        return fail("line {}: the template does not come to an end", statement.line);
    }
    return {};
  }

  Result<void> execute(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::text:
        output_ += statement.text;
        return {};
      case StatementKind::output: {
        DRAFTSCOPE_TRY_ASSIGN(const Value value, evaluate(statement.expressions[0]));
        if (!append_text(value, output_)) return fail("printing {} is not implemented", type_name(value));
        return {};
      }
      case StatementKind::set:
        return set(statement);
      case StatementKind::branch:
        return branch(statement);
      case StatementKind::loop:
        return loop(statement);
    }
    return {};
  }

  Result<void> set(const Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(Value value, evaluate(statement.expressions[0]));
    if (statement.targets.size() == 1) {
      set_entry(scopes_.back(), statement.targets[0], std::move(value));
      return {};
    }
    const Value object = variable(statement.targets[0]);
    if (object.name_space() == nullptr)
      return fail("'{}' is {}, not a namespace", statement.targets[0], type_name(object));
    if (value.name_space() != nullptr) return fail("a namespace within a namespace is not implemented");
    set_entry(object.name_space()->entries, statement.targets[1], std::move(value));
    return {};
  }

  Result<void> branch(const Statement& statement) {
    for (std::size_t i = 0; i < statement.expressions.size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(const Value condition, evaluate(statement.expressions[i]));
      if (truth(condition)) return execute(statement.blocks[i]);
    }
    if (statement.blocks.size() > statement.expressions.size()) return execute(statement.blocks.back());
    return {};
  }

  Result<void> bind(const Statement& statement, const Value& item) {
    if (statement.targets.size() == 1) {
      set_entry(scopes_.back(), statement.targets[0], item);
      return {};
    }
    const auto* parts = item.list();
    if (parts == nullptr || parts->size() != statement.targets.size())
      return fail("{} cannot be unpacked into {} names", type_name(item), statement.targets.size());
    for (std::size_t i = 0; i < parts->size(); ++i)
      set_entry(scopes_.back(), statement.targets[i], (*parts)[i]);
    return {};
  }

  Result<List> loop_items(const Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(const Value sequence, evaluate(statement.expressions[0]));
    List items;
    if (const auto* list = sequence.list()) {
      items = *list;
    } else if (const auto* entries = sequence.dictionary()) {
      for (const auto& [key, value] : *entries) items.emplace_back(key);
    } else if (!sequence.is_undefined()) {
      return fail("a loop over {} is not implemented", type_name(sequence));
    }
    if (statement.expressions.size() == 1) return items;
    List chosen;
    for (const Value& item : items) {
      scopes_.emplace_back();
      DRAFTSCOPE_TRY(bind(statement, item));
      DRAFTSCOPE_TRY_ASSIGN(const Value condition, evaluate(statement.expressions[1]));
      scopes_.pop_back();
      if (truth(condition)) chosen.push_back(item);
    }
    return chosen;
  }

  // What a loop sets is gone after each turn, as in Jinja.
  Result<void> loop(const Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(const List items, loop_items(statement));
    const auto count = static_cast<std::int64_t>(items.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = [&](std::int64_t index) {
        return index >= 0 && index < count ? items[static_cast<std::size_t>(index)] : Value();
      };
      scopes_.emplace_back();
      set_entry(scopes_.back(), "loop",
                Dictionary{{"index", i + 1},
                           {"index0", i},
                           {"revindex", count - i},
                           {"revindex0", count - i - 1},
                           {"first", i == 0},
                           {"last", i + 1 == count},
                           {"length", count},
                           {"previtem", at(i - 1)},
                           {"nextitem", at(i + 1)}});
      DRAFTSCOPE_TRY(bind(statement, at(i)));
      DRAFTSCOPE_TRY(execute(statement.blocks[0]));
      scopes_.pop_back();
    }
    return {};
  }

  [[nodiscard]] Value variable(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found =
          std::find_if(scope->begin(), scope->end(), [&](const auto& e) { return e.first == name; });
      if (found != scope->end()) return found->second;
    }
    // A function's name is defined, though it has no value of its own here.
    return is_known_function(name) ? Value(true) : Value();
  }

  Result<Value> evaluate(const Expression& expression) {
    switch (expression.kind) {
      case ExpressionKind::literal:
        return expression.value;
      case ExpressionKind::name:
        return variable(expression.name);
      case ExpressionKind::conditional: {
        DRAFTSCOPE_TRY_ASSIGN(const Value condition, evaluate(expression.operands[1]));
        return evaluate(expression.operands[truth(condition) ? 0 : 2]);
      }
      case ExpressionKind::binary:
        if (expression.name == "and" || expression.name == "or") return evaluate_lazily(expression);
        break;
      default:
        break;
    }
    Arguments operands;
    for (const Expression& operand : expression.operands) {
      DRAFTSCOPE_TRY_ASSIGN(auto value, evaluate(operand));
      operands.push_back(std::move(value));
    }
    const bool collects =
        expression.kind == ExpressionKind::list || expression.kind == ExpressionKind::dictionary;
    if (collects && std::any_of(operands.begin(), operands.end(), is_namespace))
      return fail("a namespace within a list or dictionary is not implemented");
    return combine(expression, std::move(operands));
  }

  Result<Value> evaluate_lazily(const Expression& expression) {
    DRAFTSCOPE_TRY_ASSIGN(auto left, evaluate(expression.operands[0]));
    if (truth(left) == (expression.name == "or")) return left;
    return evaluate(expression.operands[1]);
  }

  Result<Value> combine(const Expression& expression, Arguments operands) {
    const auto rest = [&] { return Arguments(operands.begin() + 1, operands.end()); };
    switch (expression.kind) {
      case ExpressionKind::attribute:
        return subscript(operands[0], Value(expression.name));
      case ExpressionKind::subscript:
        return subscript(operands[0], operands[1]);
      case ExpressionKind::slice:
        return slice(operands[0], operands[1], operands[2]);
      case ExpressionKind::list:
        return Value(List(std::move(operands)));
      case ExpressionKind::dictionary:
        return dictionary(operands);
      case ExpressionKind::method:
        return call_method(expression.name, operands[0], rest());
      case ExpressionKind::filter:
        return apply_filter(expression.name, operands[0], rest());
      case ExpressionKind::test:
        return apply_test(expression.name, operands[0], rest()).map([](bool passed) {
          return Value(passed);
        });
      case ExpressionKind::unary:
        return unary(expression.name, operands[0]);
      case ExpressionKind::binary:
        return binary(expression.name, operands[0], operands[1]);
      default:
        break;
    }
    Dictionary keywords;
    for (std::size_t i = 0; i < expression.keyword_names.size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(auto evaluated, evaluate(expression.keyword_values[i]));
      if (is_namespace(evaluated)) return fail("a namespace within a namespace is not implemented");
      set_entry(keywords, expression.keyword_names[i], std::move(evaluated));
    }
    return call_function(expression.name, operands, std::move(keywords));
  }

  static Result<Value> dictionary(const Arguments& operands) {
    Dictionary entries;
    for (std::size_t i = 0; i + 1 < operands.size(); i += 2) {
      if (operands[i].string() == nullptr) return fail("a dictionary's key is {}", type_name(operands[i]));
      set_entry(entries, *operands[i].string(), operands[i + 1]);
    }
    return Value(std::move(entries));
  }

  static Result<Value> subscript(const Value& object, const Value& key) {
    if (object.is_undefined()) return fail("an undefined value has no members");
    if (const auto* entries = object.dictionary())
      return key.string() == nullptr ? Value() : entry(*entries, *key.string());
    if (const auto* space = object.name_space())
      return key.string() == nullptr ? Value() : entry(space->entries, *key.string());
    if (object.string() != nullptr) return fail("a member of a string is not implemented");
    const auto* list = object.list();
    if (list == nullptr || key.integer() == nullptr) return Value();
    const auto size = static_cast<std::int64_t>(list->size());
    const std::int64_t index = *key.integer() < 0 ? *key.integer() + size : *key.integer();
    return index < 0 || index >= size ? Value() : (*list)[static_cast<std::size_t>(index)];
  }

  static Result<Value> slice(const Value& object, const Value& first, const Value& last) {
    const auto* list = object.list();
    if (list == nullptr) return fail("a slice of {} is not implemented", type_name(object));
    const auto size = static_cast<std::int64_t>(list->size());
    const auto bound = [&](const Value& value, std::int64_t missing) -> Result<std::int64_t> {
      if (value.is_none()) return missing;
      if (value.integer() == nullptr) return fail("a slice's bound is {}", type_name(value));
      return std::clamp<std::int64_t>(*value.integer() < 0 ? *value.integer() + size : *value.integer(), 0,
                                      size);
    };
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t begin, bound(first, 0));
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t end, bound(last, size));
    return Value(List(list->begin() + begin, list->begin() + std::max(begin, end)));
  }

  static Result<Value> unary(const std::string& name, const Value& operand) {
    if (name == "not") return Value(!truth(operand));
    const auto* integer = operand.integer();
    if (integer == nullptr || *integer == std::numeric_limits<std::int64_t>::min())
      return fail("{} of {} is not implemented", name, type_name(operand));
    return Value(name == "-" ? -*integer : *integer);
  }

  static Result<Value> contains(const Value& item, const Value& container) {
    if (const auto* entries = container.dictionary())
      return Value(item.string() != nullptr &&
                   std::any_of(entries->begin(), entries->end(),
                               [&](const auto& e) { return e.first == *item.string(); }));
    if (const auto* list = container.list())
      return Value(std::any_of(list->begin(), list->end(), [&](const Value& v) { return equal(v, item); }));
    if (container.string() != nullptr && item.string() != nullptr)
      return Value(container.string()->find(*item.string()) != std::string::npos);
    if (container.is_undefined()) return Value(false);
    return fail("'in' {} is not implemented", type_name(container));
  }

  static Result<Value> binary(const std::string& name, const Value& left, const Value& right) {
    const bool compares = name == "==" || name == "!=";
    if (compares && left.is_container() && right.is_container() && truth(left) && truth(right))
      return fail("{} {} {} is not implemented", type_name(left), name, type_name(right));
    if (name == "==") return Value(equal(left, right));
    if (name == "!=") return Value(!equal(left, right));
    if (name == "in") return contains(left, right);
    if (name == "not in")
      return contains(left, right).map([](const Value& found) { return Value(!truth(found)); });
    if (name == "~" || (name == "+" && left.string() != nullptr && right.string() != nullptr)) {
      std::string text;
      if (!append_text(left, text) || !append_text(right, text))
        return fail("~ of {} and {} is not implemented", type_name(left), type_name(right));
      if (text.size() > longest_value) return fail("~: the text is too long");
      return Value(std::move(text));
    }
    if (name == "+" && left.list() != nullptr && right.list() != nullptr) {
      List joined = *left.list();
      joined.insert(joined.end(), right.list()->begin(), right.list()->end());
      if (joined.size() > longest_value) return fail("+: the list is too long");
      return Value(std::move(joined));
    }
    if (left.integer() != nullptr && right.integer() != nullptr)
      return arithmetic(name, *left.integer(), *right.integer());
    return fail("{} {} {} is not implemented", type_name(left), name, type_name(right));
  }

  // Division and remainder round down, as Python's do.
  static Result<Value> arithmetic(const std::string& name, std::int64_t left, std::int64_t right) {
    if (name == "<") return Value(left < right);
    if (name == ">") return Value(left > right);
    if (name == "<=") return Value(left <= right);
    if (name == ">=") return Value(left >= right);
    std::int64_t result = 0;
    bool overflow = false;
    if (name == "+") {
      overflow = __builtin_add_overflow(left, right, &result);
    } else if (name == "-") {
      overflow = __builtin_sub_overflow(left, right, &result);
    } else if (name == "*") {
      overflow = __builtin_mul_overflow(left, right, &result);
    } else {
      if (right == 0 || right == -1) return fail("{} {} {} is not implemented", left, name, right);
      const std::int64_t remainder = left % right;
      const bool rounds_up = remainder != 0 && (remainder < 0) != (right < 0);
      result = name == "%" ? remainder + (rounds_up ? right : 0) : left / right - (rounds_up ? 1 : 0);
    }
    if (overflow) return fail("{} {} {} does not fit 64 bits", left, name, right);
    return Value(result);
  }

  std::vector<Dictionary> scopes_;
  std::string output_;
  std::int64_t statements_ = 0;
};

}  // namespace

Result<std::string> render(const Block& block, Dictionary variables) {
  return Renderer(std::move(variables)).run(block);
}

}  // namespace draftscope::engine::jinja
