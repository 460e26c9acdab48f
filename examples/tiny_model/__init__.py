"""A very small language model that calls tools, trained from scratch for the examples and the tests."""
