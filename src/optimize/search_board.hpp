// How far several searches are, for one line that shows all of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

//! What a search says of itself while it runs.
struct SearchNews {
  int evaluations = 0;  //!< with those of earlier runs
  int before = 0;       //!< of earlier runs alone
  double best = 0.0;    //!< reward; 0: nothing is right yet
};

class SearchBoard {
 public:
  //! So many programs are to be judged for each.
  SearchBoard(std::size_t searches, int evaluations_each) : evaluations_each_(evaluations_each), searches_(searches) {}

  void heard(std::size_t search, const SearchNews& news);
  //! Nothing more is judged for it.
  void ended(std::size_t search);

  int judged() const;  //!< with those of earlier runs
  int total() const;   //!< of those that ended, what they had
  //! By what was judged in this time; nothing was: nobody knows.
  std::optional<double> seconds_left(double elapsed) const;
  //! "1 of 3 tasks; level1/19_ReLU: best 2.31x, 40 s left": of a search that was heard from. No longer than
  //! `most_left`.
  std::string text(std::size_t search, const std::string& name, double elapsed, double most_left) const;

 private:
  struct Search {
    SearchNews news;
    bool ended = false;
  };
  int evaluations_each_;
  std::vector<Search> searches_;
};

}  // namespace cudal1
