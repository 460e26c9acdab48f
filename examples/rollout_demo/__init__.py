"""`make demo`: a gateway, the real `swift rollout` with the tiny model, and a batch of questions.

`RolloutServer`, `GatewayProcess` and `RolloutClient` serve the end-to-end tests too.
"""
