#include "optimize/search_board.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1 {

void SearchBoard::heard(std::size_t search, const SearchNews& news) { searches_[search].news = news; }

void SearchBoard::ended(std::size_t search) { searches_[search].ended = true; }

int SearchBoard::judged() const {
  int judged = 0;
  for (const Search& search : searches_) judged += search.news.evaluations;
  return judged;
}

int SearchBoard::total() const {
  int total = 0;
  for (const Search& search : searches_)
    total += search.ended ? search.news.evaluations : std::max(evaluations_each_, search.news.evaluations);
  return total;
}

std::optional<double> SearchBoard::seconds_left(double elapsed) const {
  int now = 0;
  for (const Search& search : searches_) now += search.news.evaluations - search.news.before;
  return now > 0 ? std::optional(elapsed / now * (total() - judged())) : std::nullopt;
}

std::string SearchBoard::text(std::size_t search, const std::string& name, double elapsed, double most_left) const {
  const double best = searches_[search].news.best;
  const auto left = seconds_left(elapsed);
  const std::string found = best > 0.0 ? fmt::format("best {:.2f}x", best) : "nothing that is right yet";
  const auto ended = std::ranges::count_if(searches_, &Search::ended);
  const std::string of_all = searches_.size() > 1 ? fmt::format("{} of {} tasks; ", ended, searches_.size()) : "";
  const std::string time = left ? fmt::format(", {:.0f} s left", std::max(0.0, std::min(*left, most_left))) : "";
  return fmt::format("{}{}: {}{}", of_all, name, found, time);
}

}  // namespace cudal1
