// Packages bring along what they use of {fmt}: a machine that has torch need not have its library.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9  // of others the shared library is used
namespace {

using Vformat = std::string (*)(fmt::string_view, fmt::format_args);
using Separator = fmt::detail::thousands_sep_result<char> (*)(fmt::detail::locale_ref);

[[gnu::used]] const Vformat vformat = &fmt::vformat;
[[gnu::used]] const Separator separator = &fmt::detail::thousands_sep_impl<char>;
[[gnu::used]] void (*const throw_format_error)(const char*) = &fmt::detail::throw_format_error;
[[gnu::used]] bool (*const is_printable)(std::uint32_t) = &fmt::detail::is_printable;

}  // namespace
#endif
