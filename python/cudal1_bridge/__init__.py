"""Turns PyTorch modules into tasks of cudal1: graph.json, weights.safetensors and the module's source."""
