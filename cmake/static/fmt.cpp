// The part of {fmt} that its headers leave to its library, compiled from its own headers: Debian has no archive of it.
#include <fmt/format-inl.h>
#include <fmt/format.h>

namespace fmt::inline FMT_STATIC_NAMESPACE::detail {
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(char const*, char const*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
}  // namespace fmt::inline FMT_STATIC_NAMESPACE::detail
