// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/render.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <memory>
#include <utility>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"

namespace draftscope::engine::jinja {

/// Variables that are visible together, within those of `parent`.
struct Scope {
  Variables variables;
  Scope* parent;
  bool kept = false;  ///< whether a macro or a loop refers to it
};

namespace {

constexpr std::size_t max_kept_scopes = 100'000;
constexpr std::size_t steps_per_turn = 10;  // A scope costs about as much as ten other steps.

// Where a block goes on after a statement.
enum class Flow : std::uint8_t { next, leaves_loop, next_turn };

class Renderer {
 public:
  Renderer(Variables variables, const Limits& limits)
      : budget_(limits), root_{std::move(variables), nullptr} {}

  Result<std::string> run(const Block& block) {
    DRAFTSCOPE_TRY(execute(block));
    return std::move(output_);
  }

 private:
  // Makes a scope the current one as long as it lives. Scopes that a value refers to live until the end.
  class Inner {
   public:
    Inner(Renderer& renderer, Scope* parent)
        : renderer_(renderer),
          outer_(std::exchange(renderer.scope_, nullptr)),
          scope_(std::make_unique<Scope>(Scope{{}, parent})) {
      renderer_.scope_ = scope_.get();
    }
    Inner(const Inner&) = delete;
    Inner& operator=(const Inner&) = delete;
    ~Inner() {
      renderer_.scope_ = outer_;
      if (scope_->kept) renderer_.kept_.push_back(std::move(scope_));
    }

   private:
    Renderer& renderer_;
    Scope* outer_;
    std::unique_ptr<Scope> scope_;
  };

  struct Level {
    explicit Level(Budget& counted) : budget(counted) {}
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { budget.leave(); }
    Budget& budget;
  };

  // Keeps the current scope and those around it for a value that refers to them.
  Result<Scope*> keep_scope() {
    if (kept_.size() >= max_kept_scopes)
      return fail("found more than {} blocks that define macros, expected at most {}", max_kept_scopes,
                  max_kept_scopes);
    for (Scope* scope = scope_; scope != nullptr && !scope->kept; scope = scope->parent) scope->kept = true;
    return scope_;
  }

  Result<Flow> execute(const Block& block) {
    for (const Statement& statement : block) {
      budget_.at_line(statement.line);
      DRAFTSCOPE_TRY(budget_.steps(1));
      DRAFTSCOPE_TRY_ASSIGN(const Flow flow, execute(statement));
      if (flow != Flow::next) return flow;
    }
    return Flow::next;
  }

  Result<Flow> execute(const Statement& statement) {
    const Level level(budget_);
    DRAFTSCOPE_TRY(budget_.enter());
    switch (statement.kind) {
      case StatementKind::branch:
        return branch(statement);
      case StatementKind::with:
        return with(statement);
      case StatementKind::scope: {
        const Inner inner(*this, scope_);
        return execute(statement.blocks[0]);
      }
      case StatementKind::leave:
        return statement.text == "break" ? Flow::leaves_loop : Flow::next_turn;
      default:
        return execute_simple(statement).map([] { return Flow::next; });
    }
  }

  Result<void> execute_simple(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::text:
        return budget_.append(output_, statement.text);
      case StatementKind::output: {
        DRAFTSCOPE_TRY_ASSIGN(const Value value, evaluate(statement.expressions[0]));
        return write(value);
      }
      case StatementKind::set: {
        DRAFTSCOPE_TRY_ASSIGN(const Value value, evaluate(statement.expressions[0]));
        return bind(statement.targets[0], value);
      }
      case StatementKind::set_block: {
        DRAFTSCOPE_TRY_ASSIGN(Value text, captured(statement.blocks[0], scope_));
        if (!statement.expressions.empty()) {
          DRAFTSCOPE_TRY_ASSIGN(text, filtered(statement.expressions[0], std::move(text)));
        }
        return bind(statement.targets[0], text);
      }
      case StatementKind::filter: {
        DRAFTSCOPE_TRY_ASSIGN(Value text, captured(statement.blocks[0], scope_));
        DRAFTSCOPE_TRY_ASSIGN(const Value value, filtered(statement.expressions[0], std::move(text)));
        return write(value);
      }
      case StatementKind::loop: {
        DRAFTSCOPE_TRY_ASSIGN(const Value items, evaluate(statement.expressions[0]));
        return loop(statement, items, 0);
      }
      case StatementKind::macro: {
        DRAFTSCOPE_TRY_ASSIGN(const Value made, macro(statement));
        return assign(statement.text, made);
      }
      case StatementKind::call: {
        DRAFTSCOPE_TRY_ASSIGN(Value caller, macro(statement.blocks[0][0]));
        DRAFTSCOPE_TRY_ASSIGN(const Value value, call(statement.expressions[0], std::move(caller)));
        return write(value);
      }
      default:
        return fail("{{% {} %}} is not implemented", statement.text);
    }
  }

