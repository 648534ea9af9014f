"""Embeddings, rerank, score, pooling and classification: protocols whose answers are vectors or scores."""
