#include "policy/remote/server_address.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using Url = std::unique_ptr<CURLU, decltype(&::curl_url_cleanup)>;

std::string part_of(const Url& url, CURLUPart part) {
  char* text = nullptr;
  if (::curl_url_get(url.get(), part, &text, 0) != CURLUE_OK) return {};
  std::string copy = text;
  ::curl_free(text);
  return copy;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

bool is_this_machine(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && (::ntohl(address.s_addr) >> 24) == 127;
}

std::string without_slashes_at_end(std::string path) {
  path.erase(path.find_last_not_of('/') + 1);
  return path;
}

// What is wrong is not repeated: it may hold a password.
void check_nothing_secret(const Url& url) {
  if (!part_of(url, CURLUPART_USER).empty() || !part_of(url, CURLUPART_PASSWORD).empty())
    throw UsageError("the server's address holds a user or password: keys come from an environment variable");
  if (!part_of(url, CURLUPART_QUERY).empty() || !part_of(url, CURLUPART_FRAGMENT).empty())
    throw UsageError(
        "the server's address must end with its path, as in https://api.example.com/v1: leave out ? and #");
}

}  // namespace

ServerAddress parse_server_address(const std::string& text, bool allow_unencrypted) {
  const Url url(::curl_url(), &::curl_url_cleanup);
  if (!url || ::curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
    throw UsageError("the server's address is no URL such as https://api.example.com/v1 or http://localhost:8080/v1");
  check_nothing_secret(url);
  const std::string scheme = lower(part_of(url, CURLUPART_SCHEME));
  const std::string host = lower(part_of(url, CURLUPART_HOST));
  const std::string port = part_of(url, CURLUPART_PORT);
  ServerAddress address;
  address.host = port.empty() ? host : host + ":" + port;
  address.is_local = is_this_machine(host);
  address.base = without_slashes_at_end(scheme + "://" + address.host + part_of(url, CURLUPART_PATH));
  if (scheme != "http" && scheme != "https")
    throw UsageError(fmt::format("{}: the server's address begins with http:// or https://", address.base));
  if (scheme == "http" && !address.is_local && !allow_unencrypted)
    throw UsageError(
        fmt::format("{}: prompts and the key would go over the network unencrypted; use https, or "
                    "--allow-http if you trust that network",
                    address.base));
  return address;
}

}  // namespace cudal1
