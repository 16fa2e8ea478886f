// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace draftscope::gui {

/// Shortens a kernel's name by the parts that all kernels share: namespaces, the engine's entry around a
/// kernel's body, the type "void" and the parameters. "qkv: void a::(anonymous namespace)::f<b::G<b::T>,
/// 8>(int)" is "qkv: f<G<T>, 8>". The engine's kernels that compute one operation have its name first: "gate
/// up: ProductKernel<Bf16, GateUpOp>". A name that is no template instance and has no such namespace stays as
/// it is ("aten::mm").
[[nodiscard]] std::string readable_name(std::string_view name);

}  // namespace draftscope::gui
