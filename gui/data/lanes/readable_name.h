// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace draftscope::gui {

/// A kernel's name without what all of them share: namespaces, and the engine's entry around a kernel's body.
/// "qkv: a::(anonymous namespace)::f<b::G<b::T>, 8>" is "qkv: f<G<T>, 8>". Names that are no instance of a
/// template and have no such namespace stay as they are ("aten::mm").
[[nodiscard]] std::string readable_name(std::string_view name);

}  // namespace draftscope::gui
