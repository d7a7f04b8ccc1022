// Changes of a graph that leave it whole: values keep their ids, nodes stay in topological order, views stay right.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1 {

//! "NODE_suffix", or with a number behind it if there is one already.
std::string derived_name(const OpGraph& graph, const std::string& node, std::string_view suffix);

//! Puts a node before the one at `position`; its outputs, as many as metas, are named after it. Gives the first one.
ValueId insert_node(OpGraph& graph, int position, Node node, const std::vector<TensorMeta>& metas);

//! The same for a node that makes a view, `offset_elements` from the first element of `of`.
ValueId insert_view(OpGraph& graph, int position, Node node, const TensorMeta& meta, ValueId of,
                    std::int64_t offset_elements = 0);

//! Everyone who reads `from`, directly or through views, reads `to` instead, whose meta is the same; `except` does not.
//! So do the task's outputs.
void redirect_readers(OpGraph& graph, ValueId from, ValueId to, int except);

//! `value`, the only output of its node, becomes another name of `target`, whose meta is the same: nothing is left to
//! compute, and nodes that read it read `target`. What only this node has read goes.
void make_alias(OpGraph& graph, ValueId value, ValueId target);

//! `value`, the only output of its node, becomes a view of all of `target`, with the meta it has: `op` with these
//! arguments behind the tensor.
void make_view(OpGraph& graph, ValueId value, ValueId target, std::string op, std::vector<Argument> arguments);

//! Moves the node at `from` before the one at `to`, which is above it.
void move_node_up(OpGraph& graph, int from, int to);

//! Moves nodes up that others above them read: what a rewrite makes of weights may be needed earlier than it was made.
void restore_order(OpGraph& graph);

//! Why `value` must not become another name of `target`; nothing: it may.
std::optional<std::string> objection_to_alias(const OpGraph& graph, ValueId value, ValueId target);

//! The same dtype, sizes and places of all elements.
bool lie_alike(const TensorMeta& a, const TensorMeta& b);

//! Takes out the node of this value if nobody needs what it computes, and then those that it was the last to read.
void remove_if_unread(OpGraph& graph, ValueId value);

//! Elements from the first one of the memory that the value lies in.
std::int64_t offset_in_base(const OpGraph& graph, ValueId value);

//! Nodes that read these very values, views of them left out.
std::vector<int> readers_of(const OpGraph& graph, ValueId value);

//! The one node that reads the node's one result; -1: there are several, or none.
int only_reader(const OpGraph& graph, const Node& node);

//! Nodes that read the value's memory: it, or a view of the same base. Those that only make views are left out.
std::vector<int> readers_of_memory(const OpGraph& graph, ValueId value);

//! The task returns it, or a view of the same memory.
bool is_returned(const OpGraph& graph, ValueId value);

//! Changes each of a node's references to tensors.
void for_each_reference(Node& node, const std::function<void(ValueId&)>& change);

//! Replaces or adds the argument that schemas have at this position under that name.
void set_argument(Node& node, std::size_t position, const std::string& name, Argument argument);

}  // namespace cudal1
