"""Rollouts with a slow tool: turngate's scheduler beside one that calls its tool in `step()`."""
