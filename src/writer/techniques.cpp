#include "writer/technique.hpp"
#include "writer/techniques/commute.hpp"
#include "writer/techniques/convolution.hpp"
#include "writer/techniques/depthwise.hpp"
#include "writer/techniques/drop.hpp"
#include "writer/techniques/fold.hpp"
#include "writer/techniques/hoist.hpp"
#include "writer/techniques/layout.hpp"
#include "writer/techniques/matmul.hpp"
#include "writer/techniques/matmul_rows.hpp"
#include "writer/techniques/merge.hpp"
#include "writer/techniques/pointwise.hpp"
#include "writer/techniques/pooling.hpp"
#include "writer/techniques/rows.hpp"
#include "writer/techniques/scan.hpp"
#include "writer/techniques/share.hpp"
#include "writer/techniques/simplify.hpp"
#include "writer/techniques/split.hpp"

namespace cudal1 {

const std::vector<const FusionTechnique*>& fusion_techniques() {
  static const PointwiseFusion pointwise;
  static const RowFusion rows;
  static const ScanFusion scan;
  static const ProductFusion matmul;
  static const RowProductFusion matmul_rows;
  static const PoolingFusion pooling;
  static const ConvolutionFusion convolution;
  static const DepthwiseFusion depthwise;
  static const std::vector<const FusionTechnique*> all = {&pointwise,   &rows,    &scan,        &matmul,
                                                          &matmul_rows, &pooling, &convolution, &depthwise};
  return all;
}

const std::vector<const RewriteTechnique*>& rewrite_techniques() {
  static const CommuteReduction commute;
  static const DropIdentities drop;
  static const FoldIntoWeights fold;
  static const HoistWeights hoist;
  static const ChannelsLast layout;
  static const MergeLinearMaps merge;
  static const ShareResults share;
  static const SimplifyProducts simplify;
  static const SplitBias split;
  // Those that only take work away come first.
  static const std::vector<const RewriteTechnique*> all = {&drop,  &share,   &simplify, &hoist, &fold,
                                                           &merge, &commute, &layout,   &split};
  return all;
}

const RewriteTechnique* rewrite_technique(std::string_view directive) {
  for (const RewriteTechnique* technique : rewrite_techniques())
    if (technique->description().directive == directive) return technique;
  return nullptr;
}

const std::vector<const Technique*>& all_techniques() {
  static const std::vector<const Technique*> all = [] {
    std::vector<const Technique*> made(fusion_techniques().begin(), fusion_techniques().end());
    made.insert(made.end(), rewrite_techniques().begin(), rewrite_techniques().end());
    return made;
  }();
  return all;
}

}  // namespace cudal1