  Result<void> write(const Value& value) {
    if (const auto* text = value.string()) return budget_.append(output_, *text);
    DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget_));
    return budget_.append(output_, text);
  }

  // What a block writes, in a scope of its own.
  Result<Value> captured(const Block& block, Scope* parent) {
    const Inner inner(*this, parent);
    return captured_here(block);
  }

  Result<Value> captured_here(const Block& block) {
    std::string outer = std::exchange(output_, {});
    const Result<Flow> flow = execute(block);
    outer.swap(output_);
    budget_.close(outer);
    DRAFTSCOPE_TRY(flow);
    return budget_.text(std::move(outer));
  }

  // A filter's result for the text of a block, which the name without a text stands for.
  Result<Value> filtered(const Expression& filter, Value text) {
    const Inner inner(*this, scope_);
    DRAFTSCOPE_TRY(assign("", std::move(text)));
    return evaluate(filter);
  }

  Result<Flow> branch(const Statement& statement) {
    for (std::size_t i = 0; i < statement.expressions.size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(const Value condition, evaluate(statement.expressions[i]));
      if (truth(condition)) return execute(statement.blocks[i]);
    }
    if (statement.blocks.size() > statement.expressions.size()) return execute(statement.blocks.back());
    return Flow::next;
  }

  Result<Flow> with(const Statement& statement) {
    List values;
    for (const Expression& expression : statement.expressions) {
      DRAFTSCOPE_TRY_ASSIGN(auto value, evaluate(expression));
      values.push_back(std::move(value));
    }
    const Inner inner(*this, scope_);
    for (std::size_t i = 0; i < values.size(); ++i) DRAFTSCOPE_TRY(bind(statement.targets[i], values[i]));
    return execute(statement.blocks[0]);
  }

  Result<void> assign(std::string_view name, Value value) {
    DRAFTSCOPE_TRY(budget_.steps(scope_->variables.size()));
    set_entry(scope_->variables, name, std::move(value));
    return {};
  }

  Result<void> bind(const Target& target, const Value& value) {
    if (!target.parts.empty()) {
      DRAFTSCOPE_TRY_ASSIGN(const Value parts, members(value, budget_));
      if (parts.list()->size() != target.parts.size())
        return fail("{} of {} members cannot be unpacked, expected {}", type_name(value),
                    parts.list()->size(), target.parts.size());
      for (std::size_t i = 0; i < target.parts.size(); ++i)
        DRAFTSCOPE_TRY(bind(target.parts[i], (*parts.list())[i]));
      return {};
    }
    if (target.member.empty()) return assign(target.name, value);
    DRAFTSCOPE_TRY_ASSIGN(const Value space, variable(target.name));
    if (space.object() == nullptr || space.object()->kind != ObjectKind::name_space)
      return fail("{} is {}, expected a namespace", quote(target.name), type_name(space));
    if (value.object() != nullptr && value.object()->kind == ObjectKind::name_space)
      return fail("a namespace within a namespace is not implemented");
    DRAFTSCOPE_TRY(budget_.steps(space.object()->entries.size()));
    set_entry(space.object()->entries, target.member, value);
    return {};
  }

  // The items that pass the loop's condition.
  Result<Value> loop_items(const Statement& statement, const Value& given) {
    DRAFTSCOPE_TRY_ASSIGN(Value items, members(given, budget_));
    if (statement.expressions.size() == 1) return items;
    List chosen;
    for (const Value& item : *items.list()) {
      DRAFTSCOPE_TRY(budget_.steps(1));
      const Inner inner(*this, scope_);
      DRAFTSCOPE_TRY(bind(statement.targets[0], item));
      DRAFTSCOPE_TRY_ASSIGN(const Value condition, evaluate(statement.expressions[1]));
      if (truth(condition)) chosen.push_back(item);
    }
    return budget_.list(std::move(chosen));
  }

  // Runs a loop. Variables that it sets are lost after each turn, as in Jinja.
  Result<void> loop(const Statement& statement, const Value& given, std::size_t depth) {
    DRAFTSCOPE_TRY_ASSIGN(const Value items, loop_items(statement, given));
    const std::size_t count = items.list()->size();
    DRAFTSCOPE_TRY(budget_.steps(count));
    DRAFTSCOPE_TRY(budget_.room_for_members(count));
    Object state{.kind = ObjectKind::loop, .name = {}, .items = *items.list()};
    state.depth = depth;
    state.statement = &statement;
    state.scope = scope_;
    if (statement.recursive) DRAFTSCOPE_TRY(keep_scope());
    DRAFTSCOPE_TRY_ASSIGN(const Value loop_value, budget_.object(std::move(state)));
    bool finished = false;
    for (std::size_t i = 0; i < count; ++i) {
      budget_.at_line(statement.line);
      DRAFTSCOPE_TRY(budget_.steps(steps_per_turn));
      loop_value.object()->at = i;
      const Inner inner(*this, scope_);
      DRAFTSCOPE_TRY(assign("loop", loop_value));
      DRAFTSCOPE_TRY(bind(statement.targets[0], (*items.list())[i]));
      DRAFTSCOPE_TRY_ASSIGN(const Flow flow, execute(statement.blocks[0]));
      if (flow == Flow::leaves_loop) break;
      finished = finished || flow == Flow::next;
    }
    // As jinja2 has it: the else runs unless a turn came to its end.
    if (!finished && statement.blocks.size() == 2) {
      const Inner inner(*this, scope_);
      DRAFTSCOPE_TRY(execute(statement.blocks[1]));
    }
    return {};
  }

  Result<Value> macro(const Statement& statement) {
    Object made{.kind = ObjectKind::macro, .name = statement.text};
    made.statement = &statement;
    DRAFTSCOPE_TRY_ASSIGN(made.scope, keep_scope());
    return budget_.object(std::move(made));
  }

  Result<Value> call_macro(const Object& macro, Arguments arguments) {
    const Statement& statement = *macro.statement;
    const std::size_t parameters = statement.targets.size();
    const std::size_t without_default = parameters - statement.expressions.size();
    const Inner inner(*this, macro.scope);
    // A caller is always the macro's own, as are the arguments that its parameters do not take.
    DRAFTSCOPE_TRY(assign("caller", Value()));
    for (std::size_t i = 0; i < parameters; ++i) {
      const std::string& name = statement.targets[i].name;
      const auto named = std::find_if(arguments.named.begin(), arguments.named.end(),
                                      [&](const auto& entry) { return entry.first == name; });
      if (i < arguments.positional.size()) {
        if (named != arguments.named.end())
          return fail("{} has two values for {}, expected one", quote(macro.name), quote(name));
        DRAFTSCOPE_TRY(assign(name, arguments.positional[i]));
      } else if (named != arguments.named.end()) {
        DRAFTSCOPE_TRY(assign(name, std::move(named->second)));
        arguments.named.erase(named);
      } else if (i >= without_default) {
        DRAFTSCOPE_TRY_ASSIGN(auto value, evaluate(statement.expressions[i - without_default]));
        DRAFTSCOPE_TRY(assign(name, std::move(value)));
      } else {
        DRAFTSCOPE_TRY(assign(name, Value()));
      }
    }
    DRAFTSCOPE_TRY(bind_rest(std::move(arguments), parameters));
    return captured_here(statement.blocks[0]);
  }

  Result<void> bind_rest(Arguments arguments, std::size_t parameters) {
    List rest;
    if (arguments.positional.size() > parameters)
      rest.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(parameters),
                  arguments.positional.end());
    Dictionary named;
    for (auto& [name, value] : arguments.named) {
      if (name == "caller") {
        DRAFTSCOPE_TRY(assign(name, std::move(value)));
        continue;
      }
      DRAFTSCOPE_TRY_ASSIGN(auto key, budget_.text(name));
      named.emplace_back(std::move(key), std::move(value));
    }
    DRAFTSCOPE_TRY_ASSIGN(auto varargs, budget_.list(std::move(rest), Form::tuple));
    DRAFTSCOPE_TRY_ASSIGN(auto kwargs, budget_.dictionary(std::move(named)));
    DRAFTSCOPE_TRY(assign("varargs", std::move(varargs)));
    return assign("kwargs", std::move(kwargs));
  }

  // The text of the same loop over other items, one level further in.
  Result<Value> call_loop(const Object& state, const Arguments& arguments) {
    if (state.statement == nullptr || !state.statement->recursive)
      return fail("the loop is not recursive, expected {{% for … recursive %}}");
    Scope* outer_scope = std::exchange(scope_, state.scope);
    std::string outer = std::exchange(output_, {});
    const Result<void> outcome = loop(*state.statement, at(arguments, 0), state.depth + 1);
    scope_ = outer_scope;
    outer.swap(output_);
    budget_.close(outer);
    DRAFTSCOPE_TRY(outcome);
    return budget_.text(std::move(outer));
  }

  Result<Value> call_value(const Value& callee, const std::string& name, Arguments arguments) {
    const Object* object = callee.object();
    if (object == nullptr) return fail("{} is {}, expected a function", quote(name), type_name(callee));
    switch (object->kind) {
      case ObjectKind::macro:
        return call_macro(*object, std::move(arguments));
      case ObjectKind::function:
        return call_function(object->name, arguments, budget_);
      case ObjectKind::method:
        return call_method(object->name, object->items[0], arguments, budget_);
      case ObjectKind::loop:
        return call_loop(*object, arguments);
      case ObjectKind::joiner:
        return std::exchange(callee.object()->at, 1) == 0 ? Value("") : object->items[0];
      default:
        return fail("{} is {}, expected a function", quote(name), type_name(callee));
    }
  }

  // A call; `caller` is undefined, or the macro of a {% call %} block.
  Result<Value> call(const Expression& expression, Value caller) {
    const Expression& function = expression.operands[0];
    Value self;
    Value callee;
    const bool is_member = function.kind == ExpressionKind::attribute;
    DRAFTSCOPE_TRY_ASSIGN(self, evaluate(is_member ? function.operands[0] : function));
    const bool is_method = is_member && has_method(self, function.name);
    if (!is_method) {
      DRAFTSCOPE_TRY_ASSIGN(callee,
                            is_member ? attribute(self, function.name, budget_) : Result<Value>(self));
    }
    DRAFTSCOPE_TRY_ASSIGN(Arguments given, arguments(expression));
    if (!caller.is_undefined()) given.named.emplace_back("caller", std::move(caller));
    if (is_method && self.object() == nullptr) return call_method(function.name, self, given, budget_);
    if (is_method) {
      DRAFTSCOPE_TRY_ASSIGN(callee, attribute(self, function.name, budget_));
    }
    return call_value(callee, function.name, std::move(given));
  }

  Result<Arguments> arguments(const Expression& expression) {
    Arguments given;
    for (std::size_t i = 1; i < expression.operands.size(); ++i) {
      const Expression& operand = expression.operands[i];
      if (operand.kind != ExpressionKind::spread) {
        DRAFTSCOPE_TRY_ASSIGN(auto value, evaluate(operand));
        given.positional.push_back(std::move(value));
        continue;
      }
      DRAFTSCOPE_TRY_ASSIGN(const Value many, evaluate(operand.operands[0]));
      if (operand.name == "*") {
        DRAFTSCOPE_TRY_ASSIGN(const Value list, members(many, budget_));
        DRAFTSCOPE_TRY(budget_.steps(list.list()->size()));
        DRAFTSCOPE_TRY(budget_.room_for_members(given.positional.size() + list.list()->size()));
        given.positional.insert(given.positional.end(), list.list()->begin(), list.list()->end());
      } else if (const auto* entries = many.dictionary()) {
        DRAFTSCOPE_TRY(budget_.steps(entries->size()));
        for (const auto& [key, value] : *entries) {
          if (key.string() == nullptr) return fail("**: a name is {}, expected a string", type_name(key));
          DRAFTSCOPE_TRY(budget_.bytes_read(key.string()->size()));
          given.named.emplace_back(*key.string(), value);
        }
      } else {
        return fail("** of {} is not possible, expected a dictionary", type_name(many));
      }
    }
    for (std::size_t i = 0; i < expression.names.size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(auto value, evaluate(expression.keyword_values[i]));
      given.named.emplace_back(expression.names[i], std::move(value));
    }
    return given;
  }

  Result<Value> variable(const std::string& name) {
    for (Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
      DRAFTSCOPE_TRY(budget_.steps(1 + scope->variables.size()));
      if (const Value* found = find_entry(scope->variables, name)) return *found;
    }
    if (!is_function(name)) return Value();
    return budget_.object({.kind = ObjectKind::function, .name = name});
  }

  Result<Value> evaluate(const Expression& expression) {
    const Level level(budget_);
    DRAFTSCOPE_TRY(budget_.enter());
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
      case ExpressionKind::comparison:
        return compare(expression);
      case ExpressionKind::call:
        return call(expression, Value());
      case ExpressionKind::filter:
      case ExpressionKind::test:
        return apply(expression);
      case ExpressionKind::binary:
        if (expression.name == "and" || expression.name == "or") return evaluate_lazily(expression);
        break;
      default:
        break;
    }
    List operands;
    operands.reserve(expression.operands.size());
    for (const Expression& operand : expression.operands) {
      DRAFTSCOPE_TRY_ASSIGN(auto value, evaluate(operand));
      operands.push_back(std::move(value));
    }
    return combine(expression, std::move(operands));
  }

  Result<Value> evaluate_lazily(const Expression& expression) {
    DRAFTSCOPE_TRY_ASSIGN(auto left, evaluate(expression.operands[0]));
    if (truth(left) == (expression.name == "or")) return left;
    return evaluate(expression.operands[1]);
  }

  // a < b < c holds if a < b and b < c do; what follows the first that does not hold is not evaluated.
  Result<Value> compare(const Expression& expression) {
    DRAFTSCOPE_TRY_ASSIGN(Value left, evaluate(expression.operands[0]));
    Value result;
    for (std::size_t i = 0; i < expression.names.size(); ++i) {
      DRAFTSCOPE_TRY_ASSIGN(Value right, evaluate(expression.operands[i + 1]));
      DRAFTSCOPE_TRY_ASSIGN(result, binary(expression.names[i], left, right, budget_));
      if (!truth(result)) break;
      left = std::move(right);
    }
    return result;
  }

  Result<Value> apply(const Expression& expression) {
    DRAFTSCOPE_TRY_ASSIGN(const Value value, evaluate(expression.operands[0]));
    DRAFTSCOPE_TRY_ASSIGN(const Arguments given, arguments(expression));
    if (expression.kind == ExpressionKind::filter)
      return apply_filter(expression.name, value, given, budget_);
    return apply_test(expression.name, value, given, budget_).map([](bool passed) { return Value(passed); });
  }

  Result<Value> combine(const Expression& expression, List operands) {
    switch (expression.kind) {
      case ExpressionKind::attribute:
        return attribute(operands[0], expression.name, budget_);
      case ExpressionKind::subscript:
        return subscript(operands[0], operands[1], budget_);
      case ExpressionKind::slice:
        return slice(operands[0], operands[1], operands[2], operands[3], budget_);
      case ExpressionKind::list:
        return budget_.list(std::move(operands));
      case ExpressionKind::tuple:
        return budget_.list(std::move(operands), Form::tuple);
      case ExpressionKind::dictionary: {
        Dictionary entries;
        for (std::size_t i = 0; i + 1 < operands.size(); i += 2)
          DRAFTSCOPE_TRY(set_entry(entries, std::move(operands[i]), std::move(operands[i + 1]), budget_));
        return budget_.dictionary(std::move(entries));
      }
      case ExpressionKind::unary:
        return unary(expression.name, operands[0]);
      default:
        return binary(expression.name, operands[0], operands[1], budget_);
    }
  }

  Budget budget_;  // Declared first, since it must outlive the scopes, whose values it counts.
  Scope root_;
  std::vector<std::unique_ptr<Scope>> kept_;
  Scope* scope_ = &root_;
  std::string output_;
};

}  // namespace

Result<std::string> render(const Block& block, Variables variables, const Limits& limits) {
  return Renderer(std::move(variables), limits).run(block);
}

}  // namespace draftscope::engine::jinja
