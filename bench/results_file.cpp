#include "results_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

#include "base/files.hpp"

namespace cudal1::bench {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

//! Each row says which commit it is of.
nlohmann::json merged(const std::filesystem::path& output, const std::string& gpu, const nlohmann::json& fresh) {
  nlohmann::json rows = nlohmann::json::array();
  if (std::filesystem::exists(output)) {
    const nlohmann::json earlier = nlohmann::json::parse(read_file(output));
    if (earlier.at("gpu") == gpu) rows = earlier.at("rows");
    for (nlohmann::json& row : rows)
      if (!row.contains("commit")) row["commit"] = earlier.at("commit");
  }
  for (const nlohmann::json& row : fresh) {
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const auto& old) { return old["what"] == row["what"]; });
    if (same != rows.end())
      *same = row;
    else
      rows.push_back(row);
  }
  return rows;
}

}  // namespace

nlohmann::json row(const std::string& what, double value, const std::string& unit, const std::string& bar, bool holds,
                   nlohmann::json details) {
  nlohmann::json result{{"what", what}, {"value", value}, {"unit", unit}, {"bar", bar}, {"holds", holds}};
  if (!details.is_null()) result["details"] = std::move(details);
  return result;
}

std::string this_processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "an unknown processor";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) name = line.substr(line.find(':') + 2);
  return fmt::format("virtual GPU on {}, {} cores", name, std::thread::hardware_concurrency());
}

void write_results(const std::filesystem::path& output, const Measured& by, nlohmann::json rows) {
  for (nlohmann::json& row : rows) row["commit"] = by.commit;
  const nlohmann::json result{{"command", by.command},
                              {"commit", by.commit},
                              {"gpu", by.gpu},
                              {"date", today()},
                              {"rows", merged(output, by.gpu, rows)}};
  write_file_atomically(output, result.dump(1) + "\n");
}

void print(const nlohmann::json& rows) {
  for (const nlohmann::json& row : rows)
    fmt::print("{:5} {:90} {:12.4g} {:14} bar: {}\n", row["holds"].get<bool>() ? "holds" : "FAILS",
               row["what"].get<std::string>(), row["value"].get<double>(), row["unit"].get<std::string>(),
               row["bar"].get<std::string>());
}

}  // namespace cudal1::bench
