#include "meta_check.hpp"

#include <fmt/format.h>

#include "graph/executor.hpp"
#include "writer/write_program.hpp"

namespace cudal1::testing {

std::vector<std::string> wrong_metas(const TaskText& task, const std::string& program) {
  const auto written = write_program(graph_of(task), program);
  if (!written) return {written.failure().message};
  Task inferred;
  inferred.graph = written.value().graph;
  infer_metas(inferred);
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < written.value().graph.values.size(); ++i) {
    const Value &said = written.value().graph.values[i], &is = inferred.graph.values[i];
    const bool same_view =
        said.view.has_value() == is.view.has_value() &&
        (!said.view || (said.view->base == is.view->base && said.view->offset_elements == is.view->offset_elements));
    if (said.node >= 0 && (said.meta != is.meta || !same_view))
      wrong.push_back(fmt::format("{}: {}{}, ATen gives {}{}", said.name, to_string(said.meta),
                                  said.view ? ", a view" : "", to_string(is.meta), is.view ? ", a view" : ""));
  }
  return wrong;
}

}  // namespace cudal1::testing
