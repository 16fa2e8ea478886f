// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/render.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <limits>
#include <utility>

#include "tokenizer/jinja/functions.h"

namespace draftscope::engine::jinja {
namespace {

bool is_namespace(const Value& value) {
  return value.name_space() != nullptr;
}

class Renderer {
 public:
  Renderer(Dictionary variables, const Limits& limits) : budget_(limits) {
    scopes_.push_back(std::move(variables));
  }

  Result<std::string> run(const Block& block) {
    DRAFTSCOPE_TRY(execute(block));
    return std::move(output_);
  }

 private:
  Result<void> execute(const Block& block) {
    for (const Statement& statement : block) {
      budget_.at_line(statement.line);
      DRAFTSCOPE_TRY(budget_.steps(1));
      DRAFTSCOPE_TRY(execute(statement));
    }
    return {};
  }

  Result<void> execute(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::text:
        return budget_.append(output_, statement.text);
      case StatementKind::output: {
        DRAFTSCOPE_TRY_ASSIGN(const Value value, evaluate(statement.expressions[0]));
        if (const auto* text = value.string()) return budget_.append(output_, *text);
        std::string text;
        if (!append_text(value, text)) return fail("printing {} is not implemented", type_name(value));
        return budget_.append(output_, text);
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

  Result<void> assign(Dictionary& entries, const std::string& name, Value value) {
    DRAFTSCOPE_TRY(budget_.steps(entries.size()));
    set_entry(entries, name, std::move(value));
    return {};
  }

  Result<void> set(const Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(Value value, evaluate(statement.expressions[0]));
    if (statement.targets.size() == 1) return assign(scopes_.back(), statement.targets[0], std::move(value));
    DRAFTSCOPE_TRY_ASSIGN(const Value object, variable(statement.targets[0]));
    if (object.name_space() == nullptr)
      return fail("{} is {}, expected a namespace", quote(statement.targets[0]), type_name(object));
    if (value.name_space() != nullptr) return fail("a namespace within a namespace is not implemented");
    return assign(object.name_space()->entries, statement.targets[1], std::move(value));
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
    if (statement.targets.size() == 1) return assign(scopes_.back(), statement.targets[0], item);
    const auto* parts = item.list();
    if (parts == nullptr || parts->size() != statement.targets.size())
      return fail("{} cannot be unpacked into {} names", type_name(item), statement.targets.size());
    for (std::size_t i = 0; i < parts->size(); ++i)
      DRAFTSCOPE_TRY(assign(scopes_.back(), statement.targets[i], (*parts)[i]));
    return {};
  }

  // The items of a list; an undefined value has none.
  Result<Value> loop_items(const Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(Value items, evaluate(statement.expressions[0]));
    if (const auto* entries = items.dictionary()) {
      DRAFTSCOPE_TRY_ASSIGN(items, keys(*entries, budget_));
    } else if (items.list() == nullptr && !items.is_undefined()) {
      return fail("a loop over {} is not implemented", type_name(items));
    }
    if (statement.expressions.size() == 1 || items.list() == nullptr) return items;
    List chosen;
    for (const Value& item : *items.list()) {
      DRAFTSCOPE_TRY(budget_.steps(1));
      scopes_.emplace_back();
      DRAFTSCOPE_TRY(bind(statement, item));
      DRAFTSCOPE_TRY_ASSIGN(const Value condition, evaluate(statement.expressions[1]));
      scopes_.pop_back();
      if (truth(condition)) chosen.push_back(item);
    }
    return budget_.list(std::move(chosen));
  }

  // Runs a loop. Variables that it sets are lost after each turn, as in Jinja.
  Result<void> loop(const Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(const Value sequence, loop_items(statement));
    if (sequence.list() == nullptr) return {};
    const List& items = *sequence.list();
    const auto count = static_cast<std::int64_t>(items.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = [&](std::int64_t index) {
        return index >= 0 && index < count ? items[static_cast<std::size_t>(index)] : Value();
      };
      Dictionary state{{"index", i + 1},        {"index0", i},
                       {"revindex", count - i}, {"revindex0", count - i - 1},
                       {"first", i == 0},       {"last", i + 1 == count},
                       {"length", count},       {"previtem", at(i - 1)},
                       {"nextitem", at(i + 1)}};
      budget_.at_line(statement.line);
      DRAFTSCOPE_TRY(budget_.steps(1 + state.size()));
      scopes_.emplace_back();
      DRAFTSCOPE_TRY_ASSIGN(auto loop, budget_.dictionary(std::move(state)));
      set_entry(scopes_.back(), "loop", std::move(loop));
      DRAFTSCOPE_TRY(bind(statement, at(i)));
      DRAFTSCOPE_TRY(execute(statement.blocks[0]));
      scopes_.pop_back();
    }
    return {};
  }

  Result<Value> variable(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      DRAFTSCOPE_TRY(budget_.steps(1 + scope->size()));
      if (const Value* found = find_entry(*scope, name)) return *found;
    }
    // A function's name counts as defined, though it has no value here.
    return is_known_function(name) ? Value(true) : Value();
  }

  Result<Value> evaluate(const Expression& expression) {
    DRAFTSCOPE_TRY(budget_.steps(1));
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
        return member(operands[0], expression.name);
      case ExpressionKind::subscript:
        return subscript(operands[0], operands[1]);
      case ExpressionKind::slice:
        return slice(operands[0], operands[1], operands[2]);
      case ExpressionKind::list:
        return budget_.list(std::move(operands));
      case ExpressionKind::dictionary:
        return dictionary(operands);
      case ExpressionKind::method:
        return call_method(expression.name, operands[0], rest(), budget_);
      case ExpressionKind::filter:
        return apply_filter(expression.name, operands[0], rest(), budget_);
      case ExpressionKind::test:
        return apply_test(expression.name, operands[0], rest(), budget_).map([](bool passed) {
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
      DRAFTSCOPE_TRY(assign(keywords, expression.keyword_names[i], std::move(evaluated)));
    }
    return call_function(expression.name, operands, std::move(keywords), budget_);
  }

  Result<Value> dictionary(const Arguments& operands) {
    Dictionary entries;
    std::size_t key_bytes = 0;
    for (std::size_t i = 0; i + 1 < operands.size(); i += 2) {
      const auto* key = operands[i].string();
      if (key == nullptr) return fail("a dictionary's key is {}", type_name(operands[i]));
      key_bytes += key->size();
      DRAFTSCOPE_TRY(budget_.room(key_bytes));
      DRAFTSCOPE_TRY(budget_.bytes_read(key->size()));
      DRAFTSCOPE_TRY(assign(entries, *key, operands[i + 1]));
    }
    return budget_.dictionary(std::move(entries));
  }

  Result<Value> member(const Value& object, const std::string& name) {
    if (object.is_undefined()) return fail("an undefined value has no members, expected a defined one");
    if (const auto* entries = object.dictionary()) return entry(*entries, name, budget_);
    if (const auto* space = object.name_space()) return entry(space->entries, name, budget_);
    if (object.string() != nullptr) return fail("a member of a string is not implemented");
    return Value();
  }

  Result<Value> subscript(const Value& object, const Value& key) {
    if (const auto* name = key.string()) return member(object, *name);
    if (object.is_undefined()) return fail("an undefined value has no members, expected a defined one");
    if (object.string() != nullptr) return fail("a member of a string is not implemented");
    const auto* list = object.list();
    if (list == nullptr || key.integer() == nullptr) return Value();
    const auto size = static_cast<std::int64_t>(list->size());
    const std::int64_t index = *key.integer() < 0 ? *key.integer() + size : *key.integer();
    return index < 0 || index >= size ? Value() : (*list)[static_cast<std::size_t>(index)];
  }

  Result<Value> slice(const Value& object, const Value& first, const Value& last) {
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
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t bound_end, bound(last, size));
    const std::int64_t end = std::max(begin, bound_end);
    DRAFTSCOPE_TRY(budget_.room_for_members(static_cast<std::size_t>(end - begin)));
    DRAFTSCOPE_TRY(budget_.steps(static_cast<std::size_t>(end - begin)));
    return budget_.list(List(list->begin() + begin, list->begin() + end));
  }

  static Result<Value> unary(const std::string& name, const Value& operand) {
    if (name == "not") return Value(!truth(operand));
    const auto* integer = operand.integer();
    if (integer == nullptr || *integer == std::numeric_limits<std::int64_t>::min())
      return fail("{} of {} is not implemented", name, type_name(operand));
    return Value(name == "-" ? -*integer : *integer);
  }

  Result<Value> contains(const Value& item, const Value& container) {
    if (const auto* entries = container.dictionary()) {
      if (item.string() == nullptr) return Value(false);
      DRAFTSCOPE_TRY(budget_.steps(entries->size()));
      DRAFTSCOPE_TRY(budget_.bytes_read(item.string()->size()));
      return Value(find_entry(*entries, *item.string()) != nullptr);
    }
    if (const auto* list = container.list()) {
      for (const Value& member : *list) {
        DRAFTSCOPE_TRY(budget_.steps(1));
        DRAFTSCOPE_TRY_ASSIGN(const bool found, equal(member, item, budget_));
        if (found) return Value(true);
      }
      return Value(false);
    }
    if (container.string() != nullptr && item.string() != nullptr) {
      DRAFTSCOPE_TRY(budget_.bytes_read(text_size(container) + text_size(item)));
      return Value(find_text(*container.string(), *item.string()) != std::string::npos);
    }
    if (container.is_undefined()) return Value(false);
    return fail("'in' {} is not implemented", type_name(container));
  }

  Result<Value> concatenation(const Value& left, const Value& right) {
    DRAFTSCOPE_TRY(budget_.bytes_read(text_size(left) + text_size(right)));
    std::string text;
    if (!append_text(left, text) || !append_text(right, text))
      return fail("~ of {} and {} is not implemented", type_name(left), type_name(right));
    if (text.size() > longest_text)
      return fail("~: the text is too long, expected at most {} bytes", longest_text);
    return budget_.text(std::move(text));
  }

  Result<Value> joined(const List& left, const List& right) {
    DRAFTSCOPE_TRY(budget_.room_for_members(left.size() + right.size()));
    DRAFTSCOPE_TRY(budget_.steps(left.size() + right.size()));
    List both;
    both.reserve(left.size() + right.size());
    both.insert(both.end(), left.begin(), left.end());
    both.insert(both.end(), right.begin(), right.end());
    return budget_.list(std::move(both));
  }

  Result<Value> binary(const std::string& name, const Value& left, const Value& right) {
    const bool compares = name == "==" || name == "!=";
    if (compares && left.is_container() && right.is_container() && truth(left) && truth(right))
      return fail("{} {} {} is not implemented", type_name(left), name, type_name(right));
    if (compares)
      return equal(left, right, budget_).map([&](bool same) { return Value(same == (name == "==")); });
    if (name == "in") return contains(left, right);
    if (name == "not in")
      return contains(left, right).map([](const Value& found) { return Value(!truth(found)); });
    if (name == "~" || (name == "+" && left.string() != nullptr && right.string() != nullptr))
      return concatenation(left, right);
    if (name == "+" && left.list() != nullptr && right.list() != nullptr)
      return joined(*left.list(), *right.list());
    if (left.integer() != nullptr && right.integer() != nullptr)
      return arithmetic(name, *left.integer(), *right.integer());
    return fail("{} {} {} is not implemented", type_name(left), name, type_name(right));
  }

  // Computes with integers. Division and remainder round down, as in Python.
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
    if (overflow) return fail("{} {} {} is too large, expected at most 64 bits", left, name, right);
    return Value(result);
  }

  Budget budget_;  // Declared first, since it must outlive the scopes, whose values it counts.
  std::vector<Dictionary> scopes_;
  std::string output_;
};

}  // namespace

Result<std::string> render(const Block& block, Dictionary variables, const Limits& limits) {
  return Renderer(std::move(variables), limits).run(block);
}

}  // namespace draftscope::engine::jinja
